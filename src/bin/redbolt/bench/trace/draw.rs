//! What all generators have, and random numbers in the ways of the published workloads.

use fastrand::Rng;

/// Makes one transaction after another.
pub(super) trait Generator {
    /// Returns the names of the locks of the next transaction, in any order, some perhaps twice.
    fn next(&mut self) -> Vec<String>;
}

/// Draws with this chance in a hundred.
pub(super) fn percent(rng: &mut Rng, chance: u32) -> bool {
    rng.u32(0..100) < chance
}

/// Returns the row of a mix in which a random number falls. The last row has what is left of the
/// hundred, so that a mix needs no check.
pub(super) fn of_mix<T: Copy>(rng: &mut Rng, mix: &[(u32, T)], last: T) -> T {
    let mut left = rng.u32(0..100);
    for &(share, row) in mix {
        if left < share {
            return row;
        }
        left -= share;
    }
    last
}

/// The non-uniform random number of TPC-C (clause 2.1.6) and of TATP: `(random(0, a) | random(from,
/// to)) + c`, back within the bounds. Numbers with many bits set in `a` come up far more often.
pub(super) fn non_uniform(rng: &mut Rng, a: u64, from: u64, to: u64, c: u64) -> u64 {
    let either = rng.u64(0..=a) | rng.u64(from..=to);
    (either + c) % (to - from + 1) + from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_comes_up_in_its_shares() {
        let mut rng = Rng::with_seed(1);
        let mut counts = [0u32; 3];
        for _ in 0..100_000 {
            counts[of_mix(&mut rng, &[(45, 0), (43, 1)], 2)] += 1;
        }
        for (count, share) in counts.into_iter().zip([45_000, 43_000, 12_000u32]) {
            assert!(count.abs_diff(share) < 1_000, "{counts:?}");
        }
    }

    #[test]
    fn non_uniform_numbers_keep_to_their_bounds_and_are_not_uniform() {
        let mut rng = Rng::with_seed(1);
        let mut counts = vec![0u32; 3_001];
        for _ in 0..300_000 {
            counts[non_uniform(&mut rng, 1_023, 1, 3_000, 259) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        let (least, most) = counts[1..]
            .iter()
            .fold((u32::MAX, 0), |(least, most), &count| (least.min(count), most.max(count)));
        // Each would come up a hundred times.
        assert!(least < 50 && most > 1_000, "{least} to {most}");
    }
}
