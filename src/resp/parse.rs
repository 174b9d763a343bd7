//! From tokens to values: nesting, limits, and where to go on when more bytes have come.

use super::token::{self, Aggregate, Progress, Token};
use super::{Elements, Error, MAX_DEPTH, MAX_ELEMENTS, Value};

/// The outcome of parsing bytes that are not wrong so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status<T> {
    /// The bytes begin with a whole value.
    Complete(T),
    /// The bytes are the beginning of a value.
    Partial,
}

impl<T> Status<T> {
    /// Whether this is [`Status::Complete`].
    #[inline]
    pub const fn is_complete(&self) -> bool {
        matches!(self, Self::Complete(_))
    }

    /// Whether this is [`Status::Partial`].
    #[inline]
    pub const fn is_partial(&self) -> bool {
        matches!(self, Self::Partial)
    }

    /// Applies `f` to what is complete.
    #[inline]
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Status<U> {
        match self {
            Self::Complete(complete) => Status::Complete(f(complete)),
            Self::Partial => Status::Partial,
        }
    }
}

/// Parses the first value of `bytes`, and says how many bytes it has.
///
/// The cost is linear in the bytes of the value. For bytes that arrive in pieces use a [`Parser`],
/// which does not begin anew each time.
///
/// # Errors
///
/// An [`Error`] if no continuation of `bytes` begins with a value. It is reported at the end of
/// the line or bulk that is wrong, at the latest.
///
/// ```
/// use redbolt::resp::{Error, Status, Value, parse};
///
/// assert_eq!(parse(b"+OK\r\n:1\r\n"), Ok(Status::Complete((Value::Simple(b"OK"), 5))));
/// assert_eq!(parse(b"+OK\r"), Ok(Status::Partial));
/// assert_eq!(parse(b"$-2\r\n"), Err(Error::Length));
/// ```
#[inline]
pub fn parse(bytes: &[u8]) -> Result<Status<(Value<'_>, usize)>, Error> {
    match straight(bytes) {
        Some(reply) => Ok(Status::Complete(reply)),
        None => Parser::new().proceed(bytes),
    }
}

/// The straight path: the frequent replies, and arrays of them, if all their bytes are there.
#[inline]
fn straight(bytes: &[u8]) -> Option<(Value<'_>, usize)> {
    match token::frequent(bytes) {
        None if bytes.first() == Some(&b'*') => straight_array(bytes),
        reply => reply,
    }
}

fn straight_array(bytes: &[u8]) -> Option<(Value<'_>, usize)> {
    let Ok(Progress::Whole(Token::Header(_, count), header)) = token::read(bytes, 0) else {
        return None;
    };
    let elements = &bytes[header..];
    let mut rest = elements;
    for _ in 0..count {
        let (_, len) = token::frequent(rest)?;
        rest = &rest[len..];
    }
    let (elements, _) = elements.split_at(elements.len() - rest.len());
    Some((Value::Array(Elements::accepted(elements, count)), header + elements.len()))
}

/// Parses values from a buffer that grows.
///
/// The parser owns no bytes. It remembers where in the buffer an incomplete value has been
/// examined to, and how many elements its open aggregates still miss, in about a hundred bytes.
/// Whatever the pieces are in which a value arrives, its cost is linear in its bytes, and a call
/// that cannot complete a bulk looks at none of them. See the [module](super) for an example.
///
/// The result never depends on the pieces: it is that of [`parse`] on the same bytes.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    /// The first error, which every later call repeats.
    failed: Option<Error>,
    /// How many bytes belong to tokens that have been accepted.
    accepted: usize,
    /// How many bytes of the next token have been searched.
    seen: usize,
    /// Fewer bytes than this change nothing. Zero only at the beginning of a value.
    needed: usize,
    /// The outermost aggregate, its count of elements, and the length of its header.
    outermost: Option<(Aggregate, u32, usize)>,
    /// How many values the outermost aggregate holds, as far as headers have told.
    promised: u32,
    /// How many aggregates are open.
    depth: usize,
    /// How many elements the open aggregates still miss, outermost first: none misses zero, except
    /// the innermost just before it is closed.
    missing: [u32; MAX_DEPTH],
}

impl Parser {
    /// A parser at the beginning of a value.
    pub const fn new() -> Self {
        Self {
            failed: None,
            accepted: 0,
            seen: 0,
            needed: 0,
            outermost: None,
            promised: 0,
            depth: 0,
            missing: [0; MAX_DEPTH],
        }
    }

    /// Parses the first value of `bytes`, and says how many bytes it has.
    ///
    /// After [`Status::Partial`] call it again with the same bytes and more behind them. After
    /// [`Status::Complete`] the parser is as new, and expects the bytes behind the value. Bytes
    /// that break this contract give wrong values or errors.
    ///
    /// # Errors
    ///
    /// As [`parse`]. There is no next value after an error, so every later call gives the same
    /// error, until [`Parser::reset`].
    #[inline]
    pub fn parse<'b>(&mut self, bytes: &'b [u8]) -> Result<Status<(Value<'b>, usize)>, Error> {
        // Only the first call for a value tries it, so that no bytes are read more than twice.
        if self.needed == 0
            && let Some(reply) = straight(bytes)
        {
            return Ok(Status::Complete(reply));
        }
        self.proceed(bytes).inspect_err(|&error| {
            self.failed = Some(error);
            self.needed = usize::MAX;
        })
    }

    /// Forgets the incomplete value or the error. The next bytes begin a value.
    #[inline]
    pub fn reset(&mut self) {
        self.failed = None;
        self.accepted = 0;
        self.seen = 0;
        self.needed = 0;
        self.outermost = None;
        self.promised = 0;
        // `missing` is only read below `depth`.
        self.depth = 0;
    }

    fn proceed<'b>(&mut self, bytes: &'b [u8]) -> Result<Status<(Value<'b>, usize)>, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if bytes.len() < self.needed {
            return Ok(Status::Partial);
        }
        loop {
            // `accepted` is at most `needed` in the first turn, and later at most the length.
            let (token, len) = match token::read(&bytes[self.accepted..], self.seen)? {
                Progress::Whole(token, len) => (token, len),
                Progress::Partial { seen, needed } => {
                    self.seen = seen;
                    self.needed = self.accepted.saturating_add(needed);
                    return Ok(Status::Partial);
                }
            };
            self.accepted += len;
            self.seen = 0;
            match token {
                Token::Scalar(value) => {
                    if self.depth == 0 {
                        let len = self.accepted;
                        self.reset();
                        return Ok(Status::Complete((value, len)));
                    }
                    self.count_element();
                }
                Token::Header(aggregate, count) => self.open(aggregate, count)?,
            }
            self.close_complete();
            if self.depth == 0
                && let Some((aggregate, count, header)) = self.outermost
            {
                let len = self.accepted;
                self.reset();
                let elements = Elements::accepted(&bytes[header..len], count);
                return Ok(Status::Complete((aggregate.value(elements), len)));
            }
        }
    }

    /// Opens the aggregate whose header has just been accepted.
    fn open(&mut self, aggregate: Aggregate, count: u32) -> Result<(), Error> {
        let mut promised = count;
        if self.outermost.is_none() {
            self.outermost = Some((aggregate, count, self.accepted));
        } else if aggregate == Aggregate::Attribute {
            // It belongs to the element that follows and is none itself. Nobody has promised it,
            // so that it counts here, or else there could be any number of empty ones.
            promised += 1;
        } else {
            self.count_element();
        }
        // Neither can overflow: all counts are at most `MAX_ELEMENTS`.
        self.promised += promised;
        if self.promised as usize > MAX_ELEMENTS {
            return Err(Error::TooManyElements);
        }
        if aggregate == Aggregate::Push && self.depth > 0 {
            return Err(Error::Push);
        }
        *self.missing.get_mut(self.depth).ok_or(Error::TooDeep)? = count;
        self.depth += 1;
        Ok(())
    }

    /// Counts an element of the innermost open aggregate.
    #[inline]
    fn count_element(&mut self) {
        if let Some(missing) = self.missing[..self.depth].last_mut() {
            *missing -= 1;
        }
    }

    /// Closes the aggregates that miss nothing any more.
    #[inline]
    fn close_complete(&mut self) {
        while let [.., 0] = self.missing[..self.depth] {
            self.depth -= 1;
        }
    }
}
