//! Figures that are not lost, and files that are whole or not there, when something fails.

use std::fs;

use serde_json::Value;

use crate::folder::names;
use crate::run::{after, bench, run, spawn, text};
use crate::support::process::Folder;
use crate::support::servers::Cluster;
use crate::wait_for_load;

#[test]
fn figures_are_printed_and_no_files_are_left_where_none_can_be_written() {
    let (cluster, folder) = (Cluster::start(1), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--seconds", "200ms", "--in-flight", "4", "--out", &out];
    // Four blocks are less than a run takes.
    let output = after("trap '' XFSZ; ulimit -f 4", &args).output().expect("every system has it");
    let (stdout, stderr) = text(output, 70);
    assert!(stdout.contains("\ncycles/s "), "{stdout}");
    assert!(stderr.contains("redbolt: cannot write ") && !stderr.contains("written: "), "{stderr}");
    assert!(names(&folder).is_empty());
}

#[test]
fn a_name_that_cannot_be_written_is_told_of_before_any_load() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("report.html")).expect("the folder is ours");
    let out = folder.path().display().to_string();
    let (stdout, stderr) = text(run(&["--nodes", "127.0.0.1:1", "--out", &out]), 70);
    assert_eq!(stdout, "");
    let expected = format!("redbolt: cannot write {out}/report.html: is a directory\n");
    assert_eq!(stderr, expected);
    assert_eq!(names(&folder), ["report.html"]);
}

#[test]
fn what_was_measured_before_a_step_failed_is_printed_and_written() {
    let (cluster, folder) = (Cluster::start(3), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--seconds", "200ms", "--in-flight", "4", "--against", "raw"];
    let child = spawn(bench(&[&args[..], &["--rounds", "500", "--out", &out]].concat()));
    wait_for_load(&cluster[0]);
    cluster[2].stop();
    let output = child.finish();
    cluster[2].cont();
    let (stdout, stderr) = text(output, 70);
    assert!(stdout.contains("\ncycles/s "), "{stdout}");
    let expected = format!("redbolt: --against raw: {}: ", cluster[2].addr());
    assert!(stderr.contains(&expected), "{stderr}");
    let file = folder.path().join("run.json").display().to_string();
    let written: Value =
        serde_json::from_slice(&fs::read(&file).expect("it was written")).expect("it is JSON");
    let why = written["ended_early"].as_str().unwrap_or_default();
    assert!(why.starts_with("--against raw: "), "{why}");
    // Nothing can be told from a part of a run.
    let args = [&args[..6], &["--rounds", "3", "--baseline", &file]].concat();
    let (_, stderr) = text(run(&args), 64);
    assert!(stderr.contains("is of a run that has ended early: "), "{stderr}");
}
