//! The parser for decimal numbers, in the spelling that servers use.

/// The maximum length of a 64-bit integer in bytes: that of `i64::MIN`, sign included.
pub(super) const INTEGER_LEN: usize = 20;

/// The maximum number of digits of a 64-bit integer.
const INTEGER_DIGITS: usize = 19;

/// Parses an integer. Returns `None` if `text` is not canonical or does not fit in 64 bits.
#[inline]
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    if has_odd_zero(digits, negative) || digits.len() > INTEGER_DIGITS {
        return None;
    }
    let mut magnitude = 0_u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // No overflow: 19 digits are less than 10^19, and 2^64 is more than 1.8 * 10^19.
        magnitude = magnitude * 10 + u64::from(digit);
    }
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Returns `true` if `text` is `[+-]?digits`: an integer of any size, canonical or not.
pub(super) fn is_integer(text: &[u8]) -> bool {
    let digits = match text {
        [b'+' | b'-', digits @ ..] => digits,
        digits => digits,
    };
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Parses a double. Returns `None` if `text` is not a double, or is too large to be finite.
pub(super) fn double(text: &[u8]) -> Option<f64> {
    match text {
        b"inf" => return Some(f64::INFINITY),
        b"-inf" => return Some(f64::NEG_INFINITY),
        b"nan" | b"-nan" => return Some(f64::NAN),
        _ => {}
    }
    if !is_decimal(text) {
        return None;
    }
    let double: f64 = core::str::from_utf8(text).ok()?.parse().ok()?;
    double.is_finite().then_some(double)
}

/// Returns `true` if `text` is `-?integral(.digits)?([eE][+-]?digits)?`. Unlike an integer, a
/// decimal may be `-0`.
fn is_decimal(text: &[u8]) -> bool {
    let (_, unsigned) = split_sign(text);
    let (integral, rest) = split_digits(unsigned);
    if has_odd_zero(integral, false) {
        return false;
    }
    let rest = match rest {
        [b'.', fraction @ ..] => match split_digits(fraction) {
            ([], _) => return false,
            (_, rest) => rest,
        },
        rest => rest,
    };
    match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', digits @ ..] | [b'e' | b'E', digits @ ..] => {
            !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

#[inline]
fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Returns `true` if there are no digits at all, or a zero where a canonical number has none:
/// before other digits, or alone after a minus sign.
#[inline]
fn has_odd_zero(digits: &[u8], negative: bool) -> bool {
    match digits {
        [] => true,
        [b'0'] => negative,
        [b'0', ..] => true,
        _ => false,
    }
}
