//! The errors of the parser.

use core::fmt;

/// The error returned when bytes are not RESP, or exceed a limit of the parser.
///
/// Each variant stands for one rule of the [grammar](super#grammar). No error can be recovered
/// from: the beginning of the next value is unknown, so the stream has to be abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The first byte of a value is not a known type byte.
    Type,
    /// A line holds a CR or an LF that does not belong to its line end.
    Line,
    /// A line is longer than [`Limits::line`](super::Limits::line), or a bulk string is longer than
    /// [`Limits::length`](super::Limits::length).
    TooLong,
    /// An integer is not a canonical decimal number, or does not fit in 64 bits.
    Integer,
    /// The length of a bulk string or of an aggregate is not a canonical decimal number, or is
    /// negative and not one of the two RESP2 nulls.
    Length,
    /// The two bytes after a bulk string are not CR LF.
    Terminator,
    /// A null (`_`) has content.
    Null,
    /// A boolean is neither `t` nor `f`.
    Boolean,
    /// A double is not a decimal number, or is too large to be finite. (`inf`, `-inf`, `nan` and
    /// `-nan` are valid.)
    Double,
    /// A big number is not digits after an optional sign.
    BigNumber,
    /// A verbatim string does not begin with a format of three bytes and a colon.
    Verbatim,
    /// A push is inside another value.
    Push,
    /// A string or an aggregate is streamed. No server sends such a value.
    Streamed,
    /// A value holds more values than [`Limits::elements`](super::Limits::elements).
    TooManyElements,
    /// Aggregates are nested deeper than the `DEPTH` of the [`Parser`](super::Parser), which is
    /// [`MAX_DEPTH`](super::MAX_DEPTH) unless a program names another.
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

impl core::error::Error for Error {}
