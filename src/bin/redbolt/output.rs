//! Output: results on standard output, all other messages on standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::exit;

/// Prints a result. A reader that has closed the pipe has read all it wanted, so a broken pipe
/// counts as success. Any other error is reported, because a lost result must not look like
/// success.
pub(crate) fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => lost(&error),
        _ => ExitCode::SUCCESS,
    }
}

/// Tells that a result could not be written. Returns the exit code for that.
pub(crate) fn lost(error: &io::Error) -> ExitCode {
    say(format_args!("cannot write to standard output: {error}"));
    exit::SOFTWARE.into()
}

/// Prints one message for the person at the terminal.
pub(crate) fn say(message: impl Display) {
    write_line(&format!("redbolt: {message}\n"));
}

/// Writes one message, with its end of the line, in one piece.
pub(crate) fn write_line(line: &str) {
    // An error here cannot be reported any more, and `eprintln` would panic on it. The message is
    // one write, so that several processes do not write into each other's lines.
    _ = io::stderr().write_all(line.as_bytes());
}
