//! The steps of a run, in their order.
//!
//! A round measures every load once, and rounds follow one another: what changes on the machine
//! meanwhile changes all loads, and is seen in the spread of each.

use redbolt::Config;

use super::args::Args;
use super::crowd;
use super::figures::step::{Measured, Place, of_crowd, of_engines, of_raw};
use super::load::engines;
use super::raw;
use super::run::Contender;
use super::signals::Signals;
use super::watch::Watch;
use crate::failure::Failure;

/// The steps that were measured.
pub(crate) struct Conducted {
    pub(crate) measured: Vec<Measured>,
    /// Why there are no more; `None` after the last step, or after a signal.
    pub(crate) broken: Option<Failure>,
}

/// Measures all steps, or fewer if a signal ends the run, or if a step fails. A run that has
/// measured nothing has failed.
pub(crate) fn conduct(
    args: &Args,
    config: &Config,
    seed: u64,
    signals: &Signals,
) -> Result<Conducted, Failure> {
    let loads = args.levels();
    let mut all: Vec<Measured> = Vec::new();
    for round in 1..=args.rounds() {
        for &level in &loads {
            let place = Place {
                level,
                round,
                nodes: &config.nodes,
                engines: config.threads,
                is_fenced: args.fenced,
                asks_majority: args.asks_majority(),
            };
            let mut order = vec![Contender::Redbolt];
            if args.has_raw() {
                // Whoever is first finds other caches than the second: they take turns.
                order.insert(usize::from(round % 2 == 1), Contender::Raw);
            }
            for contender in order {
                match step(args, config, place, contender, seed, signals) {
                    Ok(measured) => all.extend(measured),
                    Err(failure) if all.is_empty() => return Err(failure),
                    Err(failure) => {
                        return Ok(Conducted { measured: all, broken: Some(failure) });
                    }
                }
                if signals.caught() {
                    return Ok(Conducted { measured: all, broken: None });
                }
            }
            // Beyond a rate that is too much, each step would only make a longer queue.
            let is_too_much = all.last().is_some_and(|last| last.step.is_behind);
            if is_too_much {
                break;
            }
        }
    }
    Ok(Conducted { measured: all, broken: None })
}

/// Measures one load once.
fn step(
    args: &Args,
    config: &Config,
    place: Place<'_>,
    contender: Contender,
    seed: u64,
    signals: &Signals,
) -> Result<Option<Measured>, Failure> {
    // Every round draws anew, and the same rounds of two runs with one seed draw alike.
    let demand = args.demand(place.level, seed.wrapping_add(u64::from(place.round)));
    let times = [args.warm_up, args.seconds()];
    let watch = Watch::new(&config.nodes, signals);
    if contender == Contender::Raw {
        return Ok(Some(of_raw(place, raw::measure(&demand, config, times, signals, &watch)?)));
    }
    match args.crowd() {
        None => {
            let (parts, seen) = engines::measure(&demand, config, times, signals, &watch)?;
            Ok(of_engines(place, parts, &seen))
        }
        Some(kind) => {
            let crowd = crowd::measure(&demand, kind, config, times, signals, &watch)?;
            Ok(Some(of_crowd(place, crowd)))
        }
    }
}
