//! Reading replies to the end, with any decoder.

use redbolt::resp::{Aggregate, Elements, Parser, Status, Token, Value};

use crate::replies::mark;

/// A decoder that has read nothing yet.
pub(crate) trait Decoder: Default {
    /// Returns the mark of the first value of `bytes` and its length, or `None` if the value is
    /// incomplete. The next call then has the same bytes and more behind them.
    fn decode(&mut self, bytes: &[u8]) -> Option<(u64, usize)>;
}

/// Returns the mark of a double.
#[inline]
pub(crate) fn mark_double(double: f64) -> u64 {
    mark(b',', double.to_bits())
}

/// Somebody who reads replies to the end.
pub(crate) trait Reader {
    /// Reads replies that arrive in pieces of `piece` bytes. Returns their mark.
    fn read(bytes: &[u8], piece: usize) -> u64;
}

impl<D: Decoder> Reader for D {
    #[inline]
    fn read(bytes: &[u8], piece: usize) -> u64 {
        decode_all::<D>(bytes, piece)
    }
}

#[inline]
fn decode_all<D: Decoder>(bytes: &[u8], piece: usize) -> u64 {
    let mut decoder = D::default();
    let (mut start, mut end, mut marks) = (0, 0, 0_u64);
    while end < bytes.len() {
        end = bytes.len().min(end.saturating_add(piece));
        while start < end {
            let Some((mark, len)) = decoder.decode(&bytes[start..end]) else { break };
            start += len;
            marks = marks.wrapping_add(mark);
        }
    }
    assert_eq!(start, end, "the last reply is whole");
    marks
}

/// Our parser, as the engine uses it.
#[derive(Default)]
pub(crate) struct Redbolt(Parser);

impl Decoder for Redbolt {
    #[inline]
    fn decode(&mut self, bytes: &[u8]) -> Option<(u64, usize)> {
        match self.0.parse(bytes).expect("the replies are well-formed") {
            Status::Complete((value, len)) => Some((mark_of(&value), len)),
            Status::Partial => None,
        }
    }
}

#[inline]
fn mark_of(value: &Value<'_>) -> u64 {
    match value {
        Value::Array(elements) => mark_of_all(b'*', elements),
        Value::Set(elements) => mark_of_all(b'~', elements),
        Value::Map(elements) => mark_of_all(b'%', elements),
        Value::Push(elements) => mark_of_all(b'>', elements),
        Value::Attribute(elements) => mark_of_all(b'|', elements),
        scalar => mark_of_scalar(scalar),
    }
}

#[inline]
fn mark_of_scalar(value: &Value<'_>) -> u64 {
    match value {
        Value::Simple(text) => mark(b'+', text.len() as u64),
        Value::Error(text) => mark(b'-', text.len() as u64),
        Value::Integer(integer) => mark(b':', *integer as u64),
        Value::Bulk(bytes) => mark(b'$', bytes.len() as u64),
        Value::Null => mark(b'_', 0),
        Value::Boolean(boolean) => mark(b'#', u64::from(*boolean)),
        Value::Double(double) => mark_double(*double),
        Value::BigNumber(digits) => mark(b'(', digits.len() as u64),
        Value::BulkError(text) => mark(b'!', text.len() as u64),
        Value::Verbatim { text, .. } => mark(b'=', text.len() as u64),
        other => unreachable!("{other:?} is no scalar of the bench"),
    }
}

fn mark_of_all(kind: u8, elements: &Elements<'_>) -> u64 {
    let own = mark(kind, elements.len() as u64);
    elements.clone().fold(own, |marks, element| marks.wrapping_add(mark_of(&element)))
}

/// Our parser, and one pass over the tokens of all levels.
#[derive(Default)]
pub(crate) struct RedboltTokens(Parser);

impl Decoder for RedboltTokens {
    #[inline]
    fn decode(&mut self, bytes: &[u8]) -> Option<(u64, usize)> {
        match self.0.parse(bytes).expect("the replies are well-formed") {
            Status::Complete((value, len)) => Some((mark_of_tokens(&value), len)),
            Status::Partial => None,
        }
    }
}

#[inline]
fn mark_of_tokens(value: &Value<'_>) -> u64 {
    let (kind, elements) = match value {
        Value::Array(elements) => (b'*', elements),
        Value::Set(elements) => (b'~', elements),
        Value::Map(elements) => (b'%', elements),
        Value::Push(elements) => (b'>', elements),
        Value::Attribute(elements) => (b'|', elements),
        scalar => return mark_of_scalar(scalar),
    };
    let own = mark(kind, elements.len() as u64);
    elements.tokens().fold(own, |marks, token| {
        marks.wrapping_add(match token {
            Token::Scalar(value) => mark_of_scalar(&value),
            Token::Header(Aggregate::Array, count) => mark(b'*', u64::from(count)),
            Token::Header(Aggregate::Set, count) => mark(b'~', u64::from(count)),
            Token::Header(Aggregate::Map, count) => mark(b'%', u64::from(count)),
            Token::Header(Aggregate::Push, count) => mark(b'>', u64::from(count)),
            Token::Header(Aggregate::Attribute, count) => mark(b'|', u64::from(count)),
        })
    })
}
