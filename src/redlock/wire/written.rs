//! What stands under the two keys of the witness, read as the scripts read them: what follows the
//! last number is not read, and anything else counts as nothing.

use super::testimony::Constants;
use crate::resp::Value;

/// The value of a witness. All times are microseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Written<'a> {
    /// Who the server was.
    pub(crate) identity: &'a [u8],
    /// Since when the data is in one piece; 0 if an operator declared the node fresh.
    pub(crate) born: u64,
    /// The wall clock of the writer at birth.
    pub(crate) wall: u64,
    /// The birth of the first witness of this data.
    pub(crate) origin: u64,
    pub(crate) constants: Constants,
    /// The number of the last change of the constants.
    pub(crate) change: Option<u64>,
}

/// The value of a stamp: the last look, the last time in which nobody looked, and the number of
/// looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub(crate) at: u64,
    pub(crate) unseen: (u64, u64),
    pub(crate) count: u64,
}

impl<'a> Written<'a> {
    pub(crate) fn read(text: &'a [u8]) -> Option<Self> {
        let end = text.iter().position(u8::is_ascii_whitespace)?;
        let (identity, rest) = text.split_at(end);
        let ([born, wall, origin, max_ttl, nodes], rest) = numbers(rest, b" ")?;
        let change = numbers(rest, b" ").map(|([change], _)| change);
        let constants = Constants::read(max_ttl, nodes);
        (!identity.is_empty()).then_some(Self { identity, born, wall, origin, constants, change })
    }
}

impl Stamp {
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let ([at], rest) = numbers(text, b"")?;
        let ([from, to, count], _) = numbers(rest, b" ")?;
        Some(Self { at, unseen: (from, to), count })
    }
}

/// Reads numbers, each behind `gap`. Returns what follows them.
fn numbers<'a, const N: usize>(mut text: &'a [u8], gap: &[u8]) -> Option<([u64; N], &'a [u8])> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        let digits = text.strip_prefix(gap)?;
        let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
        *number = decimal(&digits[..end])?;
        text = &digits[end..];
    }
    Some((numbers, text))
}

/// Reads the reply to `TIME`, in microseconds since 1970.
pub(crate) fn read_time(value: &Value<'_>) -> Option<u64> {
    let Value::Array(parts) = value else { return None };
    let mut parts = parts.clone();
    let mut next = || match parts.next()? {
        Value::Bulk(digits) => decimal(digits),
        _ => None,
    };
    Some(next()?.saturating_mul(1_000_000).saturating_add(next()?))
}

fn decimal(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_is_read_as_the_scripts_read_it() {
        let constants = Constants::open(60_000, 3);
        let written = |identity: &'static [u8], change| {
            Some(Written { identity, born: 5, wall: 6, origin: 7, constants, change })
        };
        let rows = [
            ("me 5 6 7 60000 3", written(b"me", None)),
            ("me 5 6 7 60000 3 more", written(b"me", None)),
            ("me 5 6 7 60000 3x", written(b"me", None)),
            ("me 5 6 7 60000 3 8", written(b"me", Some(8))),
            ("me 5 6 7 60000 3 8x", written(b"me", Some(8))),
            ("me 5 6 7 60000 3x 8", written(b"me", None)),
            ("me 5 6 7 60000", None),
            ("me 5 6 7x 60000 3", None),
            ("me 5 6 7  60000 3", None),
            ("me\t5 6 7 60000 3", None),
            (" me 5 6 7 60000 3", None),
            ("me x 6 7 60000 3", None),
            ("me 5 6 7 60000 ", None),
            ("me", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(Written::read(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_stamp_has_four_numbers() {
        let stamp = Some(Stamp { at: 9, unseen: (1, 2), count: 8 });
        let rows = [("9 1 2 8", stamp), ("9 1 2 8 7", stamp), ("9 1 2", None), (" 9 1 2 8", None)];
        for (text, expected) in rows {
            assert_eq!(Stamp::read(text.as_bytes()), expected, "{text:?}");
        }
    }
}
