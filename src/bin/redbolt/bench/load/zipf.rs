//! Ranks by their popularity: few resources that many want, and many that few want.
//!
//! Samplers without a table, such as that of `rand_distr`, draw from all ranks of 1 to n. Engines
//! divide the resources, and each draws from the ranks that are its own: for any set of ranks there
//! has to be a table, and a table needs no library.

use std::sync::Arc;

/// Draws one of some ranks, each as often as its weight. Takes eight bytes for each rank; clones
/// share them.
#[derive(Clone)]
pub(crate) struct Zipf {
    /// The sum of the weights up to each rank.
    cumulative: Arc<[f64]>,
}

impl Zipf {
    /// Creates the draw of these ranks, which begin with 0; `None` for none.
    pub(crate) fn of_ranks(ranks: impl Iterator<Item = u32>, exponent: f64) -> Option<Self> {
        let mut sum = 0.0;
        let cumulative: Arc<[f64]> = ranks
            .map(|rank| {
                sum += (f64::from(rank) + 1.0).powf(-exponent);
                sum
            })
            .collect();
        (!cumulative.is_empty()).then_some(Self { cumulative })
    }

    /// Returns the place of a rank among those that were given.
    pub(crate) fn draw(&self, rng: &mut fastrand::Rng) -> usize {
        let last = self.cumulative.len() - 1;
        let point = rng.f64() * self.cumulative[last];
        self.cumulative.partition_point(|&sum| sum <= point).min(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_drawn_as_often_as_their_weights_say() {
        const DRAWS: u32 = 200_000;
        let zipf = Zipf::of_ranks(0..4, 1.0).expect("four ranks");
        let mut rng = fastrand::Rng::with_seed(7);
        let mut found = [0_u32; 4];
        (0..DRAWS).for_each(|_| found[zipf.draw(&mut rng)] += 1);
        // 1, 1/2, 1/3 and 1/4 are 25/12 together.
        let shares = [12.0, 6.0, 4.0, 3.0].map(|weight| weight / 25.0);
        for (found, share) in found.iter().zip(shares) {
            let found = f64::from(*found) / f64::from(DRAWS);
            assert!((found - share).abs() < 0.01, "{found} instead of {share}");
        }
    }

    #[test]
    fn shares_are_those_of_the_distribution_of_zipf() {
        // Ranks, the exponent, a rank from 1, and the share of all ranks up to that one, by
        // `scipy.stats.zipfian.cdf`.
        let rows = [
            (10, 0.99, 1, 0.338_282_689_115_612),
            (1_000, 0.9, 1, 0.095_025_359_596_274),
            (1_000, 0.9, 10, 0.306_090_275_520_682),
            (1_000, 0.9, 100, 0.610_702_375_325_683),
            (1_000_000, 0.99, 10, 0.192_056_677_091_170),
            (1_000_000, 0.99, 1_000, 0.502_145_833_334_614),
        ];
        for (count, exponent, rank, expected) in rows {
            let zipf = Zipf::of_ranks(0..count, exponent).expect("there are ranks");
            let sums = &zipf.cumulative;
            let share = sums[rank - 1] / sums[sums.len() - 1];
            assert!((share - expected).abs() < 1e-9, "{count} {exponent} {rank}: {share}");
        }
    }

    #[test]
    fn an_exponent_of_zero_is_fair_and_no_rank_is_no_draw() {
        let zipf = Zipf::of_ranks(0..2, 0.0).expect("two ranks");
        assert_eq!(*zipf.cumulative, [1.0, 2.0]);
        assert!(Zipf::of_ranks(0..0, 1.0).is_none());
    }
}
