//! The reader for tokens, the smallest parts of RESP: a scalar, or the header of an aggregate.
//!
//! A token depends on the bytes alone. `seen` is the number of bytes in which no line end was
//! found before: when an incomplete token is read again, these bytes are not searched again.

use memchr::memchr2;

use super::limits::Bounds;
use super::number;
use super::{Elements, Error, Value};

/// The smallest part of RESP, as [`Tokens`](super::Tokens) returns it.
#[derive(Clone, Debug, PartialEq)]
pub enum Token<'b> {
    /// A whole value without elements.
    Scalar(Value<'b>),
    /// The header of an aggregate, and the number of its elements, which follow: two for each pair
    /// of a map. After the elements of an attribute, the value follows that the attribute
    /// describes.
    Header(Aggregate, u32),
}

/// The kinds of aggregates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aggregate {
    /// `*`: an ordered collection.
    Array,
    /// `~`: a collection without order.
    Set,
    /// `%`: a map, with keys and values in turn.
    Map,
    /// `>`: a message that answers no request.
    Push,
    /// `|`: keys and values in turn, which describe the next value.
    Attribute,
}

impl Aggregate {
    #[inline]
    pub(super) fn value(self, elements: Elements<'_>) -> Value<'_> {
        match self {
            Self::Array => Value::Array(elements),
            Self::Set => Value::Set(elements),
            Self::Map => Value::Map(elements),
            Self::Push => Value::Push(elements),
            Self::Attribute => Value::Attribute(elements),
        }
    }
}

/// The outcome of reading a token.
pub(super) enum Progress<'b> {
    /// A token, and its length in bytes. The count of a header is within the bounds.
    Whole(Token<'b>, usize),
    /// An incomplete token. The first `seen` bytes need not be searched again. Fewer than `needed`
    /// bytes cannot complete the token; `needed` is always more than the bytes given.
    Partial { seen: usize, needed: usize },
}

/// Reads the token at the beginning of `bytes`.
#[inline]
pub(super) fn read<'b>(
    bytes: &'b [u8],
    seen: usize,
    bounds: &Bounds,
) -> Result<Progress<'b>, Error> {
    if seen == 0 {
        if let Some((value, len)) = scalar(bytes, bounds) {
            return Ok(Progress::Whole(Token::Scalar(value), len));
        }
        if let Some((aggregate, count, len)) = short_header(bytes, bounds) {
            return Ok(Progress::Whole(Token::Header(aggregate, count), len));
        }
    }
    any(bytes, seen, bounds)
}

/// Reads a scalar of a frequent form: besides [`frequent`], a whole bulk string whose length takes
/// at most [`SHORT`] digits, or a whole integer of at most [`LONG`] digits. Returns `None` for all
/// other bytes.
///
/// The general path, [`any`], gives the same results, only more slowly.
#[inline(always)]
pub(super) fn scalar<'b>(bytes: &'b [u8], bounds: &Bounds) -> Option<(Value<'b>, usize)> {
    if let [b':', digit @ b'0'..=b'9', b'\r', b'\n', ..] = *bytes {
        return Some((Value::Integer(i64::from(digit - b'0')), 4));
    }
    match bytes.first()? {
        b':' => {
            let (integer, len) = long_number(bytes)?;
            Some((Value::Integer(integer), len))
        }
        b'$' => match short_number(bytes) {
            Some((len, start)) => {
                // No overflow: the number is less than 10^9.
                let len = len as usize;
                let (payload, end) = bytes.get(start..start + len + 2)?.split_at(len);
                let is_whole = end == b"\r\n" && len <= bounds.length;
                is_whole.then_some((Value::Bulk(payload), start + len + 2))
            }
            None => bytes.starts_with(b"$-1\r\n").then_some((Value::Null, 5)),
        },
        b'+' if bytes.starts_with(b"+OK\r\n") => Some((Value::Simple(&bytes[1..3]), 5)),
        _ => None,
    }
}

/// Reads the header of an aggregate whose length takes at most [`SHORT`] digits. Returns the
/// aggregate, the number of its elements, and the length of the header. Returns `None` for all
/// other bytes, which [`any`] reads.
#[inline]
pub(super) fn short_header(bytes: &[u8], bounds: &Bounds) -> Option<(Aggregate, u32, usize)> {
    let (aggregate, factor) = aggregate(*bytes.first()?)?;
    let (count, len) = short_number(bytes)?;
    // No overflow: the number is less than 10^9.
    let count = count * factor;
    (count <= bounds.elements).then_some((aggregate, count, len))
}

/// The maximum number of digits on the short path. Such a number fits in a `u32`, and so does its
/// double.
const SHORT: usize = 9;

/// The same for an integer, which fits in an `i64`. Times in microseconds have sixteen digits.
const LONG: usize = 18;

/// Reads a line that holds a canonical number of at most [`SHORT`] digits without a sign. Returns
/// the number, and the length of the line with its type byte and its end.
#[inline(always)]
fn short_number(bytes: &[u8]) -> Option<(u32, usize)> {
    if let Some(found) = shortest_number(bytes) {
        return Some(found);
    }
    let (number, len) = longer_number::<SHORT>(bytes)?;
    // The cast loses nothing: nine digits fit.
    Some((number as u32, len))
}

/// Reads a line as [`short_number`] does, of at most [`LONG`] digits.
#[inline(always)]
fn long_number(bytes: &[u8]) -> Option<(i64, usize)> {
    if let Some((number, len)) = shortest_number(bytes) {
        return Some((i64::from(number), len));
    }
    longer_number::<LONG>(bytes)
}

/// Reads a line as [`short_number`] does, of one digit or two. Most numbers have so many, and fixed
/// places cost less than a loop.
#[inline(always)]
fn shortest_number(bytes: &[u8]) -> Option<(u32, usize)> {
    let (number, len) = match *bytes {
        [_, one, b'\r', b'\n', ..] if is_digit(one) => (digit(one), 4),
        [_, ten @ b'1'..=b'9', one, b'\r', b'\n', ..] if is_digit(one) => {
            (digit(ten) * 10 + digit(one), 5)
        }
        _ => return None,
    };
    #[cfg(test)]
    super::tests::work::add(len);
    Some((number, len))
}

#[inline(always)]
fn digit(byte: u8) -> u32 {
    u32::from(byte.wrapping_sub(b'0'))
}

#[inline(always)]
fn is_digit(byte: u8) -> bool {
    digit(byte) < 10
}

/// Reads a line of three digits or more, and at most `MOST`, of which `i64` can hold any number.
fn longer_number<const MOST: usize>(bytes: &[u8]) -> Option<(i64, usize)> {
    let (mut number, mut at) = (0, 1);
    while let Some(chunk) = bytes.get(at..at + 8).filter(|_| at + 7 <= MOST) {
        let Some(digits) = eight_digits(chunk) else { break };
        number = number * 100_000_000 + digits;
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if at > MOST || !is_digit(byte) {
            break;
        }
        number = number * 10 + i64::from(digit(byte));
        at += 1;
    }
    #[cfg(test)]
    super::tests::work::add(at);
    // One digit or two are read elsewhere.
    let is_canonical = at > 3 && bytes[1] != b'0';
    let is_line = matches!(bytes.get(at..at + 2), Some(b"\r\n"));
    (is_canonical && is_line).then_some((number, at + 2))
}

/// Reads eight digits at once: neighbours become pairs, pairs become fours, fours become the
/// number. Returns `None` if any of the bytes is no digit.
#[inline]
fn eight_digits(bytes: &[u8]) -> Option<i64> {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let chunk = u64::from_le_bytes(bytes.try_into().ok()?);
    // The sum carries a byte above `9` over into its high half, and no further.
    if chunk & HIGH != ZEROS || (chunk + 0x0606_0606_0606_0606) & HIGH != ZEROS {
        return None;
    }
    let pairs = (chunk - ZEROS).wrapping_mul(1 + (10 << 8)) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(1 + (100 << 16)) >> 16;
    let eight = (fours & 0x0000_ffff_0000_ffff).wrapping_mul(1 + (10_000 << 32)) >> 32;
    // Fits: eight digits are less than 10^8.
    Some(eight as i64)
}

/// Reads one of the replies that a lock gets from a healthy master: the 0 or 1 of a script, the
/// `+OK` of a granted `SET`, the nil of a refused one. Returns `None` for all other bytes.
///
/// The general path, [`any`], gives the same results for these replies, only more slowly.
#[inline]
pub(super) fn frequent(bytes: &[u8]) -> Option<(Value<'_>, usize)> {
    if let [b':', digit @ b'0'..=b'9', b'\r', b'\n', ..] = *bytes {
        return Some((Value::Integer(i64::from(digit - b'0')), 4));
    }
    if bytes.starts_with(b"+OK\r\n") {
        return Some((Value::Simple(&bytes[1..3]), 5));
    }
    if bytes.starts_with(b"$-1\r\n") {
        return Some((Value::Null, 5));
    }
    None
}

/// Reads a token of any kind.
fn any<'b>(bytes: &'b [u8], seen: usize, bounds: &Bounds) -> Result<Progress<'b>, Error> {
    let Some(&kind) = bytes.first() else {
        return Ok(Progress::Partial { seen: 0, needed: 1 });
    };
    let (longest, too_long) = line_limit(kind, bounds)?;
    let end = match line_end(bytes, seen.max(1), longest, too_long)? {
        LineEnd::At(end) => end,
        LineEnd::NotIn(seen) => {
            return Ok(Progress::Partial { seen, needed: bytes.len() + 1 });
        }
    };
    let text = &bytes[1..end];
    let scalar = match kind {
        b'+' => Value::Simple(text),
        b'-' => Value::Error(text),
        b':' => Value::Integer(number::integer(text).ok_or(Error::Integer)?),
        b'_' => Value::Null,
        b'#' => Value::Boolean(boolean(text)?),
        b',' => Value::Double(number::double(text).ok_or(Error::Double)?),
        b'(' if number::is_integer(text) => Value::BigNumber(text),
        b'(' => return Err(Error::BigNumber),
        b'$' | b'*' if text == b"-1" => Value::Null,
        b'$' | b'!' | b'=' => return bulk(bytes, end, bounds),
        // Only aggregates are left, because `line_limit` has rejected all unknown kinds.
        _ => {
            let (aggregate, count) = header(kind, text, bounds)?;
            return Ok(Progress::Whole(Token::Header(aggregate, count), end + 2));
        }
    };
    Ok(Progress::Whole(Token::Scalar(scalar), end + 2))
}

/// Returns the maximum length of a line of this kind, and the error for a longer line.
///
/// A line of digits may be no longer than the longest number. So a wrong length is reported at
/// once, and not mistaken for a slow sender.
#[inline]
fn line_limit(kind: u8, bounds: &Bounds) -> Result<(usize, Error), Error> {
    match kind {
        b'+' | b'-' | b',' | b'(' => Ok((bounds.line as usize, Error::TooLong)),
        b':' => Ok((number::INTEGER_LEN, Error::Integer)),
        b'$' | b'!' | b'=' | b'*' | b'~' | b'%' | b'>' | b'|' => {
            Ok((number::INTEGER_LEN, Error::Length))
        }
        b'#' => Ok((1, Error::Boolean)),
        b'_' => Ok((0, Error::Null)),
        b';' | b'.' => Err(Error::Streamed),
        _ => Err(Error::Type),
    }
}

/// Returns `true` if a line of this kind can have `len` bytes after its type byte. All errors in
/// such a line are found at its end, but for a stray CR or LF.
#[inline]
pub(super) fn is_line(kind: u8, len: usize, bounds: &Bounds) -> bool {
    match kind {
        b'+' | b'-' | b',' | b'(' => len <= bounds.line as usize,
        b':' | b'$' | b'!' | b'=' | b'*' | b'~' | b'%' | b'>' | b'|' => len <= number::INTEGER_LEN,
        _ => false,
    }
}

/// The result of a search for a line end.
enum LineEnd {
    /// Found: the CR is at this index, which is at least 1, and the LF comes after it.
    At(usize),
    /// Not found in this many first bytes.
    NotIn(usize),
}

/// Finds the line end of the token at the beginning of `bytes`.
///
/// The type byte must be there, and the first `seen` bytes must hold no line end.
#[inline]
fn line_end(bytes: &[u8], seen: usize, longest: usize, error: Error) -> Result<LineEnd, Error> {
    // The type byte, the longest line, and the CR that must come after the line.
    let last = bytes.len().min(longest + 2);
    let unseen = bytes.get(seen..last).unwrap_or_default();
    let found = if longest <= number::INTEGER_LEN {
        // A loop over so few bytes costs less than a call of `memchr2`.
        unseen.iter().position(|byte| matches!(byte, b'\r' | b'\n'))
    } else {
        memchr2(b'\r', b'\n', unseen)
    };
    #[cfg(test)]
    super::tests::work::add(1 + found.map_or(unseen.len(), |found| found + 1));
    let Some(found) = found else {
        return if last == longest + 2 { Err(error) } else { Ok(LineEnd::NotIn(last)) };
    };
    let end = seen + found;
    match bytes[end..] {
        [b'\r', b'\n', ..] => Ok(LineEnd::At(end)),
        [b'\r'] => Ok(LineEnd::NotIn(end)),
        _ => Err(Error::Line),
    }
}

#[inline]
fn boolean(text: &[u8]) -> Result<bool, Error> {
    match text {
        b"t" => Ok(true),
        b"f" => Ok(false),
        _ => Err(Error::Boolean),
    }
}

/// Parses a length. The length of a null (-1) is an error here.
#[inline]
fn length(text: &[u8]) -> Result<u64, Error> {
    if text == b"?" {
        return Err(Error::Streamed);
    }
    number::integer(text).and_then(|length| u64::try_from(length).ok()).ok_or(Error::Length)
}

/// Reads a token with a payload. `end` is the index of the line end after the length.
#[inline]
fn bulk<'b>(bytes: &'b [u8], end: usize, bounds: &Bounds) -> Result<Progress<'b>, Error> {
    let len = match usize::try_from(length(&bytes[1..end])?) {
        Ok(len) if len <= bounds.length => len,
        _ => return Err(Error::TooLong),
    };
    if bytes[0] == b'=' && len < 4 {
        return Err(Error::Verbatim);
    }
    // No overflow: the line of the length has at most 23 bytes, and `len` fits in an `isize`.
    let start = end + 2;
    let needed = start + len + 2;
    let Some(body) = bytes.get(start..needed) else {
        return Ok(Progress::Partial { seen: end, needed });
    };
    let (payload, terminator) = body.split_at(len);
    if terminator != b"\r\n" {
        return Err(Error::Terminator);
    }
    let value = match (bytes[0], payload) {
        (b'$', _) => Value::Bulk(payload),
        (b'!', _) => Value::BulkError(payload),
        (_, &[a, b, c, b':', ref text @ ..]) => Value::Verbatim { format: [a, b, c], text },
        _ => return Err(Error::Verbatim),
    };
    Ok(Progress::Whole(Token::Scalar(value), needed))
}

/// Reads the header of an aggregate.
#[inline]
fn header(kind: u8, text: &[u8], bounds: &Bounds) -> Result<(Aggregate, u32), Error> {
    let (aggregate, factor) = aggregate(kind).ok_or(Error::Type)?;
    // No overflow: `length` returns at most `i64::MAX`, and twice that fits in a `u64`.
    match u32::try_from(length(text)? * u64::from(factor)) {
        Ok(count) if count <= bounds.elements => Ok((aggregate, count)),
        _ => Err(Error::TooManyElements),
    }
}

/// Returns the aggregate with this type byte, and how many elements each unit of its length is.
#[inline]
fn aggregate(kind: u8) -> Option<(Aggregate, u32)> {
    Some(match kind {
        b'*' => (Aggregate::Array, 1),
        b'~' => (Aggregate::Set, 1),
        b'%' => (Aggregate::Map, 2),
        b'>' => (Aggregate::Push, 1),
        b'|' => (Aggregate::Attribute, 2),
        _ => return None,
    })
}
