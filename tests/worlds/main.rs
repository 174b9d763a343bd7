//! Random worlds: several clients against masters behind bad links, in simulated time.
//!
//! A world is drawn from one seed: how many masters and clients, how their clocks run, how long
//! bytes take, what the clients want and what goes wrong. Bytes come in pieces and late,
//! connections break with requests on their way that are executed long after, masters stall and
//! refuse, clients sleep. Masters keep their keys: one that forgets them breaks Redlock itself.
//!
//! `REDBOLT_WORLDS=<count>` lives through more worlds than the default. A failure names its seed;
//! `REDBOLT_WORLDS_SEED=<seed>` lives through that one alone and prints what happens.

mod chance;
mod checks;
mod client;
mod link;
mod master;
mod net;
mod world;

use crate::world::{Summary, World};

/// How many worlds there are unless more are wanted: seconds, not minutes, in a debug build.
const WORLDS: u64 = 50;

/// The longest world has that many steps before all is well again.
const STEPS: usize = 6_000;

#[test]
fn no_world_has_two_holders_a_late_event_or_a_leak() {
    if let Some(seed) = number("REDBOLT_WORLDS_SEED") {
        live(seed, true);
        return;
    }
    let worlds = number("REDBOLT_WORLDS").unwrap_or(WORLDS);
    let mut sum = Summary::default();
    for seed in 0..worlds {
        let seen = live(seed, false);
        assert_eq!(live(seed, false), seen, "seed {seed} is not deterministic");
        sum.nanos += seen.nanos;
        sum.faults += seen.faults;
        sum.grants += seen.grants;
        sum.extensions += seen.extensions;
    }
    let Summary { faults, grants, extensions, .. } = sum;
    let hours = sum.nanos as f64 / 3.6e12;
    println!(
        "worlds: {worlds} worlds, {hours:.1} simulated hours, {faults} faults, {grants} grants, \
         0 violations"
    );
    // A world in which nothing happens has no violations either.
    assert!(worlds < 10 || (faults > worlds && grants > worlds && extensions > worlds));
}

fn live(seed: u64, is_loud: bool) -> Summary {
    let hint = Hint(seed);
    let summary = World::new(seed, is_loud).run(STEPS);
    drop(hint);
    summary
}

/// Says how to see a failure again, whatever it is.
struct Hint(u64);

impl Drop for Hint {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(seed) = self;
            eprintln!("\nworld {seed} fails. To see it again:");
            eprintln!("REDBOLT_WORLDS_SEED={seed} cargo test --release --test worlds");
        }
    }
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}
