//! The engine beside bare sockets, in the same rounds.

use super::sample::median;
use crate::bench::run::digits::{tenths, thousandths};
use crate::bench::run::{Against, Contender, Level, Ratio, Step};

/// Returns the ratios; `None` without a step of bare sockets.
pub(crate) fn against(levels: &[Level], steps: &[Step]) -> Option<Against> {
    let levels: Vec<_> = levels.iter().filter_map(|level| ratio(level, steps)).collect();
    (!levels.is_empty()).then(|| Against { contender: "raw".to_owned(), levels })
}

/// Each round has a ratio of its own, because what changes from round to round changes both.
fn ratio(level: &Level, steps: &[Step]) -> Option<Ratio> {
    let rate = |contender, round| {
        let is_it = |step: &&Step| {
            step.contender == contender && step.round == round && step.load() == level.load()
        };
        steps.iter().find(is_it).map(|step| step.cycles_per_s).filter(|&rate| rate > 0.0)
    };
    let last = steps.iter().map(|step| step.round).max()?;
    let pairs: Vec<_> = (1..=last)
        .filter_map(|round| rate(Contender::Redbolt, round).zip(rate(Contender::Raw, round)))
        .collect();
    let ratios = || pairs.iter().map(|(redbolt, raw)| redbolt / raw);
    Some(Ratio {
        in_flight: level.in_flight,
        redbolt_cycles_per_s: tenths(median(pairs.iter().map(|pair| pair.0))?),
        raw_cycles_per_s: tenths(median(pairs.iter().map(|pair| pair.1))?),
        ratio: thousandths(median(ratios())?),
        least: thousandths(ratios().reduce(f64::min)?),
        most: thousandths(ratios().reduce(f64::max)?),
    })
}
