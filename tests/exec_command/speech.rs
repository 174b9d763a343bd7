//! What `redbolt exec` says, and that saying it holds nothing up.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::pipe::{PipeFlags, pipe_with};

use super::run::{Run, assert_no_keys, exec};
use crate::support::servers::Cluster;

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

#[test]
fn a_reader_of_messages_that_is_stuck_does_not_keep_the_command_alive_beyond_its_lock() {
    let cluster = Cluster::start(3);
    let stuck = Stuck::new();
    // As fast as possible, so that work beside the next holder is seen.
    let script = "trap '' TERM; while :; do echo >>stamps; done";
    let options = ["--verbose", "--no-keep-alive", "--ttl", "4s", "r", "--", "sh", "-c", script];
    let mut first = Run::start_with_stderr(exec(&cluster.addrs()).args(options), stuck.stderr());
    first.line("stamps");
    stuck.fill();
    let stamps = first.folder().join("stamps");
    let mut second = exec(&cluster.addrs());
    second.args(["--wait", "60s", "r", "--", "sh", "-c", r#"wc -c <"$0""#]).arg(&stamps);
    let second = Run::start(&mut second).finish();
    first.wait().assert_code(76);
    second.assert_code(0);
    let size = fs::metadata(&stamps).expect("the file is there").len();
    assert_eq!(second.out.trim(), size.to_string());
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
