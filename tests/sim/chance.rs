//! The only source of randomness of a world.
//!
//! Every random decision of a world is asked for here, in a few words. A fuzzer, whose decisions
//! come from elsewhere, puts another file with the same words in the place of this one.

/// Random decisions that follow from one seed.
pub(crate) struct Chance {
    rng: fastrand::Rng,
}

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: fastrand::Rng::with_seed(seed) }
    }

    /// Returns a number below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.rng.u64(..end)
    }

    /// Returns an index into something with `len` elements, which is not empty.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.rng.usize(..len)
    }

    /// Returns a number between two bounds, both included.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        self.rng.u64(least..=most)
    }

    /// Returns a number of at most `most` to either side of zero.
    pub(crate) fn around_zero(&mut self, most: i64) -> i64 {
        self.rng.i64(-most..=most)
    }

    /// Returns a number between two bounds whose order of magnitude is as random as its digits:
    /// short times are as frequent as long ones.
    pub(crate) fn magnitude(&mut self, least: u64, most: u64) -> u64 {
        let steps = u64::from((most / least.max(1)).max(1).ilog2());
        let floor = least << self.below(steps + 1);
        self.between(floor, (floor * 2).min(most))
    }

    /// Returns true once in `times`; `times` is not zero.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns one of several items; there is at least one.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }
}
