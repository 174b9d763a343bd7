//! Saboteurs: builds of the core that break one rule each, all of which the simulator must catch;
//! and a few around the core, which need no build.
//!
//! `tests/saboteurs.sh` runs this. A world with a broken rule may end in a panic as well as in a
//! violation. Both are results here, and neither is printed, except in the replay of one world:
//! `REDBOLT_SIM_SABOTEUR=<name> REDBOLT_SIM_SEED=<seed>`.

use core::fmt;
use std::panic::{set_hook, take_hook};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use redbolt::redlock::Saboteur;

use crate::chance::Chance;
use crate::checks::Violation;
use crate::options::Options;
use crate::runner;
use crate::tricks::Trick;
use crate::world::World;

use Breach::{Around, Core};

/// The number of seeds within which each saboteur must be caught.
const BOUND: u64 = 5_000;

/// The number of worlds without a saboteur that must go well in this build.
const HONEST: u64 = 200;

/// What breaks a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breach {
    Core(Saboteur),
    /// The world around the core.
    Around(Trick),
}

impl fmt::Debug for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Core(saboteur) => saboteur.fmt(f),
            Around(trick) => trick.fmt(f),
        }
    }
}

const SABOTEURS: [(&str, Breach); 65] = [
    ("S1", Core(Saboteur::TokenReused)),
    ("S1", Core(Saboteur::SpentTokenReused)),
    ("S2", Core(Saboteur::StartAfterQuorum)),
    ("S2", Core(Saboteur::DriftIgnored)),
    ("S3", Core(Saboteur::HalfIsEnough)),
    ("S3", Core(Saboteur::ElapsedIgnored)),
    ("S4", Core(Saboteur::StaleReply)),
    ("S4", Core(Saboteur::RefusalCounts)),
    ("S4", Core(Saboteur::UnknownCounts)),
    ("S5", Core(Saboteur::ReleaseWithoutCompare)),
    ("S5", Core(Saboteur::UnknownNotReleased)),
    ("S5", Core(Saboteur::ReleaseOvertakes)),
    ("S5", Core(Saboteur::ErrorWroteNothing)),
    ("S5", Core(Saboteur::LateGrantKept)),
    ("S6", Core(Saboteur::CleanupForgotten)),
    ("S7", Core(Saboteur::ExtensionByOne)),
    ("S7", Core(Saboteur::ExtensionRecreates)),
    ("S7", Core(Saboteur::ExtensionShortens)),
    ("S7", Core(Saboteur::ExtensionTooLate)),
    ("S7", Core(Saboteur::ScriptlessAgrees)),
    ("S8", Core(Saboteur::HeldWithoutLooking)),
    ("S9", Core(Saboteur::StoppingClock)),
    ("S9", Core(Saboteur::LostTimeIgnored)),
    ("S10", Core(Saboteur::SameProcessVotes)),
    ("S11", Core(Saboteur::QuarantineOff)),
    ("S11", Core(Saboteur::WitnessIgnored)),
    ("S11", Core(Saboteur::AgeWithoutEpsilon)),
    ("S11", Core(Saboteur::WitnessKeptAcrossIdentity)),
    ("S11", Core(Saboteur::WitnessWrittenByClient)),
    ("S11", Core(Saboteur::PushIgnored)),
    ("S11", Core(Saboteur::GapIgnored)),
    ("S11", Core(Saboteur::QuarantinedAgrees)),
    ("S12", Core(Saboteur::HoldWithoutEnd)),
    ("passing on", Core(Saboteur::PassedInFull)),
    ("passing on", Core(Saboteur::PassedTooLate)),
    ("passing on", Core(Saboteur::KnownTokenPassed)),
    ("tenure", Core(Saboteur::TenureForgotten)),
    ("tenure", Core(Saboteur::MarkIgnored)),
    ("thrift", Core(Saboteur::DoorForgotten)),
    ("sets", Core(Saboteur::StepsForgotten)),
    ("S13", Core(Saboteur::AnswersSwapped)),
    ("S13", Core(Saboteur::FenceNotRaised)),
    ("S13", Core(Saboteur::ProposalTrusted)),
    ("S13", Core(Saboteur::FenceOmitted)),
    ("S13", Core(Saboteur::RaisedByOne)),
    ("S13", Core(Saboteur::BehindAccepts)),
    ("S13", Core(Saboteur::DrawnByOne)),
    ("S13", Core(Saboteur::DrawNeverEnds)),
    ("S13", Core(Saboteur::YoungNodeDraws)),
    ("S13", Core(Saboteur::FarClockDraws)),
    ("-", Core(Saboteur::RepairCounts)),
    ("-", Core(Saboteur::SetIncomplete)),
    ("-", Core(Saboteur::AdoptionByOne)),
    ("far", Core(Saboteur::PatienceIgnored)),
    ("S3", Core(Saboteur::HedgeVotes)),
    ("S11", Core(Saboteur::OrderOverAll)),
    ("majority", Core(Saboteur::WideningForgotten)),
    ("majority", Core(Saboteur::SpareForgotten)),
    ("half", Core(Saboteur::HalfIgnored)),
    ("S5", Around(Trick::StrangerDeleted)),
    ("S13", Around(Trick::RaisedBlindly)),
    ("adopt", Around(Trick::HeirTooLate)),
    ("thrift", Around(Trick::PollsBlindly)),
    ("tenure", Around(Trick::TenureIgnored)),
    ("prefix", Around(Trick::PrefixForgotten)),
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

fn named(name: &str) -> Result<Breach, String> {
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

fn catch_one(saboteur: Breach, seeds: u64) -> Catch {
    (0..seeds).find_map(|seed| {
        let result = runner::contained(|| world(seed, saboteur, false).run());
        result.err().map(|violation| (seed + 1, violation))
    })
}

/// Returns the world of a seed with a saboteur in its core.
fn world(seed: u64, breach: Breach, is_loud: bool) -> World {
    let mut chance = Chance::new(seed);
    let mut options = Options::draw(seed, &mut chance);
    match breach {
        Core(saboteur) => options.config.saboteur = Some(saboteur),
        Around(trick) => options.trick = Some(trick),
    }
    options.clock_stops = breach == Core(Saboteur::StoppingClock);
    options.born_as_told = breach == Core(Saboteur::WitnessWrittenByClient);
    World::with(options, chance, is_loud)
}
