//! Clients whose own wall clock is stepped.

use std::time::Duration;

use crate::run::{Run, assert_no_keys, exec};
use crate::support::clocks::Clocks;
use crate::support::servers::Cluster;

const DAY: Duration = Duration::from_secs(86_400);

/// A script that reads the clock, waits for the file `go`, and reads the clock again.
const SCRIPT: &str = "
    date +%s >before; while [ -e before ] && [ ! -e go ]; do :; done; date +%s >after
";

/// Starts the script under a lock with this ttl, on the first of these clocks.
fn start(clocks: &Clocks, cluster: &Cluster, ttl: &str) -> Run {
    let mut command = exec(&cluster.addrs());
    clocks.preload(0, &mut command);
    let options = ["--no-keep-alive", "--ttl", ttl];
    Run::start(command.args(options).args(["r", "--", "sh", "-c", SCRIPT]))
}

/// FAULTS 38: by the wall clock the lock would have ended a day ago.
#[test]
fn a_wall_clock_that_jumps_ahead_does_not_end_a_lock() {
    let Some(clocks) = Clocks::new(1) else { return };
    let cluster = Cluster::start(3);
    let mut run = start(&clocks, &cluster, "60s");
    let before: u64 = run.line("before").parse().expect("seconds");
    clocks.set(0, DAY);
    run.create("go");
    let outcome = run.wait();
    outcome.assert_code(0);
    let after: u64 = run.line("after").parse().expect("seconds");
    assert!(after - before >= DAY.as_secs(), "the clock was not stepped: {before}, {after}");
    assert_eq!(outcome.err, "");
    assert_no_keys(&cluster);
}

/// FAULTS 38: by the wall clock the lock would last for another day.
#[test]
fn a_wall_clock_that_is_set_back_does_not_keep_a_lock_alive() {
    let Some(clocks) = Clocks::new(1) else { return };
    clocks.set(0, DAY);
    let cluster = Cluster::start(3);
    let run = start(&clocks, &cluster, "4s");
    run.line("before");
    clocks.set(0, Duration::ZERO);
    let outcome = run.finish();
    outcome.assert_code(76);
    assert_no_keys(&cluster);
}
