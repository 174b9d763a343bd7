//! The account of what happened in a world: a hash, and in a replay also lines.
//!
//! Two runs of one seed must have equal hashes; so runs are compared without being kept.

use core::fmt;

pub(crate) struct Trace {
    hash: u64,
    is_loud: bool,
}

/// An odd number without a pattern in its bits: π.
const FACTOR: u64 = 0x517c_c1b7_2722_0a95;

impl Trace {
    pub(crate) fn new(is_loud: bool) -> Self {
        Self { hash: 0, is_loud }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn is_loud(&self) -> bool {
        self.is_loud
    }

    /// Adds numbers to the hash.
    pub(crate) fn add(&mut self, numbers: &[u64]) {
        for number in numbers {
            self.hash = (self.hash.rotate_left(5) ^ number).wrapping_mul(FACTOR);
        }
    }

    /// Adds bytes to the hash, eight at a time, because every byte that is sent passes through
    /// here.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) {
        let words = bytes.chunks_exact(8);
        let rest = words.remainder();
        for word in words {
            self.add(&[u64::from_le_bytes(word.try_into().expect("eight bytes"))]);
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(&[u64::from_le_bytes(last), bytes.len() as u64]);
    }

    /// Prints in a replay what the hash takes in fewer words.
    pub(crate) fn say(&self, now: u64, what: fmt::Arguments<'_>) {
        if self.is_loud {
            eprintln!("{:>14.6} s  {what}", now as f64 / 1e9);
        }
    }
}
