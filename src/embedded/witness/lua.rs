//! The numbers of Lua, which are floating-point.

/// Reads digits as Lua does: a number too large for a float is infinite.
pub(super) fn float(digits: &[u8]) -> f64 {
    // Digits are a number, and all callers have nothing but digits.
    core::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// A count of microseconds as Lua has it. The count is exact for 285 years.
pub(super) fn count(micros: u64) -> f64 {
    micros as f64
}

/// An integer reply, made of a Lua number as a server on a common processor does.
pub(super) fn integer(number: f64) -> i64 {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if number < END { number as i64 } else { i64::MIN }
}
