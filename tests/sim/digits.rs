//! Numbers as text. Every look writes a dozen of them, and `fmt` would take several times as long.

use bytes::BytesMut;
use smallvec::SmallVec;

/// A text of numbers, which needs no allocation.
pub(crate) type Text = SmallVec<[u8; 256]>;

/// Returns the forty hexadecimal digits of a number.
pub(crate) fn hex(mut number: u64) -> [u8; 40] {
    let mut digits = [b'0'; 40];
    for digit in digits.iter_mut().rev().take(16) {
        *digit = b"0123456789abcdef"[(number % 16) as usize];
        number /= 16;
    }
    digits
}

/// The most numbers that are written at once, and the most bytes of each.
const MOST: usize = 12;
const LONGEST: usize = 24;

/// Writes the decimal digits of a number to the end of `text[..end]`. Returns the place of the
/// first.
fn write(text: &mut [u8], end: usize, mut number: u64) -> usize {
    let mut start = end;
    loop {
        start -= 1;
        text[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return start;
        }
    }
}

/// Appends the decimal digits of a number.
pub(crate) fn push(text: &mut Text, number: u64) {
    let mut digits = [0; LONGEST];
    let start = write(&mut digits, LONGEST, number);
    text.extend_from_slice(&digits[start..]);
}

/// Appends a number with its sign, if it is less than zero.
pub(crate) fn push_signed(text: &mut Text, number: i64) {
    if number < 0 {
        text.push(b'-');
    }
    push(text, number.unsigned_abs());
}

/// Appends the numbers, with a space before each of them that is not the first of the text.
pub(crate) fn push_all(text: &mut Text, numbers: &[u64]) {
    let mut digits = [0; MOST * LONGEST];
    let mut start = digits.len();
    for number in numbers.iter().rev() {
        start = write(&mut digits, start, *number) - 1;
        digits[start] = b' ';
    }
    let begin = start + usize::from(text.is_empty());
    text.extend_from_slice(&digits[begin..]);
}

/// Appends the numbers as integers of a reply.
pub(crate) fn reply(out: &mut BytesMut, numbers: &[u64]) {
    let mut digits = [0; MOST * LONGEST];
    let mut start = digits.len();
    for number in numbers.iter().rev() {
        digits[start - 2..start].copy_from_slice(b"\r\n");
        start = write(&mut digits, start - 2, *number) - 1;
        digits[start] = b':';
    }
    out.extend_from_slice(&digits[start..]);
}

/// Reads exactly `N` numbers with a space between each two of them.
pub(crate) fn read<const N: usize>(text: &[u8]) -> Option<[u64; N]> {
    let (mut numbers, mut place) = ([0_u64; N], 0);
    for byte in text {
        match byte {
            b' ' => place += 1,
            digit => {
                let number = numbers.get_mut(place)?;
                *number = *number * 10 + u64::from(digit.wrapping_sub(b'0'));
            }
        }
    }
    (place + 1 == N).then_some(numbers)
}
