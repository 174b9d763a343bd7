//! `--watch`: one look after the other.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::fake::Fake;
use crate::support::process::Folder;
use crate::support::terminal::Terminal;
use crate::{command, declared};

/// Reads lines until one begins with `start`.
fn read_to(lines: &mut impl Iterator<Item = std::io::Result<String>>, start: &str) -> String {
    let mut lines = lines.map(|line| line.expect("text"));
    lines.find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start:?} came"))
}

#[test]
fn elsewhere_than_on_a_terminal_one_report_follows_the_other_until_a_signal() {
    let mut cluster = declared(3);
    for json in [false, true] {
        let form = if json { &["--watch=0.1", "--json"][..] } else { &["--watch=0.1"] };
        let mut program = command(&cluster.addrs(), form);
        let mut child = program.stdout(Stdio::piped()).spawn().expect("the program starts");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lines = out.lines();
        let start = if json { "{\"nodes\":" } else { "verdict  3 of 3" };
        read_to(&mut lines, start);
        let line = read_to(&mut lines, start);
        assert!(!line.contains('\x1b'), "{line}");
        if json {
            cluster[0].kill();
            while !read_to(&mut lines, start).contains("2 of 3 can vote") {}
        }
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("an id");
        kill_process(pid, Signal::INT).expect("the child is ours");
        let code = child.wait().expect("the child is ours").code();
        assert_eq!(code, Some(i32::from(json)));
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_watch() {
    let cluster = declared(1);
    let mut program = command(&cluster.addrs(), &["--watch=0.1"]);
    let mut child = program.stdout(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("the child is ours").code(), Some(0));
}

#[test]
fn a_signal_before_the_end_of_the_first_look_does_not_wait() {
    let silent = Fake::silent();
    let mut program = command(&[silent.addr()], &["--watch"]);
    program.env("REDBOLT_CONNECT_TIMEOUT", "60s");
    let mut child = program.stdout(Stdio::null()).spawn().expect("the program starts");
    assert!(crate::support::until(Duration::from_secs(20), || silent.accepted() > 0));
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("an id");
    kill_process(pid, Signal::TERM).expect("the child is ours");
    assert_eq!(child.wait().expect("the child is ours").code(), Some(128 + 15));
}

#[test]
fn a_terminal_is_drawn_over_and_keeps_the_last_report() {
    let cluster = declared(1);
    let folder = Folder::new();
    let mut terminal = Terminal::start(folder.path());
    let program = env!("CARGO_BIN_EXE_redbolt");
    terminal
        .run(&format!("{program} check --nodes {} --watch=100ms; echo code=$?", cluster[0].addr()));
    terminal.expect("\x1b[2J\x1b[Hnode");
    terminal.expect("verdict  1 of 1 can vote, 1 needed: none may fail\x1b[K\r\n\x1b[J");
    let between = terminal.expect("\x1b[Hnode");
    assert_eq!(between, "", "no clearing between two pages");
    terminal.ctrl('c');
    let rest = terminal.expect("code=0");
    let end = rest.rfind("verdict").expect("the last report");
    assert!(rest[end..].contains("1 of 1 can vote"), "{rest:?}");
    assert!(!rest.contains("\x1b[?1049"), "no other screen: {rest:?}");
}
