//! The hash of the index: cheap for short names, and nobody can aim at a bucket.
//!
//! Seven bytes at a time, a name gives the coefficients of a polynomial, which is evaluated at a
//! secret point modulo the prime 2⁶¹ − 1. Two different names give two different polynomials, and
//! these differ by a given number at no more points than their degree. So for names that were
//! chosen without knowing the point, the chance that two names of `n` bytes meet in one of `b`
//! buckets is about `2n / 7b` at most, whatever the names are. The price is one multiplication for
//! seven bytes.

/// A hash with a secret point.
pub(super) struct SecretHash {
    point: u64,
}

const PRIME: u64 = (1 << 61) - 1;

/// The number of bytes in a coefficient, which must be less than the prime.
const STEP: usize = 7;

impl SecretHash {
    /// Creates the hash of a seed, which must be as secret as the hash is to be.
    pub(super) fn new(seed: u64) -> Self {
        Self { point: fastrand::Rng::with_seed(seed).u64(1..PRIME) }
    }

    /// Returns the hash of a name.
    pub(super) fn of(&self, name: &[u8]) -> u32 {
        // A one in front tells how many chunks there are, and the last one has its length with it:
        // so no two names make the same polynomial.
        let (mut value, mut rest) = (1, name);
        while let Some(bytes) = rest.first_chunk() {
            // Eight bytes are read at once, and the last of them again.
            let coefficient = u64::from_le_bytes(*bytes) & ((1 << (8 * STEP)) - 1);
            value = self.step(value, coefficient);
            rest = &rest[STEP..];
        }
        value = self.step(value, last(rest));
        // Cut to 32 bits: there are far fewer buckets.
        (if value >= PRIME { value - PRIME } else { value }) as u32
    }

    /// Adds a coefficient and multiplies by the point, modulo the prime. The result may be larger
    /// than the prime by a little.
    #[inline]
    fn step(&self, value: u64, coefficient: u64) -> u64 {
        // Below 2¹²³, so the first sum fits into 64 bits, and the second is at most 2⁶¹ + 3.
        let product = u128::from(value + coefficient) * u128::from(self.point);
        let sum = (product as u64 & PRIME) + (product >> 61) as u64;
        (sum & PRIME) + (sum >> 61)
    }
}

/// Returns the number of the last chunk, which has the length above its bytes.
#[inline]
fn last(bytes: &[u8]) -> u64 {
    number(bytes) | (bytes.len() as u64) << (8 * STEP)
}

/// Returns the number that bytes make, of which there are at most seven.
#[inline]
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the same by the book.
    fn model(point: u64, name: &[u8]) -> u32 {
        let prime = u128::from(PRIME);
        let mut value = 1;
        let mut rest = name;
        while rest.len() > STEP {
            let (coefficient, behind) = rest.split_at(STEP);
            value = (value + u128::from(number(coefficient))) * u128::from(point) % prime;
            rest = behind;
        }
        ((value + u128::from(last(rest))) * u128::from(point) % prime) as u32
    }

    #[test]
    fn the_hash_is_the_polynomial_at_the_point() {
        let mut rng = fastrand::Rng::with_seed(7);
        for seed in 0..200 {
            let hash = SecretHash::new(seed);
            for len in 0..60 {
                let own: Vec<u8> = (0..len).map(|_| rng.u8(..)).collect();
                for name in [own, vec![0; len], vec![255; len]] {
                    assert_eq!(hash.of(&name), model(hash.point, &name), "{seed}: {name:?}");
                }
            }
        }
    }

    #[test]
    fn names_that_differ_in_zeros_or_in_their_length_alone_have_different_hashes() {
        let pairs: [[&[u8]; 2]; 4] = [
            [b"\x09", b"\x07\0\0"],
            [b"border/42", b"aorder/42\0"],
            [b"1234567", b"1234567\0"],
            [b"", b"\0"],
        ];
        for seed in 0..50 {
            let hash = SecretHash::new(seed);
            for [one, other] in pairs {
                assert_ne!(hash.of(one), hash.of(other), "{seed}: {one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn names_that_count_up_fill_the_buckets_evenly() {
        const BUCKETS: usize = 1 << 14;
        for seed in 0..20 {
            let hash = SecretHash::new(seed);
            let mut buckets = vec![0; BUCKETS];
            for number in 0..BUCKETS {
                let name = format!("customers/12345/order-{number:06}");
                buckets[hash.of(name.as_bytes()) as usize % BUCKETS] += 1;
            }
            let longest = buckets.iter().max().copied().unwrap_or(0);
            assert!(longest <= 12, "seed {seed}: {longest}");
        }
    }
}
