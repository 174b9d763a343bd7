//! What is printed: results on standard output, everything else on standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::exit;

/// Prints a result. A reader that has gone has seen all that it wanted; anything else that goes
/// wrong is told of, because a result that is lost must not look like success.
pub(crate) fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            say(format_args!("cannot write to standard output: {error}"));
            exit::SOFTWARE.into()
        }
        _ => ExitCode::SUCCESS,
    }
}

/// One message for the person at the terminal.
pub(crate) fn say(message: impl Display) {
    // Nothing is left to do if even the complaint cannot be written; `eprintln` would panic. It
    // leaves in one piece, so that several processes do not write into each other's lines.
    _ = io::stderr().write_all(format!("redbolt: {message}\n").as_bytes());
}
