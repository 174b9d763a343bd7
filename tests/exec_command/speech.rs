//! What `redbolt exec` says, and that saying it holds nothing up.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use serde_json::Value;

use super::run::{Outcome, PATIENCE, Run, assert_no_keys, exec, run};
use crate::support::servers::Cluster;
use crate::support::until;

/// A pipe that nobody reads.
struct Stuck {
    _reader: OwnedFd,
    writer: File,
}

impl Stuck {
    fn new() -> Self {
        let (reader, writer) =
            pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).expect("a pipe can be made");
        Self { _reader: reader, writer: writer.into() }
    }

    /// Another way into the pipe, which waits for room.
    fn stderr(&self) -> File {
        let path = format!("/proc/self/fd/{}", self.writer.as_raw_fd());
        File::options().write(true).open(path).expect("the pipe can be opened again")
    }

    /// Leaves no room for a single byte.
    fn fill(&self) {
        for chunk in [&[b'x'; 4_096][..], b"x"] {
            let mut full = Ok(());
            while full.is_ok() {
                full = (&self.writer).write_all(chunk);
            }
            let error = full.expect_err("the loop ends with an error");
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        }
    }
}

/// FAULTS 71.
#[test]
fn a_reader_of_messages_that_is_stuck_does_not_keep_the_command_alive_beyond_its_lock() {
    let cluster = Cluster::start(3);
    let stuck = Stuck::new();
    // As fast as possible, so that work beside the next holder is seen. A test that fails leaves
    // nothing behind: its folder goes, and the stamps with it.
    let script = "trap '' TERM; echo >stamps; while [ -e stamps ]; do echo >>stamps; done";
    let options = ["--verbose", "--no-keep-alive", "--ttl", "4s", "r", "--", "sh", "-c", script];
    let mut first = Run::start_with_stderr(exec(&cluster.addrs()).args(options), stuck.stderr());
    first.line("stamps");
    stuck.fill();
    let stamps = first.folder().join("stamps");
    let mut second = exec(&cluster.addrs());
    second.args(["--wait", "60s", "r", "--", "sh", "-c", r#"wc -c <"$0""#]).arg(&stamps);
    let second = Run::start(&mut second).finish();
    second.assert_code(0);
    let size = fs::metadata(&stamps).expect("the file is there").len();
    assert_eq!(second.out.trim(), size.to_string());
    first.wait().assert_code(76);
    assert_no_keys(&cluster);
}

#[test]
fn a_reader_of_messages_that_is_stuck_holds_up_neither_the_start_nor_renewals_nor_the_release() {
    let cluster = Cluster::start(3);
    let stuck = Stuck::new();
    stuck.fill();
    let script = "sleep 5; exit 7";
    let options = ["--verbose", "--ttl", "2s", "r", "--", "sh", "-c", script];
    let run = Run::start_with_stderr(exec(&cluster.addrs()).args(options), stuck.stderr());
    run.finish().assert_code(7);
    assert_no_keys(&cluster);
}

const PASSWORD: &str = "hunter2-of-the-servers";

/// The lines of `--log json`, each with what all of them have.
fn objects(outcome: &Outcome) -> Vec<Value> {
    objects_of(&outcome.err)
}

/// The same for the lines of a file.
pub(super) fn objects_of(lines: &str) -> Vec<Value> {
    let lines = lines.lines().map(|line| {
        let object: Value = serde_json::from_str(line).expect("every line is an object");
        let time = object["time"].as_str().expect("a time");
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
        assert!(["info", "warn", "error"].contains(&object["level"].as_str().unwrap_or("")));
        assert!(object["text"].is_string() && object["resource"].is_string(), "{line}");
        assert!(object["pid"].is_u64(), "{line}");
        object
    });
    lines.collect()
}

pub(super) fn events(objects: &[Value]) -> Vec<&str> {
    objects.iter().filter_map(|object| object["event"].as_str()).collect()
}

#[test]
fn a_program_can_read_what_is_said_and_learns_no_secret() {
    let cluster = Cluster::start_with(3, &["--requirepass", PASSWORD]);
    let nodes: Vec<_> =
        cluster.addrs().iter().map(|addr| format!("redis://:{PASSWORD}@{addr}")).collect();
    let script = r#"echo "$REDBOLT_TOKEN" >token; exec sleep 60"#;
    let options = ["--log", "json", "--verbose", "r", "--", "sh", "-c", script];
    let run_one = Run::start(exec(&nodes).args(options));
    let token = run_one.line("token");
    for node in cluster.iter() {
        node.command(&[b"DEL", b"r"]);
    }
    let outcome = run_one.finish();
    outcome.assert_code(76);
    let objects = objects(&outcome);
    // Not every node may have been ready at once.
    let mut events = events(&objects);
    events.retain(|event| !["not_all_ready", "node"].contains(event));
    assert_eq!(events[..3], ["locked", "command_started", "lost"], "{}", outcome.err);
    // A lock that is lost is not released.
    assert_eq!(events[events.len() - 2..], ["cleared", "failed"], "{}", outcome.err);
    assert_eq!(objects[0]["resource"], "r");
    assert!(objects[0]["took_ms"].is_f64(), "{}", outcome.err);
    let lost = objects.iter().find(|object| object["event"] == "lost").expect("the lock is lost");
    assert_eq!(lost["reason"], "majority");
    assert_eq!(lost["nodes"][0]["node"], cluster[0].addr());
    let last = objects.last().expect("there are some");
    let failed = ["event", "failure", "resource", "reason"].map(|name| &last[name]);
    assert_eq!(failed, ["failed", "overrun", "r", "majority"]);
    assert_eq!(last["exit_code"], 76);
    assert!(!outcome.err.contains(PASSWORD) && !outcome.err.contains(&token), "{}", outcome.err);

    let wrong: Vec<_> =
        cluster.addrs().iter().map(|addr| format!("redis://:not-{PASSWORD}@{addr}")).collect();
    let outcome = run(&wrong, &["--log", "json", "--no-wait", "r", "--", "true"]);
    outcome.assert_code(69);
    assert!(!outcome.err.contains(PASSWORD), "{}", outcome.err);
    let objects = self::objects(&outcome);
    assert_eq!(self::events(&objects), ["failed"]);
    assert_eq!(objects[0]["nodes"][2]["state"], "misconfigured", "{}", outcome.err);
}

#[test]
fn the_form_of_messages_is_one_of_two() {
    let outcome = run(&["a".to_owned()], &["--log", "xml", "r", "--", "true"]);
    outcome.assert_code(64);
    assert!(outcome.err.contains("--log is \"xml\", text or json is possible"), "{}", outcome.err);
    let outcome = run(&["a".to_owned()], &["--log", "json", "", "--", "true"]);
    outcome.assert_code(64);
    let objects = objects(&outcome);
    assert_eq!(events(&objects), ["failed"]);
    assert_eq!((&objects[0]["failure"], &objects[0]["exit_code"]), (&"usage".into(), &64.into()));
}

#[test]
fn a_wait_without_end_has_no_time_left_in_json() {
    let mut command = exec(&["127.0.0.1:1".to_owned()]);
    command.env("REDBOLT_LOG", "json").args(["--wait", "forever", "r", "--", "true"]);
    let mut run = Run::start(&mut command);
    assert!(until(PATIENCE, || run.file("err").ends_with('\n')));
    run.signal(Signal::TERM);
    let outcome = run.wait();
    let objects = objects(&outcome);
    assert_eq!(events(&objects), ["no_quorum_yet", "failed"]);
    assert_eq!((&objects[0]["left_ms"], &objects[1]["signal"]), (&Value::Null, &"SIGTERM".into()));
    let text = objects[0]["text"].as_str().unwrap_or_default();
    let said = "no quorum of nodes for \"r\", waiting until a signal comes (0 of 1 can vote";
    assert!(text.starts_with(said), "{text}");
}
