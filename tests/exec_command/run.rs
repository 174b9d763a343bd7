//! One run of the program, in a folder of its own.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::support::process::Folder;
use crate::support::servers::Cluster;
use crate::support::until;

/// Longer than anything takes here, shorter than a test may hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A running `redbolt`, killed on `Drop`. Commands find themselves in its folder and can leave
/// files there for the test.
pub(crate) struct Run {
    child: Child,
    folder: Folder,
}

/// What has become of it.
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// `redbolt exec` on these fresh nodes, to be followed by options, the resource, and a command.
pub(crate) fn exec(nodes: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    command.arg("exec").env("REDBOLT_NODES", nodes.join(","));
    // Its servers have just been started, and no lock can have been forgotten.
    command.env("REDBOLT_RESTART_GUARD", "off");
    command
}

/// Runs `redbolt exec` with these arguments to its end.
pub(crate) fn run(nodes: &[String], arguments: &[&str]) -> Outcome {
    Run::start(exec(nodes).args(arguments)).finish()
}

/// The same, as often as needed for a quorum of nodes to answer in time: on a busy machine a single
/// attempt may find too few that do.
pub(crate) fn run_until_quorate(nodes: &[String], arguments: &[&str]) -> Outcome {
    let mut outcome = run(nodes, arguments);
    until(PATIENCE, || {
        if outcome.status.code() == Some(69) {
            outcome = run(nodes, arguments);
        }
        outcome.status.code() != Some(69)
    });
    outcome
}

/// Runs `redbolt exec` with these options on the resource `r`, with a script of the shell.
pub(crate) fn start_script(nodes: &[String], options: &[&str], script: &str) -> Run {
    Run::start(exec(nodes).args(options).args(["r", "--", "sh", "-c", script]))
}

impl Run {
    pub(crate) fn start(command: &mut Command) -> Self {
        let folder = Folder::new();
        let file = File::create(folder.path().join("err")).expect("the folder is ours");
        Self::start_in(folder, command, file)
    }

    /// The same with a standard error of the test's own. [`Outcome::err`] is empty then.
    pub(crate) fn start_with_stderr(command: &mut Command, stderr: impl Into<Stdio>) -> Self {
        Self::start_in(Folder::new(), command, stderr)
    }

    fn start_in(folder: Folder, command: &mut Command, stderr: impl Into<Stdio>) -> Self {
        let out = File::create(folder.path().join("out")).expect("the folder is ours");
        command.current_dir(folder.path()).stdout(out).stderr(stderr);
        let child = command.stdin(Stdio::null()).spawn().expect("the program can be started");
        Self { child, folder }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it is not waited for yet");
    }

    /// `SIGSTOP`; returns when it has really stopped.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let news = waitid(WaitId::Pid(self.pid()), options).expect("it is ours to wait for");
        assert!(news.is_some_and(|news| news.stopped()), "it has ended instead of stopping");
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The first line of a file that the command writes, as soon as it is there.
    pub(crate) fn line(&self, name: &str) -> String {
        let mut text = String::new();
        let has_come = until(PATIENCE, || {
            text = self.file(name);
            text.contains('\n')
        });
        assert!(has_come, "no line in {name}; standard error: {}", self.file("err"));
        text.lines().next().unwrap_or_default().to_owned()
    }

    /// A process id that the command writes into a file.
    pub(crate) fn process(&self, name: &str) -> u32 {
        self.line(name).trim().parse().expect("a process id")
    }

    /// What a file has so far; empty if it is not there.
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Creates a file, for which the command may be waiting.
    pub(crate) fn create(&self, name: &str) {
        File::create(self.folder.path().join(name)).expect("the folder is ours");
    }

    /// Removes a file, for whose end the command may be waiting.
    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.folder.path().join(name)).expect("the file is there");
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> Outcome {
        let mut status = None;
        until(PATIENCE, || {
            status = self.child.try_wait().expect("it is ours to wait for");
            status.is_some()
        });
        let (out, err) = (self.file("out"), self.file("err"));
        let status = status.unwrap_or_else(|| panic!("it does not end; standard error: {err}"));
        Outcome { status, out, err }
    }

    pub(crate) fn finish(mut self) -> Outcome {
        self.wait()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Errors mean that it has ended, as it should.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Outcome {
    /// # Panics
    ///
    /// When it did not exit with this code.
    pub(crate) fn assert_code(&self, code: u8) {
        assert_eq!(self.status.code(), Some(i32::from(code)), "standard error: {}", self.err);
    }

    /// # Panics
    ///
    /// When it did not die of this signal, for which a shell shows 128 + N.
    pub(crate) fn assert_died_of(&self, signal: Signal) {
        let died_of = self.status.signal();
        assert_eq!(died_of, Some(signal.as_raw()), "{}: {}", self.status, self.err);
        assert!(!self.status.core_dumped());
    }
}

/// # Panics
///
/// When a key stays on a server. Nodes beyond the quorum may still be about to delete it.
pub(crate) fn assert_no_keys(cluster: &Cluster) {
    for node in cluster.iter() {
        assert!(until(PATIENCE / 2, || node.keys().is_empty()), "left: {:?}", node.keys());
    }
}
