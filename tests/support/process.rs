//! One child process that cannot outlive the test process, and its folder.
//!
//! `Drop` covers success and panic, but not a test process that is killed or aborts. So every child
//! is on a leash: a shell beside the child reads from a pipe whose other end only the test process
//! holds. When the test process dies, by whatever means, the kernel closes that end, the shell
//! reads end-of-file and kills the child, stopped or not.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, process};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// Starts the leash, then becomes the program, so that the child of the test *is* the program and
/// the process id needs no report. A line on the pipe means that the child has been waited for:
/// from then on its id may belong to another process and must not be killed. The leash ignores
/// signals that a terminal sends to the whole group, because a server may ignore them as well. The
/// file `pid` is for `tests/run.sh`, which looks for processes left behind.
const LEASHED: &str = r#"
    dir=$1; shift
    echo $$ >"$dir/pid"
    exec 3<&0 </dev/null
    (
        trap '' HUP INT QUIT TERM
        read -r line <&3 || { kill -9 $$; rm -rf -- "$dir"; }
    ) >/dev/null 2>&1 &
    exec "$@" 3<&-
"#;

/// A running child, killed and waited for on `Drop`.
pub(crate) struct Process {
    child: Child,
    leash: ChildStdin,
}

impl Process {
    /// Runs `program` in `folder`. The output goes to [`Folder::log`].
    pub(crate) fn spawn(folder: &Folder, program: &Path, args: &[String]) -> io::Result<Self> {
        let log = File::create(folder.path().join("log"))?;
        let mut child = Command::new("sh")
            .args(["-c", LEASHED, "leash"])
            .arg(folder.path())
            .arg(program)
            .args(args)
            // Servers refuse to start in a locale that the machine does not have.
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stderr(log.try_clone()?)
            .stdout(log)
            .spawn()?;
        let leash = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, leash })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the exit status once the process has ended by itself.
    pub(crate) fn exited(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("the child is ours to wait for")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal)
            .expect("the child is not waited for yet");
    }

    /// Stops the process. Returns when the kernel has really stopped the process.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        // `NOWAIT` leaves the status in place, so that `exited` can still see an exit.
        let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let news = waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
        let stopped = news.expect("the child is ours to wait for").is_some_and(|s| s.stopped());
        assert!(stopped, "the process has exited instead of stopping");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both calls fail only for a child that has already been waited for, and that is as good.
        _ = self.child.kill();
        _ = self.child.wait();
        // The leash may have been killed; then nobody is left to be told.
        _ = self.leash.write_all(b"waited for\n");
    }
}

/// A folder below the temporary directory, removed on `Drop`.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// # Panics
    ///
    /// Panics if the temporary directory cannot be written to.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            // The counter ends the loop: sooner or later the counter passes the folders that a dead
            // process with the same id has left behind.
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("redbolt-{}-{number}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Self(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => panic!("cannot create {}: {error}", path.display()),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the output of the process so far.
    pub(crate) fn log(&self) -> String {
        fs::read(self.0.join("log")).map_or_else(
            |error| format!("(no log: {error})"),
            |log| String::from_utf8_lossy(&log).into_owned(),
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays costs a few bytes of disk; a panic here would hide the panic of the
        // test.
        _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns whether a process with this id runs or is stopped. A dead process that was not waited
/// for does not count.
#[cfg(target_os = "linux")]
pub(crate) fn is_alive(pid: u32) -> bool {
    state_of(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Returns the letter for the state of a process, such as `T` for one that is stopped.
#[cfg(target_os = "linux")]
pub(crate) fn state_of(pid: u32) -> Option<char> {
    // The state follows the name, which stands in parentheses and may contain any character.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next().and_then(|rest| rest.chars().next())
}

/// Returns whether a signal is in a set of a process, such as `SigIgn` (ignored) or `SigCgt`
/// (caught); not where the process is gone.
pub(crate) fn is_in_set(pid: u32, set: &str, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(set)?.strip_prefix(':'));
    let set = line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    set >> (signal.as_raw() - 1) & 1 == 1
}

/// Returns whether a process with this id exists.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}
