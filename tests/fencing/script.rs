//! The scripts of FENCING.md, below `redbolt exec --fence` and too late.

use std::fs;
use std::process::{Command, Output};

use crate::fence;
use crate::fenced::postgres::{MARKS, SEVERAL_ROWS_TABLE};
use crate::page::PAGE;
use crate::storages;
use crate::support::process::Folder;
use crate::support::servers::Cluster;

fn exec(cluster: &Cluster) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    command.args(["exec", "--fence", "--wait", "30s", "orders/42", "--"]);
    command.env("REDBOLT_NODES", cluster.addrs().join(","));
    // Its servers have just been started, and no lock can have been forgotten.
    command.env("REDBOLT_RESTART_GUARD", "off");
    command
}

/// Returns the script of the page that has this text.
fn script(text: &str) -> String {
    let mut blocks = PAGE.split("\n```").skip(1).step_by(2);
    let block = blocks.find(|block| block.contains(text));
    let block = block.unwrap_or_else(|| panic!("FENCING.md has no script with {text:?}"));
    let (_language, script) = block.split_once('\n').expect("a block has lines");
    format!("{script}\n")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_script_with_psql_is_refused_when_it_is_late() {
    let Some(psql) = storages::psql() else { return };
    psql.create_schema(&[MARKS, SEVERAL_ROWS_TABLE]).expect("the schema is new");
    let folder = Folder::new();
    let path = folder.path().join("add-bread");
    fs::write(&path, script("# add-bread")).expect("the folder is ours");
    let prepare = |mut command: Command| {
        command.arg(&path).env("PGOPTIONS", format!("-c search_path={}", psql.schema));
        command.envs(psql.variables.iter().map(|(name, value)| (name, value)));
        command
    };
    let items = || psql.run("SELECT item FROM items;", &[]).expect("it can be read");

    let cluster = Cluster::start(3);
    let mut command = exec(&cluster);
    command.arg("sh");
    let output = prepare(command).output().expect("redbolt can be run");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(items(), "bread\n");

    let mut late = Command::new("sh");
    late.env("REDBOLT_FENCE", "4294967296").env("REDBOLT_RESOURCE", "orders/42");
    let output = prepare(late).output().expect("sh can be run");
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("orders/42 has a newer holder"), "{}", said(&output));
    assert_eq!(items(), "bread\n");
}

#[test]
fn a_script_with_flock_is_refused_when_it_is_late() {
    let folder = Folder::new();
    let path = folder.path().join("save");
    fs::write(&path, script("# save")).expect("the folder is ours");
    let save = |count: u64, text: &str| {
        let mut command = Command::new("sh");
        command.arg(&path).arg(text).current_dir(folder.path());
        command.env("REDBOLT_FENCE", fence(count).to_string());
        command.output().expect("sh can be run")
    };
    let stored = || fs::read_to_string(folder.path().join("order")).expect("it is there");
    let output = save(2, "new");
    assert!(output.status.success(), "{}", said(&output));
    let output = save(1, "late");
    assert!(!output.status.success(), "{}", said(&output));
    assert_eq!(stored(), "new\n");
    let output = save(2, "again");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(stored(), "again\n");
}

/// What cannot be compared is refused, and takes no mark away.
#[test]
fn a_script_with_flock_is_refused_where_a_number_is_missing() {
    let folder = Folder::new();
    let path = folder.path().join("save");
    fs::write(&path, script("# save")).expect("the folder is ours");
    let marked = folder.path().join("order.fence");
    let newest = fence(2).to_string();
    for (mark, number) in [(newest.as_str(), ""), (&newest, "newest"), ("torn", &newest)] {
        fs::write(&marked, mark).expect("the folder is ours");
        let mut command = Command::new("sh");
        command.arg(&path).arg("text").current_dir(folder.path()).env("REDBOLT_FENCE", number);
        let output = command.output().expect("sh can be run");
        assert!(!output.status.success(), "{mark} {number}: {}", said(&output));
        assert!(!folder.path().join("order").exists(), "{mark} {number}");
        assert_eq!(fs::read_to_string(&marked).expect("it is there"), mark);
    }
}
