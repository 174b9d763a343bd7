//! `redbolt bench`, run as its users run it.
#![cfg(feature = "cli")]

mod baseline;
mod demand;
mod ends;
mod engines;
mod far;
mod fenced;
mod folder;
mod hostile;
mod joining;
mod json;
mod levels;
mod page;
mod run;
#[path = "../support/mod.rs"]
mod support;
mod trace;
mod usage;
mod whole;

use std::net::TcpListener;

use rustix::process::Signal;

use json::{beside_announcement, json, number, shape};
use run::{Local, PATIENCE, assert_gone, bench, run, spawn, text};
use support::fake::Fake;
use support::ports::Port;
use support::servers::{Cluster, Node};
use support::{now, until};

/// Hints of those who waited go by themselves.
fn assert_no_keys(nodes: &[Node]) {
    for node in nodes {
        let keys = node.keys_but_hints();
        let first = keys.first().map(|key| String::from_utf8_lossy(key));
        assert!(keys.is_empty(), "{}: {} keys, such as {first:?}", node.addr(), keys.len());
    }
}

/// Returns once the load is on.
fn wait_for_load(node: &Node) {
    let commands = || node.info("total_commands_processed").and_then(|n| n.parse::<u64>().ok());
    let before = commands().expect("a number");
    assert!(until(PATIENCE, || commands().is_some_and(|n| n > before + 500)), "no load");
}

#[test]
fn one_json_object_tells_all_and_without_contention_nothing_fails() {
    let cluster = Cluster::start(5);
    let nodes = cluster.addrs().join(",");
    let start = now();
    let json = json(run(&["--nodes", &nodes, "--seconds", "1", "--in-flight", "64", "--json"]));
    let took = now() - start;
    let latencies = r##"{"p50":#,"p90":#,"p99":#,"p999":#,"max":#}"##;
    let expected = [
        r##"{"nodes":#,"servers":"given","engines":#,"in_flight":#,"load":"engines","##,
        r##""offered_per_s":null,"seconds":#,"ran_ms":#,"cycles":#,"##,
        r##""cycles_per_s":#,"failed":#,"unfinished":#,"overdue":#,"further_trips":null,"##,
        r##""widened":null,"fewest_by_one":#,"most_by_one":#,"longest_wait_us":null,"##,
        r##""longest_stall_ms":#,"extended":null,"lost":null,"client_cpu_us_per_cycle":#,"##,
        r##""servers_cpu_us_per_cycle":#,"##,
        &format!(r#""acquire_us":{latencies},"release_us":{latencies},"extend_us":null,"#),
        r##""hand_over_us":null,"verdict":null,"levels":null,"is_worse":null,"##,
        r##""ratio_to_raw":null,"ended_early":null}"##,
    ]
    .concat();
    assert_eq!(shape(&json), expected);
    assert_eq!(number(&json, &["nodes"]), 5.0);
    assert_eq!(number(&json, &["in_flight"]), 64.0);
    assert_eq!(number(&json, &["failed"]), 0.0);
    let (seconds, cycles) = (number(&json, &["ran_ms"]) / 1e3, number(&json, &["cycles"]));
    assert!(seconds >= 1.0, "{json}");
    assert!((number(&json, &["cycles_per_s"]) - cycles / seconds).abs() < cycles / 100.0);
    assert!(number(&json, &["client_cpu_us_per_cycle"]) > 0.0);
    for request in ["acquire_us", "release_us"] {
        let keys = ["p50", "p90", "p99", "p999", "max"];
        let latencies = keys.map(|key| number(&json, &[request, key]));
        assert!(latencies.is_sorted() && latencies[0] > 0.0, "{json}");
        // Nothing takes longer than all of it, on any machine.
        assert!(latencies[4] < took.as_secs_f64() * 1e6, "{json}");
    }
    assert_no_keys(&cluster);
}

#[test]
fn the_table_says_what_was_measured_on_what() {
    let cluster = Cluster::start(3);
    let output = bench(&["--seconds", "1", "--in-flight", "4"])
        .env("REDBOLT_NODES", cluster.addrs().join(","))
        .output()
        .expect("the program runs");
    let (stdout, stderr) = text(output, 0);
    // A variable names nodes of which the person may not think.
    assert!(stderr.starts_with("redbolt: 4 in flight for 1s on 3 nodes:\n"), "{stderr}");
    for node in cluster.iter() {
        assert!(stderr.contains(&format!("\n  {}: ", node.addr())), "{stderr}");
    }
    assert_eq!(stderr.lines().count(), 4, "{stderr}");
    let row = |label: &str| {
        let row = stdout.lines().find_map(|line| line.strip_prefix(&format!("{label:14}")));
        row.unwrap_or_else(|| panic!("no row {label:?}:\n{stdout}")).trim().to_owned()
    };
    assert_eq!(row("nodes"), "3");
    assert_eq!(row("servers"), "given");
    assert_eq!(row("in flight"), "4");
    assert!(row("seconds").parse::<f64>().is_ok_and(|seconds| seconds >= 1.0), "{stdout}");
    assert_eq!(row("failed"), "0");
    assert_ne!(row("cycles/s"), "0");
    assert_eq!(
        row("latency, µs").split_whitespace().collect::<Vec<_>>().join(" "),
        "p50 p90 p99 p99.9 max"
    );
    for label in ["acquire", "release"] {
        assert_eq!(row(label).split_whitespace().count(), 5);
    }
    assert!(row("per cycle").contains("µs of client CPU, "), "{stdout}");
}

#[test]
fn a_minority_that_dies_fails_nothing() {
    let mut cluster = Cluster::start(5);
    let nodes = cluster.addrs().join(",");
    let child = spawn(bench(&["--nodes", &nodes, "--seconds", "600", "--json"]));
    wait_for_load(&cluster[4]);
    cluster[0].kill();
    wait_for_load(&cluster[4]);
    cluster[1].kill();
    wait_for_load(&cluster[4]);
    child.signal(Signal::INT);
    let json = json(child.finish());
    assert_eq!(number(&json, &["failed"]), 0.0, "{json}");
    assert_no_keys(&cluster[2..]);
}

#[test]
fn a_majority_that_dies_shows_as_failures_and_the_run_ends() {
    let mut cluster = Cluster::start(5);
    let nodes = cluster.addrs().join(",");
    let child = spawn(bench(&["--nodes", &nodes, "--seconds", "600", "--in-flight", "64"]));
    wait_for_load(&cluster[4]);
    let start = now();
    (0..3).for_each(|index| cluster[index].kill());
    // Who knocks here has noticed.
    let listener = TcpListener::bind(cluster[0].addr()).expect("nobody else is there");
    listener.set_nonblocking(true).expect("a listener can do that");
    assert!(until(PATIENCE, || listener.accept().is_ok()), "nobody tries again");
    child.signal(Signal::INT);
    let (stdout, _) = text(child.finish(), 0);
    let took = now() - start;
    let failed = stdout.lines().find_map(|line| line.strip_prefix("failed")).expect("a row");
    // Each of the 64 waits in vain for a second at least: nothing spins.
    let count = failed.split_whitespace().next().and_then(|n| n.parse::<u64>().ok());
    let most = 64 * (took.as_secs() + 1);
    assert!(count.is_some_and(|count| (1..=most).contains(&count)), "{stdout}");
    assert!(failed.ends_with(&format!("(no quorum {})", count.unwrap_or(0))), "{stdout}");
    assert!(stdout.contains("5, 3 not ready at the end\n"), "{stdout}");
    for node in &cluster[..3] {
        assert!(stdout.contains(&format!("{}: ", node.addr())), "{stdout}");
    }
    assert_no_keys(&cluster[3..]);
}

#[test]
fn contention_makes_locks_wait_but_not_fail() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let args = ["--nodes", &nodes, "--seconds", "1", "--in-flight", "64", "--resources", "2"];
    let json = json(run(&[&args[..], &["--json"]].concat()));
    assert_eq!(number(&json, &["failed"]), 0.0, "{json}");
    assert!(number(&json, &["cycles"]) > 0.0, "{json}");
    // 62 of the 64 stand in line at any moment.
    let [acquire, release] = ["acquire_us", "release_us"].map(|r| number(&json, &[r, "p50"]));
    assert!(acquire > release, "{json}");
    assert_no_keys(&cluster);
}

/// What a run at a rate prints: its JSON, and how many starts it owes.
fn run_at_rate(nodes: &str, rate: &str, in_flight: &str) -> (String, f64) {
    let args = ["--nodes", nodes, "--seconds", "1", "--json"];
    let args = [&args[..], &["--rate", rate, "--in-flight", in_flight]].concat();
    let (stdout, stderr) = text(run(&args), 0);
    let stderr = beside_announcement(&stderr);
    let behind = stderr.strip_prefix("redbolt: behind the rate: ");
    let behind = behind.and_then(|rest| rest.strip_suffix(" starts due and never made\n"));
    assert_eq!(behind.is_none(), stderr.is_empty(), "{stderr}");
    let behind = behind.map_or(0.0, |n| n.replace(',', "").parse().expect("a number"));
    (stdout, behind)
}

#[test]
fn a_rate_is_never_exceeded_and_every_start_is_accounted_for() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let start = now();
    let (json, behind) = run_at_rate(&nodes, "500", "16");
    let took = now() - start;
    let cycles = number(&json, &["cycles"]);
    assert!(cycles <= 500.0 * took.as_secs_f64() + 1.0, "{json}");
    // A start has become a cycle, a failure, one of the sixteen under way at the end, or is owed.
    let ended = cycles + number(&json, &["failed"]);
    let due = 500.0 * (number(&json, &["ran_ms"]) / 1e3);
    assert!(ended + behind + 16.0 + 1.0 >= due, "{json} behind {behind}");
    assert_no_keys(&cluster);
}

#[test]
fn what_comes_late_shows_as_latency_and_what_never_comes_is_told_of() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    // One at a time does not do a million a second: the schedule runs away for as long as it lasts,
    // the fifth of a second before anything is counted included.
    let (json, behind) = run_at_rate(&nodes, "1000000", "1");
    assert!(behind > 1e5, "{behind}");
    assert!(number(&json, &["acquire_us", "p50"]) > 1e5, "{json}");
    let [acquire, release] = ["acquire_us", "release_us"].map(|r| number(&json, &[r, "p50"]));
    assert!(acquire > release, "{json}");
    assert_no_keys(&cluster);
}

#[test]
fn without_a_server_on_the_path_embedded_masters_do() {
    let args = ["--seconds", "0.5", "--in-flight", "8", "--json"];
    let output = bench(&args).env("PATH", "").output().expect("the program runs");
    let (stdout, stderr) = text(output, 0);
    assert!(
        stderr.starts_with("redbolt: no valkey-server and no redis-server on the PATH"),
        "{stderr}"
    );
    assert!(
        stdout.contains(r#""nodes":5,"servers":"embedded","engines":1,"in_flight":8,"#),
        "{stdout}"
    );
    assert_eq!(number(&stdout, &["failed"]), 0.0, "{stdout}");
    assert!(number(&stdout, &["cycles"]) > 0.0, "{stdout}");
}

#[test]
fn an_interrupted_run_reports_what_it_has_and_takes_its_servers_along() {
    for signal in [Signal::INT, Signal::TERM] {
        let local = Local::start();
        // To all that belongs to it, as a terminal sends it; the servers must not hear of it.
        local.child.signal_group(signal);
        let (folder, addrs, output) = local.finish();
        let (stdout, _) = text(output, 0);
        assert!(stdout.contains("started for this run\n"), "{stdout}");
        assert!(stdout.contains("\nfailed        0\n"), "{stdout}");
        assert!(stdout.contains("\nacquire "), "{stdout}");
        assert_gone(&folder, &addrs);
    }
}

#[test]
fn a_killed_run_leaves_no_server_behind() {
    let local = Local::start();
    local.child.signal(Signal::KILL);
    let (folder, addrs, _) = local.finish();
    assert_gone(&folder, &addrs);
}

#[test]
fn no_quorum_at_the_start_says_why_for_every_node() {
    let (silent, master) = (Fake::silent(), Node::start());
    let closed = Port::free();
    let nodes = [silent.addr(), master.addr(), closed.addr()].join(",");
    let (stdout, stderr) = text(spawn(bench(&["--nodes", &nodes])).finish(), 69);
    assert_eq!(stdout, "");
    let expected = [
        "redbolt: no quorum: 1 of 3 nodes ready, 2 needed",
        &format!("  {}: down: no answer to the handshake", silent.addr()),
        &format!("  {}: ready", master.addr()),
        &format!("  {}: down: connecting failed: connection refused\n", closed.addr()),
    ]
    .join("\n");
    // The silent node may be connected to a second time by then.
    let stderr = stderr
        .replace(": connecting: ", ": down: ")
        .replace(": connected, being checked: ", ": down: ");
    assert_eq!(stderr, expected);
}

#[test]
fn who_says_more_of_a_misconfigured_node_is_told() {
    let evicting = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
    let cluster = Cluster::start_with(1, &evicting);
    let (_, stderr) = text(run(&["--nodes", &cluster.addrs()[0]]), 69);
    assert!(stderr.ends_with("\nredbolt check says what to change\n"), "{stderr}");
}

/// No more than a variable that is not there.
#[test]
fn an_empty_variable_gives_no_nodes() {
    let mut command = bench(&["--seconds", "0.1", "--in-flight", "1"]);
    let output = command.env("PATH", "").env("REDBOLT_NODES", "").output();
    let (stdout, _) = text(output.expect("the program runs"), 0);
    assert!(stdout.contains("\nservers       embedded\n"), "{stdout}");
}

#[test]
fn nodes_that_do_not_answer_at_the_end_are_named() {
    let cluster = Cluster::start(5);
    let nodes = cluster.addrs().join(",");
    let child = spawn(bench(&["--nodes", &nodes, "--seconds", "600", "--in-flight", "8"]));
    wait_for_load(&cluster[4]);
    cluster[..2].iter().for_each(Node::stop);
    // Long enough for the engine to see that two do not answer.
    (0..20).for_each(|_| wait_for_load(&cluster[4]));
    child.signal(Signal::INT);
    let (stdout, _) = text(child.finish(), 0);
    cluster[..2].iter().for_each(Node::cont);
    assert!(stdout.contains("5, 2 not ready at the end\n"), "{stdout}");
    for (index, node) in cluster.iter().enumerate() {
        assert_eq!(stdout.contains(&format!(" {}: ", node.addr())), index < 2, "{stdout}");
    }
    // A minority that does not answer holds up nobody.
    assert!(!stdout.contains("s after the end for replies\n"), "{stdout}");
}

/// A ttl over the usual 60 s is a setting like any other.
#[test]
fn a_long_ttl_is_possible() {
    let args = ["--seconds", "0.1", "--ttl", "168h", "--in-flight", "1"];
    let output = bench(&args).env("PATH", "").output().expect("the program runs");
    let (stdout, _) = text(output, 0);
    assert!(stdout.contains("failed        0\n"), "{stdout}");
}
