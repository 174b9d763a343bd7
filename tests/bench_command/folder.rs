//! The folder of `--out`: what is complete in it, and what stays.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::run::{bench, run, spawn, text};
use crate::support::process::Folder;
use crate::support::servers::Cluster;
use crate::{assert_no_keys, wait_for_load};

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Folder) -> Vec<String> {
    let files = fs::read_dir(folder.path()).expect("the folder is ours");
    let name = |file: fs::DirEntry| file.file_name().into_string().expect("plain names");
    let mut names: Vec<_> = files.map(|file| name(file.expect("the folder is ours"))).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_run_that_a_signal_ends_says_so_in_all_its_outputs_and_finds_no_knee() {
    let (cluster, folder) = (Cluster::start(3), Folder::new());
    let (nodes, out) = (cluster.addrs().join(","), folder.path().display().to_string());
    let args = ["--nodes", &nodes, "--sweep", "--in-flight", "4", "--seconds", "600"];
    let child = spawn(bench(&[&args[..], &["--out", &out]].concat()));
    wait_for_load(&cluster[0]);
    assert!(names(&folder).is_empty());
    child.signal(Signal::INT);
    let (table, _) = text(child.finish(), 0);
    assert!(table.contains("\nended early   a signal\n"), "{table}");
    let files = ["acquire.hlog", "report.html", "run.json", "series.csv"];
    assert_eq!(names(&folder), files);
    let read = |name| fs::read_to_string(folder.path().join(name)).expect("it was written");
    let run: Value = serde_json::from_str(&read("run.json")).expect("it is JSON");
    assert_eq!(run["ended_early"], "a signal");
    assert_eq!(run["verdict"]["knee"], Value::Null);
    let said = "ended early, in measurement 1 of 15";
    assert_eq!(run["verdict"]["text"], said);
    assert!(read("report.html").contains(said));
    assert_no_keys(&cluster);
}

#[test]
fn an_earlier_run_is_not_overwritten() {
    let folder = Folder::new();
    let out = folder.path().display().to_string();
    let file = folder.path().join("run.json");
    fs::write(&file, "earlier").expect("the folder is ours");
    let (_, said) = text(run(&["--out", &out]), 64);
    let expected = format!("redbolt: --out: {out}/run.json is of an earlier run, which is not");
    assert!(said.starts_with(&expected) && said.lines().count() == 1, "{said}");
    assert_eq!(fs::read_to_string(file).expect("it is there"), "earlier");
    assert_eq!(names(&folder), ["run.json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_in_which_nothing_can_be_written_is_told_of_before_any_load() {
    // Nobody can make a file there, not even the superuser.
    let (stdout, said) = text(run(&["--out", "/sys/kernel"]), 70);
    assert_eq!((stdout.as_str(), said.lines().count()), ("", 1), "{said}");
    assert!(said.starts_with("redbolt: cannot write /sys/kernel/run.json: "), "{said}");
}
