//! The beginning and the end of every example: nodes from the command line, and a printed error.
//!
//! ```text
//! cargo run --example blocking -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```
//!
//! `--new` declares servers that were started just now and cannot have forgotten locks. Without
//! `--new`, a server votes only after it has been up for about a minute.

use std::error::Error;
use std::process::ExitCode;

use redbolt::{Config, RestartGuard};

const USAGE: &str = "say which nodes: host:port,host:port,… and --new if they are";

/// Runs an example with the nodes from the command line, and prints its error if there is one.
pub(crate) fn run(example: impl FnOnce(Config) -> Result<(), Box<dyn Error>>) -> ExitCode {
    match config().and_then(example) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn config() -> Result<Config, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let nodes = arguments.next().ok_or(USAGE)?;
    let mut config = Config::new(nodes.split(','))?;
    match arguments.next().as_deref() {
        None => Ok(config),
        Some("--new") => {
            config.redlock.restart_guard = RestartGuard::Off;
            Ok(config)
        }
        Some(_) => Err(USAGE.into()),
    }
}
