//! A lock that `redbolt exec` holds.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use crate::support::until;
use crate::who::PATIENCE;

/// A `redbolt exec` that holds a lock on `r` until it is dropped or told to end.
pub(crate) struct Held {
    child: Child,
    stdin: Option<ChildStdin>,
    /// In hex.
    pub(crate) token: String,
}

impl Held {
    /// Returns when the lock is held.
    pub(crate) fn on(nodes: &[String]) -> Self {
        Self::with(nodes, &["--wait", "60s", "--ttl", "3s"])
    }

    pub(crate) fn with(nodes: &[String], options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_redbolt"))
            .arg("exec")
            .args(options)
            .args(["r", "--", "sh", "-c", "echo $REDBOLT_TOKEN; read line || true"])
            .env("REDBOLT_NODES", nodes.join(","))
            // Its servers have just been started, and no lock can have been forgotten.
            .env("REDBOLT_RESTART_GUARD", "off")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let stdin = child.stdin.take();
        let mut token = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("it was asked for"));
        out.read_line(&mut token).expect("the command writes its token");
        assert_eq!(token.trim().len(), 40, "{token}");
        // The pipe stays open, so that the command can write.
        thread::spawn(move || _ = out.read_to_end(&mut Vec::new()));
        Self { child, stdin, token: token.trim().to_owned() }
    }

    /// The process id of the program.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the program ends by itself. Returns its exit code and its messages.
    pub(crate) fn ended(&mut self) -> (Option<i32>, String) {
        let mut status = None;
        let has_ended = until(PATIENCE, || {
            status = self.child.try_wait().expect("it is ours to wait for");
            status.is_some()
        });
        assert!(has_ended, "the holder goes on");
        let mut err = String::new();
        let mut pipe = self.child.stderr.take().expect("it was asked for");
        pipe.read_to_string(&mut err).expect("the program writes text");
        (status.and_then(|status| status.code()), err)
    }

    /// Lets the command end, and waits for the program.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        self.stdin = None;
        self.ended()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // The command reads the end of its input, and ends. Nothing fails for a child that was
        // waited for.
        self.stdin = None;
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
