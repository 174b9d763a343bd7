//! The birth of the command.
//!
//! A new process runs some code of this one before the command begins, and the thread that has
//! started the process sleeps in the kernel meanwhile. A signal of the terminal to the group of
//! this process can reach the new one as well. `Ctrl-Z` then stops a process that no shell knows,
//! and that nobody would ever continue: the thread would sleep for ever. So the command is started
//! by a thread of its own, and this one looks after both. Where the system lists no processes, the
//! new one is not found and nothing is done.

use std::io;
use std::panic::resume_unwind;
use std::process::{Child, Command};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid};

use super::system;

/// How long a birth takes at most, usually. Only later is the new process looked for.
const USUAL: Duration = Duration::from_millis(20);

/// Among how many of the newest processes of the machine the new one is looked for: others are
/// started meanwhile.
const NEWEST: i32 = 4_096;

/// Starts a command as [`Command::spawn`] does, and continues the new process if a stop has come
/// before the command begins.
pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    let (under_way, end) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("redbolt-spawn".to_owned());
        let birth = thread.spawn_scoped(scope, move || {
            let born = command.spawn();
            drop(under_way);
            born
        })?;
        while end.recv_timeout(USUAL) == Err(RecvTimeoutError::Timeout) {
            continue_newborn();
        }
        birth.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Continues the newest child of this process if that child is stopped. Older ones are of the
/// program that this process has been before, and are none of our business.
fn continue_newborn() {
    let newborn = system::newest(NEWEST).find(|process| process.parent == Some(getpid()));
    if let Some(newborn) = newborn.filter(|newborn| newborn.is_stopped) {
        // Without success, the next look tries again.
        _ = system::send(&newborn, Signal::CONT);
    }
}
