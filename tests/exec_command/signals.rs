//! Signals to `redbolt` itself.

use std::process::{self, Command};
use std::time::Duration;

use rustix::process::Signal;

use super::run::{PATIENCE, Run, assert_no_keys, exec, start_script};
use crate::support::fake::{Action, Fake};
use crate::support::master::Master;
use crate::support::process::is_in_set;
use crate::support::servers::Cluster;
use crate::support::until;

/// Those of a set that the test process was not started to ignore, because then `redbolt` is too.
fn not_ignored(signals: &[Signal]) -> Vec<Signal> {
    let is_ignored = |signal: &Signal| is_in_set(process::id(), "SigIgn", *signal);
    signals.iter().copied().filter(|signal| !is_ignored(signal)).collect()
}

const TERMINATING: [Signal; 6] =
    [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT, Signal::USR1, Signal::USR2];

#[test]
fn signals_are_passed_on_and_the_lock_is_released_after_the_command() {
    let cluster = Cluster::start(3);
    for signal in not_ignored(&TERMINATING) {
        let number = signal.as_raw();
        // The lock must be there until `go` is, whatever signals come before it.
        let script = format!(
            "trap 'echo {number} >got' {number}; echo >ready
             while [ -e out ] && [ ! -e go ]; do :; done; exit 5"
        );
        let mut run = start_script(&cluster.addrs(), &[], &script);
        run.line("ready");
        run.signal(signal);
        assert_eq!(run.line("got"), number.to_string());
        assert!(cluster.iter().filter(|node| node.get(b"r").is_some()).count() >= 2);
        run.create("go");
        run.wait().assert_code(5);
        assert_no_keys(&cluster);
    }
}

#[test]
fn redbolt_dies_of_the_signal_of_which_the_command_dies() {
    let cluster = Cluster::start(3);
    for signal in not_ignored(&TERMINATING) {
        // One core dump would be that of the command.
        let script = "ulimit -c 0; echo >ready; exec sleep 60";
        let run = start_script(&cluster.addrs(), &[], script);
        run.line("ready");
        run.signal(signal);
        run.finish().assert_died_of(signal);
        assert_no_keys(&cluster);
    }
}

#[test]
fn a_signal_reaches_the_whole_group() {
    let cluster = Cluster::start(3);
    let script = "(trap 'echo >got; exit' TERM; echo >ready; sleep 60 & wait) & wait";
    let run = start_script(&cluster.addrs(), &[], script);
    run.line("ready");
    run.signal(Signal::TERM);
    run.line("got");
    run.finish().assert_died_of(Signal::TERM);
}

#[test]
fn what_is_ignored_from_the_start_stays_ignored() {
    let cluster = Cluster::start(3);
    let script = "echo >ready; while [ -e out ] && [ ! -e go ]; do :; done; exit 5";
    let exec = exec(&cluster.addrs());
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' USR1; exec \"$@\"", "sh"]).arg(exec.get_program());
    shell.args(exec.get_args()).args(["r", "--", "sh", "-c", script]);
    shell.env("REDBOLT_NODES", cluster.addrs().join(",")).env("REDBOLT_RESTART_GUARD", "off");
    let run = Run::start(&mut shell);
    run.line("ready");
    run.signal(Signal::USR1);
    run.create("go");
    run.finish().assert_code(5);
}

#[test]
fn a_signal_ends_the_wait_for_the_lock() {
    let cluster = Cluster::start(5);
    for node in &cluster[..3] {
        node.set_px(b"r", b"x", Duration::from_secs(60));
    }
    let mut attempts = 0;
    for signal in not_ignored(&TERMINATING) {
        let run = start_script(&cluster.addrs(), &["--wait", "60s"], "echo ran");
        // A first attempt has been made, so there may be something to release.
        assert!(until(PATIENCE, || cluster[4].calls("set") > attempts));
        run.signal(signal);
        let outcome = run.finish();
        outcome.assert_died_of(signal);
        assert_eq!(outcome.out, "");
        for node in &cluster[3..] {
            assert!(until(PATIENCE, || node.keys().is_empty()));
        }
        assert_eq!(cluster.holding(b"r", b"x"), 3);
        attempts = cluster[4].calls("set");
    }
}

#[test]
fn a_signal_in_the_middle_of_an_attempt_takes_back_what_that_may_have_taken() {
    // It takes part, and then keeps to itself whether it granted the lock.
    let fake = Fake::after_handshake(Master::new(), |_| Action::Silence);
    let run = start_script(&[fake.addr()], &["--wait", "60s"], "echo ran");
    assert!(until(PATIENCE, || !tokens(&fake, "SET", 2).is_empty()));
    run.signal(Signal::TERM);
    run.finish().assert_died_of(Signal::TERM);
    let is_released = || tokens(&fake, "SET", 2) == tokens(&fake, "EVALSHA", 4);
    assert!(until(PATIENCE, is_released), "{:?}", tokens(&fake, "EVALSHA", 4));
}

/// An argument of every request of this name.
fn tokens(fake: &Fake, name: &str, argument: usize) -> Vec<Vec<u8>> {
    let requests = fake.requests().into_iter().filter(|request| request.name() == name);
    requests.map(|request| request.part(argument).to_vec()).collect()
}
