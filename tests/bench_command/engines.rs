//! Several engines, each with a thread and connections of its own.

use rustix::process::Signal;

use crate::json::{json, number};
use crate::run::{PATIENCE, bench, run, spawn, text};
use crate::support::servers::{Cluster, Node};
use crate::support::until;
use crate::{assert_no_keys, wait_for_load};

/// The connections of this number of engines, and the one that asks.
fn has_connections_of(node: &Node, engines: usize) -> bool {
    let count = || node.info("connected_clients")?.parse::<usize>().ok();
    until(PATIENCE, || count() == Some(engines + 1))
}

#[test]
fn the_figures_of_several_engines_are_those_of_all() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let args = ["--nodes", &nodes, "--seconds", "1", "--engines", "2", "--in-flight", "9"];
    let found = json(run(&[&args[..], &["--json"]].concat()));
    let [engines, in_flight] = ["engines", "in_flight"].map(|key| number(&found, &[key]));
    assert_eq!((engines, in_flight, number(&found, &["failed"])), (2.0, 9.0, 0.0), "{found}");
    // Each cycle has asked this node once, and so have those that were not counted.
    let (cycles, asked) = (number(&found, &["cycles"]), cluster[0].calls("set") as f64);
    assert!(cycles > 0.0 && cycles <= asked, "{asked}: {found}");
    assert!(number(&found, &["client_cpu_us_per_cycle"]) > 0.0, "{found}");

    let (table, _) = text(run(&args), 0);
    assert!(table.contains("\nengines       2\nin flight     9\n"), "{table}");
    assert_no_keys(&cluster);
}

#[test]
fn a_rate_is_that_of_all_engines_together() {
    let cluster = Cluster::start(1);
    let nodes = cluster.addrs().join(",");
    let args = ["--nodes", &nodes, "--seconds", "2", "--engines", "3", "--rate", "100", "--json"];
    let (found, _) = text(run(&args), 0);
    let rate = number(&found, &["cycles_per_s"]);
    // Without one of the three it would be 67. Each engine may have a start more at both ends.
    assert!((80.0..=103.0).contains(&rate), "{found}");
}

#[test]
fn each_engine_has_connections_of_its_own_with_a_client_and_without() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    for client in [&["--client", "--threads", "4"][..], &["--in-flight", "8"]] {
        let args = ["--nodes", &nodes, "--seconds", "600", "--engines", "2", "--json"];
        let child = spawn(bench(&[&args[..], client].concat()));
        wait_for_load(&cluster[0]);
        cluster.iter().for_each(|node| assert!(has_connections_of(node, 2), "{client:?}"));
        child.signal(Signal::INT);
        let found = json(child.finish());
        assert_eq!(number(&found, &["engines"]), 2.0, "{found}");
        assert_eq!(number(&found, &["failed"]), 0.0, "{found}");
    }
    assert_no_keys(&cluster);
}

#[test]
fn engines_that_ask_for_numbers_all_get_them() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let args = ["--nodes", &nodes, "--seconds", "300ms", "--engines", "3", "--fenced", "--json"];
    let found = json(run(&args));
    assert_eq!((number(&found, &["engines"]), number(&found, &["failed"])), (3.0, 0.0), "{found}");
    assert!(number(&found, &["cycles"]) > 0.0, "{found}");
    assert!(number(&found, &["further_trips"]) >= 0.0, "{found}");
}

/// An engine that is in charge of none of the resources has no load.
#[test]
fn engines_that_contend_have_resources_of_their_own() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    for (resources, engines) in [("100", 4.0), ("1", 1.0)] {
        let args = ["--nodes", &nodes, "--seconds", "300ms", "--engines", "4", "--json"];
        let contended = ["--resources", resources, "--in-flight", "16"];
        let found = json(run(&[&args[..], &contended].concat()));
        assert_eq!(number(&found, &["engines"]), engines, "{found}");
        assert_eq!(number(&found, &["failed"]), 0.0, "{found}");
        assert!(number(&found, &["cycles"]) > 0.0, "{found}");
    }
    assert_no_keys(&cluster);
}

#[test]
fn a_load_that_cannot_be_divided_is_refused_with_its_bound() {
    let rows: [(&[&str], &str); 5] = [
        (&["--engines", "0"], "--engines is \"0\", a whole number between 1 and 64 is possible; "),
        (&["--engines", "65"], "--engines is \"65\", a whole number between 1 and 64"),
        (
            &["--engines", "4", "--in-flight", "3"],
            "--in-flight is 3, at least 4 is possible with --engines 4",
        ),
        (
            &["--engines", "4", "--rate", "3"],
            "--rate is 3, at least 4 is possible with --engines 4",
        ),
        (
            &["--engines", "2", "--resources", "1000001"],
            "--resources is 1,000,001, at most 1,000,000 is possible with --engines 2",
        ),
    ];
    for (args, message) in rows {
        let (stdout, stderr) = text(run(args), 64);
        assert_eq!((stdout.as_str(), stderr.lines().count()), ("", 1), "{args:?}: {stderr}");
        assert!(stderr.starts_with(&format!("redbolt: {message}")), "{args:?}: {stderr}");
    }
}
