//! The page of `--out`, as a person would open it.

use std::fs;

use serde_json::Value;

use crate::run::{run, text};
use crate::support::process::Folder;
use crate::support::servers::Cluster;

#[test]
fn the_page_shows_what_run_json_has_and_refers_to_nothing() {
    let (cluster, folder) = (Cluster::start(3), Folder::new());
    let nodes = cluster.addrs().join(",");
    let out = folder.path().display().to_string();
    let args = ["--nodes", &nodes, "--sweep", "--in-flight", "4", "--seconds", "0.2"];
    text(run(&[&args[..], &["--rounds", "1", "--out", &out]].concat()), 0);
    let read = |name| fs::read_to_string(folder.path().join(name)).expect("it was written");
    let (page, run) = (read("report.html"), read("run.json"));
    let run: Value = serde_json::from_str(&run).expect("it is JSON");
    assert!(page.starts_with("<!DOCTYPE html>\n") && page.ends_with("</html>\n"));
    for reference in ["http:", "https:", "url(", "<script", "<link", "<img", " src="] {
        assert!(!page.contains(reference), "{reference}");
    }
    let texts = [&run["started_at"], &run["redbolt"]["version"], &run["machine"]["system"]];
    for text in texts.into_iter().chain(run["nodes"].as_array().expect("nodes")) {
        let text = text.as_str().or_else(|| text["node"].as_str()).expect("a text");
        assert!(page.contains(text), "{text}");
    }
    // One row for each of 1, 2 and 4 in flight, with its rate.
    let levels = run["levels"].as_array().expect("levels");
    assert_eq!(levels.len(), 3, "{run}");
    for level in levels {
        let cycles = level["cycles_per_s"].as_f64().expect("a rate");
        let whole = cycles as u64;
        let grouped = match whole {
            1_000.. => format!("{},{:03}", whole / 1_000, whole % 1_000),
            _ => whole.to_string(),
        };
        assert!(page.contains(&format!("<td>{grouped}")), "{grouped}");
    }
}
