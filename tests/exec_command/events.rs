//! The events of `--log json`, as whoever collects the logs of many jobs reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use super::run::{Outcome, PATIENCE, Run, exec};
use super::speech::{events, objects_of};
use crate::support::process::Folder;
use crate::support::servers::Cluster;
use crate::support::until;

/// A file to which many jobs append what they say.
struct Journal {
    folder: Folder,
    cluster: Cluster,
}

const SECRET: &str = "hunter2-as-an-argument";

impl Journal {
    fn new() -> Self {
        Self { folder: Folder::new(), cluster: Cluster::start(3) }
    }

    /// Starts a verbose job, whose command is a script with a secret argument.
    fn start(&self, options: &[&str], resource: &str, script: &str) -> Run {
        let path = self.folder.path().join("journal");
        let file = File::options().append(true).create(true).open(path);
        let mut command = exec(&self.cluster.addrs());
        command.args(["--log", "json", "--verbose"]).args(options);
        command.args([resource, "--", "sh", "-c", script, SECRET]);
        Run::start_with_stderr(&mut command, file.expect("the folder is ours"))
    }

    fn text(&self) -> String {
        fs::read_to_string(self.folder.path().join("journal")).expect("the file is there")
    }

    /// Waits for the end of a job. What all jobs have said so far stands in for its standard error.
    fn wait(&self, run: &mut Run) -> Outcome {
        let outcome = run.wait();
        Outcome { err: self.text(), ..outcome }
    }

    /// What one job has said.
    fn of(&self, run: &Run) -> Vec<Value> {
        let pid = run.pid().as_raw_nonzero().get();
        objects_of(&self.text()).into_iter().filter(|object| object["pid"] == pid).collect()
    }
}

fn find<'a>(objects: &'a [Value], event: &str) -> &'a Value {
    let found = objects.iter().find(|object| object["event"] == event);
    found.unwrap_or_else(|| panic!("no {event}: {objects:?}"))
}

/// The rows of a table of EXEC.md: the name, and the fields in the last column.
fn table(head: &str) -> BTreeMap<String, BTreeSet<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/EXEC.md");
    let text = fs::read_to_string(path).expect("the document is there").replace('`', "");
    let (_, rest) = text.split_once(head).expect("the table is there");
    let rows = rest.lines().skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let fields = cells[3].split(", ").filter(|field| !field.is_empty());
        (cells[1].to_owned(), fields.map(str::to_owned).collect())
    })
    .collect()
}

/// # Panics
///
/// When a line has a field that EXEC.md does not know, or lacks one.
pub(super) fn assert_documented(objects: &[Value]) {
    let (known, failures) = (
        table("| event | level | fields besides those of every line |\n"),
        table("| failure | exit code | further fields |\n"),
    );
    for object in objects {
        let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
        let mut fields = known.get(&text("event")).expect("the table has the event").clone();
        fields.extend(failures.get(&text("failure")).into_iter().flatten().cloned());
        let common = ["time", "level", "event", "resource", "pid", "text"];
        fields.extend(common.map(str::to_owned));
        let has: BTreeSet<_> = object.as_object().expect("an object").keys().cloned().collect();
        assert_eq!(has, fields, "{object}");
    }
}

#[test]
fn every_line_of_many_jobs_in_one_journal_says_whose_it_is_and_how_the_command_ended() {
    let journal = Journal::new();
    let mut exits = journal.start(&[], "orders/1", "echo $$ >pid; sleep 0.1; exit 7");
    let mut dies = journal.start(&[], "orders/2", "kill -SEGV $$");
    let mut loses = journal.start(&["--ttl", "6s"], "orders/3", "echo >ready; exec sleep 60");
    let background = "(until [ -e go ] || [ ! -e out ]; do :; done) & exit 0";
    let mut waits = journal.start(&["--wait-group"], "orders/4", background);
    let mut unusable = journal.start(&["--ttl", "61s"], "orders/5", "echo ran");
    loses.line("ready");
    for node in journal.cluster.iter() {
        node.command(&[b"DEL", b"orders/3"]);
        node.set_px(b"orders/6", b"x", Duration::from_secs(60));
    }
    let mut refused = journal.start(&["--wait", "5s"], "orders/6", "echo ran");
    journal.wait(&mut exits).assert_code(7);
    journal.wait(&mut dies).assert_died_of(Signal::SEGV);
    journal.wait(&mut loses).assert_code(76);
    journal.wait(&mut unusable).assert_code(64);
    journal.wait(&mut refused).assert_code(75);
    assert!(until(PATIENCE, || events(&journal.of(&waits)).contains(&"command_ended")));
    waits.create("go");
    journal.wait(&mut waits).assert_code(0);

    let all = objects_of(&journal.text());
    assert_documented(&all);
    let runs = [&exits, &dies, &loses, &waits, &unusable, &refused];
    let said = runs.map(|run| journal.of(run));
    assert_eq!(said.iter().map(Vec::len).sum::<usize>(), all.len(), "{}", journal.text());
    for (number, lines) in [1, 2, 3, 4, 5, 6].iter().zip(&said) {
        let resource = format!("orders/{number}");
        assert!(lines.iter().all(|line| line["resource"] == resource.as_str()), "{lines:?}");
    }
    let [exits_said, dies_said, loses_said, waits_said, unusable_said, refused_said] = &said;
    assert!(!journal.text().contains(SECRET));
    let started = find(exits_said, "command_started");
    assert_eq!(
        (&started["command"], &started["command_pid"]),
        (&"sh".into(), &exits.process("pid").into())
    );
    for (lines, code, signal) in [
        (exits_said, 7.into(), Value::Null),
        (dies_said, Value::Null, "SIGSEGV".into()),
        (loses_said, Value::Null, "SIGKILL".into()),
        (waits_said, 0.into(), Value::Null),
    ] {
        let ended = find(lines, "command_ended");
        assert_eq!((&ended["code"], &ended["signal"]), (&code, &signal), "{ended}");
        let (ran, held) = (ended["ran_ms"].as_f64(), ended["held_ms"].as_f64());
        assert!(ran.is_some() && ran <= held, "{ended}");
        // On a busy machine, what was killed may be dying for too long for a release.
        let is_left = events(lines).contains(&"left_to_ttl");
        if lines == loses_said {
            assert!(is_left || find(lines, "cleared")["confirmed"] == true, "{lines:?}");
        } else if !is_left {
            assert!(held <= find(lines, "released")["held_ms"].as_f64(), "{lines:?}");
        }
        assert_eq!(ended["command_pid"], find(lines, "command_started")["command_pid"]);
    }
    assert!(find(exits_said, "command_ended")["ran_ms"].as_f64() >= Some(100.0));
    for (lines, failure) in
        [(unusable_said, "usage"), (refused_said, "held"), (loses_said, "overrun")]
    {
        assert_eq!(find(lines, "failed")["failure"], failure);
    }
}

#[test]
fn a_verbose_text_has_the_same_facts() {
    let cluster = Cluster::start(3);
    let mut command = exec(&cluster.addrs());
    command.args(["--verbose", "r", "--", "sh", "-c", "echo $$ >pid; exit 7", SECRET]);
    let mut run = Run::start(&mut command);
    let outcome = run.wait();
    outcome.assert_code(7);
    let begin = format!("redbolt[{}]: [", run.pid().as_raw_nonzero());
    // The lines of nodes that are not ready continue the one before.
    let mut lines = outcome.err.lines().filter(|line| !line.starts_with("  "));
    assert!(lines.all(|line| line.starts_with(&begin)), "{}", outcome.err);
    let started = format!("\"sh\" runs as process {}\n", run.process("pid"));
    let facts = [
        "\"r\" is locked after ",
        &started,
        "\"sh\" exited with 7 after ",
        "\"r\" is released after ",
    ];
    for fact in facts {
        assert!(outcome.err.contains(fact), "{fact}: {}", outcome.err);
    }
    assert!(!outcome.err.contains(SECRET));
}
