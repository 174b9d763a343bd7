//! The parser: from tokens to values. Keeps count of nesting and limits, and resumes an incomplete
//! value when more bytes have come.

use super::limits::{Bounds, MOST_DEPTH};
use super::token::{self, Aggregate, Progress, Token};
use super::{Elements, Error, Limits, LimitsError, MAX_DEPTH, Value};

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
    match straight(bytes, &Bounds::DEFAULT) {
        Some(reply) => Ok(Status::Complete(reply)),
        None => Parser::new().proceed(bytes),
    }
}

/// Parses the frequent replies, and arrays of them, on a short path. Returns `None` for all other
/// values, and if bytes are missing.
#[inline]
fn straight<'b>(bytes: &'b [u8], bounds: &Bounds) -> Option<(Value<'b>, usize)> {
    match token::frequent(bytes) {
        None if bytes.first() == Some(&b'*') => straight_array(bytes, bounds),
        reply => reply,
    }
}

fn straight_array<'b>(bytes: &'b [u8], bounds: &Bounds) -> Option<(Value<'b>, usize)> {
    let (_, count, header) = token::short_header(bytes, bounds)?;
    let elements = &bytes[header..];
    let mut rest = elements;
    for _ in 0..count {
        let (_, len) = token::frequent(rest)?;
        rest = &rest[len..];
    }
    let (elements, _) = elements.split_at(elements.len() - rest.len());
    Some((Value::Array(Elements::accepted(elements, count)), header + elements.len()))
}

/// A piece of a line is looked at byte by byte if the piece has at most so many bytes.
const FEW: usize = 16;

/// A parser for values that arrive in pieces.
///
/// The parser owns no bytes: the caller keeps them in a buffer that grows. About 120 bytes of
/// state record how far an incomplete value has been examined, and how many elements each open
/// aggregate still lacks. The cost of a value is linear in its length, however the value is cut
/// into pieces. A call that cannot complete a bulk string looks at no byte of that string. See the
/// [module page](super) for an example.
///
/// The result never depends on the pieces: [`parse`] returns the same for the same bytes.
///
/// `DEPTH` is the maximum depth of nested aggregates, from 1 to [`MOST_DEPTH`], with four bytes of
/// state for each level. [`Parser::new`] makes the usual parser; [`Parser::with_limits`] makes one
/// of another depth and with other limits.
///
/// ```
/// use redbolt::resp::{Error, Limits, Parser};
///
/// let nested = b"*1\r\n".repeat(39);
/// assert_eq!(Parser::new().parse(&nested), Err(Error::TooDeep));
///
/// let mut deeper = Parser::<40>::with_limits(Limits::default())?;
/// assert!(deeper.parse(&nested)?.is_partial());
/// assert_eq!(deeper.needed(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Parser<const DEPTH: usize = MAX_DEPTH> {
    bounds: Bounds,
    /// The length of all accepted tokens in bytes.
    accepted: usize,
    /// The least number of bytes that can bring progress. Zero only at the beginning of a value.
    needed: usize,
    /// The number of bytes that the last call was given, if they were too few.
    given: usize,
    /// The number of bytes of the next token that have been searched. Fits: they are no more than
    /// the longest line.
    seen: u32,
    /// The number of elements of the outermost aggregate.
    count: u32,
    /// The number of values inside the outermost aggregate, as far as headers have announced them.
    promised: u32,
    /// The number of elements that each open aggregate still lacks, outermost first. Only the
    /// innermost entry can be zero, just before its aggregate is closed.
    missing: [u32; DEPTH],
    /// The number of open aggregates.
    depth: u8,
    /// The length of the header of the outermost aggregate.
    header: u8,
    /// The outermost aggregate.
    outermost: Option<Aggregate>,
    /// The first error, which every later call repeats.
    failed: Option<Error>,
}

impl Parser {
    /// Creates a parser that expects the beginning of a value, with the usual limits:
    /// [`MAX_DEPTH`], and those of [`Limits::default`].
    pub const fn new() -> Self {
        Self::bounded(Bounds::DEFAULT)
    }
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl<const DEPTH: usize> Parser<DEPTH> {
    /// Creates a parser that expects the beginning of a value, with other limits than the usual.
    ///
    /// # Errors
    ///
    /// Returns an error that names the limit that is out of its bounds.
    pub fn with_limits(limits: Limits) -> Result<Self, LimitsError> {
        Bounds::new(limits).map(Self::bounded)
    }

    const fn bounded(bounds: Bounds) -> Self {
        const { assert!(DEPTH >= 1 && DEPTH <= MOST_DEPTH, "DEPTH is out of its bounds") };
        Self {
            bounds,
            accepted: 0,
            needed: 0,
            given: 0,
            seen: 0,
            count: 0,
            promised: 0,
            missing: [0; DEPTH],
            depth: 0,
            header: 0,
            outermost: None,
            failed: None,
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
            if let Some(reply) = straight(bytes, &self.bounds) {
                return Ok(Status::Complete(reply));
            }
        }
        self.proceed(bytes).inspect_err(|&error| {
            self.failed = Some(error);
            self.needed = usize::MAX;
        })
    }

    /// Returns how many bytes the incomplete value lacks at least, for a caller who reserves room
    /// for them or reads so many at once. Returns 0 if no value is incomplete.
    ///
    /// The number counts what the value has announced: the rest of a bulk string, and three bytes
    /// for each element that has not begun, because no value is shorter. A reader who waits for so
    /// many bytes never waits for more than the value has, but learns of an error later.
    ///
    /// ```
    /// use redbolt::resp::Parser;
    ///
    /// let mut parser = Parser::new();
    /// assert!(parser.parse(b"*3\r\n$1000\r\nab")?.is_partial());
    /// assert_eq!(parser.needed(), 998 + 2 + 3 + 3);
    /// # Ok::<(), redbolt::resp::Error>(())
    /// ```
    pub fn needed(&self) -> usize {
        const SHORTEST: usize = 3;
        if self.needed == 0 || self.failed.is_some() {
            return 0;
        }
        let open = &self.missing[..usize::from(self.depth)];
        let elements: usize = open.iter().map(|missing| *missing as usize).sum();
        // One of the elements is the token that `needed` is about.
        let others = elements.saturating_sub(1).saturating_mul(SHORTEST);
        let end = self.needed.max(self.accepted.saturating_add(SHORTEST));
        end.saturating_add(others).saturating_sub(self.given)
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

    /// The general path. Out of line, so that the short path costs no more than it needs.
    #[inline(never)]
    fn proceed<'b>(&mut self, bytes: &'b [u8]) -> Result<Status<(Value<'b>, usize)>, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.given = bytes.len();
        if bytes.len() < self.needed || self.is_in_line(bytes) {
            return Ok(Status::Partial);
        }
        loop {
            self.take_scalars(bytes);
            self.close_complete();
            if let (0, Some(aggregate)) = (self.depth, self.outermost) {
                let elements = &bytes[usize::from(self.header)..self.accepted];
                let value = aggregate.value(Elements::accepted(elements, self.count));
                let len = self.accepted;
                self.reset();
                return Ok(Status::Complete((value, len)));
            }
            // No panic: in the first turn `accepted` is at most `needed`, later at most the length.
            let rest = &bytes[self.accepted..];
            let (token, len) = match token::read(rest, self.seen as usize, &self.bounds)? {
                Progress::Whole(token, len) => (token, len),
                Progress::Partial { seen, needed } => {
                    // The cast loses nothing: a line is shorter than 2^30 bytes.
                    self.seen = seen as u32;
                    self.needed = self.accepted.saturating_add(needed);
                    return Ok(Status::Partial);
                }
            };
            self.accepted += len;
            self.seen = 0;
            match token {
                Token::Scalar(value) if self.depth == 0 => {
                    let len = self.accepted;
                    self.reset();
                    return Ok(Status::Complete((value, len)));
                }
                Token::Scalar(_) => self.count_element(),
                Token::Header(aggregate, count) => self.open(aggregate, count)?,
            }
        }
    }

    /// Looks at the few bytes that have come for a line, as they do from a slow sender. Returns
    /// `true` if the line goes on behind them.
    ///
    /// The general path gives the same result, only more slowly.
    #[inline]
    fn is_in_line(&mut self, bytes: &[u8]) -> bool {
        let token = &bytes[self.accepted..];
        let seen = (self.seen as usize).max(1);
        let Some(unseen) = token.get(seen..).filter(|unseen| unseen.len() <= FEW) else {
            return false;
        };
        #[cfg(test)]
        super::tests::work::add(unseen.len());
        // A CR at the end may be the beginning of the line end.
        let (line, len) = match unseen {
            [line @ .., b'\r'] => (line, token.len() - 1),
            line => (line, token.len()),
        };
        let is_open = !line.iter().any(|byte| matches!(byte, b'\r' | b'\n'))
            && token::is_line(token[0], len - 1, &self.bounds);
        if is_open {
            // The cast loses nothing: a line is shorter than 2^30 bytes.
            self.seen = len as u32;
            self.needed = bytes.len() + 1;
        } else if token.len() <= FEW {
            // Reading so few bytes again, on the path for whole tokens, costs less than going on.
            self.seen = 0;
        }
        is_open
    }

    /// Takes the elements of the innermost aggregate that have a frequent form. A loop of its own
    /// makes long arrays cheap.
    #[inline]
    fn take_scalars(&mut self, bytes: &[u8]) {
        let open = &mut self.missing[..usize::from(self.depth)];
        let (Some(missing), 0) = (open.last_mut(), self.seen) else { return };
        let mut rest = &bytes[self.accepted..];
        while *missing > 0 {
            let Some((_, len)) = token::scalar(rest, &self.bounds) else { break };
            rest = &rest[len..];
            *missing -= 1;
        }
        self.accepted = bytes.len() - rest.len();
    }

    /// Opens an aggregate, after its header has been accepted.
    fn open(&mut self, aggregate: Aggregate, count: u32) -> Result<(), Error> {
        let mut promised = count;
        if self.outermost.is_none() {
            self.outermost = Some(aggregate);
            self.count = count;
            // The cast loses nothing: no header is longer than a number of 64 bits.
            self.header = self.accepted as u8;
        } else if aggregate == Aggregate::Attribute {
            // An attribute belongs to the next element and is no element itself, so no header has
            // announced it. Each attribute counts here: a value could otherwise hold any number of
            // empty ones.
            promised += 1;
        } else {
            self.count_element();
        }
        // Neither sum can overflow: both terms are at most half of what fits.
        self.promised += promised;
        if self.promised > self.bounds.elements {
            return Err(Error::TooManyElements);
        }
        if aggregate == Aggregate::Push && self.depth > 0 {
            return Err(Error::Push);
        }
        *self.missing.get_mut(usize::from(self.depth)).ok_or(Error::TooDeep)? = count;
        self.depth += 1;
        Ok(())
    }

    /// Counts one element of the innermost open aggregate.
    #[inline]
    fn count_element(&mut self) {
        if let Some(missing) = self.missing[..usize::from(self.depth)].last_mut() {
            *missing -= 1;
        }
    }

    /// Closes the aggregates that have all their elements.
    #[inline]
    fn close_complete(&mut self) {
        while let [.., 0] = self.missing[..usize::from(self.depth)] {
            self.depth -= 1;
        }
    }
}
