//! Runs with a known answer. In some the model is broken, and the checker must find that. In others
//! nearly the same happens without breaking the model, and the checker must find nothing.
//!
//! All clients want one lock, take the lock for as long as possible and let it lapse. While one
//! client holds the lock, a majority of the nodes forgets the lock, or believes that its time is
//! over.

use std::time::Duration;

use redbolt::redlock::RestartGuard;

use crate::checker::Verdict;
use crate::fleet::{Fleet, MAJORITY, NODES, Rules};
use crate::home::Files;
use crate::log::nanos;
use crate::order::Habit;
use crate::report::Report;
use crate::support::until;

/// The longest wait for a held lock, with all nodes in quarantine before.
const PATIENCE: Duration = Duration::from_secs(60);

/// The ttl of all locks: longer than a restart of nodes on a busy machine.
const LONG: Duration = Duration::from_secs(3);

/// The ttl of all locks where nothing is restarted.
const SHORT: Duration = Duration::from_secs(1);

/// How often the harm is done before the test fails. Once is enough, unless the machine is so slow
/// that the lock is over before the nodes are back.
const ROUNDS: usize = 10;

/// FAULTS 25: without the guard happens what the guard is there to prevent.
#[test]
fn without_the_guard_the_checker_finds_a_double_hold() {
    let control = Control::start(RestartGuard::Off, false);
    control.must_find_a_double_hold(|fleet| fleet.restart(MAJORITY));
}

/// FAULTS 24, 27: the same harm with the guard. For a while nobody can have the lock.
#[test]
fn with_the_guard_nodes_that_forget_give_nothing_away() {
    let mut control = Control::start(RestartGuard::On, false);
    for nodes in [MAJORITY, NODES, MAJORITY] {
        control.wait_for_a_holder();
        control.fleet.restart(nodes);
        control.wait_for_a_holder();
    }
    control.report.check(&control.fleet.log);
    control.end();
}

/// FAULTS 39, CONTROL: keys are deleted under clients that have no right to be told. They look
/// again only later, and `SAFETY.md` does not promise that nobody holds the lock by then.
#[test]
fn when_keys_are_flushed_and_nobody_is_told_the_checker_finds_a_double_hold() {
    let control = Control::with(SHORT, RestartGuard::On, true);
    control.must_find_a_double_hold(|fleet| fleet.flush(MAJORITY));
}

/// FAULTS 39: the same harm under clients that are told. The witness is gone with the keys, and for
/// a while nobody can have the lock.
#[test]
fn when_keys_are_flushed_and_clients_are_told_nothing_is_given_away() {
    let mut control = Control::with(SHORT, RestartGuard::On, false);
    for nodes in [MAJORITY, NODES, MAJORITY] {
        control.wait_for_a_holder();
        control.fleet.flush(nodes);
        control.wait_for_a_holder();
    }
    control.report.check(&control.fleet.log);
    control.end();
}

/// FAULTS 33: clocks are stepped by more than the clients are told to expect.
#[test]
fn when_clocks_are_stepped_the_checker_finds_a_double_hold() {
    let control = Control::start(RestartGuard::On, false);
    if !control.fleet.set_clock(0, Duration::ZERO) {
        return;
    }
    let mut ahead = Duration::ZERO;
    control.must_find_a_double_hold(|fleet| {
        ahead += Duration::from_secs(60);
        for node in 0..MAJORITY {
            fleet.set_clock(node, ahead);
        }
    });
}

struct Control {
    fleet: Fleet,
    report: Report,
}

impl Control {
    fn start(guard: RestartGuard, is_deaf: bool) -> Self {
        Self::with(LONG, guard, is_deaf)
    }

    fn with(max_ttl: Duration, guard: RestartGuard, is_deaf: bool) -> Self {
        let fleet = Fleet::start(Rules {
            habit: Habit::Clinging,
            guard,
            is_deaf,
            files: [Files::None; NODES],
            has_spares: false,
            max_ttl,
            step: Duration::ZERO,
            skew: Duration::ZERO,
            ahead: [0; NODES],
            bodies: [3, 0],
            seed: 1,
        });
        let report = Report::new(&fleet);
        Self { fleet, report }
    }

    /// Does the harm while a client holds the lock, until two clients hold it.
    fn must_find_a_double_hold(mut self, mut harm: impl FnMut(&mut Fleet)) {
        let found = (0..ROUNDS).any(|_| {
            self.wait_for_a_holder();
            harm(&mut self.fleet);
            self.wait_for_a_holder();
            !self.report.judge().double_holds.is_empty()
        });
        assert!(found, "{}: nothing found", self.fleet.log.path().display());
        self.end();
    }

    /// Waits until a client is granted the lock from now on.
    fn wait_for_a_holder(&mut self) {
        let start = nanos();
        let Self { fleet, report } = self;
        let held = until(PATIENCE, || {
            fleet.check_clients();
            report.served(start).next().is_some()
        });
        assert!(held, "{}: nobody is granted the lock", fleet.log.path().display());
    }

    /// Checks that each request has ended as it should, whatever was done to the nodes.
    fn end(mut self) {
        self.fleet.finish();
        let Verdict { faults, .. } = self.report.judge();
        assert!(faults.is_empty(), "{}: {faults:#?}", self.fleet.log.path().display());
        self.fleet.remove_files();
    }
}
