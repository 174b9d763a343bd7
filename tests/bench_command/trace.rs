//! Transactions of several locks: `--trace`.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::assert_no_keys;
use crate::json::{json, number, shape};
use crate::run::{PATIENCE, bench, run, text};
use crate::support::process::Folder;
use crate::support::servers::Cluster;
use crate::support::until;

/// For a key of somebody else: longer than any test.
const LONG: Duration = Duration::from_secs(600);

#[test]
fn every_transaction_takes_all_its_locks_and_leaves_none() {
    for locks in ["set", "each"] {
        let cluster = Cluster::start(3);
        let nodes = cluster.addrs().join(",");
        let args = ["--nodes", &nodes, "--seconds", "0.5", "--in-flight", "16", "--json"];
        let trace = ["--trace", "uniform:100000", "--transaction", "3", "--locks", locks];
        let json = json(run(&[&args[..], &trace].concat()));
        let latencies = r##"{"p50":#,"p90":#,"p99":#,"p999":#,"max":#}"##;
        let expected = [
            r##"{"nodes":#,"servers":"given","trace":"uniform:100000","locks":""##,
            locks,
            r##"","in_flight":#,"seconds":#,"transactions":#,"transactions_per_s":#,"##,
            r##""locks_taken":#,"locks_per_s":#,"aborted":#,"unfinished":#,"##,
            r##""client_cpu_us_per_transaction":#,"acquire_us":"##,
            latencies,
            "}",
        ];
        assert_eq!(shape(&json), expected.concat());
        assert_eq!(number(&json, &["aborted"]), 0.0, "{json}");
        let [transactions, taken] =
            ["transactions", "locks_taken"].map(|key| number(&json, &[key]));
        assert!(transactions > 0.0 && taken == 3.0 * transactions, "{json}");
        // Every lock was a key at the node, by the count of the node.
        let keys: u64 = ["set", "mset", "msetnx"].map(|name| cluster[0].calls(name)).iter().sum();
        let calls = if locks == "set" { transactions } else { taken };
        assert!(keys as f64 >= calls, "{keys} calls: {json}");
        assert_no_keys(&cluster);
    }
}

#[test]
fn the_published_workloads_run_and_leave_nothing() {
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    for trace in ["zipf:1000", "tpcc:1", "tatp"] {
        let args = ["--nodes", &nodes, "--seconds", "0.5", "--in-flight", "8", "--json"];
        let more = ["--trace", trace, "--locks", "each", "--hold", "1ms", "--patience", "10s"];
        let json = json(run(&[&args[..], &more].concat()));
        assert_eq!(number(&json, &["aborted"]), 0.0, "{json}");
        assert!(number(&json, &["transactions"]) > 0.0, "{json}");
        assert_no_keys(&cluster);
    }
}

#[test]
fn transactions_that_hold_their_locks_for_longer_than_the_run_have_had_them() {
    let cluster = Cluster::start(1);
    let nodes = cluster.addrs().join(",");
    let args = ["--nodes", &nodes, "--seconds", "0.1", "--in-flight", "4", "--json"];
    let json = json(run(&[&args[..], &["--trace", "uniform:1000", "--hold", "1s"]].concat()));
    assert_eq!(number(&json, &["transactions"]), 0.0, "{json}");
    assert_no_keys(&cluster);
}

#[test]
fn a_transaction_that_lacks_one_lock_gives_up_all_of_them_and_is_counted() {
    let folder = Folder::new();
    let path = folder.path().join("trace");
    fs::write(&path, "free/1 taken\nfree/2 free/3\n").expect("a folder of ours");
    for locks in ["set", "each"] {
        let cluster = Cluster::start(3);
        for node in &cluster[..] {
            node.set_px(b"taken", b"of somebody else", LONG);
        }
        let nodes = cluster.addrs().join(",");
        let trace = format!("file:{}", path.display());
        let args = ["--nodes", &nodes, "--seconds", "0.5", "--in-flight", "2", "--json"];
        let more = ["--trace", &trace, "--locks", locks, "--patience", "50ms"];
        let json = json(run(&[&args[..], &more].concat()));
        assert!(number(&json, &["aborted"]) > 0.0, "{json}");
        assert!(number(&json, &["transactions"]) > 0.0, "{json}");
        // What somebody else holds is all that is left.
        for node in &cluster[..] {
            assert_eq!(node.keys(), [b"taken"], "--locks {locks}");
        }
    }
}

#[test]
fn what_is_printed_is_the_same_every_time_and_runs_as_a_file() {
    let print = |seed| {
        let args = ["--trace", "tpcc:2", "--print", "20", "--seed", seed];
        let (stdout, stderr) = text(run(&args), 0);
        assert_eq!(stderr, "");
        stdout
    };
    let printed = print("1");
    assert_eq!(printed, print("1"));
    assert_ne!(printed, print("2"));
    let lines = printed.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.count(), 20, "{printed}");

    let folder = Folder::new();
    let path = folder.path().join("trace");
    fs::write(&path, printed).expect("a folder of ours");
    let cluster = Cluster::start(3);
    let nodes = cluster.addrs().join(",");
    let trace = format!("file:{}", path.display());
    let (stdout, _) = text(run(&["--nodes", &nodes, "--seconds", "0.5", "--trace", &trace]), 0);
    assert!(stdout.contains(", 20 transactions, then again\n"), "{stdout}");
    assert!(stdout.contains("\naborted       0\n"), "{stdout}");
    assert_no_keys(&cluster);
}

#[test]
fn what_cannot_be_run_is_named_before_anything_is_started() {
    let folder = Folder::new();
    let path = folder.path().join("trace");
    fs::write(&path, "a b\n\nc c\n").expect("a folder of ours");
    let file = format!("file:{}", path.display());
    let rows: [(&[&str], String); 7] = [
        (&["--trace", "ycsb"], "--trace is \"ycsb\", one of uniform, zipf, ".to_owned()),
        (
            &["--trace", &file],
            format!("--trace: {}: line 3 has the lock \"c\" twice, once is", path.display()),
        ),
        (&["--trace", "file:/nowhere/at/all"], "--trace: /nowhere/at/all: No such".to_owned()),
        (
            &["--trace", "uniform:3", "--print", "1"],
            "--transaction is 4, at most 3 is possible with --trace uniform:3".to_owned(),
        ),
        (
            &["--trace", "tpcc", "--locks", "each", "--in-flight", "100000"],
            "--in-flight 100,000 with --locks each is 2,000,000 locks at a time, at most"
                .to_owned(),
        ),
        (
            &["--trace", "tatp", "--patience", "16s"],
            "--patience and --hold are 16s together, at most 15s, half of --ttl, is".to_owned(),
        ),
        (
            &["--trace", "tatp", "--locks", "some"],
            "--locks is \"some\", one of set, each".to_owned(),
        ),
    ];
    for (args, message) in rows {
        let (stdout, stderr) = text(run(args), 64);
        assert_eq!(stdout, "", "{args:?}");
        assert!(stderr.starts_with(&format!("redbolt: {message}")), "{args:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    }
    for other in [["--rate", "5"], ["--resources", "5"], ["--engines", "2"]] {
        let (_, stderr) = text(run(&[&["--trace", "tatp"], &other[..]].concat()), 64);
        assert!(stderr.contains("--trace"), "{other:?}: {stderr}");
    }
}

#[test]
fn a_part_of_a_file_is_printed_and_one_popular_lock_makes_nobody_wait() {
    let folder = Folder::new();
    let path = folder.path().join("trace");
    fs::write(&path, "a\nb\nc\n").expect("a folder of ours");
    let file = format!("file:{}", path.display());
    let (stdout, _) = text(run(&["--trace", &file, "--print", "2"]), 0);
    assert_eq!(stdout, format!("# {file}, 2 transactions\na\nb\n"));

    let args = ["--trace", "zipf:64:5", "--transaction", "64", "--print", "2000"];
    let mut child = bench(&args).stdout(Stdio::null()).spawn().expect("the program runs");
    let ended = until(PATIENCE, || child.try_wait().expect("it is ours").is_some());
    _ = child.kill();
    assert!(child.wait().expect("it is ours").success() && ended, "it takes too long");
}
