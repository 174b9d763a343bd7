//! A run beside an earlier one.

use std::fs;

use serde_json::{Value, json};

use crate::run::{bench, run, spawn, text};
use crate::support::process::Folder;
use crate::support::servers::Cluster;

/// Makes an earlier run better by this factor: faster, and cheaper. The client is cheaper than the
/// servers by the factor, because the quotient of the two is judged as well.
fn better(run: &Value, factor: f64) -> String {
    let mut run = run.clone();
    let scale = |value: &mut Value, factor: f64| {
        if let Some(number) = value.as_f64() {
            *value = json!(number * factor);
        }
    };
    for step in run["steps"].as_array_mut().expect("a list") {
        scale(&mut step["cycles_per_s"], factor);
        scale(&mut step["client"]["cpu_us_per_cycle"], 1.0 / (factor * factor));
        scale(&mut step["servers"]["cpu_us_per_cycle"], 1.0 / factor);
        ["p50", "p99"].iter().for_each(|key| scale(&mut step["acquire_us"][*key], 1.0 / factor));
    }
    run.to_string()
}

#[test]
fn worse_than_an_earlier_run_is_an_exit_code_of_its_own() {
    let (cluster, folder) = (Cluster::start(1), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--in-flight", "8", "--seconds", "200ms", "--rounds", "4"];
    text(run(&[&args[..], &["--out", &out]].concat()), 0);
    let file = folder.path().join("run.json");
    let earlier = fs::read_to_string(&file).expect("the file was written");
    let earlier: Value = serde_json::from_str(&earlier).expect("it is JSON");
    let baseline = folder.path().join("earlier.json").display().to_string();
    // Whatever else happens on this machine, no run differs from another one by this factor.
    for (factor, code) in [(50.0, 1), (1.0 / 50.0, 0)] {
        fs::write(&baseline, better(&earlier, factor)).expect("the folder is ours");
        let args = [&args[..], &["--baseline", &baseline]].concat();
        let (table, said) = text(run(&args), code);
        assert_eq!(said.contains("redbolt: worse than the baseline\n"), code == 1, "{said}");
        assert_eq!(table.contains(" WORSE"), code == 1, "{table}");
        let verdict = table.lines().last().unwrap_or_default();
        assert_eq!(verdict == "worse, where 5 % are tolerated", code == 1, "{table}");
        for figure in ["cycles/s", "acquire p50, µs", "client CPU, µs", "servers' CPU, µs"] {
            assert!(table.contains(figure), "{figure}: {table}");
        }
    }
}

/// All rounds of it are measured, and none has a cycle: each lock is held for longer.
#[test]
fn a_load_that_comes_to_nothing_is_worse() {
    let (cluster, folder) = (Cluster::start(1), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--in-flight", "8", "--seconds", "100ms", "--rounds", "3"];
    text(run(&[&args[..], &["--out", &out]].concat()), 0);
    let baseline = folder.path().join("run.json").display().to_string();
    let held = ["--hold", "2s", "--baseline", &baseline];
    let (table, _) = text(run(&[&args[..], &held].concat()), 1);
    let rate = table.lines().rfind(|line| line.trim_start().starts_with("cycles/s "));
    assert!(rate.is_some_and(|line| line.ends_with("WORSE")), "{table}");
}

#[test]
fn what_may_be_worse_is_not_called_not_worse() {
    let (cluster, folder) = (Cluster::start(1), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--in-flight", "8", "--seconds", "200ms", "--rounds", "3"];
    text(run(&[&args[..], &["--out", &out]].concat()), 0);
    let file = folder.path().join("run.json");
    let earlier = fs::read_to_string(&file).expect("the file was written");
    let mut earlier: Value = serde_json::from_str(&earlier).expect("it is JSON");
    // Rounds that differ by a factor of 10,000 leave every change open.
    for (step, factor) in earlier["steps"].as_array_mut().expect("a list").iter_mut().zip([1, 100])
    {
        let rate = step["cycles_per_s"].as_f64().expect("a rate");
        step["cycles_per_s"] = json!(rate / f64::from(factor * factor));
    }
    let baseline = folder.path().join("earlier.json").display().to_string();
    fs::write(&baseline, earlier.to_string()).expect("the folder is ours");
    let again = folder.path().join("again");
    let again = again.display().to_string();
    let args = [&args[..], &["--baseline", &baseline, "--tolerance", "99", "--out", &again]];
    let (table, _) = text(run(&args.concat()), 0);
    assert!(table.ends_with("\nnothing is surely worse, where 99 % are tolerated\n"), "{table}");
    assert!(table.contains("  not sure\n"), "{table}");
    let page = fs::read_to_string(folder.path().join("again/report.html"));
    let page = page.expect("the page was written");
    assert!(page.contains("Nothing is surely worse, but some figures may be"));
    assert!(!page.contains("nothing worse") && page.contains("not sure"));
}

#[test]
fn a_baseline_that_cannot_be_compared_with_is_told_of_before_any_load() {
    let folder = Folder::new();
    let name = folder.path().join("old.json").display().to_string();
    let options = json!({
        "load": "engines", "workers": null, "engines": 1, "in_flight": 8, "is_sweep": false,
        "rates": [], "arrivals": null, "rounds": 1, "seconds": 1.0, "warm_up_ms": 0.0,
        "ttl_ms": 1.0, "hold_ms": 0.0, "resources": null, "key_len": 33, "extend_percent": 0,
        "is_fenced": false, "asks_majority": false, "confirms": false, "seed": 1,
    });
    let old = json!({
        "schema": 1, "redbolt": {"version": "0", "commit": null}, "started_at": "then",
        "machine": {"system": "s", "architecture": "a", "processor": null, "processors": 1},
        "options": options, "servers": "given", "nodes": [], "steps": [], "levels": [],
        "verdict": {"knee": null, "saturated": null, "text": ""}, "against": null,
        "baseline": null,
    });
    let mut rounds = old.clone();
    rounds["options"]["rounds"] = json!(5);
    let rows: [(String, &[&str], String); 6] = [
        ("{".to_owned(), &[], format!("{name}: no run.json: EOF")),
        (json!({"schema": 2}).to_string(), &[], format!("{name}: its schema is 2, 1 is possible")),
        (old.to_string(), &[], format!("{name} has 1 round, 3 are needed: --rounds 3")),
        (rounds.to_string(), &[], format!("{name} has none of the loads of this run")),
        (rounds.to_string(), &["--rounds", "2"], "--rounds is 2, at least 3 are".to_owned()),
        (rounds.to_string(), &["--tolerance", "x"], "--tolerance is \"x\", a whole".to_owned()),
    ];
    for (content, args, message) in rows {
        fs::write(&name, content).expect("the folder is ours");
        let (stdout, stderr) = text(run(&[&["--baseline", &name], args].concat()), 64);
        assert_eq!((stdout.as_str(), stderr.lines().count()), ("", 1), "{stderr}");
        assert!(stderr.starts_with(&format!("redbolt: {message}")), "{stderr}");
    }
    let (_, stderr) = text(run(&["--baseline", "/no/such/file"]), 64);
    assert!(stderr.starts_with("redbolt: /no/such/file cannot be read: "), "{stderr}");
}

#[test]
fn a_baseline_makes_nobody_wait_and_no_terminal_obey() {
    let (cluster, folder) = (Cluster::start(1), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--in-flight", "4", "--seconds", "100ms", "--rounds", "3"];
    text(run(&[&args[..], &["--out", &out]].concat()), 0);
    let earlier = fs::read(folder.path().join("run.json")).expect("it was written");
    let earlier: Value = serde_json::from_slice(&earlier).expect("it is JSON");
    let file = folder.path().join("earlier.json").display().to_string();
    let args = [&args[..], &["--tolerance", "100", "--baseline", &file]].concat();

    let mut evil = earlier.clone();
    for place in ["/started_at", "/nodes/0/version", "/machine/system"] {
        *evil.pointer_mut(place).expect("a text") = json!("\u{1b}[31m\u{9b}\u{202e}");
    }
    fs::write(&file, evil.to_string()).expect("the folder is ours");
    let output = run(&args);
    let stdout = String::from_utf8(output.stdout).expect("it prints text");
    assert!(stdout.contains("\\u{1b}[31m\\u{9b}\\u{202e}"), "{stdout}");
    assert!(!stdout.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{stdout}");

    let mut endless = earlier;
    endless["steps"][0]["round"] = json!(u32::MAX);
    fs::write(&file, endless.to_string()).expect("the folder is ours");
    let (_, stderr) = text(spawn(bench(&args)).finish(), 64);
    let expected = "has a round 4,294,967,295, at most 1,000 is possible";
    assert!(stderr.contains(expected), "{stderr}");
}
