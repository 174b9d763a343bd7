//! The parts of the load that engines have, divided before the run.

use redbolt::Config;

use crate::bench::args::Args;
use crate::bench::load::names::Names;

/// The part of the load that one engine has.
pub(crate) struct Share {
    pub(crate) in_flight: usize,
    /// Starts a second; `None` to start a cycle whenever one ends.
    pub(crate) rate: Option<u32>,
    pub(crate) names: Names,
}

/// Divides the load among the engines of this configuration. An engine that is in charge of no
/// resource has no share, so that there may be fewer shares than engines.
pub(crate) fn shares(args: &Args, config: &Config) -> Vec<Share> {
    let division = config.division();
    let names = match args.resources {
        // Two engines draw no numbers of the same stripe.
        None if args.fenced && division.engines() > 1 => {
            (0..division.engines()).map(|engine| Names::of_engine(engine, division)).collect()
        }
        // Nobody else wants these names, whichever engine asks for them.
        None => (0..division.engines() as u64).map(|n| Names::of_worker(None, n)).collect(),
        Some(count) if division.engines() == 1 => vec![Names::new(Some(count))],
        Some(count) => Names::divided(count, division),
    };
    let engines = names.len();
    let shares = names.into_iter().enumerate().map(|(index, names)| Share {
        in_flight: part(args.in_flight(), index, engines),
        // A part is no more than the whole.
        rate: args.rate.map(|rate| part(rate as usize, index, engines) as u32),
        names,
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
