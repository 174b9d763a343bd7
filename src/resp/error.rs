//! Why bytes are not RESP.

use core::fmt;

/// The bytes are not RESP, or exceed a limit of this parser.
///
/// There is one variant per element of the grammar. None of them can be recovered from: where the
/// next value begins is unknown, so the stream has to be abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// A value begins with a byte that is no type.
    Type,
    /// A line holds a CR or an LF that is not part of its line end.
    Line,
    /// A line is longer than [`MAX_LINE`](super::MAX_LINE), or a bulk longer than
    /// [`MAX_LENGTH`](super::MAX_LENGTH).
    TooLong,
    /// An integer is not a canonical decimal number of 64 bits.
    Integer,
    /// The length of a bulk or of an aggregate is not a canonical decimal number, or is negative
    /// without being the null of its type.
    Length,
    /// A bulk is not followed by CR LF.
    Terminator,
    /// A null (`_`) is not empty.
    Null,
    /// A boolean is neither `t` nor `f`.
    Boolean,
    /// A double is not a decimal number, or not finite without saying so.
    Double,
    /// A big number is not a canonical decimal number.
    BigNumber,
    /// A verbatim string does not begin with three bytes of format and a colon.
    Verbatim,
    /// A push is inside another value.
    Push,
    /// A streamed string or aggregate, which no server sends.
    Streamed,
    /// A value holds more than [`MAX_ELEMENTS`](super::MAX_ELEMENTS) values.
    TooManyElements,
    /// Aggregates are nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    TooDeep,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Type => "unknown type byte",
            Self::Line => "stray CR or LF in a line",
            Self::TooLong => "line or bulk too long",
            Self::Integer => "invalid integer",
            Self::Length => "invalid length",
            Self::Terminator => "bulk without line end",
            Self::Null => "invalid null",
            Self::Boolean => "invalid boolean",
            Self::Double => "invalid double",
            Self::BigNumber => "invalid big number",
            Self::Verbatim => "verbatim string without format",
            Self::Push => "push inside another value",
            Self::Streamed => "streamed value",
            Self::TooManyElements => "too many elements",
            Self::TooDeep => "nested too deep",
        })
    }
}

impl std::error::Error for Error {}
