//! `redbolt bench` among the clients of a service that has settings of its own.

use std::time::Duration;

use redbolt::{Client, Config, RestartGuard};

use crate::run::{PATIENCE, bench, run, text};
use crate::support::servers::Cluster;

#[test]
fn a_client_with_the_same_prefix_is_excluded_and_no_other() {
    let cluster = Cluster::start(3);
    let mut config = Config::new(cluster.addrs()).expect("addresses");
    config.redlock.restart_guard = RestartGuard::Off;
    config.redlock.prefix = b"svc:".to_vec();
    let client = Client::new(config).expect("a client can be made");
    let lock = client.lock("bench/0000000000").ttl(Duration::from_secs(60)).wait(PATIENCE);
    let guard = lock.blocking_acquire().expect("nobody has it");

    let nodes = cluster.addrs().join(",");
    let contended = ["--nodes", &nodes, "--seconds", "0.3", "--resources", "1", "--in-flight", "1"];
    let prefixed = [&contended[..], &["--prefix", "svc:"]].concat();
    let (_, said) = text(run(&prefixed), 75);
    assert!(said.contains("no lock was granted"), "{said}");
    text(run(&contended), 0);
    drop(guard);
    let released = || cluster.iter().all(|node| node.keys().is_empty());
    assert!(crate::until(PATIENCE, released));
    text(run(&prefixed), 0);
}

#[test]
fn masters_of_the_run_have_the_settings_of_the_options() {
    let local = |options: &[&str]| {
        let args = [&["--seconds", "0.1", "--in-flight", "1"], options].concat();
        // The variables are for nodes that are given, and PATH has no server.
        let mut command = bench(&args);
        command.env("PATH", "").env("REDBOLT_QUORUM", "99").output().expect("the program runs")
    };
    text(local(&["--prefix", "svc:", "--quorum", "5", "--drift-step", "1s"]), 0);
    text(local(&["--ttl", "2m"]), 0);
    let rows: [(&[&str], &str); 5] = [
        (&["--quorum", "2"], "--quorum is \"2\", with 5 nodes between 3 and 5 is possible"),
        (&["--drift-rate-ppm", "x"], "--drift-rate-ppm is \"x\", a whole number between 0 and"),
        (&["--drift-step", ""], "--drift-step is empty"),
        (&["--max-ttl", "20s"], "--ttl is 30s, at most --max-ttl = 20s is possible"),
        (
            &["--nodes", "a", "--quorum", "1", "--ttl", "61s"],
            "--ttl is 61s, at most --max-ttl = 1m is possible",
        ),
    ];
    for (options, message) in rows {
        let (stdout, stderr) = text(local(options), 64);
        assert_eq!((stdout.as_str(), stderr.lines().count()), ("", 1), "{stderr}");
        assert!(stderr.starts_with(&format!("redbolt: {message}")), "{stderr}");
    }
}
