//! Lengths of time as people write them.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

/// The units, from the largest, with their length in nanoseconds.
const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// The length of a second. Units up to this one are written with a fraction.
const SECOND: u128 = 1_000_000_000;

/// How many of the units are only read. A day is written as 24 hours: most durations are shorter,
/// and bounds such as 168h are compared with them.
const ONLY_READ: usize = 1;

/// Other ways to write a unit.
const ALIASES: [(&str, &str); 2] = [("min", "m"), ("µs", "us")];

/// [`Duration::MAX`], which stands for "without end".
const FOREVER: &str = "forever";

/// How many digits of a fraction count: those behind are less than a nanosecond in every unit.
const FRACTION: usize = 13;

/// Parses a duration: a number and one of the units `ns`, `us`, `ms`, `s`, `m`, `h` and `d`, a day
/// of 24 hours.
///
/// The number may have a fraction; what is less than a nanosecond is left out. `forever` is
/// [`Duration::MAX`]. A number without a unit is refused, unless it is zero: `60000` could count
/// seconds as well as milliseconds. Configuration files and the environment have this form. So has
/// the command line of redbolt, whose options also take a bare number, in seconds, as those of
/// `timeout` and `flock` do.
///
/// ```
/// use redbolt::time::{DurationError, format_duration, parse_duration};
/// use std::time::Duration;
///
/// assert_eq!(parse_duration("250us")?, Duration::from_micros(250));
/// assert_eq!(parse_duration("1.5m")?, Duration::from_secs(90));
/// assert_eq!(parse_duration("7d")?, Duration::from_secs(7 * 24 * 3600));
/// assert_eq!(parse_duration("0")?, Duration::ZERO);
/// assert_eq!(parse_duration("30"), Err(DurationError::NoUnit));
/// assert_eq!(format_duration(Duration::from_secs(90)), "90s");
/// assert_eq!(format_duration(Duration::from_micros(1_500)), "1.5ms");
/// # Ok::<(), DurationError>(())
/// ```
///
/// # Errors
///
/// Returns a [`DurationError`] if the text has no number, no unit, another unit or a sign, or if
/// the duration is longer than [`Duration::MAX`].
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    if text == FOREVER {
        return Ok(Duration::MAX);
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Err(DurationError::NotADuration);
    }
    if unit.is_empty() {
        let is_zero = number.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        return if is_zero { Ok(Duration::ZERO) } else { Err(DurationError::NoUnit) };
    }
    let unit = ALIASES.iter().find(|(alias, _)| *alias == unit).map_or(unit, |(_, unit)| unit);
    let Some((_, length)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(DurationError::Unit);
    };
    let length = u128::from(*length);
    let digits = &fraction[..fraction.len().min(FRACTION)];
    let parts = length * digits_of(digits).ok_or(DurationError::TooLong)?;
    let nanos = digits_of(whole).and_then(|whole| whole.checked_mul(length));
    // A fraction has few digits.
    let rest = parts / 10_u128.pow(digits.len() as u32);
    let nanos = nanos.and_then(|nanos| nanos.checked_add(rest)).ok_or(DurationError::TooLong)?;
    let seconds = u64::try_from(nanos / 1_000_000_000).map_err(|_| DurationError::TooLong)?;
    Ok(Duration::new(seconds, (nanos % 1_000_000_000) as u32))
}

/// The value of digits; no digits are zero. `None` if the value is too large.
fn digits_of(text: &str) -> Option<u128> {
    if text.is_empty() { Some(0) } else { text.parse().ok() }
}

/// Returns a duration as [`parse_duration`] reads it, and exact: in hours or minutes where these
/// need no fraction, else in the largest unit that gives at least 1. All errors of redbolt write
/// durations in this way.
pub fn format_duration(duration: Duration) -> String {
    if duration == Duration::MAX {
        return FOREVER.to_owned();
    }
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".to_owned();
    }
    let fits = |&&(_, length): &&(&str, u64)| match u128::from(length) {
        length if length > SECOND => nanos % length == 0,
        length => nanos >= length,
    };
    // One nanosecond fits into every duration but zero.
    let (unit, length) = UNITS[ONLY_READ..].iter().find(fits).unwrap_or(&("ns", 1));
    let (whole, rest) = (nanos / u128::from(*length), nanos % u128::from(*length));
    if rest == 0 {
        return format!("{whole}{unit}");
    }
    // Only a second and less can have a rest, and their lengths are powers of ten.
    let digits = length.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{}{unit}", fraction.trim_end_matches('0'))
}

/// Returns a duration as [`format_duration`] does, for a reader: rounded up to a tenth of a second,
/// or to a millisecond if the duration is shorter than a second.
///
/// ```
/// use redbolt::time::format_rounded;
/// use std::time::Duration;
///
/// assert_eq!(format_rounded(Duration::from_nanos(59_812_345_678)), "59.9s");
/// assert_eq!(format_rounded(Duration::from_micros(12_345)), "13ms");
/// assert_eq!(format_rounded(Duration::ZERO), "0s");
/// ```
pub fn format_rounded(duration: Duration) -> String {
    let step = if duration.as_secs() > 0 { 100 } else { 1 };
    let millis = duration.as_nanos().div_ceil(step * 1_000_000) * step;
    let rounded = u64::try_from(millis).map_or(Duration::MAX, Duration::from_millis);
    format_duration(rounded)
}

/// The error returned when a text is no duration.
///
/// The message is the end of a sentence that names the text, such as `max_ttl is "soon", which is
/// not a duration …`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DurationError {
    /// The text does not begin with a number.
    NotADuration,
    /// Nothing stands behind the number, which is not zero.
    NoUnit,
    /// What stands behind the number is not a unit.
    Unit,
    /// The duration is longer than [`Duration::MAX`].
    TooLong,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotADuration => "which is not a duration such as 250us, 20ms, 30s, 1.5m or 1h",
            Self::NoUnit => "which needs a unit, as in 60s or 60000ms",
            Self::Unit => "whose unit is not one of ns, us, ms, s, m, h and d",
            Self::TooLong => "which is too long",
        })
    }
}

impl core::error::Error for DurationError {}

#[cfg(test)]
mod tests;
