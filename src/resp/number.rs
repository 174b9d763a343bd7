//! Decimal numbers, in the one spelling in which servers write them.

/// The most characters that a 64-bit integer has: those of `i64::MIN`, sign included.
pub(super) const INTEGER_LEN: usize = 20;

/// The most digits that a 64-bit integer has.
const INTEGER_DIGITS: usize = 19;

/// Reads an integer. None if it is not canonical or does not fit.
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
        // 19 digits are less than 10^19, and 2^64 is more than 1.8 * 10^19.
        magnitude = magnitude * 10 + u64::from(digit);
    }
    if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Whether `text` is an integer of any size.
pub(super) fn is_integer(text: &[u8]) -> bool {
    let (negative, digits) = split_sign(text);
    !has_odd_zero(digits, negative) && digits.iter().all(u8::is_ascii_digit)
}

/// Reads a double. None if it is not one, or so large that it would become infinite.
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

/// Whether `text` is `-?integral(.digits)?([eE][+-]?digits)?`. Unlike an integer it may be `-0`.
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

/// Whether there are no digits at all, or a zero where a canonical number has none: in front of
/// other digits, or behind a sign.
#[inline]
fn has_odd_zero(digits: &[u8], negative: bool) -> bool {
    match digits {
        [] => true,
        [b'0'] => negative,
        [b'0', ..] => true,
        _ => false,
    }
}
