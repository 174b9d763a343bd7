//! `redbolt exec` among the clients of a service that has settings of its own.

use std::time::Duration;

use redbolt::{Client, Config};

use super::run::{Outcome, PATIENCE, Run, exec, run, run_until_quorate};
use crate::support::servers::{Cluster, Node};
use crate::support::until;

/// A client of a service that has a prefix.
fn service(cluster: &Cluster, prefix: &str) -> Client {
    let mut config = Config::new(cluster.addrs()).expect("addresses");
    config.redlock.restart_guard = redbolt::RestartGuard::Off;
    config.redlock.prefix = prefix.into();
    config.redlock.node_timeout = Some(PATIENCE);
    config.redlock.close_timeout = PATIENCE;
    let client = Client::new(config).expect("a client can be made");
    client.ready(PATIENCE).blocking_wait().expect("the servers are there");
    client
}

fn run_with(cluster: &Cluster, variable: (&str, &str), options: &[&str]) -> Outcome {
    let mut command = exec(&cluster.addrs());
    command.env(variable.0, variable.1).args(options).args(["r", "--", "true"]);
    Run::start(&mut command).finish()
}

#[test]
fn a_client_with_the_same_prefix_is_excluded_and_no_other() {
    let cluster = Cluster::start(3);
    let client = service(&cluster, "svc:");
    let guard = client.lock("r").ttl(Duration::from_secs(60)).wait(PATIENCE).blocking_acquire();
    let guard = guard.expect("nobody has it");

    let prefixed = ["--prefix", "svc:", "--no-wait", "r", "--", "true"];
    let outcome = run_until_quorate(&cluster.addrs(), &prefixed);
    outcome.assert_code(75);
    assert!(outcome.err.contains("\"r\" is held by another"), "{}", outcome.err);
    let variable = ("REDBOLT_PREFIX", "svc:");
    run_with(&cluster, variable, &["--wait", "500ms"]).assert_code(75);
    // An option takes the place of the variable, also an empty one.
    for options in [["--prefix", ""], ["--prefix", "other:"], ["--prefix", "-"]] {
        run_with(&cluster, variable, &options).assert_code(0);
    }

    // And the other way round.
    let script = "echo >here; while [ -e out ] && [ ! -e go ]; do :; done";
    let options = ["--prefix", "svc:", "s", "--", "sh", "-c", script];
    let other = Run::start(exec(&cluster.addrs()).args(options));
    other.line("here");
    let refused = client.lock("s").wait(Duration::from_millis(200)).blocking_acquire();
    assert!(refused.expect_err("the command has it").is_contended());
    other.create("go");
    other.finish().assert_code(0);
    drop(client.lock("s").wait(PATIENCE).blocking_acquire().expect("the command has ended"));

    drop(guard);
    run(&cluster.addrs(), &["--prefix", "svc:", "r", "--", "true"]).assert_code(0);
}

#[test]
fn a_quorum_may_be_more_than_a_majority() {
    let mut cluster = Cluster::start(3);
    cluster[2].kill();
    let attempt = ["--no-wait", "r", "--", "true"];
    run_until_quorate(&cluster.addrs(), &attempt).assert_code(0);
    let all = run(&cluster.addrs(), &[&["--quorum", "3"], &attempt[..]].concat());
    all.assert_code(69);
    let majority = [&["--quorum", "2"], &attempt[..]].concat();
    run_until_quorate(&cluster.addrs(), &majority).assert_code(0);
}

#[test]
fn the_drift_of_the_options_is_taken_off_the_validity() {
    let cluster = Cluster::start(1);
    let drifting = |rate, step, ttl| {
        let drift = ["--drift-rate-ppm", rate, "--drift-step", step];
        let outcome =
            run(&cluster.addrs(), &[&drift[..], &["--ttl", ttl, "r", "--", "true"]].concat());
        (outcome.status.code(), outcome.err)
    };
    let (code, err) = drifting("0", "1s", "1002ms");
    assert_eq!(code, Some(64), "{err}");
    assert!(err.contains("the ttl is 1.002s, at least 1.003s is possible"), "{err}");
    let (code, err) = drifting("100000", "1s", "1252ms");
    assert!(code == Some(64) && err.contains("at least 1.253s is possible"), "{err}");
    assert_eq!(drifting("0", "1s", "30s"), (Some(0), String::new()));
}

#[test]
fn what_no_client_of_the_nodes_can_have_is_named_with_its_limits() {
    let long = "p".repeat(2_049);
    const ASK: [&str; 4] = ["--ask", "majority", "--restart-guard", "off"];
    let rows: [(&[&str], &str); 13] = [
        (&["--quorum", "1"], "--quorum is \"1\", with 3 nodes between 2 and 3 is possible"),
        (&["--quorum", "4"], "--quorum is \"4\", with 3 nodes between 2 and 3 is possible"),
        (&["--quorum", "99999999999999999999"], "--quorum is \"99999999999999999999\", with 3"),
        (&["--quorum", "all"], "--quorum is \"all\", a whole number between 1 and 16 is possible"),
        (&["--quorum", "-1"], "--quorum is \"-1\", a whole number between 1 and 16 is possible"),
        (&["--quorum", ""], "--quorum is empty"),
        (&["--prefix", &long], "--prefix has 2049 bytes, between 0 and 2048 is possible"),
        (&ASK, "--ask is \"majority\", which needs restart_guard = on, strict or durable"),
        (
            &["--drift-rate-ppm", "100001"],
            "--drift-rate-ppm is \"100001\", between 0 and 100000 is",
        ),
        (&["--drift-step", "soon"], "--drift-step is \"soon\", which is not a duration"),
        (
            &["--drift-step", "1m"],
            "--drift-step is \"1m\", which makes a drift of 60.602s: less than max_ttl = 1m is",
        ),
        (&["--max-ttl", "9ms"], "--max-ttl is \"9ms\", between 10ms and 168h is possible"),
        (&["--max-ttl", "-1s"], "--max-ttl is \"-1s\", which is not a duration"),
    ];
    let nodes = ["a", "b", "c"].map(str::to_owned);
    for (options, message) in rows {
        let outcome = run(&nodes, &[options, &["r", "--", "true"]].concat());
        outcome.assert_code(64);
        assert!(outcome.err.starts_with(&format!("redbolt: {message}")), "{}", outcome.err);
        assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
    }
}

#[test]
fn a_label_names_the_process_beside_its_lock() {
    let cluster = Cluster::start(3);
    let too_long = "x".repeat(101);
    for (option, label) in [(true, "billing of web-3"), (false, "ledger")] {
        let mut command = exec(&cluster.addrs());
        let script = "echo $REDBOLT_TOKEN >token; while [ -e out ] && [ ! -e go ]; do :; done";
        if option {
            command.args(["--label", label]).env("REDBOLT_LABEL", &too_long);
        } else {
            command.env("REDBOLT_LABEL", label);
        }
        let run = Run::start(command.args(["r", "--", "sh", "-c", script]));
        let token = run.line("token");
        let key = format!("redbolt:label:{}", &token[..24]);
        let said = |node: &Node| String::from_utf8(node.get(key.as_bytes())?).ok();
        let is_said = || cluster.iter().all(|node| said(node).is_some());
        assert!(until(PATIENCE, is_said), "a node has no label");
        let expected = format!(" {} {label}", run.pid().as_raw_nonzero());
        for node in cluster.iter() {
            let said = said(node).expect("it was there");
            assert!(said.ends_with(&expected), "{said}");
        }
        run.create("go");
        run.finish().assert_code(0);
    }
    let outcome = run(&cluster.addrs(), &["--label", &too_long, "r", "--", "true"]);
    outcome.assert_code(64);
    let expected = "--label has 101 bytes, between 0 and 100 is possible";
    assert!(outcome.err.contains(expected), "{}", outcome.err);
}
