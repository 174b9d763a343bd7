//! Iterating over the elements of an aggregate, and over the tokens of all its levels.

use core::iter::FusedIterator;

use super::limits::Bounds;
use super::token::{self, Aggregate, Progress, Token};
use super::value::{Elements, Value};

impl<'b> Elements<'b> {
    /// Returns the bytes of the elements that have not been read, attributes included.
    #[inline]
    pub fn bytes(&self) -> &'b [u8] {
        self.bytes
    }

    /// Returns the tokens of the elements that have not been read, of all levels.
    ///
    /// One pass over the bytes reads everything, however deep. The counts in the headers tell where
    /// an aggregate ends, so that a recursive function needs no more than one `&mut Tokens`:
    ///
    /// ```
    /// use redbolt::resp::{Status, Token, Tokens, Value, parse};
    ///
    /// fn sum(tokens: &mut Tokens<'_>) -> i64 {
    ///     match tokens.next() {
    ///         Some(Token::Scalar(Value::Integer(integer))) => integer,
    ///         Some(Token::Header(_, count)) => (0..count).map(|_| sum(tokens)).sum(),
    ///         _ => 0,
    ///     }
    /// }
    ///
    /// let reply = b"*3\r\n*2\r\n:1\r\n*1\r\n:2\r\n:3\r\n:4\r\n";
    /// let Status::Complete((Value::Array(elements), _)) = parse(reply)? else { panic!() };
    /// let mut tokens = elements.tokens();
    /// assert_eq!((0..elements.len()).map(|_| sum(&mut tokens)).sum::<i64>(), 10);
    /// assert_eq!(tokens.next(), None);
    /// # Ok::<(), redbolt::resp::Error>(())
    /// ```
    #[inline]
    pub fn tokens(&self) -> Tokens<'b> {
        Tokens { bytes: self.bytes }
    }

    /// Takes one token from the front. The invariant promises one at every call.
    #[inline]
    pub(super) fn token(&mut self) -> Option<Token<'b>> {
        let (token, rest) = first(self.bytes)?;
        self.bytes = rest;
        Some(token)
    }

    /// Takes one value from the front, and drops the attributes before the value.
    #[inline(never)]
    fn any_value(&mut self) -> Option<Value<'b>> {
        if let Some((value, len)) = token::scalar(self.bytes, &Bounds::MOST) {
            self.bytes = &self.bytes[len..];
            return Some(value);
        }
        loop {
            match self.token()? {
                Token::Scalar(value) => return Some(value),
                Token::Header(Aggregate::Attribute, count) => {
                    self.skip_values(count)?;
                }
                Token::Header(aggregate, count) => {
                    let elements = self.take_values(count)?;
                    return Some(aggregate.value(elements));
                }
            }
        }
    }

    /// Takes the `count` elements of an aggregate, whose header has been read, from the front.
    #[inline]
    pub(super) fn take_values(&mut self, count: u32) -> Option<Self> {
        // The last element ends where the bytes end. Deep nesting most often is in the last
        // element, and no level then costs a search for its end.
        let bytes = match self.missing {
            0 => core::mem::take(&mut self.bytes),
            _ => self.skip_values(count)?,
        };
        Some(Self::accepted(bytes, count))
    }

    /// Takes `count` values from the front, and returns their bytes.
    pub(super) fn skip_values(&mut self, count: u32) -> Option<&'b [u8]> {
        let bytes = self.bytes;
        // The parser has bounded the sum of all counts by its limit.
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

/// Returns the first token of accepted bytes, and the bytes after the token.
#[inline]
fn first(bytes: &[u8]) -> Option<(Token<'_>, &[u8])> {
    match token::read(bytes, 0, &Bounds::MOST) {
        Ok(Progress::Whole(token, len)) => Some((token, &bytes[len..])),
        _ => None,
    }
}

impl<'b> Iterator for Elements<'b> {
    type Item = Value<'b>;

    #[inline]
    fn next(&mut self) -> Option<Value<'b>> {
        self.missing = self.missing.checked_sub(1)?;
        // Few enough instructions to be inlined where answers about locks are read.
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
    /// Compares in one pass over each, without recursion: the counts in equal headers make equal
    /// structures.
    fn eq(&self, other: &Self) -> bool {
        self.missing == other.missing && Plain(self.clone()).eq(Plain(other.clone()))
    }
}

/// The tokens of all levels, without attributes.
struct Plain<'b>(Elements<'b>);

impl<'b> Iterator for Plain<'b> {
    type Item = Token<'b>;

    fn next(&mut self) -> Option<Token<'b>> {
        loop {
            match self.0.token()? {
                Token::Header(Aggregate::Attribute, count) => {
                    self.0.skip_values(count)?;
                }
                token => return Some(token),
            }
        }
    }
}

/// An iterator over the tokens of accepted elements, from [`Elements::tokens`]: every scalar and
/// every header of all levels, in the order of the bytes, attributes included.
///
/// Each byte is read once, nothing is allocated, and nothing recurses.
#[derive(Clone, Debug)]
pub struct Tokens<'b> {
    /// Bytes that a parser has accepted.
    bytes: &'b [u8],
}

impl<'b> Tokens<'b> {
    /// Returns the bytes that have not been read. What is missing from them after
    /// [`next`](Iterator::next) are the bytes of the token.
    #[inline]
    pub fn bytes(&self) -> &'b [u8] {
        self.bytes
    }

    /// Takes one token from the front.
    #[inline(never)]
    fn any_token(&mut self) -> Option<Token<'b>> {
        if let Some((value, len)) = token::scalar(self.bytes, &Bounds::MOST) {
            self.bytes = &self.bytes[len..];
            return Some(Token::Scalar(value));
        }
        let (token, rest) = first(self.bytes)?;
        self.bytes = rest;
        Some(token)
    }
}

impl<'b> Iterator for Tokens<'b> {
    type Item = Token<'b>;

    #[inline]
    fn next(&mut self) -> Option<Token<'b>> {
        if let Some((value, len)) = token::frequent(self.bytes) {
            self.bytes = &self.bytes[len..];
            return Some(Token::Scalar(value));
        }
        self.any_token()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        // No token is shorter than `_\r\n`.
        (usize::from(!self.bytes.is_empty()), Some(self.bytes.len() / 3))
    }
}

impl FusedIterator for Tokens<'_> {}
