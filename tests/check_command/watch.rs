//! `--watch`: one look after the other.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::fake::Fake;
use crate::support::process::Folder;
use crate::support::terminal::Terminal;
use crate::support::until;
use crate::support::watched::Watched;
use crate::{command, declared};

#[test]
fn elsewhere_than_on_a_terminal_one_report_follows_the_other_until_a_signal() {
    let mut cluster = declared(3);
    for json in [false, true] {
        let form = if json { &["--watch=0.1", "--json"][..] } else { &["--watch", "0.1"] };
        let mut watch = Watched::out(command(&cluster.addrs(), form));
        watch.line("3 of 3 can vote");
        let line = watch.line("3 of 3 can vote");
        let start = if json { "{\"nodes\":" } else { "verdict  " };
        assert!(line.starts_with(start) && !line.contains('\x1b'), "{line}");
        if json {
            cluster[0].kill();
            watch.line("2 of 3 can vote");
        }
        watch.signal(Signal::INT);
        assert_eq!(watch.ended().code(), Some(i32::from(json)));
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_watch() {
    let cluster = declared(1);
    let mut program = command(&cluster.addrs(), &["--watch=0.1"]);
    let mut child = program.stdout(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    let mut status = None;
    let is_over = until(Duration::from_secs(60), || {
        status = child.try_wait().expect("the child is ours");
        status.is_some()
    });
    if !is_over {
        // It must not outlive the test.
        _ = child.kill();
        _ = child.wait();
    }
    assert_eq!(status.expect("the watch has ended").code(), Some(0));
}

#[test]
fn a_signal_before_the_end_of_the_first_look_does_not_wait() {
    let silent = Fake::silent();
    let mut program = command(&[silent.addr()], &["--watch"]);
    program.env("REDBOLT_CONNECT_TIMEOUT", "60s");
    let mut watch = Watched::out(program);
    assert!(until(Duration::from_secs(20), || silent.accepted() > 0));
    watch.signal(Signal::TERM);
    assert_eq!(watch.ended().code(), Some(128 + 15));
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
