//! How evenly cycles were divided among workers.

use crate::bench::run::Fairness;
use crate::bench::run::digits::thousandths;

/// Returns the fairness of these numbers of cycles; `None` without a worker or without a cycle.
pub(crate) fn fairness(mut cycles: Vec<u64>) -> Option<Fairness> {
    cycles.sort_unstable();
    let mean = cycles.iter().sum::<u64>() as f64 / cycles.len().max(1) as f64;
    let (&fewest, &most) = (cycles.first()?, cycles.last()?);
    if mean == 0.0 {
        return None;
    }
    let at = |share: f64| {
        let place = ((cycles.len() as f64 * share).ceil() as usize).max(1) - 1;
        cycles.get(place).map(|&cycles| thousandths(cycles as f64 / mean))
    };
    let workers = cycles.len() as u64;
    Some(Fairness { workers, fewest, most, p1: at(0.01)?, p50: at(0.5)?, p99: at(0.99)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_the_mean_is_one() {
        let even = fairness(vec![7; 300]).expect("there are cycles");
        assert_eq!((even.p1, even.p50, even.p99, even.workers), (1.0, 1.0, 1.0, 300));
        // One of a hundred has had nothing, and one twice its part.
        let mut cycles = vec![10; 98];
        cycles.extend([0, 20]);
        let uneven = fairness(cycles).expect("there are cycles");
        assert_eq!((uneven.p1, uneven.p50, uneven.p99), (0.0, 1.0, 1.0));
        assert_eq!((uneven.fewest, uneven.most), (0, 20));
        assert!(fairness(Vec::new()).is_none() && fairness(vec![0, 0]).is_none());
    }
}
