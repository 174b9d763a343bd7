//! `--at-least`: a lock that stays behind its command, so that no other machine runs it once more.

use std::time::Duration;

use rustix::process::Signal;

use super::events::assert_documented;
use super::run::{Outcome, PATIENCE, Run, assert_no_keys, exec, run_until_quorate, start_script};
use super::speech::{events, objects_of};
use crate::support::servers::{Cluster, Node};
use crate::support::{now, until};

/// Longer than any wait here, so that only the clocks of the nodes can have ended it.
const MINUTE: &str = "50s";

/// What is left of a lock on the nodes, in milliseconds: the shortest time of a majority.
fn left(cluster: &Cluster) -> i64 {
    let mut times: Vec<_> = cluster.iter().map(|node| node.pttl(b"r")).collect();
    times.sort_unstable();
    times[(times.len() - 1) / 2]
}

/// # Panics
///
/// When the lock does not stay for the rest of about 50 s, or is not as that of another.
fn assert_kept(cluster: &Cluster) {
    let left = left(cluster);
    assert!((20_000..=51_000).contains(&left), "{left} ms are left");
    let second = run_until_quorate(&cluster.addrs(), &["--wait", "0", "r", "--", "echo", "ran"]);
    second.assert_code(75);
    assert_eq!(second.out, "");
    assert!(second.err.contains("\"r\" is held by another"), "{}", second.err);
}

fn delete(cluster: &Cluster) {
    for node in cluster.iter() {
        node.command(&[b"DEL", b"r"]);
    }
}

#[test]
fn the_lock_stays_for_the_rest_of_the_time_and_redbolt_does_not() {
    let cluster = Cluster::start(3);
    for (script, code) in [("exit 0", 0), ("exit 7", 7)] {
        let start = now();
        let options = ["--ttl", "2s", "--at-least", MINUTE];
        let outcome = start_script(&cluster.addrs(), &options, script).finish();
        outcome.assert_code(code);
        assert!(now() - start < Duration::from_secs(20));
        assert_eq!(outcome.err, "");
        assert_kept(&cluster);
        delete(&cluster);
    }
}

#[test]
fn the_lock_of_a_command_that_died_of_a_signal_stays_as_well() {
    let cluster = Cluster::start(3);
    let options = ["--ttl", "2s", "--at-least", MINUTE];
    let run = start_script(&cluster.addrs(), &options, "echo >ready; exec sleep 60");
    run.line("ready");
    run.signal(Signal::TERM);
    run.finish().assert_died_of(Signal::TERM);
    assert_kept(&cluster);
}

/// The command has run, if not to its end.
#[test]
fn the_lock_of_a_command_that_had_to_be_ended_stays_as_well() {
    let cluster = Cluster::start(3);
    let options = ["--no-keep-alive", "--ttl", "10s", "--at-least", MINUTE];
    let outcome = start_script(&cluster.addrs(), &options, "exec sleep 60").finish();
    outcome.assert_code(76);
    assert_kept(&cluster);
}

#[test]
fn a_lock_that_was_held_for_long_enough_is_released_at_once() {
    let cluster = Cluster::start(3);
    let script = "echo >ready; while [ -e out ] && [ ! -e go ]; do sleep 0.01; done";
    let options = ["--verbose", "--no-keep-alive", "--ttl", "30s", "--at-least", "500ms"];
    let mut run = start_script(&cluster.addrs(), &options, script);
    run.line("ready");
    assert!(until(PATIENCE, || left(&cluster) < 29_000), "{} ms are left", left(&cluster));
    run.create("go");
    let outcome = run.wait();
    outcome.assert_code(0);
    assert!(outcome.err.contains("\"r\" is released after"), "{}", outcome.err);
    assert_no_keys(&cluster);
}

#[test]
fn a_command_that_could_not_be_started_leaves_the_lock_to_others() {
    let cluster = Cluster::start(3);
    let arguments = ["--at-least", MINUTE, "r", "--", "/nonexistent/command"];
    run_until_quorate(&cluster.addrs(), &arguments).assert_code(127);
    assert_no_keys(&cluster);
}

#[test]
fn the_lock_ends_by_itself_when_the_time_is_over() {
    let cluster = Cluster::start(3);
    let start = now();
    let options = ["--ttl", "1s", "--at-least", "3s"];
    start_script(&cluster.addrs(), &options, "echo >ready").finish().assert_code(0);
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.keys().is_empty())));
    assert!(now() - start >= Duration::from_secs(3));
}

/// No ttl is shortened, and nothing needs to be asked of the nodes.
#[test]
fn a_ttl_that_reaches_further_is_left_as_it_is() {
    let cluster = Cluster::start(3);
    let options = ["--verbose", "--ttl", "50s", "--at-least", "5s"];
    let outcome = start_script(&cluster.addrs(), &options, "exit 0").finish();
    outcome.assert_code(0);
    assert!(outcome.err.contains("\"r\" stays locked for another "), "{}", outcome.err);
    assert_kept(&cluster);
}

/// Runs a command to its end with a verbose journal, in which the lock stays for long.
fn start_staying(cluster: &Cluster, options: &[&str]) -> Run {
    let common = ["--log", "json", "--verbose", "--max-ttl", "10s", "--ttl", "4s"];
    let mut command = exec(&cluster.addrs());
    command.args(common).args(options).args(["r", "--", "sh", "-c", "exit 3"]);
    Run::start(&mut command)
}

fn said(run: &Run) -> Vec<String> {
    // The last line may be half written.
    let text = run.file("err");
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    events(&objects_of(whole)).into_iter().map(str::to_owned).collect()
}

fn expect_said(run: &Run, event: &str) {
    assert!(until(PATIENCE, || said(run).iter().any(|said| said == event)), "{}", run.file("err"));
}

/// # Panics
///
/// When the outcome has not told this event last, with such times.
fn assert_last(outcome: &Outcome, event: &str, has_short: bool) {
    let objects = objects_of(&outcome.err);
    assert_documented(&objects);
    let last = objects.last().expect("something is said");
    assert_eq!(last["event"], event, "{}", outcome.err);
    assert_eq!(last["short_ms"].as_f64().is_some(), has_short, "{last}");
    assert!(last["left_ms"].as_f64().is_some(), "{last}");
}

#[test]
fn redbolt_stays_as_long_as_no_ttl_reaches_the_end() {
    let cluster = Cluster::start(3);
    let start = now();
    let mut run = start_staying(&cluster, &["--at-least", "14s"]);
    expect_said(&run, "staying");
    let outcome = run.wait();
    outcome.assert_code(3);
    assert_last(&outcome, "kept", false);
    let elapsed = now() - start;
    assert!(elapsed >= Duration::from_secs(4), "{elapsed:?}");
    assert!(left(&cluster) > 5_000, "{} ms are left", left(&cluster));
}

#[test]
fn a_signal_ends_the_stay_with_the_longest_ttl_and_says_what_is_missing() {
    let cluster = Cluster::start(3);
    let mut run = start_staying(&cluster, &["--at-least", "1h"]);
    expect_said(&run, "staying");
    // Nobody is left for whom this one is.
    run.signal(Signal::USR1);
    run.signal(Signal::TERM);
    let outcome = run.wait();
    outcome.assert_code(3);
    assert_last(&outcome, "kept_short", true);
    let left = left(&cluster);
    assert!((5_000..=10_000).contains(&left), "{left} ms are left");
}

/// Starts a command, ends it while a majority of the nodes is silent, and waits until that is told.
fn start_refused(cluster: &Cluster) -> Run {
    let script = "echo >ready; while [ -e out ] && [ ! -e go ]; do sleep 0.01; done; exit 3";
    let options = ["--ttl", "20s", "--at-least", "60s", "--log", "json", "--verbose"];
    let run = start_script(&cluster.addrs(), &options, script);
    run.line("ready");
    (0..2).for_each(|index| cluster[index].stop());
    run.create("go");
    expect_said(&run, "not_kept_yet");
    run
}

#[test]
fn an_extension_that_fails_is_told_and_tried_again() {
    let cluster = Cluster::start(3);
    let mut run = start_refused(&cluster);
    assert!(cluster.iter().skip(2).all(|node: &Node| node.get(b"r").is_some()));
    (0..2).for_each(|index| cluster[index].cont());
    let outcome = run.wait();
    outcome.assert_code(3);
    assert_last(&outcome, "kept", false);
    assert_eq!(outcome.err.matches("\"not_kept_yet\"").count(), 1, "{}", outcome.err);
    assert!(left(&cluster) > 20_000, "{} ms are left", left(&cluster));
}

#[test]
fn a_signal_ends_the_tries_and_leaves_the_lock_to_its_ttl() {
    let cluster = Cluster::start(3);
    let mut run = start_refused(&cluster);
    run.signal(Signal::TERM);
    let outcome = run.wait();
    (0..2).for_each(|index| cluster[index].cont());
    outcome.assert_code(3);
    assert_last(&outcome, "kept_short", true);
}

#[test]
fn a_lock_that_is_lost_while_it_should_stay_is_told_even_where_little_is() {
    let cluster = Cluster::start(3);
    let mut command = exec(&cluster.addrs());
    command.args(["--quiet", "--max-ttl", "10s", "--ttl", "2s", "--at-least", "1h"]);
    command.args(["r", "--", "sh", "-c", "exit 3"]);
    let run = Run::start(&mut command);
    let is_there = || cluster.iter().all(|node| node.get(b"r").is_some());
    assert!(until(PATIENCE, is_there), "{}", run.file("err"));
    delete(&cluster);
    let outcome = run.finish();
    outcome.assert_code(3);
    let told = "redbolt: the lock on \"r\" has ended ";
    let is_told = outcome.err.starts_with(told) && outcome.err.ends_with("--at-least is over\n");
    assert!(is_told, "{}", outcome.err);
}

#[test]
fn a_time_that_the_lock_may_not_be_held_for_is_refused_with_its_limit() {
    let nobody = ["127.0.0.1:1".to_owned()];
    let rows: [(&[&str], &str); 5] = [
        (&["--at-least", "25h"], "--at-least is 25h, at most --max-hold = 24h is possible"),
        (
            &["--at-least", "2m", "--max-hold", "1m"],
            "--at-least is 2m, at most --max-hold = 1m is possible",
        ),
        (&["--at-least", "169h"], "--at-least is \"169h\", between 10ms and 168h is possible"),
        (&["--at-least", "0"], "--at-least is \"0\", between 10ms and 168h is possible"),
        (&["--at-least", "long"], "--at-least is \"long\", which is not a duration"),
    ];
    for (options, message) in rows {
        let outcome = start_script(&nobody, options, "echo ran").finish();
        outcome.assert_code(64);
        assert!(outcome.err.starts_with(&format!("redbolt: {message}")), "{}", outcome.err);
    }
    let mut command = exec(&nobody);
    command.env("REDBOLT_AT_LEAST", "25h").args(["r", "--", "true"]);
    let outcome = Run::start(&mut command).finish();
    outcome.assert_code(64);
    let message = "redbolt: REDBOLT_AT_LEAST is 25h, at most --max-hold = 24h is possible\n";
    assert_eq!(outcome.err, message);
}
