//! Runs of several loads: sweeps, ranges of rates, rounds, and bare sockets beside the engine.

use std::fs;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::Value;

use crate::assert_no_keys;
use crate::run::{run, text};
use crate::support::process::Folder;
use crate::support::servers::Cluster;

fn object(text: &str) -> Value {
    serde_json::from_str(text).expect("it prints JSON")
}

/// The `run.json` of a folder.
fn run_of(folder: &Folder) -> Value {
    let file = folder.path().join("run.json");
    object(&fs::read_to_string(file).expect("the file was written"))
}

fn numbers(list: &Value, field: &str) -> Vec<u64> {
    let list = list.as_array().expect("a list").iter();
    list.map(|item| item[field].as_u64().expect("a whole number")).collect()
}

#[test]
fn a_sweep_measures_every_load_in_every_round() {
    let (cluster, folder) = (Cluster::start(3), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--sweep", "--in-flight", "5", "--rounds", "3"];
    let args = [&args[..], &["--seconds", "200ms", "--out", &out]].concat();
    let (table, said) = text(run(&args), 0);
    assert!(
        said.starts_with("redbolt: up to 5 in flight, 12 times for 200ms on 3 nodes:"),
        "{said}"
    );
    let run = run_of(&folder);
    assert_eq!((&run["schema"], &run["servers"]), (&1.into(), &"given".into()));
    assert_eq!(numbers(&run["steps"], "in_flight"), [1, 2, 4, 5].repeat(3));
    assert_eq!(numbers(&run["steps"], "round"), [[1; 4], [2; 4], [3; 4]].concat());
    assert_eq!(numbers(&run["levels"], "in_flight"), [1, 2, 4, 5]);
    assert_eq!(numbers(&run["levels"], "rounds"), [3; 4]);
    assert_eq!(numbers(&run["levels"], "failed"), [0; 4]);
    assert!(run["nodes"].as_array().is_some_and(|nodes| nodes.len() == 3), "{run}");
    let verdict = run["verdict"]["text"].as_str().expect("a sentence");
    // A long sentence is broken between words.
    let said = table.replace("\n  ", " ");
    assert!(said.contains(verdict) && table.contains("medians of 3 rounds"), "{table}");
    // No line of the table is wider than a terminal.
    let widest = table.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|columns| columns <= 80), "{table}");
    assert_no_keys(&cluster);
}

#[test]
fn tables_tell_of_engines_and_of_a_majority() {
    // Servers of its own are declared fresh, and vote at once.
    let args = ["--engines", "2", "--ask", "majority", "--seconds", "100ms"];
    for load in [&["--in-flight", "4"][..], &["--in-flight", "4", "--sweep", "--rounds", "1"]] {
        let (table, _) = text(run(&[&args[..], load].concat()), 0);
        let facts = "\nengines       2\nasks first    a majority of the nodes\n";
        assert!(table.contains(facts), "{table}");
    }
}

#[test]
fn the_files_say_the_same_as_the_run() {
    let (cluster, folder) = (Cluster::start(1), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--in-flight", "4", "--rounds", "2", "--seconds", "300ms"];
    let (table, _) = text(run(&[&args[..], &["--out", &out]].concat()), 0);
    assert!(table.contains("\nrounds        2, of which this is number "), "{table}");
    let run = run_of(&folder);
    let csv = fs::read_to_string(folder.path().join("series.csv")).expect("the file was written");
    let log = fs::read(folder.path().join("acquire.hlog")).expect("the file was written");
    // Nothing was counted before the end of the warm-up, and nodes were asked before that.
    assert!(
        first_interval(&log) >= Duration::from_millis(200),
        "{}",
        String::from_utf8_lossy(&log)
    );
    for (place, step) in run["steps"].as_array().expect("a list").iter().enumerate() {
        // A cycle that ends between the last slice and the end is in the last slice too.
        let of_slices: u64 = numbers(&step["series"], "cycles").iter().sum();
        assert_eq!(Some(of_slices), step["cycles"].as_u64(), "{step}");
        let prefix = format!("redbolt,{},4,,", place + 1);
        let lines = csv.lines().filter(|line| line.starts_with(&prefix));
        assert_eq!(lines.count(), numbers(&step["series"], "cycles").len(), "{csv}");
        let latencies = logged(&log, &format!("round{}-inflight4", place + 1));
        let max = step["acquire_us"]["max"].as_f64().expect("there were cycles");
        let p50 = step["acquire_us"]["p50"].as_f64().expect("there were cycles");
        assert!((latencies.max() as f64 / 1e3 - max).abs() < 0.2 + max / 500.0, "{max}");
        let median = latencies.value_at_quantile(0.5) as f64 / 1e3;
        assert!((median - p50).abs() < 0.2 + p50 / 500.0, "{median} {p50}");
        // Four locks may have been acquired before the count began and released after.
        assert!(latencies.len() + 4 >= of_slices, "every cycle has acquired its lock");
    }
}

/// How long after the start of the log its first line begins.
fn first_interval(log: &[u8]) -> Duration {
    let begin = IntervalLogIterator::new(log).find_map(|entry| match entry {
        Ok(LogEntry::Interval(interval)) => Some(interval.start_timestamp()),
        _ => None,
    });
    begin.expect("a line")
}

/// The latencies of all lines with this tag.
fn logged(log: &[u8], tag: &str) -> Histogram<u64> {
    let mut deserializer = Deserializer::new();
    let mut sum = Histogram::<u64>::new(3).expect("three digits are possible");
    for entry in IntervalLogIterator::new(log) {
        let LogEntry::Interval(interval) = entry.expect("a log that can be read") else { continue };
        if interval.tag().is_some_and(|found| found.as_str() == tag) {
            let bytes = BASE64_STANDARD.decode(interval.encoded_histogram()).expect("base64");
            let part = deserializer.deserialize(&mut &bytes[..]).expect("a histogram");
            let part: Histogram<u64> = part;
            sum.add(&part).expect("it grows by itself");
        }
    }
    sum
}

#[test]
fn a_run_can_be_drawn_again_by_its_seed() {
    let (cluster, folders) = (Cluster::start(1), [Folder::new(), Folder::new()]);
    let nodes = cluster.addrs().join(",");
    let outs = folders.each_ref().map(|folder| folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--seconds", "100ms", "--resources", "9", "--out"];
    text(run(&[&args[..], &[&outs[0]]].concat()), 0);
    let seed = run_of(&folders[0])["options"]["seed"].to_string();
    text(run(&[&args[..], &[&outs[1], "--seed", &seed]].concat()), 0);
    assert_eq!(run_of(&folders[1])["options"]["seed"].to_string(), seed);
}

#[test]
fn a_range_of_rates_ends_with_the_first_that_is_too_much() {
    let cluster = Cluster::start(1);
    let nodes = cluster.addrs().join(",");
    let args = ["--nodes", &nodes, "--rate", "100..1m", "--in-flight", "1", "--rounds", "2"];
    let args = [&args[..], &["--arrivals", "poisson", "--seconds", "300ms", "--json"]].concat();
    let (stdout, _) = text(run(&args), 0);
    let found = object(&stdout);
    let levels = found["levels"].as_array().expect("a list");
    // One at a time does not do a million a second, nor half of that.
    assert!(levels.len() < 14, "{found}");
    assert_eq!(levels.last().expect("a level")["is_behind"], true, "{found}");
    let text = found["verdict"]["text"].as_str().expect("a sentence");
    assert!(text.contains("were too many"), "{text}");
    assert_no_keys(&cluster);
}

#[test]
fn bare_sockets_take_turns_with_the_engine_and_leave_nothing() {
    let (cluster, folder) = (Cluster::start(3), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--in-flight", "70", "--against", "raw", "--rounds", "2"];
    let args = [&args[..], &["--seconds", "200ms", "--prefix", "svc:", "--out", &out]].concat();
    let (table, _) = text(run(&args), 0);
    assert!(table.contains("\nagainst raw, to all nodes, in the same rounds:\n"), "{table}");
    let run = run_of(&folder);
    let steps = run["steps"].as_array().expect("a list");
    let contenders: Vec<_> = steps.iter().map(|step| &step["contender"]).collect();
    assert_eq!(contenders, ["redbolt", "raw", "raw", "redbolt"]);
    assert!(steps.iter().all(|step| step["cycles"].as_u64() > Some(0)), "{run}");
    let ratio = run["against"]["levels"][0]["ratio"].as_f64().expect("a ratio");
    assert!(ratio > 0.0, "{run}");
    // The log tells both apart.
    let log = fs::read(folder.path().join("acquire.hlog")).expect("the file was written");
    for step in steps {
        let who = if step["contender"] == "raw" { "raw-" } else { "" };
        let latencies = logged(&log, &format!("{who}round{}-inflight70", step["round"]));
        let max = step["acquire_us"]["max"].as_f64().expect("there were cycles");
        assert!((latencies.max() as f64 / 1e3 - max).abs() < 0.2 + max / 500.0, "{step}");
    }
    assert_no_keys(&cluster);
}

#[test]
fn locks_that_are_kept_alive_have_their_latencies_in_the_log_too() {
    let (cluster, folder) = (Cluster::start(3), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--client", "--keep-alive", "20", "--seconds", "300ms"];
    text(run(&[&args[..], &["--out", &out]].concat()), 0);
    let run = run_of(&folder);
    let step = &run["steps"][0];
    assert_eq!(step["kept"]["held"], 20, "{step}");
    let log = fs::read(folder.path().join("acquire.hlog")).expect("the file was written");
    assert_eq!(logged(&log, "round1-inflight20").len(), 20, "{step}");
    assert_no_keys(&cluster);
}
