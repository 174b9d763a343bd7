//! The values of RESP, and the elements of those that are aggregates.

use core::fmt;

/// One value of RESP2 or RESP3, borrowed from the parsed bytes.
///
/// Two values are equal if they have the same type and the same content. Attributes inside
/// aggregates do not count. A NaN equals nothing, as everywhere in Rust.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Value<'b> {
    /// `+`: a simple string, without CR and LF.
    Simple(&'b [u8]),
    /// `-`: an error, which begins with its code, without CR and LF.
    Error(&'b [u8]),
    /// `:`: an integer.
    Integer(i64),
    /// `$`: a bulk string of any bytes.
    Bulk(&'b [u8]),
    /// `_`, `$-1` or `*-1`: the null of RESP3, and the two nulls of RESP2.
    /// [`Null::of`](super::Null::of) tells which.
    Null,
    /// `#`: a boolean.
    Boolean(bool),
    /// `,`: a double. Infinities and NaN are possible.
    Double(f64),
    /// `(`: an integer of any size: decimal digits, which a sign or zeros may precede.
    BigNumber(&'b [u8]),
    /// `!`: an error of any bytes, which begins with its code.
    BulkError(&'b [u8]),
    /// `=`: a text with its format, to be shown unchanged.
    Verbatim {
        /// The format of the text: `txt` for plain text, `mkd` for Markdown.
        format: [u8; 3],
        /// The text, without the format and its colon.
        text: &'b [u8],
    },
    /// `*`: an ordered collection.
    Array(Elements<'b>),
    /// `~`: a collection without order. The parser does not check for repeated elements.
    Set(Elements<'b>),
    /// `%`: a map, with keys and values in turn.
    Map(Elements<'b>),
    /// `>`: a message that answers no request.
    Push(Elements<'b>),
    /// `|`: keys and values in turn, which describe the next value.
    Attribute(Elements<'b>),
}

/// An iterator over the elements of an aggregate, read from the bytes of the reply.
///
/// A map of n pairs has 2n elements: key, value, key, value. Attributes inside the aggregate are
/// skipped and do not count. The parser has validated all bytes already, so reading cannot fail.
///
/// Iterating costs one more pass over the bytes of the elements, and another one over the bytes of
/// each nested aggregate that is not the last element, to find its end. [`Elements::tokens`] reads
/// all levels in one pass, and [`Elements::next_element`] tells more of an element. A clone
/// continues at the position of the original. Printing recurses as deep as the parser allows:
/// [`MAX_DEPTH`](super::MAX_DEPTH), or [`MOST_DEPTH`](super::MOST_DEPTH) at most.
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
    pub(super) bytes: &'b [u8],
    /// The number of elements that are still to be read.
    pub(super) missing: u32,
}

impl<'b> Elements<'b> {
    /// Creates an iterator over `bytes`, which are exactly `count` values that the parser accepted.
    #[inline]
    pub(super) fn accepted(bytes: &'b [u8], count: u32) -> Self {
        Self { bytes, missing: count }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simple(text) => write!(f, "Simple(\"{}\")", text.escape_ascii()),
            Self::Error(text) => write!(f, "Error(\"{}\")", text.escape_ascii()),
            Self::Integer(integer) => write!(f, "Integer({integer})"),
            Self::Bulk(bytes) => write!(f, "Bulk(\"{}\")", bytes.escape_ascii()),
            Self::Null => f.write_str("Null"),
            Self::Boolean(boolean) => write!(f, "Boolean({boolean})"),
            Self::Double(double) => write!(f, "Double({double:?})"),
            Self::BigNumber(digits) => write!(f, "BigNumber({})", digits.escape_ascii()),
            Self::BulkError(text) => write!(f, "BulkError(\"{}\")", text.escape_ascii()),
            Self::Verbatim { format, text } => {
                write!(f, "Verbatim(\"{}:{}\")", format.escape_ascii(), text.escape_ascii())
            }
            Self::Array(elements) => f.debug_tuple("Array").field(elements).finish(),
            Self::Set(elements) => f.debug_tuple("Set").field(elements).finish(),
            Self::Map(elements) => f.debug_tuple("Map").field(elements).finish(),
            Self::Push(elements) => f.debug_tuple("Push").field(elements).finish(),
            Self::Attribute(elements) => f.debug_tuple("Attribute").field(elements).finish(),
        }
    }
}

impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
