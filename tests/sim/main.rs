//! A deterministic simulator around the core: masters, clients and the network between them, in
//! simulated time.
//!
//! One seed decides everything that happens in a world: the number of masters and clients, how
//! their clocks run and are set, how long bytes take and in which pieces they come, what clients
//! want, and what goes wrong. In its first life a world is unsafe: connections break while requests
//! are under way that are executed long after, the network partitions in one direction or both,
//! masters stall, refuse, restart with their memory or without, become replicas, clients sleep and
//! die. In its second life nothing goes wrong, and everything must converge. [`checks`] says what
//! must be true at every step. Worlds that leave the model of SAFETY.md are labelled, and there
//! locks need not exclude each other.
//!
//! A third of the worlds have something besides ([`extras`]), in a third some clients ask for
//! fencing numbers ([`fencers`]), in some the masters are far away ([`distance`]), and in some they
//! run no scripts ([`scripts`]), each drawn from a stream of its own. [`fences`] says what must be
//! true of the numbers.
//!
//! * `REDBOLT_SIM_SEEDS=<count>` lives through more worlds, or fewer, than the default;
//!   `REDBOLT_SIM_FIRST=<seed>` begins with another seed than 0.
//! * `REDBOLT_SIM_SEED=<seed>` lives through one, and prints its options and what happens.
//!
//! The first 50,000 seeds of a run are lived through twice, and one in sixteen of all others: both
//! runs must do the same, bit for bit.
//!
//! The target has a `main` of its own (`harness = false`), because the usual harness would hide the
//! figures of a run that went well. `libtest-mimic` reads the arguments and prints the report, as
//! `cargo test` and cargo-nextest expect; the figures are the last line, below the report.

mod answer;
mod askers;
mod book;
mod calm;
mod chance;
mod checks;
mod client;
mod clock;
mod digits;
mod distance;
mod drawing;
mod edge;
mod extras;
mod faults;
mod fencers;
mod fences;
mod former;
mod greedy;
mod line;
mod link;
mod liveness;
mod logins;
mod manner;
mod master;
mod mixer;
mod names;
mod net;
mod numbers;
mod options;
mod passing;
mod questions;
mod request;
mod restarts;
mod rivals;
mod runner;
#[cfg(redbolt_sabotage)]
mod saboteurs;
mod scripts;
mod stops;
mod store;
mod strangers;
mod thrift;
mod together;
mod trace;
mod tracking;
mod tricks;
mod whole;
mod witness;
mod world;

use std::process::ExitCode;
use std::sync::mpsc;

use libtest_mimic::{Arguments, Failed, Trial};

/// The default number of worlds: a hundred seconds of two idle cores, and seconds in a debug build.
const SEEDS: u64 = if cfg!(debug_assertions) { 500 } else { 50_000 };

const NAME: &str = if cfg!(redbolt_sabotage) {
    "every_saboteur_is_caught"
} else {
    "no_world_breaks_a_rule_and_all_converge"
};

fn main() -> ExitCode {
    let (sender, summaries) = mpsc::channel();
    let trial = Trial::test(NAME, move || {
        let found = test();
        let (Ok(text) | Err(text)) = &found;
        // A failure stands in the report as a whole; only its last line is repeated below.
        let summary = if found.is_ok() { text } else { text.lines().last().unwrap_or_default() };
        // The receiver waits until the end of the report.
        _ = sender.send(summary.to_owned());
        found.map(|_| ()).map_err(Failed::from)
    });
    let conclusion = libtest_mimic::run(&Arguments::from_args(), vec![trial]);
    // A test that was only listed, or was filtered out, has sent nothing.
    summaries.try_iter().for_each(|summary| println!("{summary}"));
    conclusion.exit_code()
}

/// Returns the summary of a run that went well, or the reason of a failure.
fn test() -> Result<String, String> {
    if let Some(seed) = number("REDBOLT_SIM_SEED")? {
        #[cfg(redbolt_sabotage)]
        if let Ok(name) = std::env::var("REDBOLT_SIM_SABOTEUR") {
            return saboteurs::replay(&name, seed);
        }
        return runner::replay(seed);
    }
    let seeds = number("REDBOLT_SIM_SEEDS")?;
    #[cfg(redbolt_sabotage)]
    if let (Ok(name), Some(seeds)) = (std::env::var("REDBOLT_SIM_SABOTEUR"), seeds) {
        return saboteurs::catch(&name, seeds);
    }
    #[cfg(redbolt_sabotage)]
    if seeds.is_none() {
        return saboteurs::catch_all();
    }
    let first = number("REDBOLT_SIM_FIRST")?.unwrap_or(0);
    runner::live_through(first..first.saturating_add(seeds.unwrap_or(SEEDS)))
}

/// Reads a number from the environment.
fn number(name: &str) -> Result<Option<u64>, String> {
    let Ok(text) = std::env::var(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("{name}={text} is not a number"))
}
