//! One server process that cannot outlive this process, and its folder.
//!
//! `Drop` covers every end of this process except `SIGKILL`. So each server is on a leash: a shell
//! beside the server reads from a pipe whose other end only this process holds. When this process
//! dies, by whatever means, the kernel closes that end. The shell then reads end-of-file, kills the
//! server and removes its folder.

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

/// The script that starts the leash and then becomes the server, so that the child *is* the server
/// and its process id needs no report. A line on the pipe says that the child has been waited for:
/// from then on the id may belong to another process, which must not be killed. The leash keeps no
/// end of the server's output, so that the end of the output is the end of the server.
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
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes that a server may print until it is ready. Servers print some 2 kB.
const LONGEST_LOG: usize = 1 << 20;

/// How much of the last line is shown of a server that did not start, in characters.
const LONGEST_REASON: usize = 500;

/// A running server. `Drop` kills the server and waits for it.
pub(crate) struct Process {
    child: Child,
    leash: ChildStdin,
    /// Dropped when the server is ready, which must not block because nobody reads its output.
    output: Option<ChildStdout>,
    folder: PathBuf,
    port: u16,
    version: String,
}

/// Why a server did not start.
pub(crate) enum StartError {
    /// Another process listens on the port.
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
    pub(crate) fn spawn(program: &Path, port: u16) -> io::Result<Self> {
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
            // Signals of the terminal, such as the SIGINT of Ctrl-C, must not reach the servers.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = spawned.inspect_err(|_| remove(&folder))?;
        let (leash, output) = (child.stdin.take(), child.stdout.take());
        // Both pipes were requested above.
        let leash = leash.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, leash, output, folder, port, version: String::new() })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The version that the server has printed, such as `7.0.15`; empty if it has printed none.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Reads the output of the server until the server says that it is ready.
    pub(crate) fn wait_until_ready(&mut self) -> Result<(), StartError> {
        let Some(mut output) = self.output.take() else { return Ok(()) };
        let deadline = Clock::now() + START_TIMEOUT;
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
        // Both fail only for a child that has been waited for already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // The leash may have been killed, and then nobody reads this line.
        let _ = self.leash.write_all(b"waited for\n");
        remove(&self.folder);
    }
}

/// Waits until the output can be read or has ended. Returns false when the time is up.
fn is_readable(output: &ChildStdout, limit: Duration) -> io::Result<bool> {
    let timeout = Timespec::try_from(limit).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        // A signal has ended the wait. The read waits instead, and a server that starts prints
        // soon.
        Err(Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Returns the reason for a failed start, in the words of the server.
fn failed(log: &[u8]) -> StartError {
    let log = String::from_utf8_lossy(log);
    if log.contains("Address already in use") {
        return StartError::PortTaken;
    }
    let last = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
    // Whatever is on the path may print what a terminal obeys.
    let last: String = last.chars().take(LONGEST_REASON).flat_map(char::escape_debug).collect();
    io::Error::other(format!("a server did not start: {last}")).into()
}

/// Returns the text after `version=`, up to the comma.
fn version(log: &str) -> &str {
    let (_, rest) = log.split_once("version=").unwrap_or_default();
    rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-').next().unwrap_or("")
}

/// Creates a folder that no other user can read. The port makes the name unique among the folders
/// of this process. A folder that exists already was left behind by a dead process.
fn create_folder(port: u16) -> io::Result<PathBuf> {
    let name = format!("redbolt-bench-{}-{port}", process::id());
    let folder = env::temp_dir().join(name);
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Removes a folder. An error is ignored, because a folder that stays does no harm.
fn remove(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_is_no_order_to_a_terminal() {
        assert_eq!(version("Redis version=7.0.15, bits=64"), "7.0.15");
        assert_eq!(version("Redis version=8.0-rc1\n"), "8.0-rc1");
        assert_eq!(version("Redis version=7\u{1b}[31m, bits=64"), "7");
        let StartError::Io(error) = failed(b"one\n\x1b[31mtwo\x07\n\n") else { panic!("no port") };
        assert_eq!(error.to_string(), "a server did not start: \\u{1b}[31mtwo\\u{7}");
    }
}
