//! A program whose output a test reads while it runs. Every wait has a bound, and a failure says
//! what was waited for.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::{now, until};

/// How long a line or an end may take. Only a hang can reach it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running program. Killed and waited for on `Drop`.
pub(crate) struct Watched {
    child: Child,
    lines: Receiver<String>,
}

impl Watched {
    /// Starts a program, to read its standard output.
    pub(crate) fn out(program: Command) -> Self {
        Self::start(program, true)
    }

    /// Starts a program, to read its standard error. Its standard output goes nowhere.
    pub(crate) fn err(program: Command) -> Self {
        Self::start(program, false)
    }

    fn start(mut program: Command, reads_out: bool) -> Self {
        match reads_out {
            true => program.stdout(Stdio::piped()),
            false => program.stdout(Stdio::null()).stderr(Stdio::piped()),
        };
        let mut child = program.spawn().expect("the program can be started");
        let read: Box<dyn Read + Send> = match reads_out {
            true => Box::new(child.stdout.take().expect("it was asked for")),
            false => Box::new(child.stderr.take().expect("it was asked for")),
        };
        let (told, lines) = mpsc::channel();
        // The thread ends with the output.
        thread::spawn(move || {
            for line in BufReader::new(read).lines().map_while(Result::ok) {
                if told.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Reads lines until one has this text, and returns that one.
    #[track_caller]
    pub(crate) fn line(&self, text: &str) -> String {
        let (deadline, mut seen) = (now() + PATIENCE, Vec::new());
        loop {
            match self.lines.recv_timeout(deadline.saturating_sub(now())) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => seen.push(line),
                Err(error) => panic!("no line with {text:?} ({error}) in:\n{}", seen.join("\n")),
            }
        }
    }

    #[track_caller]
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the child is ours");
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        let is_over = until(PATIENCE, || {
            status = self.child.try_wait().expect("it is ours to wait for");
            status.is_some()
        });
        assert!(is_over, "the program goes on");
        status.expect("it has ended")
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // It may have ended.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
