//! A process that is stopped for longer than its lock lasts.

use std::time::Duration;

use rustix::process::{Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::fixture::PATIENCE;
use crate::process::{Process, client_of_given_nodes};
use crate::support::servers::Cluster;
use crate::support::until;

const TTL: Duration = Duration::from_secs(1);

/// FAULTS 35: the clock goes on while the process does not.
#[test]
fn a_process_that_was_stopped_for_too_long_knows_that_it_has_lost() {
    let cluster = Cluster::start(3);
    let mut process = Process::run("stopped::holder", &cluster);
    process.expect("held");
    let pid = process.pid();
    kill_process(pid, Signal::STOP).expect("it runs");
    let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let news = waitid(WaitId::Pid(pid), options).expect("it is ours to wait for");
    assert!(news.is_some_and(|news| news.stopped()));
    assert!(until(PATIENCE, || cluster.iter().all(|node| node.keys().is_empty())));
    kill_process(pid, Signal::CONT).expect("it is there");
    // The first thing that it looks at, before its engine has run, and then the signal.
    let found: Vec<_> = process.lines().filter(|line| line.starts_with("found")).collect();
    assert_eq!(found, ["found held false", "found lost Lost(Expired)"]);
}

/// What the other process does; nothing where it is run by itself.
#[test]
fn holder() {
    let Some(client) = client_of_given_nodes() else { return };
    let guard =
        client.lock("a").ttl(TTL).wait(PATIENCE).keep_alive_for(PATIENCE).blocking_acquire();
    let guard = guard.expect("nobody else has it");
    println!("held");
    // A holder that looks all the time, so that it is in the middle of it when it is stopped.
    while guard.is_held() {
        std::hint::spin_loop();
    }
    println!("found held {}", guard.is_held());
    println!("found lost {:?}", guard.lost().blocking_wait().kind());
}
