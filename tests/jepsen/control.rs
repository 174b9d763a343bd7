//! Runs with a known answer: the model is broken, and the checker must find that.
//!
//! All clients want one lock, take it for as long as it can be had and let it lapse. While one of
//! them holds it, a majority of the nodes forgets it.

use std::time::Duration;

use crate::checker::Verdict;
use crate::fleet::{Fleet, NODES, Rules};
use crate::log::{What, nanos};
use crate::order::Habit;
use crate::report::Report;
use crate::support::until;

/// How long a lock may take to be held.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often the harm is done before it counts as found by nobody. Once is enough unless the
/// machine is so slow that the lock is over before the nodes are back.
const ROUNDS: usize = 10;

const MAJORITY: usize = NODES / 2 + 1;

/// FAULTS 25.
#[test]
fn when_nodes_forget_the_checker_finds_a_double_hold() {
    let mut control = Control::start();
    let found = (0..ROUNDS).any(|_| {
        control.wait_for_a_holder();
        control.fleet.restart(MAJORITY);
        control.wait_for_a_holder();
        !control.report.judge().double_holds.is_empty()
    });
    assert!(found, "{}: nothing found", control.fleet.log.path().display());
    control.end();
}

struct Control {
    fleet: Fleet,
    report: Report,
}

impl Control {
    fn start() -> Self {
        let fleet = Fleet::start(Rules {
            habit: Habit::Clinging,
            // Longer than nodes take to restart, on a machine with more to do.
            max_ttl: Duration::from_secs(3),
            step: Duration::ZERO,
            clients: 3,
            seed: 1,
        });
        let report = Report::new(&fleet);
        Self { fleet, report }
    }

    /// Waits until somebody is granted the lock from now on.
    fn wait_for_a_holder(&mut self) {
        let start = nanos();
        let Self { fleet, report } = self;
        let held = until(PATIENCE, || {
            fleet.check_clients();
            let new = report.read_on();
            new.iter().any(|r| r.at >= start && matches!(r.what, What::Held { .. }))
        });
        assert!(held, "{}: nobody is granted the lock", fleet.log.path().display());
    }

    /// Whatever was done to the nodes, each request has ended as it should.
    fn end(mut self) {
        self.fleet.finish();
        let Verdict { faults, .. } = self.report.judge();
        assert!(faults.is_empty(), "{}: {faults:#?}", self.fleet.log.path().display());
        self.fleet.log.remove();
    }
}
