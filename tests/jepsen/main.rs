//! A small Jepsen: several client processes, five real masters, a nemesis, one log, a checker.
//!
//! - [`client`] is the work of a client process, [`plan`] its intentions for each lock, [`order`]
//!   its settings at the start, and [`secrets`] the passwords with which it logs in;
//! - [`fleet`] starts and keeps the processes: [`home`] is one name with the masters behind it;
//! - [`nemesis`] does what the model of `SAFETY.md` allows to processes, names, links, settings and
//!   clocks, as a seed decides; [`storm`] lets the nemesis rage, and has calms in between in which
//!   every client must be served, and must shut down fast although a minority is away;
//! - [`register`] is the storage that the locks protect, and [`numbers`] has storms in which all
//!   locks have fencing numbers;
//! - [`log`] is written by all of them, on one clock; [`wire`] writes there what the masters have
//!   said, and [`watch`] when a process could not run;
//! - [`checker`] reads the log, and knows nothing else;
//! - [`control`] has runs in which the model is broken on purpose: the checker must find that, or
//!   the silence of the other runs means nothing.
//!
//! ```text
//! REDBOLT_JEPSEN_SECONDS=300 cargo test --release --test jepsen -- --nocapture
//! ```
//!
//! lasts longer than the default, and `REDBOLT_JEPSEN_SEED` repeats the choices of the nemesis. The
//! log of a run that fails is kept, and the failure says where.
#![cfg(feature = "net")]

mod checker;
mod client;
mod control;
mod fleet;
mod home;
mod log;
mod nemesis;
mod numbers;
mod order;
mod plan;
mod register;
mod report;
#[cfg(redbolt_sabotage)]
mod sabotage;
mod secrets;
mod storm;
#[path = "../support/mod.rs"]
mod support;
mod watch;
mod wire;

use std::time::Duration;
use std::{env, process};

use redbolt::redlock::RestartGuard;

use crate::fleet::Rules;
use crate::home::Files;
use crate::order::{Habit, Order};

/// How long the nemesis rages by default: two thirds in the first run, one in each of the others.
const SECONDS: u64 = 15;

/// FAULTS 15, 17, 18, 20 to 24, 26, 27, 31, 35, 36, 39, 41, 45 to 47, 51, 56, 63, 64, in any order
/// and at the same time.
#[test]
fn no_two_clients_believe_in_the_same_lock() {
    if let Some(order) = Order::of_this_process() {
        return client::live(order);
    }
    let files = [Files::None, Files::Snapshot, Files::EveryWrite, Files::EverySecond, Files::None];
    let rules = Rules { files, has_spares: true, bodies: [3, 3], ..rules() };
    storm::weather("on", rules, share(2));
}

/// FAULTS 26: masters that are believed because of their files, and others beside them.
#[test]
fn no_two_clients_believe_in_the_same_lock_when_files_are_believed() {
    let durable = Files::EveryWrite;
    let files = [durable, durable, durable, Files::EverySecond, Files::Snapshot];
    let guard = RestartGuard::Durable;
    storm::weather("durable", Rules { files, guard, bodies: [2, 2], ..rules() }, share(1));
}

/// Returns what the runs have in common.
fn rules() -> Rules {
    Rules {
        habit: Habit::Mixed,
        guard: RestartGuard::On,
        is_deaf: false,
        files: [Files::None; fleet::NODES],
        has_spares: false,
        max_ttl: Duration::from_secs(1),
        step: Duration::from_millis(100),
        // Clocks are right but for their steps.
        skew: Duration::from_millis(100),
        ahead: [0; fleet::NODES],
        bodies: [0, 0],
        seed: number("REDBOLT_JEPSEN_SEED").unwrap_or_else(|| u64::from(process::id())),
    }
}

/// Returns this many thirds of the time for the nemesis; all of it where a time was demanded.
fn share(thirds: u64) -> Duration {
    let demanded = number("REDBOLT_JEPSEN_SECONDS").map(Duration::from_secs);
    demanded.unwrap_or_else(|| Duration::from_secs(SECONDS * thirds / 3))
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}
