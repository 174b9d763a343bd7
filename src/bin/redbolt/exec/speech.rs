//! Saying what happens, without ever waiting for a reader.
//!
//! A pipe that nobody reads, Ctrl-S, or `stty tostop` holds up whoever writes to standard error.
//! The thread that renews the lock and ends the command must not be held up: another would get the
//! lock while the command still runs. A thread of its own writes the messages. Nothing else of
//! `exec` may write to standard error, because the lock inside `io::stderr` is held for as long as
//! a write takes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::sys::signal::SigSet;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::backlog::{Backlog, Entry};
use super::message::Message;
use super::style::Style;

/// How long the end of `exec` waits for a reader that does not read.
const READER_TIMEOUT: Duration = Duration::from_millis(250);

/// How long the end of `exec` waits for the thread that writes, where a reader would read: on a
/// busy machine the thread may not have run yet.
const WRITER_TIMEOUT: Duration = Duration::from_secs(5);

/// Says what happens: every message is one write to standard error.
pub(super) struct Speech {
    shared: Arc<Shared>,
    style: Style,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// There is something to write, or everything is written.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    backlog: Backlog,
    is_writing: bool,
}

impl Speech {
    /// Starts the thread that writes.
    pub(super) fn start(style: Style) -> io::Result<Self> {
        let speech = Self::start_with(style, write)?;
        speech.tell_panics();
        Ok(speech)
    }

    fn start_with(style: Style, write: impl FnMut(&[u8]) + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (writer, its_style) = (Arc::clone(&shared), style.clone());
        thread::Builder::new().name("redbolt-speech".to_owned()).spawn(move || {
            // `SIGTTOU` would stop the whole process at a write to a terminal in the background. A
            // thread that blocks the signal writes all the same. The other signals are for the
            // main thread, whose mask stays as it is, and so the mask of the command. The call
            // fails for an unknown argument only.
            _ = SigSet::all().thread_block();
            writer.write_all(&its_style, write);
        })?;
        Ok(Self { shared, style })
    }

    /// Says of a panic in the same way: the usual message is written by the thread that panics,
    /// before the command is killed.
    fn tell_panics(&self) {
        let (shared, style) = (Arc::clone(&self.shared), self.style.clone());
        panic::set_hook(Box::new(move |panic| {
            shared.push(style.line(&Message::Panicked { what: panic.to_string() }));
        }));
    }

    /// Says something, sooner or later. Returns at once.
    pub(super) fn say(&self, message: &Message<'_>) {
        if self.style.says(message) {
            self.shared.push(self.style.line(message));
        }
    }

    /// Waits until everything is written, but not for long: a reader that is stuck must not keep
    /// the caller from its exit code.
    pub(super) fn finish(&self) {
        self.finish_with(|| has_room(io::stderr().as_fd()));
    }

    fn finish_with(&self, is_read: impl Fn() -> bool) {
        let is_open = |state: &mut State| state.is_writing || !state.backlog.is_empty();
        let rounds = WRITER_TIMEOUT.as_millis() / READER_TIMEOUT.as_millis();
        for _ in 0..rounds {
            let state = self.shared.state();
            let wait = self.shared.changed.wait_timeout_while(state, READER_TIMEOUT, is_open);
            let has_timed_out = wait.is_ok_and(|(_, timeout)| timeout.timed_out());
            if !has_timed_out || !is_read() {
                // What is not written by now, nobody reads.
                return;
            }
        }
    }
}

impl Drop for Speech {
    fn drop(&mut self) {
        if thread::panicking() {
            self.finish();
        }
    }
}

impl Shared {
    fn push(&self, line: String) {
        self.state().backlog.push(line);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics that holds the mutex.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes every message as soon as the one before is written. The mutex is free meanwhile.
    fn write_all(&self, style: &Style, mut write: impl FnMut(&[u8])) -> ! {
        loop {
            let text = match self.next() {
                Entry::Line(text) => text,
                Entry::LeftOut(count) => style.line(&Message::LeftOut { count }),
            };
            write(text.as_bytes());
            self.state().is_writing = false;
            self.changed.notify_all();
        }
    }

    /// Waits for the next entry.
    fn next(&self) -> Entry {
        let mut state = self.state();
        loop {
            if let Some(entry) = state.backlog.pop() {
                state.is_writing = true;
                return entry;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Writes to standard error, past the lock and the buffer of the standard library.
fn write(mut bytes: &[u8]) {
    let stderr = io::stderr();
    while !bytes.is_empty() {
        match rustix::io::write(stderr.as_fd(), bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // Whoever has opened the file can have made it so that it refuses to wait.
            Err(Errno::AGAIN) => wait_for_room(stderr.as_fd()),
            // Nobody is left to be told.
            Err(_) => return,
        }
    }
}

/// Returns whether a write would not wait. The end of all readers counts as well.
fn has_room(file: BorrowedFd<'_>) -> bool {
    let mut files = [PollFd::from_borrowed_fd(file, PollFlags::OUT)];
    poll(&mut files, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

fn wait_for_room(file: BorrowedFd<'_>) {
    // An error shows up at the write that follows as well.
    _ = poll(&mut [PollFd::from_borrowed_fd(file, PollFlags::OUT)], None);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::super::backlog::BOUND;
    use super::super::style::{Form, Volume};
    use super::*;

    /// Longer than anything takes here.
    const PATIENCE: Duration = Duration::from_secs(20);

    fn speech(is_verbose: bool, write: impl FnMut(&[u8]) + Send + 'static) -> Speech {
        let volume = if is_verbose { Volume::Verbose } else { Volume::Normal };
        let style = Style::new(Form::Text, volume, Some("r"));
        Speech::start_with(style, write).expect("a thread can be started")
    }

    fn numbered(number: usize) -> Message<'static> {
        Message::CommandStarted { command: format!("c{number}"), command_pid: 1 }
    }

    #[test]
    fn a_reader_that_is_stuck_holds_nobody_up_and_misses_what_is_beyond_the_bound() {
        // A reader that takes a message whenever the test lets it.
        let (take, taken) = mpsc::channel();
        let (sender, written) = mpsc::channel();
        let (begin, begins) = mpsc::channel();
        let speech = speech(true, move |bytes: &[u8]| {
            // An error means that the test is over.
            _ = begin.send(());
            _ = taken.recv();
            _ = sender.send(String::from_utf8_lossy(bytes).into_owned());
        });
        speech.say(&numbered(0));
        // The first message is being written, and waits nowhere.
        begins.recv_timeout(PATIENCE).expect("the thread begins to write");
        (1..BOUND + 4).for_each(|number| speech.say(&numbered(number)));
        speech.finish_with(|| false);
        let next = || -> String {
            take.send(()).expect("the thread is there");
            written.recv_timeout(PATIENCE).expect("the thread writes it")
        };
        for number in 0..=BOUND {
            let line = next();
            assert!(line.contains(&format!(" \"c{number}\" runs as process ")), "{line}");
        }
        let line = next();
        assert!(line.ends_with(" 3 messages are left out here\n"), "{line}");
    }

    #[test]
    fn the_end_waits_until_everything_is_written() {
        let (sender, written) = mpsc::channel();
        let speech = speech(true, move |bytes: &[u8]| _ = sender.send(bytes.to_vec()));
        (0..100).for_each(|number| speech.say(&numbered(number)));
        speech.finish_with(|| false);
        assert_eq!(written.try_iter().count(), 100);
    }

    #[test]
    fn only_a_verbose_run_says_what_needs_no_attention() {
        let (sender, written) = mpsc::channel();
        let speech = speech(false, move |bytes: &[u8]| _ = sender.send(bytes.to_vec()));
        speech.say(&numbered(0));
        speech.say(&Message::LeftToTtl);
        speech.finish_with(|| false);
        let all: Vec<_> = written.try_iter().collect();
        let expected = b"redbolt: the lock on \"r\" is left to its ttl";
        assert!(all.len() == 1 && all[0].starts_with(expected));
    }
}
