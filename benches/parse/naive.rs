//! A decoder as one writes it in an afternoon: recursive, copying, and beginning anew whenever more
//! bytes have come.

use crate::reading::{Decoder, mark_double};
use crate::replies::mark;

#[derive(Default)]
pub(crate) struct Naive;

enum Reply {
    Text(u8, String),
    Bytes(u8, Vec<u8>),
    Integer(i64),
    Boolean(bool),
    Double(f64),
    Null,
    Elements(u8, Vec<Self>),
}

impl Decoder for Naive {
    fn decode(&mut self, bytes: &[u8]) -> Option<(u64, usize)> {
        let (reply, len) = reply(bytes)?;
        Some((reply.mark(), len))
    }
}

/// Returns the first reply and its length.
fn reply(bytes: &[u8]) -> Option<(Reply, usize)> {
    let line_len = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let text = std::str::from_utf8(&bytes[1..line_len]).expect("a line is text");
    let (kind, used) = (bytes[0], line_len + 2);
    Some(match kind {
        b'+' | b'-' | b'(' => (Reply::Text(kind, text.to_owned()), used),
        b':' => (Reply::Integer(text.parse().expect("an integer")), used),
        b',' => (Reply::Double(text.parse().expect("a double")), used),
        b'#' => (Reply::Boolean(text == "t"), used),
        b'_' => (Reply::Null, used),
        b'$' | b'*' if text == "-1" => (Reply::Null, used),
        b'$' | b'!' | b'=' => {
            let len: usize = text.parse().expect("a length");
            let payload = bytes.get(used..used + len + 2)?[..len].to_vec();
            (Reply::Bytes(kind, payload), used + len + 2)
        }
        _ => {
            let count: usize = text.parse().expect("a count");
            let count = if matches!(kind, b'%' | b'|') { 2 * count } else { count };
            elements(kind, count, bytes, used)?
        }
    })
}

fn elements(kind: u8, count: usize, bytes: &[u8], mut used: usize) -> Option<(Reply, usize)> {
    let mut elements = Vec::new();
    for _ in 0..count {
        let (element, len) = reply(&bytes[used..])?;
        elements.push(element);
        used += len;
    }
    Some((Reply::Elements(kind, elements), used))
}

impl Reply {
    fn mark(&self) -> u64 {
        match self {
            Self::Text(kind, text) => mark(*kind, text.len() as u64),
            // The first four bytes of a verbatim text are its format.
            Self::Bytes(b'=', bytes) => mark(b'=', bytes.len() as u64 - 4),
            Self::Bytes(kind, bytes) => mark(*kind, bytes.len() as u64),
            Self::Integer(integer) => mark(b':', *integer as u64),
            Self::Boolean(boolean) => mark(b'#', u64::from(*boolean)),
            Self::Double(double) => mark_double(*double),
            Self::Null => mark(b'_', 0),
            Self::Elements(kind, elements) => {
                let own = mark(*kind, elements.len() as u64);
                elements.iter().fold(own, |marks, element| marks.wrapping_add(element.mark()))
            }
        }
    }
}
