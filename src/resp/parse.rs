//! The parser: from tokens to values. Keeps count of nesting and limits, and resumes an incomplete
//! value when more bytes have come.

use super::token::{self, Aggregate, Progress, Token};
use super::{Elements, Error, MAX_DEPTH, MAX_ELEMENTS, Value};

/// The outcome of parsing bytes that hold no error so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status<T> {
    /// The bytes begin with a whole value.
    Complete(T),
    /// The bytes are only the beginning of a value. More bytes are needed.
    Partial,
}

impl<T> Status<T> {
    /// Returns `true` if the status is [`Status::Complete`].
    #[inline]
    pub const fn is_complete(&self) -> bool {
        matches!(self, Self::Complete(_))
    }

    /// Returns `true` if the status is [`Status::Partial`].
    #[inline]
    pub const fn is_partial(&self) -> bool {
        matches!(self, Self::Partial)
    }

    /// Applies `f` to the content of [`Status::Complete`], and keeps [`Status::Partial`] as it is.
    #[inline]
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Status<U> {
        match self {
            Self::Complete(complete) => Status::Complete(f(complete)),
            Self::Partial => Status::Partial,
        }
    }
}

/// Parses the first value of `bytes`. Returns the value and its length in bytes, or
/// [`Status::Partial`] if the value is incomplete.
///
/// The cost is linear in the length of the value; nothing is allocated. For bytes that arrive in
/// pieces, use a [`Parser`], which does not start again at the first byte with every call.
///
/// # Errors
///
/// Returns an [`Error`] if `bytes` cannot be the beginning of a value, whatever bytes follow. A
/// wrong line or bulk string gives an error at its end at the latest.
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

/// Parses the frequent replies, and arrays of them, on a short path. Returns `None` for all other
/// values, and if bytes are missing.
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

/// A parser for values that arrive in pieces.
///
/// The parser owns no bytes: the caller keeps them in a buffer that grows. About a hundred bytes of
/// state record how far an incomplete value has been examined, and how many elements each open
/// aggregate still lacks. The cost of a value is linear in its length, however the value is cut
/// into pieces. A call that cannot complete a bulk string looks at no byte of that string. See the
/// [module page](super) for an example.
///
/// The result never depends on the pieces: [`parse`] returns the same for the same bytes.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    /// The first error, which every later call repeats.
    failed: Option<Error>,
    /// The length of all accepted tokens in bytes.
    accepted: usize,
    /// The number of bytes of the next token that have been searched.
    seen: usize,
    /// The least number of bytes that can bring progress. Zero only at the beginning of a value.
    needed: usize,
    /// The outermost aggregate, its number of elements, and the length of its header.
    outermost: Option<(Aggregate, u32, usize)>,
    /// The number of values inside the outermost aggregate, as far as headers have announced them.
    promised: u32,
    /// The number of open aggregates.
    depth: usize,
    /// The number of elements that each open aggregate still lacks, outermost first. Only the
    /// innermost entry can be zero, just before its aggregate is closed.
    missing: [u32; MAX_DEPTH],
}

impl Parser {
    /// Creates a parser that expects the beginning of a value.
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

    /// Parses the first value of `bytes`. Returns the value and its length in bytes, or
    /// [`Status::Partial`] if the value is incomplete.
    ///
    /// After [`Status::Partial`], call `parse` again with the same bytes and more bytes after them.
    /// After [`Status::Complete`], the parser expects the bytes after the value. Bytes that break
    /// this contract give wrong values or errors.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`parse`](fn@parse). No value follows an error, so every later
    /// call returns the same error, until [`Parser::reset`] is called.
    #[inline]
    pub fn parse<'b>(&mut self, bytes: &'b [u8]) -> Result<Status<(Value<'b>, usize)>, Error> {
        // Only the first call for a value tries the short path: no byte is read more than twice.
        if self.needed == 0 {
            if let Some(reply) = straight(bytes) {
                return Ok(Status::Complete(reply));
            }
        }
        self.proceed(bytes).inspect_err(|&error| {
            self.failed = Some(error);
            self.needed = usize::MAX;
        })
    }

    /// Discards an incomplete value or an error. The next call expects the beginning of a value.
    #[inline]
    pub fn reset(&mut self) {
        self.failed = None;
        self.accepted = 0;
        self.seen = 0;
        self.needed = 0;
        self.outermost = None;
        self.promised = 0;
        // `missing` may keep its entries: only those below `depth` are ever read.
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
            // No panic: in the first turn `accepted` is at most `needed`, later at most the length.
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
            if self.depth == 0 {
                if let Some((aggregate, count, header)) = self.outermost {
                    let len = self.accepted;
                    self.reset();
                    let elements = Elements::accepted(&bytes[header..len], count);
                    return Ok(Status::Complete((aggregate.value(elements), len)));
                }
            }
        }
    }

    /// Opens an aggregate, after its header has been accepted.
    fn open(&mut self, aggregate: Aggregate, count: u32) -> Result<(), Error> {
        let mut promised = count;
        if self.outermost.is_none() {
            self.outermost = Some((aggregate, count, self.accepted));
        } else if aggregate == Aggregate::Attribute {
            // An attribute belongs to the next element and is no element itself, so no header has
            // announced it. Each attribute counts here: a value could otherwise hold any number of
            // empty ones.
            promised += 1;
        } else {
            self.count_element();
        }
        // Neither sum can overflow: all counts are at most `MAX_ELEMENTS`.
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

    /// Counts one element of the innermost open aggregate.
    #[inline]
    fn count_element(&mut self) {
        if let Some(missing) = self.missing[..self.depth].last_mut() {
            *missing -= 1;
        }
    }

    /// Closes the aggregates that have all their elements.
    #[inline]
    fn close_complete(&mut self) {
        while let [.., 0] = self.missing[..self.depth] {
            self.depth -= 1;
        }
    }
}
