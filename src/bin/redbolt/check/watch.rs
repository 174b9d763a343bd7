//! `--watch`: one look after the other, until a signal.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{self, ExitCode};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use redbolt::{CheckReport, Config};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::code;
use super::look::{look, written};
use crate::failure::Failure;
use crate::output::lost;

/// Clears the terminal, moves to its first line, deletes the rest of a line, and all lines below.
const CLEAR: &str = "\x1b[2J";
const HOME: &str = "\x1b[H";
const END_OF_LINE: &str = "\x1b[K";
const BELOW: &str = "\x1b[J";

/// What a shell says of a program that a signal has ended: this and the number.
const BY_SIGNAL: u8 = 128;

/// How long the program may go on after a signal.
const GRACE: Duration = Duration::from_millis(500);

enum News {
    Seen(Result<Box<CheckReport>, Failure>),
    Signal(i32),
}

/// Looks, writes the report, and pauses, until a signal comes or nobody reads any more. Returns the
/// code of the last look.
pub(super) fn run(config: Config, json: bool, pause: Duration) -> Result<ExitCode, Failure> {
    let (sender, news) = mpsc::channel();
    // Dropped at the end of this function.
    let (_running, has_ended) = mpsc::channel();
    forward_signals(sender.clone(), has_ended)?;
    let is_drawn = !json && io::stdout().is_terminal();
    let mut last = None;
    loop {
        // A look at a node that is silent takes its time. A signal is not kept waiting.
        let (config, reply) = (config.clone(), sender.clone());
        let see = move || _ = reply.send(News::Seen(look(config).map(Box::new)));
        thread::Builder::new().name("redbolt-check".into()).spawn(see)?;
        // This function has a sender itself, so that there is always one.
        let report = match news.recv().unwrap_or(News::Signal(SIGTERM)) {
            News::Seen(report) => report?,
            News::Signal(signal) => return Ok(ended(last, signal)),
        };
        let page = written(&report, json);
        let page = if is_drawn { drawn(&page, last.is_none()) } else { separated(page, json) };
        last = Some(code::of(report.verdict()));
        match write(&page) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(ended(last, SIGTERM)),
            Err(error) => return Ok(lost(&error)),
            Ok(()) => {}
        }
        match news.recv_timeout(pause) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return Ok(ended(last, SIGTERM)),
        }
    }
}

/// Returns the code of the last look; before the end of the first, that of the signal.
fn ended(last: Option<u8>, signal: i32) -> ExitCode {
    let by_signal = u8::try_from(signal).map_or(BY_SIGNAL, |signal| BY_SIGNAL + signal);
    last.unwrap_or(by_signal).into()
}

/// Tells of signals. A program that writes where nobody reads does not hear of them, and is ended.
fn forward_signals(news: Sender<News>, has_ended: Receiver<()>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let forward = move || {
        for signal in &mut signals {
            // Nobody listens any more when the program is about to end.
            _ = news.send(News::Signal(signal));
            if has_ended.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
                process::exit(i32::from(BY_SIGNAL) + signal);
            }
        }
    };
    thread::Builder::new().name("redbolt-signals".into()).spawn(forward).map(|_| ())
}

/// Returns a page that takes the place of the page before, without a moment of an empty terminal.
fn drawn(page: &str, is_first: bool) -> String {
    let clear = if is_first { CLEAR } else { "" };
    let page = page.replace('\n', &format!("{END_OF_LINE}\n"));
    format!("{clear}{HOME}{page}{BELOW}")
}

/// Returns a page that stands behind others: an empty line ends it.
fn separated(page: String, json: bool) -> String {
    if json { page } else { page + "\n" }
}

fn write(page: &str) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(page.as_bytes())?;
    stdout.flush()
}
