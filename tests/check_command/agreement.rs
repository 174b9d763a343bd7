//! A check and a new client agree on every node.

use std::time::Duration;

use redbolt::redlock::{NodeError, Quarantine, RestartGuard};
use redbolt::{Check, CheckReport, CheckState, Clock, Config, Engine, NodeState};

use crate::support::servers::{Cluster, Node};
use crate::support::until;
use crate::support::wire::Reply;

/// The longest ttl where a test waits for a span.
const SHORT: Duration = Duration::from_secs(2);

const PATIENCE: Duration = Duration::from_secs(20);

fn config(nodes: &[String], max_ttl: Duration) -> Config {
    let mut config = Config::new(nodes).expect("addresses");
    config.redlock.max_ttl = max_ttl;
    config
}

/// Checks the nodes, lets a new client meet them, and asserts that both see the same.
#[track_caller]
fn agree(config: &Config) -> CheckReport {
    let start = Clock::now();
    let report = Check::new(config.clone()).run().expect("the settings are good");
    let mut engine = Engine::new(config.clone()).expect("the settings are good");
    let is_settled = |engine: &Engine| {
        let ends = [NodeState::Down, NodeState::Misconfigured, NodeState::Ready];
        engine.nodes().all(|(_, _, status)| {
            let is_tried = status.counters.failures > 0 || status.state != NodeState::Down;
            is_tried && (ends.contains(&status.state) || status.state == NodeState::Quarantined)
        })
    };
    let settles = until(PATIENCE, || {
        engine.poll(Some(Duration::from_millis(5))).expect("the system polls");
        is_settled(&engine)
    });
    let states: Vec<_> =
        engine.nodes().map(|(_, node, status)| format!("{node}: {status}")).collect();
    assert!(settles, "a client does not know its nodes: {states:?}");
    for (node, (_, address, status)) in report.nodes().iter().zip(engine.nodes()) {
        match (node.state, status.state) {
            (CheckState::Ready, NodeState::Ready) => {}
            // The quarantine has ended in between.
            (CheckState::Quarantined { remaining, is_running: true, .. }, NodeState::Ready)
                if Clock::now() >= start + remaining => {}
            (CheckState::Quarantined { remaining, reason, is_running }, NodeState::Quarantined) => {
                let Some(Quarantine { reason: theirs, remaining: left, .. }) = status.quarantine
                else {
                    panic!("{address}: {status}")
                };
                assert_eq!(reason, theirs, "{address}");
                // The client came later.
                assert!(!is_running || left <= remaining, "{address}: {left:?} of {remaining:?}");
            }
            (CheckState::Out(error), NodeState::Down | NodeState::Misconfigured) => {
                assert_eq!(Some(error), status.error, "{address}");
            }
            (state, _) => panic!("{address}: {state:?}, but a client says {status}"),
        }
    }
    report
}

fn labels(report: &CheckReport) -> Vec<&str> {
    report.nodes().iter().map(|node| node.label).collect()
}

/// Longer than a span, in microseconds.
const LONG: u128 = SHORT.as_micros() * 3 / 2;

fn number(bytes: &[u8]) -> u128 {
    String::from_utf8_lossy(bytes).parse().expect("digits")
}

/// The four numbers of the stamp: the last look, the last time in which nobody looked, the count.
fn stamp(node: &Node) -> Vec<u128> {
    let stamp = node.get(b"redbolt:seen").expect("somebody looked");
    stamp.split(|byte| *byte == b' ').map(number).collect()
}

fn time(node: &Node) -> u128 {
    let Reply::Array(parts) = node.command(&[b"TIME"]) else { panic!("no time") };
    let [Reply::Bulk(seconds), Reply::Bulk(micros)] = &parts[..] else { panic!("no time") };
    number(seconds) * 1_000_000 + number(micros)
}

/// Waits until nobody has looked at a node for longer than a span.
fn be_idle(node: &Node) {
    assert!(until(PATIENCE, || time(node) > stamp(node)[0] + LONG));
}

#[test]
fn nodes_without_a_witness_with_a_young_one_and_with_an_old_one() {
    let cluster = Cluster::start(3);
    let config = config(&cluster.addrs(), SHORT);
    assert_eq!(labels(&agree(&config)), ["QUARANTINE"; 3]);
    // The client that was there has written witnesses.
    assert_eq!(labels(&agree(&config)), ["QUARANTINE"; 3]);
    let is_old = || {
        let report = agree(&config);
        report.verdict().is_complete()
    };
    assert!(until(PATIENCE, is_old));
}

#[test]
fn restarted_and_flushed_nodes() {
    let mut cluster = crate::declared(5);
    cluster[0].restart();
    cluster[1].command(&[b"FLUSHALL"]);
    cluster[2].kill();
    let config = config(&cluster.addrs(), Duration::from_secs(60));
    assert_eq!(labels(&agree(&config))[..3], ["QUARANTINE", "QUARANTINE", "DOWN"]);
    assert_eq!(agree(&config).verdict().voting, 2);
}

#[test]
fn a_deployment_that_was_idle_is_excused_and_a_node_that_alone_was_away_is_not() {
    let cluster = Cluster::start(3);
    crate::init(&cluster.addrs(), &["--fresh", "--max-ttl", "2s"]);
    let config = config(&cluster.addrs(), SHORT);
    cluster.iter().for_each(be_idle);
    assert_eq!(labels(&agree(&config)), ["ready"; 3]);
    // A client at work with two of the nodes, to which the third has another name.
    let mut nodes = cluster.addrs();
    "127.0.0.1:1".clone_into(&mut nodes[2]);
    let mut engine = Engine::new(self::config(&nodes, SHORT)).expect("the settings are good");
    // The idle time of the two has ended, and that of the third goes on for longer than a span.
    let is_alone = until(PATIENCE, || {
        engine.poll(Some(Duration::from_millis(20))).expect("the system polls");
        cluster.iter().take(2).all(|node| {
            let ended = stamp(node)[2];
            ended > 0 && time(node) > ended + LONG
        })
    });
    assert!(is_alone, "{:?}", cluster.iter().map(stamp).collect::<Vec<_>>());
    drop(engine);
    let report = agree(&config);
    assert_eq!(labels(&report), ["ready", "ready", "QUARANTINE"]);
    // The time in which nobody looked has not ended yet.
    let state = report.nodes()[2].state;
    assert!(matches!(state, CheckState::Quarantined { is_running: false, .. }), "{state:?}");
    let cause = &report.findings()[0].cause;
    assert!(cause.starts_with("unseen for longer than a lock can last"), "{cause}");
    // The client that was there has ended that time.
    let state = agree(&config).nodes()[2].state;
    assert!(matches!(state, CheckState::Quarantined { is_running: true, .. }), "{state:?}");
}

#[test]
fn a_node_that_is_down_says_nothing_about_an_idle_time() {
    let mut cluster = Cluster::start(3);
    crate::init(&cluster.addrs(), &["--fresh", "--max-ttl", "2s"]);
    cluster[2].kill();
    cluster.iter().take(2).for_each(be_idle);
    assert_eq!(labels(&agree(&config(&cluster.addrs(), SHORT))), ["ready", "ready", "DOWN"]);
}

#[test]
fn nodes_that_cannot_vote() {
    let cluster = crate::declared(5);
    let mut nodes = cluster.addrs();
    cluster[0].command(&[b"CONFIG", b"SET", b"maxmemory-policy", b"allkeys-lru"]);
    nodes[1] = format!("redis://:wrong@{}", nodes[1]);
    cluster[2].command(&[b"ACL", b"SETUSER", b"app", b"on", b">pw", b"~*", b"+@all", b"-mget"]);
    nodes[2] = format!("redis://app:pw@{}", nodes[2]);
    let report = agree(&config(&nodes, Duration::from_secs(60)));
    assert_eq!(labels(&report), ["EVICTING", "LOGIN", "NO RIGHTS", "ready", "ready"]);
    let CheckState::Out(NodeError::MissingRights(missing)) = report.nodes()[2].state else {
        panic!("{report}")
    };
    assert!(missing.names().eq(["mget"]), "{missing}");
    agree(&config(&cluster.addrs(), Duration::from_secs(120)));
    agree(&config(&cluster.addrs()[2..], Duration::from_secs(60)));
}

#[test]
fn every_guard() {
    let mut cluster = Cluster::start_with(1, &["--appendonly", "yes", "--appendfsync", "always"]);
    crate::init(&cluster.addrs(), &["--fresh"]);
    cluster[0].restart();
    let rows = [
        (RestartGuard::Off, "ready"),
        (RestartGuard::On, "QUARANTINE"),
        (RestartGuard::Strict, "QUARANTINE"),
        (RestartGuard::Durable, "ready"),
    ];
    for (guard, expected) in rows {
        let mut config = config(&cluster.addrs(), Duration::from_secs(60));
        config.redlock.restart_guard = guard;
        assert_eq!(labels(&agree(&config)), [expected], "{guard:?}");
    }
}
