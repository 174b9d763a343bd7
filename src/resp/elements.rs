//! The elements of an aggregate.

use core::fmt;
use core::iter::FusedIterator;

use super::Value;
use super::token::{self, Aggregate, Progress, Token};

/// The elements of an aggregate, read one after the other from the bytes of the reply.
///
/// A map of n pairs has 2n elements: key, value, key, value. Attributes inside the aggregate are
/// skipped and do not count. Everything was validated before the aggregate was handed out, so
/// reading cannot fail.
///
/// Reading all elements costs one more pass over their bytes, plus one over those of each nested
/// aggregate to find its end. A clone restarts nothing: it continues where the original is. To
/// compare or to print recurses at most [`MAX_DEPTH`](super::MAX_DEPTH) deep.
///
/// ```
/// use redbolt::resp::{Status, Value, parse};
///
/// let reply = b"%1\r\n+role\r\n*2\r\n+master\r\n:7\r\n";
/// let Status::Complete((Value::Map(mut pairs), _)) = parse(reply)? else { panic!() };
/// assert_eq!(pairs.len(), 2);
/// assert_eq!(pairs.next(), Some(Value::Simple(b"role")));
/// let Some(Value::Array(role)) = pairs.next() else { panic!() };
/// assert!(role.eq([Value::Simple(b"master"), Value::Integer(7)]));
/// # Ok::<(), redbolt::resp::Error>(())
/// ```
#[derive(Clone)]
pub struct Elements<'b> {
    /// INVARIANT: `missing` values that the parser has accepted, each with any attributes in front
    /// of it, and nothing else. Only a caller who gives [`Parser::parse`](super::Parser::parse)
    /// other bytes than before can break it, and then the iterator may end early.
    bytes: &'b [u8],
    missing: u32,
}

impl<'b> Elements<'b> {
    /// `count` values that the parser has accepted, and that `bytes` holds.
    #[inline]
    pub(super) fn accepted(bytes: &'b [u8], count: u32) -> Self {
        Self { bytes, missing: count }
    }

    /// Takes one token off. By the invariant there is one wherever this is called.
    #[inline]
    fn token(&mut self) -> Option<Token<'b>> {
        let Ok(Progress::Whole(token, len)) = token::read(self.bytes, 0) else {
            return None;
        };
        self.bytes = &self.bytes[len..];
        Some(token)
    }

    /// Takes one value off, with the attributes in front of it.
    fn any_value(&mut self) -> Option<Value<'b>> {
        loop {
            match self.token()? {
                Token::Scalar(value) => return Some(value),
                Token::Header(Aggregate::Attribute, count) => {
                    self.skip_values(count)?;
                }
                Token::Header(aggregate, count) => {
                    let bytes = self.skip_values(count)?;
                    return Some(aggregate.value(Elements::accepted(bytes, count)));
                }
            }
        }
    }

    /// Takes `count` values off and gives their bytes.
    fn skip_values(&mut self, count: u32) -> Option<&'b [u8]> {
        let bytes = self.bytes;
        // By the invariant the sum of all counts is at most `MAX_ELEMENTS`.
        let mut missing = count;
        while missing > 0 {
            match self.token()? {
                Token::Scalar(_) => missing -= 1,
                Token::Header(Aggregate::Attribute, count) => {
                    missing = missing.saturating_add(count)
                }
                Token::Header(_, count) => missing = (missing - 1).saturating_add(count),
            }
        }
        Some(&bytes[..bytes.len() - self.bytes.len()])
    }
}

impl<'b> Iterator for Elements<'b> {
    type Item = Value<'b>;

    #[inline]
    fn next(&mut self) -> Option<Value<'b>> {
        self.missing = self.missing.checked_sub(1)?;
        if let Some((value, len)) = token::frequent(self.bytes) {
            self.bytes = &self.bytes[len..];
            return Some(value);
        }
        self.any_value()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.missing as usize, Some(self.missing as usize))
    }
}

impl ExactSizeIterator for Elements<'_> {}

impl FusedIterator for Elements<'_> {}

impl PartialEq for Elements<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.clone().eq(other.clone())
    }
}

impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
