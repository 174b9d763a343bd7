//! Transactions over locks that have no meaning: `uniform` and `zipf`.

use fastrand::Rng;

use super::draw::Generator;
use crate::bench::load::zipf::Zipf;

/// How often locks that the transaction has already are drawn again. A few locks may be nearly all
/// that is ever drawn; then the next free numbers are taken. A trace of 64 locks each, the first
/// with nearly all of the load, would else take hours to make.
const REDRAWS: usize = 250;

/// Takes a fixed number of different locks.
pub(super) struct Synthetic {
    pick: Pick,
    count: u32,
    size: usize,
    rng: Rng,
}

enum Pick {
    Uniform,
    Zipf(Zipf),
}

impl Synthetic {
    /// Of `count` locks, each as likely as any other, `size` for a transaction; `size` must be no
    /// more than `count`.
    pub(super) fn uniform(count: u32, size: usize, seed: u64) -> Self {
        Self { pick: Pick::Uniform, count, size, rng: Rng::with_seed(seed) }
    }

    /// The same, with a lock of rank `r` as likely as `1 / r^theta`.
    pub(super) fn zipf(count: u32, theta: f64, size: usize, seed: u64) -> Self {
        let pick = Zipf::of_ranks(0..count, theta).map_or(Pick::Uniform, Pick::Zipf);
        Self { pick, count, size, rng: Rng::with_seed(seed) }
    }

    fn draw(&mut self) -> u32 {
        match &self.pick {
            Pick::Uniform => self.rng.u32(0..self.count),
            // There are no more ranks than locks.
            Pick::Zipf(zipf) => zipf.draw(&mut self.rng) as u32,
        }
    }
}

impl Generator for Synthetic {
    fn next(&mut self) -> Vec<String> {
        let mut numbers: Vec<u32> = Vec::with_capacity(self.size);
        let mut redraws = REDRAWS;
        while numbers.len() < self.size.min(self.count as usize) {
            let mut number = self.draw();
            while redraws > 0 && numbers.contains(&number) {
                redraws -= 1;
                number = self.draw();
            }
            while numbers.contains(&number) {
                number = (number + 1) % self.count;
            }
            numbers.push(number);
        }
        numbers.into_iter().map(|number| format!("bench/{number:010}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_transaction_has_as_many_different_locks_as_it_should() {
        let generators = [
            Synthetic::uniform(1_000_000, 4, 1),
            Synthetic::uniform(4, 4, 1),
            Synthetic::zipf(1_000_000, 0.9, 64, 1),
            // The first lock is nearly all that is drawn.
            Synthetic::zipf(8, 5.0, 8, 1),
        ];
        for mut generator in generators {
            for _ in 0..20 {
                let names = generator.next();
                assert_eq!(names.len(), generator.size);
                assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
            }
        }
    }

    #[test]
    fn names_are_numbers_of_equal_length_below_the_count() {
        let mut generator = Synthetic::uniform(12, 3, 1);
        for name in (0..100).flat_map(|_| generator.next()) {
            let number = name.strip_prefix("bench/").filter(|digits| digits.len() == 10);
            assert!(number.and_then(|digits| digits.parse().ok()).is_some_and(|n: u32| n < 12));
        }
    }
}
