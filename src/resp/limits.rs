//! The limits of the parser: the defaults, and how others are chosen.

use core::fmt;

/// The maximum depth of nested aggregates, attributes included, unless a
/// [`Parser`](super::Parser) names another. An array of integers has depth 1.
///
/// The deepest reply of a built-in command is that of `COMMAND DOCS`: 12 levels in Redis 7.0. The
/// limit keeps a [`Parser`](super::Parser) small, and makes recursion over
/// [`Elements`](super::Elements) safe.
pub const MAX_DEPTH: usize = 16;

/// The maximum depth that a [`Parser`](super::Parser) can name.
pub const MOST_DEPTH: usize = 128;

/// The default of [`Limits::elements`].
///
/// Servers have long had the same limit, 1024 × 1024, for the arguments of a request.
pub const MAX_ELEMENTS: usize = 1024 * 1024;

/// The default of [`Limits::length`]: 512 MiB, the default of a server (`proto-max-bulk-len`).
pub const MAX_LENGTH: usize = 512 * 1024 * 1024;

/// The default of [`Limits::line`]: 64 KiB, the limit of servers for a line of a request.
pub const MAX_LINE: usize = 64 * 1024;

/// What a [`Parser`](super::Parser) accepts at most, except for the depth, which is a part of the
/// parser's type.
///
/// The parser owns no memory, so greater limits cost nothing by themselves. Under greater limits, a
/// reply can demand more of the caller's buffer.
///
/// ```
/// use redbolt::resp::{Limits, Parser};
///
/// let mut limits = Limits::default();
/// limits.line = 1024 * 1024;
/// let parser: Parser<64> = Parser::with_limits(limits)?;
///
/// limits.line = 0;
/// let error = Parser::<64>::with_limits(limits).unwrap_err();
/// assert_eq!(error.to_string(), "line is 0, but must be from 64 to 536870912");
/// # Ok::<(), redbolt::resp::LimitsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum length of a simple string, simple error, double or big number in bytes, without
    /// the type byte and the line end: from 64 to 536,870,912. Default: [`MAX_LINE`].
    pub line: usize,
    /// The maximum length of a bulk string, bulk error or verbatim string in bytes: from 0 to
    /// `isize::MAX`, the longest slice. Default: [`MAX_LENGTH`].
    pub length: usize,
    /// The maximum number of values inside one value, from 0 to 2,147,483,647: the elements at all
    /// levels, plus one for each attribute inside. Default: [`MAX_ELEMENTS`].
    pub elements: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: MAX_LINE, length: MAX_LENGTH, elements: MAX_ELEMENTS }
    }
}

/// The error of a limit out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitsError {
    /// The name of the field of [`Limits`].
    pub what: &'static str,
    /// The given value.
    pub value: usize,
    /// The smallest allowed value.
    pub least: usize,
    /// The largest allowed value.
    pub most: usize,
}

impl fmt::Display for LimitsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, value, least, most } = self;
        write!(f, "{what} is {value}, but must be from {least} to {most}")
    }
}

impl core::error::Error for LimitsError {}

/// Limits that have been checked, in the sizes that the parser counts in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) line: u32,
    pub(super) elements: u32,
    pub(super) length: usize,
}

/// The bounds of [`Limits::line`]. The parser reads frequent replies without looking at the limits,
/// so all of these replies must fit in the smallest line.
const LINE: [usize; 2] = [64, 512 * 1024 * 1024];

/// The most that [`Limits::elements`] can be. Twice this number plus one fits in the parser's
/// counter.
const MOST_ELEMENTS: u32 = u32::MAX / 2;

impl Bounds {
    pub(super) const DEFAULT: Self =
        Self { line: MAX_LINE as u32, elements: MAX_ELEMENTS as u32, length: MAX_LENGTH };

    /// For bytes that a parser has accepted, whatever its limits were.
    pub(super) const MOST: Self =
        Self { line: LINE[1] as u32, elements: MOST_ELEMENTS, length: isize::MAX as usize };

    pub(super) fn new(limits: Limits) -> Result<Self, LimitsError> {
        let check = |what, value, [least, most]: [usize; 2]| {
            if (least..=most).contains(&value) {
                Ok(value)
            } else {
                Err(LimitsError { what, value, least, most })
            }
        };
        let elements = [0, MOST_ELEMENTS as usize];
        // No cast loses anything: the most of both fits.
        Ok(Self {
            line: check("line", limits.line, LINE)? as u32,
            elements: check("elements", limits.elements, elements)? as u32,
            length: check("length", limits.length, [0, isize::MAX as usize])?,
        })
    }
}
