//! What the cycles of a run do: hold, extend, contend, and start when they are due.

use serde_json::Value;

use crate::assert_no_keys;
use crate::json::number;
use crate::run::{run, text};
use crate::support::now;
use crate::support::servers::Cluster;

/// Two ways to bear the same load: engines, and a client with this number of threads.
fn both(count: &str) -> [Vec<&str>; 3] {
    [
        vec!["--in-flight", count],
        vec!["--client", "--threads", count],
        vec!["--client", "--tasks", count],
    ]
}

fn json(nodes: &str, args: &[&str], load: &[&str]) -> String {
    text(run(&[&["--nodes", nodes, "--json"], args, load].concat()), 0).0
}

#[test]
fn a_lock_is_held_for_its_time() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    for load in both("2") {
        let start = now();
        let found = json(&nodes, &["--hold", "50ms", "--seconds", "500ms"], &load);
        let took = now() - start;
        // Two at a time, twenty a second each.
        let most = 2.0 * (took.as_secs_f64() / 0.05 + 1.0);
        let cycles = number(&found, &["cycles"]);
        assert!(cycles > 0.0 && cycles <= most, "{found}");
        assert_eq!(number(&found, &["failed"]), 0.0, "{found}");
        assert_no_keys(&cluster);
    }
}

/// Each of the eight ends one cycle between half a second and one and a half: the first, which
/// began in the warm-up.
#[test]
fn a_cycle_counts_where_it_ends() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let times = ["--warm-up", "500ms", "--hold", "900ms", "--seconds", "1"];
    for load in both("8") {
        let found = json(&nodes, &times, &load);
        assert_eq!(number(&found, &["cycles"]), 8.0, "{found}");
        let by_one = ["fewest_by_one", "most_by_one"].map(|name| number(&found, &[name]));
        assert_eq!(by_one, [1.0, 1.0], "{found}");
    }
}

#[test]
fn a_rate_is_kept_up_with_however_long_locks_are_held() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let args = ["--rate", "5..10", "--hold", "2s", "--seconds", "1", "--rounds", "1"];
    for load in both("250") {
        let found = json(&nodes, &args, &load);
        let found: Value = serde_json::from_str(&found).expect("it prints JSON");
        let levels = found["levels"].as_array().expect("a list");
        let behind: Vec<_> = levels.iter().map(|level| &level["is_behind"]).collect();
        assert_eq!(behind, [false, false], "{found}");
    }
    assert_no_keys(&cluster);
}

#[test]
fn locks_that_are_to_be_extended_are() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    for load in both("4") {
        let found = json(&nodes, &["--extend", "100%", "--seconds", "300ms"], &load);
        assert!(number(&found, &["extend_us", "p50"]) > 0.0, "{found}");
        assert_eq!(number(&found, &["failed"]), 0.0, "{found}");
        let found = json(&nodes, &["--extend", "0", "--seconds", "100ms"], &load);
        let found: Value = serde_json::from_str(&found).expect("it prints JSON");
        assert!(found["extend_us"].is_null(), "{found}");
    }
    assert_no_keys(&cluster);
}

#[test]
fn popular_resources_are_contended_for_and_nothing_fails() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let args = ["--resources", "zipf:20:1.2", "--key-len", "100", "--seconds", "300ms"];
    for load in both("16") {
        let found = json(&nodes, &args, &load);
        assert!(number(&found, &["cycles"]) > 0.0, "{found}");
        assert_eq!(number(&found, &["failed"]), 0.0, "{found}");
    }
    assert_no_keys(&cluster);
}

#[test]
fn an_open_loop_starts_no_more_than_its_rate_with_a_client_too() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    for load in both("8") {
        let start = now();
        let found = json(&nodes, &["--rate", "200", "--seconds", "1"], &load);
        let took = now() - start;
        let cycles = number(&found, &["cycles"]);
        assert!(cycles > 0.0 && cycles <= 200.0 * took.as_secs_f64() + 8.0, "{found}");
        // Every start of the second has become a cycle, has failed, is owed, or is under way.
        let others = number(&found, &["failed"]) + number(&found, &["overdue"]);
        assert!(cycles + others + 8.0 + 1.0 >= 200.0, "{found}");
    }
    assert_no_keys(&cluster);
}

#[test]
fn a_client_tells_how_long_a_release_takes_where_releases_are_waited_for() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let load = ["--client", "--threads", "4"];
    let found = json(&nodes, &["--confirm", "--seconds", "300ms"], &load);
    assert!(number(&found, &["release_us", "p50"]) > 0.0, "{found}");
    let found = json(&nodes, &["--seconds", "300ms"], &load);
    let found: Value = serde_json::from_str(&found).expect("it prints JSON");
    assert!(found["release_us"].is_null(), "{found}");
}

#[test]
fn the_servers_tell_as_many_commands_as_the_cycles_need() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let before: Vec<_> = cluster.iter().map(|node| node.calls("set")).collect();
    let found = json(&nodes, &["--warm-up", "0s", "--seconds", "1"], &["--in-flight", "16"]);
    // Whatever has ended has asked every node once; what was under way at the end has too. The
    // connections of a run keep the witness by a few commands of the same name.
    let besides = 16 + 16;
    let cycles = number(&found, &["cycles"]) as u64;
    for (node, before) in cluster.iter().zip(before) {
        let calls = node.calls("set") - before;
        assert!((cycles..=cycles + besides).contains(&calls), "{calls}: {found}");
    }
    assert!(number(&found, &["servers_cpu_us_per_cycle"]) > 0.0, "{found}");
}
