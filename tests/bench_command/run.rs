//! Runs of the program: one that is waited for, one in the background, one with its own servers.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use std::{env, fs};

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

use crate::support::process::Folder;
use crate::support::program::find_server;
use crate::support::until;
use crate::support::wire::{Connection, Reply};

/// For anything that should take a second or two, on a machine with more to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn bench(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_redbolt"));
    command.arg("bench").args(args).env_remove("REDBOLT_NODES").stdin(Stdio::null());
    // Nodes that a test gives it have just been started.
    command.env("REDBOLT_RESTART_GUARD", "off");
    command
}

pub(crate) fn run(args: &[&str]) -> Output {
    bench(args).output().expect("the program runs")
}

/// Runs the program with these arguments, from a shell that first does something else.
pub(crate) fn after(preparation: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_redbolt");
    command.args(["-c", &format!("{preparation}; exec \"$@\""), "sh", program, "bench"]);
    command.args(args).env_remove("REDBOLT_NODES").env("REDBOLT_RESTART_GUARD", "off");
    command
}

/// What it printed, after it has ended with this code.
pub(crate) fn text(output: Output, code: i32) -> (String, String) {
    let stdout = String::from_utf8(output.stdout).expect("it prints text");
    let stderr = String::from_utf8(output.stderr).expect("it prints text");
    assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    assert!(!stdout.contains('\x1b') && !stderr.contains('\x1b'), "no terminal, no colours");
    (stdout, stderr)
}

/// A run in the background, killed when it is dropped.
pub(crate) struct Background(Option<Child>);

pub(crate) fn spawn(mut command: Command) -> Background {
    let command = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn();
    Background(Some(child.expect("the program runs")))
}

impl Background {
    fn child(&self) -> &Child {
        self.0.as_ref().expect("not finished yet")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).expect("it is not waited for yet");
    }

    pub(crate) fn signal_group(&self, signal: Signal) {
        let group = Pid::from_child(self.child());
        kill_process_group(group, signal).expect("it is not waited for yet");
    }

    /// Waits for its end.
    pub(crate) fn finish(self) -> Output {
        self.finish_within(PATIENCE)
    }

    /// Waits for its end, for a run that takes longer than most.
    pub(crate) fn finish_within(mut self, patience: Duration) -> Output {
        let mut child = self.0.take().expect("not finished yet");
        let ended = until(patience, || child.try_wait().expect("it is ours").is_some());
        if !ended {
            child.kill().expect("it runs");
        }
        let output = child.wait_with_output().expect("it is ours");
        assert!(ended, "it did not end");
        output
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            _ = child.kill();
            _ = child.wait();
        }
    }
}

/// A run for a minute, with servers of its own that work in `folder`.
pub(crate) struct Local {
    pub(crate) child: Background,
    folder: Folder,
    addrs: Vec<String>,
}

impl Local {
    /// Returns once its servers run and bear a load.
    pub(crate) fn start() -> Self {
        let folder = Folder::new();
        let chosen = env::var_os("REDBOLT_TEST_SERVER");
        let server = find_server(chosen, env::var_os("PATH")).expect("all tests need one");
        let mut command = bench(&["--seconds", "60", "--in-flight", "8"]);
        // The leash needs a shell and nothing else of the search path.
        command.env("TMPDIR", folder.path()).env("PATH", server.parent().expect("a folder"));
        let mut child = spawn(command);
        let stderr = child.0.as_mut().and_then(|child| child.stderr.take()).expect("it is piped");
        let mut line = String::new();
        BufReader::new(stderr).read_line(&mut line).expect("it prints text");
        let (_, addrs) = line.split_once("started for this run: ").expect("servers are there");
        let addrs: Vec<_> = addrs.split_whitespace().map(str::to_owned).collect();
        assert_eq!(addrs.len(), 5, "{line}");
        assert_eq!(entries(folder.path()), 5);
        for addr in &addrs {
            let server = i32::try_from(info(addr, "process_id")).ok().and_then(Pid::from_raw);
            let group = getpgid(server).expect("the server runs");
            assert_ne!(group, Pid::from_child(child.child()), "Ctrl-C would end the servers");
        }
        let commands = || info(&addrs[0], "total_commands_processed");
        assert!(until(PATIENCE, || commands() > 500), "no load");
        Self { child, folder, addrs }
    }

    pub(crate) fn finish(self) -> (Folder, Vec<String>, Output) {
        (self.folder, self.addrs, self.child.finish())
    }
}

/// A number that the server tells of itself.
fn info(addr: &str, field: &str) -> u64 {
    let connection = Connection::open(addr, PATIENCE);
    let reply = connection.and_then(|mut connection| connection.command(&[b"INFO"]));
    let Ok(Reply::Bulk(info)) = reply else { panic!("{addr} says {reply:?}") };
    let info = String::from_utf8_lossy(&info);
    let mut fields = info.lines().filter_map(|line| line.split_once(':'));
    let value = fields.find(|(name, _)| *name == field).map(|(_, value)| value);
    value.and_then(|value| value.parse().ok()).expect("the field is a number")
}

/// Neither a server nor its folder is left.
pub(crate) fn assert_gone(folder: &Folder, addrs: &[String]) {
    let listening = |addr: &String| TcpStream::connect(addr).is_ok();
    assert!(until(PATIENCE, || !addrs.iter().any(listening)), "a server is left");
    assert!(until(PATIENCE, || entries(folder.path()) == 0), "a folder is left");
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}
