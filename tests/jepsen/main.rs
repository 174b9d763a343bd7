//! A small Jepsen: several client processes, five real masters, a nemesis, one log, a checker.
//!
//! - [`client`] is the work of a client process, [`plan`] its intentions for each lock, and
//!   [`order`] its settings at the start;
//! - [`fleet`] starts and keeps the processes, [`clocks`] the clocks of the masters;
//! - [`nemesis`] kills, stops and cuts off processes and steps clocks, as a seed decides;
//! - [`log`] is written by all of them, on one clock;
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
mod log;
mod nemesis;
mod order;
mod plan;
mod report;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::time::Duration;
use std::{env, process};

use crate::fleet::{Fleet, Rules};
use crate::log::{What, nanos};
use crate::nemesis::Nemesis;
use crate::order::{Habit, Order};
use crate::report::Report;
use crate::support::{now, until};

/// How long the nemesis rages by default.
const SECONDS: u64 = 15;

/// How long the nemesis rages before a pause in which every client can have a lock.
const STORM: Duration = Duration::from_secs(5);

/// The time in which every client must have been granted a lock once all is well. The limit is far
/// more than the clients need: it finds clients that are stuck, and measures nothing.
const PATIENCE: Duration = Duration::from_secs(60);

const CLIENTS: usize = 6;

/// FAULTS 15, 20, 21, 22, 23, 24, 27, 35, 36, 56, in any order and at the same time.
#[test]
fn no_two_clients_believe_in_the_same_lock() {
    if let Some(order) = Order::of_this_process() {
        return client::live(order);
    }
    let seed = number("REDBOLT_JEPSEN_SEED").unwrap_or_else(|| u64::from(process::id()));
    let long = Duration::from_secs(number("REDBOLT_JEPSEN_SECONDS").unwrap_or(SECONDS));
    // Printed with a failure.
    println!("REDBOLT_JEPSEN_SEED={seed}");
    let mut fleet = Fleet::start(Rules {
        habit: Habit::Mixed,
        guarded: true,
        max_ttl: Duration::from_secs(1),
        step: Duration::from_millis(100),
        clients: CLIENTS,
        seed,
    });
    let mut nemesis = Nemesis::new(seed);
    let mut report = Report::new(&fleet);
    let start = now();
    while now() - start < long {
        nemesis.rage(&mut fleet, STORM.min(long));
        rest(&mut fleet, &mut report);
        report.check(&fleet.log);
    }
    fleet.finish();
    report.check(&fleet.log);
    let (seconds, deeds) = ((now() - start).as_secs(), nemesis.deeds);
    println!("jepsen: {seconds} s, {CLIENTS} clients, {}", report.summary(deeds));
    assert!(deeds.are_enough(long), "the nemesis has been idle: {deeds:?}");
    fleet.log.remove();
}

/// Checks that every client is granted a lock while nothing is wrong.
fn rest(fleet: &mut Fleet, report: &mut Report) {
    let start = nanos();
    let mut unserved: BTreeSet<_> = fleet.clients.iter().map(|client| client.number).collect();
    let all_served = until(PATIENCE, || {
        fleet.check_clients();
        for record in report.read_on().iter().filter(|record| record.at >= start) {
            if matches!(record.what, What::Held { .. }) {
                unserved.remove(&record.client);
            }
        }
        unserved.is_empty()
    });
    let log = fleet.log.path().display();
    assert!(all_served, "{log}: all is well, and these are granted nothing: {unserved:?}");
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}
