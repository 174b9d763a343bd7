//! The iterator over the elements of an aggregate.

use core::fmt;
use core::iter::FusedIterator;

use super::Value;
use super::token::{self, Aggregate, Progress, Token};

/// An iterator over the elements of an aggregate, read from the bytes of the reply.
///
/// A map of n pairs has 2n elements: key, value, key, value. Attributes inside the aggregate are
/// skipped and do not count. The parser has validated all bytes already, so reading cannot fail.
///
/// Iterating costs one more pass over the bytes of the elements, and another one over the bytes of
/// each nested aggregate, to find its end. A clone continues at the position of the original.
/// Comparing and printing recurse at most [`MAX_DEPTH`](super::MAX_DEPTH) deep.
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
    /// INVARIANT: these bytes are exactly `missing` values, each with any attributes in front, and
    /// the parser has accepted them. Only a caller who gives
    /// [`Parser::parse`](super::Parser::parse) other bytes than before can break the invariant.
    /// The iterator may end early then.
    bytes: &'b [u8],
    /// The number of elements that are still to be read.
    missing: u32,
}

impl<'b> Elements<'b> {
    /// Creates an iterator over `bytes`, which are exactly `count` values that the parser accepted.
    #[inline]
    pub(super) fn accepted(bytes: &'b [u8], count: u32) -> Self {
        Self { bytes, missing: count }
    }

    /// Takes one token from the front. The invariant promises one at every call.
    #[inline]
    fn token(&mut self) -> Option<Token<'b>> {
        let Ok(Progress::Whole(token, len)) = token::read(self.bytes, 0) else {
            return None;
        };
        self.bytes = &self.bytes[len..];
        Some(token)
    }

    /// Takes one value from the front, and drops the attributes before the value.
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

    /// Takes `count` values from the front, and returns their bytes.
    fn skip_values(&mut self, count: u32) -> Option<&'b [u8]> {
        let bytes = self.bytes;
        // The invariant bounds the sum of all counts by `MAX_ELEMENTS`.
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
