//! How many engines want one resource, as far as one of them can see.

/// The bits of a set for engines that were seen. The last bit is for [`Engines::SOMEBODY`].
const BITS: u32 = u128::BITS - 1;

/// The parts of one in which the count is added up.
const PARTS: u32 = 1 << 16;

/// Engines whose tokens were seen: one bit for the hash of each. Engines can share a bit, and their
/// number is estimated from the bits that are set (linear counting). Among a hundred engines the
/// estimate is a few off.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Engines(pub(super) u128);

impl Engines {
    /// One engine of which nothing is known. No engine that was seen has the same bit.
    pub(crate) const SOMEBODY: Self = Self(1 << BITS);

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn insert(&mut self, hash: u64) {
        self.0 |= 1 << (hash % u64::from(BITS));
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the engines without some of them: each is forgotten with a chance of one in 16, and
    /// the last with one in 128. An engine that has forgotten all keeps others out until it asks.
    pub(crate) fn faded(self, rng: &mut fastrand::Rng) -> Self {
        let kept = (0..4).fold(0, |kept, _| kept | rng.u128(..));
        let left = Self(self.0 & kept);
        if left.is_empty() && rng.u8(..8) > 0 { self } else { left }
    }

    /// Returns how many engines these are, about. All bits are set by some 700 engines: more than
    /// that are never counted.
    pub(crate) fn count(self) -> u32 {
        // Another engine finds a free bit once in so many times.
        let seen = self.without(Self::SOMEBODY);
        let parts: u32 = (0..seen.0.count_ones()).map(|set| PARTS * BITS / (BITS - set)).sum();
        (parts + PARTS / 2) / PARTS + u32::from(seen != self)
    }
}

#[cfg(test)]
mod tests;
