//! Iterating over the elements of an aggregate.

use core::iter::FusedIterator;

use super::token::{self, Aggregate, Progress, Token};
use super::value::{Elements, Value};

impl<'b> Elements<'b> {
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
