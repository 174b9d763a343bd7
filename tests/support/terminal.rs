//! A terminal with a shell that has job control, as a person at a keyboard has them.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::tcgetpgrp;

use super::until;

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the shell shows when it waits for a line.
pub(crate) const PROMPT: &str = "%> ";

/// A running shell. On `Drop` it is killed, and all that it has started in its session.
pub(crate) struct Terminal {
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    /// How much of the screen has been read by the test.
    seen: usize,
    shell: Child,
}

impl Terminal {
    /// Starts an interactive shell in a folder.
    pub(crate) fn start(folder: &Path) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let master = master.expect("a terminal can be made");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("the terminal is ours");
        let name = ptsname(&master, Vec::new()).expect("the terminal has a name");
        let name = name.into_string().expect("the name is text");
        let open = || -> Stdio {
            let mut options = File::options();
            options.read(true).write(true).open(&name).expect("the terminal is there").into()
        };
        // `env` gives back the signals that this process was started to ignore. `setsid` makes the
        // terminal that of the session, which takes `unsafe` otherwise.
        let mut shell = Command::new("env");
        shell.args(["--default-signal", "setsid", "--ctty", "bash", "--norc", "--noprofile", "-i"]);
        shell.current_dir(folder);
        shell.env("PS1", PROMPT).env_remove("PROMPT_COMMAND").env("TERM", "dumb");
        shell.env("HISTFILE", "/dev/null").env("INPUTRC", "/dev/null");
        let shell = shell.stdin(open()).stdout(open()).stderr(open()).spawn();
        let shell = shell.expect("setsid and bash are there");
        let keyboard = File::from(master);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let reader = keyboard.try_clone().expect("a descriptor is left");
        thread::spawn({
            let screen = Arc::clone(&screen);
            move || read(reader, &screen)
        });
        let mut terminal = Self { keyboard, screen, seen: 0, shell };
        terminal.expect(PROMPT);
        terminal
    }

    /// Types some text, which goes to whoever has the foreground.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("the terminal is open");
    }

    /// Types a line for the shell.
    pub(crate) fn run(&mut self, line: &str) {
        self.type_text(line);
        self.type_text("\n");
    }

    pub(crate) fn ctrl(&mut self, key: char) {
        let code = key.to_ascii_uppercase() as u8 - b'@';
        self.keyboard.write_all(&[code]).expect("the terminal is open");
    }

    /// Waits for a text on the screen, behind the one that was waited for last. Returns what stood
    /// before it.
    ///
    /// # Panics
    ///
    /// When the text does not come.
    pub(crate) fn expect(&mut self, text: &str) -> String {
        let mut found = None;
        let seen = self.seen;
        let has_come = until(PATIENCE, || {
            let screen = self.screen();
            found = screen[seen..].find(text).map(|at| (screen[seen..seen + at].to_owned(), at));
            found.is_some()
        });
        assert!(has_come, "no {text:?} on the screen: {:?}", &self.screen()[seen..]);
        let (before, at) = found.unwrap_or_default();
        self.seen += at + text.len();
        before
    }

    /// The id of the process group in the foreground.
    pub(crate) fn foreground(&self) -> String {
        tcgetpgrp(&self.keyboard).map_or_else(|_| String::new(), |group| group.to_string())
    }

    /// Everything that the screen has shown.
    pub(crate) fn screen(&self) -> String {
        let screen = self.screen.lock().expect("nobody panics with it");
        String::from_utf8_lossy(&screen).into_owned()
    }
}

/// Reads until the shell has gone.
fn read(mut from: File, to: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        to.lock().expect("nobody panics with it").extend_from_slice(&piece[..length]);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The shell is not waited for yet, so that its session cannot be another's.
        let session = self.shell.id().to_string();
        for pid in members(&session) {
            _ = kill_process(pid, Signal::KILL);
        }
        // A shell that has ended is meant to have ended.
        _ = self.shell.kill();
        _ = self.shell.wait();
    }
}

/// Returns the processes of a session.
fn members(session: &str) -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // After the name come the state, the parent, the group and the session.
        let is_member = stat.rsplit_once(") ")?.1.split(' ').nth(3) == Some(session);
        let pid = entry.file_name().to_str()?.parse().ok()?;
        if is_member { Pid::from_raw(pid) } else { None }
    })
}
