//! One server process that cannot outlive this one, and its folder.
//!
//! `Drop` covers every end of this process but its being killed. So each server is on a leash:
//! beside it runs a shell that reads from a pipe whose other end only this process holds. When this
//! process dies, by whatever means, the kernel closes that end, the shell reads end-of-file, kills
//! the server and removes its folder.

use std::fs::DirBuilder;
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{env, fs, process};

use redbolt::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Starts the leash, then becomes the server, so that the child *is* the server and its process id
/// needs no report. A line on the pipe says that the child has been waited for: from then on its id
/// may belong to somebody else and must not be killed. The leash keeps no end of the server's
/// output, so that the end of the output is the end of the server.
const LEASHED: &str = r#"
    dir=$1; shift
    exec 3<&0 </dev/null
    (
        trap '' HUP INT QUIT TERM
        PATH=$PATH:/usr/bin:/bin
        read -r line <&3 || { kill -9 $$; rm -rf -- "$dir"; }
    ) >/dev/null 2>&1 &
    exec "$@" 3<&- 2>&1
"#;

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(10);

/// What it may print until it is ready. It prints some 2 kB.
const LONGEST_LOG: usize = 1 << 20;

/// A running server, killed and waited for on `Drop`.
pub(super) struct Process {
    child: Child,
    leash: ChildStdin,
    /// Dropped when the server is ready: it must not wait for somebody to read what it prints.
    output: Option<ChildStdout>,
    folder: PathBuf,
    port: u16,
    version: String,
}

/// Why a server did not start.
pub(super) enum StartError {
    /// Somebody else listens on the port.
    PortTaken,
    Io(io::Error),
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Process {
    /// Starts a server without persistence and without a configuration file.
    pub(super) fn spawn(program: &Path, port: u16) -> io::Result<Self> {
        let folder = create_folder(port)?;
        let spawned = Command::new("/bin/sh")
            .args(["-c", LEASHED, "leash"])
            .arg(&folder)
            .arg(program)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir"])
            .arg(&folder)
            .args(["--save", "", "--appendonly", "no", "--daemonize", "no", "--logfile", ""])
            // Servers refuse to start in a locale which the machine does not have.
            .env("LC_ALL", "C")
            // What a terminal sends to us, such as the SIGINT of Ctrl-C, is not for the servers.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = spawned.inspect_err(|_| remove(&folder))?;
        let (leash, output) = (child.stdin.take(), child.stdout.take());
        // Both were asked for three lines above.
        let leash = leash.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, leash, output, folder, port, version: String::new() })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// As the server wrote it, such as `7.0.15`; empty when it did not.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Reads what the server prints until it says that it is ready.
    pub(super) fn wait_until_ready(&mut self) -> Result<(), StartError> {
        let Some(mut output) = self.output.take() else { return Ok(()) };
        let deadline = Clock::now() + PATIENCE;
        let mut log = Vec::new();
        loop {
            if !is_readable(&output, deadline - Clock::now())? || log.len() > LONGEST_LOG {
                return Err(failed(&log));
            }
            let mut piece = [0; 4096];
            let count = output.read(&mut piece)?;
            log.extend_from_slice(piece.get(..count).unwrap_or_default());
            let text = String::from_utf8_lossy(&log);
            if text.contains("eady to accept connections") {
                self.version = version(&text).to_owned();
                return Ok(());
            }
            if count == 0 {
                return Err(failed(&log));
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both are errors only for a child that has already been waited for, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // The leash may have been killed; then there is nobody left to be told.
        let _ = self.leash.write_all(b"waited for\n");
        remove(&self.folder);
    }
}

/// Waits until there is something to read, or the end of it; false when `patience` is over.
fn is_readable(output: &ChildStdout, patience: Duration) -> io::Result<bool> {
    let timeout = Timespec::try_from(patience).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        // A signal: reading waits in its place, which a server about to start ends soon.
        Err(Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// In the words of the server.
fn failed(log: &[u8]) -> StartError {
    let log = String::from_utf8_lossy(log);
    if log.contains("Address already in use") {
        return StartError::PortTaken;
    }
    let last = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
    io::Error::other(format!("a server did not start: {last}")).into()
}

/// What follows `version=`, up to the comma.
fn version(log: &str) -> &str {
    let (_, rest) = log.split_once("version=").unwrap_or_default();
    rest.split(|c: char| c == ',' || c.is_whitespace()).next().unwrap_or_default()
}

/// A folder that nobody else can look into. The port makes its name unique among those of this
/// process; a folder that is there already was left behind by a dead one.
fn create_folder(port: u16) -> io::Result<PathBuf> {
    let name = format!("redbolt-bench-{}-{port}", process::id());
    let folder = env::temp_dir().join(name);
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// A folder that stays costs nothing but its name.
fn remove(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
}
