//! Saboteurs: builds of the core that break one rule each, all of which the simulator must catch.
//!
//! `tests/saboteurs.sh` runs this. A world with a broken rule may end in a panic as well as in a
//! violation. Both are results here, and neither is printed, except in the replay of one world:
//! `REDBOLT_SIM_SABOTEUR=<name> REDBOLT_SIM_SEED=<seed>`.

use std::panic::{set_hook, take_hook};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use redbolt::redlock::Saboteur;

use crate::chance::Chance;
use crate::checks::Violation;
use crate::options::Options;
use crate::runner;
use crate::world::World;

/// The number of seeds within which each saboteur must be caught.
const BOUND: u64 = 5_000;

/// The number of worlds without a saboteur that must go well in this build.
const HONEST: u64 = 200;

const SABOTEURS: [(&str, Saboteur); 33] = [
    ("S1", Saboteur::TokenReused),
    ("S1", Saboteur::SpentTokenReused),
    ("S2", Saboteur::StartAfterQuorum),
    ("S2", Saboteur::DriftIgnored),
    ("S3", Saboteur::HalfIsEnough),
    ("S3", Saboteur::ElapsedIgnored),
    ("S4", Saboteur::StaleReply),
    ("S4", Saboteur::RefusalCounts),
    ("S4", Saboteur::UnknownCounts),
    ("S5", Saboteur::ReleaseWithoutCompare),
    ("S5", Saboteur::UnknownNotReleased),
    ("S5", Saboteur::LateGrantKept),
    ("S6", Saboteur::CleanupForgotten),
    ("S7", Saboteur::ExtensionByOne),
    ("S7", Saboteur::ExtensionRecreates),
    ("S7", Saboteur::ExtensionShortens),
    ("S7", Saboteur::ExtensionTooLate),
    ("S8", Saboteur::HeldWithoutLooking),
    ("S9", Saboteur::StoppingClock),
    ("S9", Saboteur::LostTimeIgnored),
    ("S10", Saboteur::SameProcessVotes),
    ("S11", Saboteur::QuarantineOff),
    ("S11", Saboteur::WitnessIgnored),
    ("S11", Saboteur::AgeWithoutEpsilon),
    ("S11", Saboteur::WitnessKeptAcrossIdentity),
    ("S11", Saboteur::WitnessWrittenByClient),
    ("S11", Saboteur::PushIgnored),
    ("S11", Saboteur::GapIgnored),
    ("S11", Saboteur::QuarantinedAgrees),
    ("S12", Saboteur::HoldWithoutEnd),
    ("-", Saboteur::RepairCounts),
    ("-", Saboteur::SetIncomplete),
    ("-", Saboteur::AdoptionByOne),
];

/// The number of seeds needed, and the violation.
type Catch = Option<(u64, Violation)>;

/// Lives through one world with a saboteur, and prints what happens.
pub(crate) fn replay(name: &str, seed: u64) -> Result<String, String> {
    let saboteur = named(name)?;
    match runner::contained(|| world(seed, saboteur, true).run()) {
        Ok(_) => Err(format!("{name} was not caught")),
        Err(violation) => Ok(format!("{name} was caught: {violation:?}")),
    }
}

/// Looks for one saboteur, which may need more seeds than all may.
pub(crate) fn catch(name: &str, seeds: u64) -> Result<String, String> {
    let saboteur = named(name)?;
    let loud = take_hook();
    set_hook(Box::new(|_| ()));
    let catch = catch_one(saboteur, seeds);
    set_hook(loud);
    match catch {
        Some((seeds, violation)) => Ok(format!("{name} was caught: {seeds}, {violation:?}")),
        None => Err(format!("{name} was not caught within {seeds} seeds")),
    }
}

fn named(name: &str) -> Result<Saboteur, String> {
    let named = SABOTEURS.iter().find(|(_, saboteur)| format!("{saboteur:?}") == name);
    named.map(|(_, saboteur)| *saboteur).ok_or_else(|| format!("no saboteur is called {name}"))
}

/// Looks for each saboteur. Returns a table of the seeds needed.
pub(crate) fn catch_all() -> Result<String, String> {
    runner::live_through(0..HONEST)?;
    let loud = take_hook();
    set_hook(Box::new(|_| ()));
    let caught = catch_each();
    set_hook(loud);
    let mut table = format!("{:4} {:22} {:>6}  caught by\n", "rule", "saboteur", "seeds");
    let mut missed = Vec::new();
    for ((rule, saboteur), catch) in SABOTEURS.iter().zip(caught) {
        let name = format!("{saboteur:?}");
        if let Some((seeds, Violation { what, .. })) = catch {
            table += &format!("{rule:4} {name:22} {seeds:>6}  {what}\n");
        } else {
            table += &format!("{rule:4} {name:22} {:>6}  nothing\n", "-");
            missed.push(name);
        }
    }
    if missed.is_empty() {
        Ok(format!("{table}saboteurs: {} of {} caught", SABOTEURS.len(), SABOTEURS.len()))
    } else {
        Err(format!("{table}saboteurs: not caught within {BOUND} seeds: {missed:?}"))
    }
}

/// Looks for all saboteurs, as many at a time as there are cores.
fn catch_each() -> Vec<Catch> {
    let next = AtomicUsize::new(0);
    let caught = Mutex::new(vec![None; SABOTEURS.len()]);
    let work = || {
        while let Some((_, saboteur)) = SABOTEURS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let catch = catch_one(*saboteur, BOUND);
            let place = SABOTEURS.iter().position(|(_, other)| other == saboteur);
            let mut caught = caught.lock().unwrap_or_else(PoisonError::into_inner);
            // The saboteur comes from the list, so its place is found.
            caught[place.unwrap_or_default()] = catch;
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..cores).for_each(|_| _ = scope.spawn(work)));
    caught.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn catch_one(saboteur: Saboteur, seeds: u64) -> Catch {
    (0..seeds).find_map(|seed| {
        let result = runner::contained(|| world(seed, saboteur, false).run());
        result.err().map(|violation| (seed + 1, violation))
    })
}

/// Returns the world of a seed with a saboteur in its core.
fn world(seed: u64, saboteur: Saboteur, is_loud: bool) -> World {
    let mut chance = Chance::new(seed);
    let mut options = Options::draw(seed, &mut chance);
    options.config.saboteur = Some(saboteur);
    options.clock_stops = saboteur == Saboteur::StoppingClock;
    options.born_as_told = saboteur == Saboteur::WitnessWrittenByClient;
    World::with(options, chance, is_loud)
}
