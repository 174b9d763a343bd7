//! The names of the locked resources, the same for every contestant.

use std::sync::atomic::{AtomicU64, Ordering};

/// As long as names in a service may be: `peers/0000000042`.
pub(crate) const LEN: usize = 16;

/// A source of names, each for one cycle.
#[derive(Default)]
pub(crate) struct Names(AtomicU64);

impl Names {
    pub(crate) fn next(&self) -> [u8; LEN] {
        name(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

pub(crate) fn name(mut number: u64) -> [u8; LEN] {
    let mut name = *b"peers/0000000000";
    for digit in name[6..].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers_of_equal_length() {
        let names = Names::default();
        assert_eq!(&names.next(), b"peers/0000000000");
        assert_eq!(&names.next(), b"peers/0000000001");
        assert_eq!(&name(1_234_567_890), b"peers/1234567890");
    }
}
