//! The parts of the load that engines have, divided before the run.

use redbolt::Config;
use redbolt::time::Instant;

use super::demand::Demand;
use super::names::{Names, Naming};
use super::schedule::Schedule;

/// The part of the load that one engine has.
pub(crate) struct Share {
    pub(crate) in_flight: usize,
    /// `None` to start a cycle whenever one ends.
    pub(crate) schedule: Option<Schedule>,
    pub(crate) names: Names,
    /// Draws which locks are extended.
    pub(crate) rng: fastrand::Rng,
}

/// Divides the load among the engines of this configuration, from `origin` on. An engine that is in
/// charge of no resource has no share, so that there may be fewer shares than engines.
pub(crate) fn shares(demand: &Demand, config: &Config, origin: Instant) -> Vec<Share> {
    let division = config.division();
    let naming = Naming::new(demand);
    let names = match demand.resources.count() {
        // Two engines draw no numbers of the same stripe.
        None if demand.is_fenced && division.engines() > 1 => {
            (0..division.engines()).map(|engine| naming.of_engine(engine, division)).collect()
        }
        // Nobody else wants these names, whichever engine asks for them.
        None => (0..division.engines()).map(|number| naming.of_worker(number)).collect(),
        Some(_) if division.engines() == 1 => vec![naming.of_worker(0)],
        Some(count) => naming.divided(count, division),
    };
    let engines = names.len();
    let shares = names.into_iter().enumerate().map(|(index, names)| Share {
        in_flight: part(demand.in_flight, index, engines),
        schedule: Schedule::new(origin, demand, index, engines),
        names,
        rng: demand.rng(index + engines),
    });
    shares.collect()
}

/// Returns one of `parts` nearly equal parts of `whole`; the first parts have the remainder.
fn part(whole: usize, index: usize, parts: usize) -> usize {
    whole / parts + usize::from(index < whole % parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_nearly_equal_and_make_the_whole() {
        for (whole, parts) in [(512, 2), (512, 3), (7, 4), (4, 4), (1, 1)] {
            let all: Vec<_> = (0..parts).map(|index| part(whole, index, parts)).collect();
            assert_eq!(all.iter().sum::<usize>(), whole, "{all:?}");
            assert!(all.iter().all(|part| part.abs_diff(whole / parts) <= 1), "{all:?}");
            assert!(all.iter().all(|part| *part > 0), "{all:?}");
        }
    }
}
