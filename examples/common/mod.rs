//! The beginning and the end of every example: nodes from the command line, and a printed error.
//!
//! ```text
//! cargo run --example blocking -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! cargo run --example blocking --features embedded
//! ```
//!
//! `--new` declares the servers fresh, as `redbolt init --fresh` does: they are empty, and no
//! client can believe in a lock there. Without `--new`, the servers of a new cluster vote only a
//! minute after a client has met them for the first time. Without nodes, an example runs on masters
//! inside its own process, which the feature `embedded` provides.

use std::error::Error;
use std::process::ExitCode;

#[cfg(feature = "embedded")]
use redbolt::embedded::Cluster;
use redbolt::{Config, Init};

const USAGE: &str = "say which nodes: host:port,host:port,… and --new if they are; \
                     or say no nodes, with --features embedded";

/// Runs an example with the nodes from the command line, and prints its error if there is one.
pub(crate) fn run(example: impl FnOnce(Config) -> Result<(), Box<dyn Error>>) -> ExitCode {
    let result = match std::env::args().nth(1) {
        Some(option) if option.starts_with('-') => Err(USAGE.into()),
        Some(nodes) => config(&nodes, std::env::args().nth(2)).and_then(example),
        None => run_on_embedded(example),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn config(nodes: &str, option: Option<String>) -> Result<Config, Box<dyn Error>> {
    let config = Config::new(nodes.split(','))?;
    match option.as_deref() {
        None => Ok(config),
        Some("--new") => {
            Init::new(config.clone()).fresh().run()?;
            Ok(config)
        }
        Some(_) => Err(USAGE.into()),
    }
}

/// Runs an example on three masters inside this process.
#[cfg(feature = "embedded")]
fn run_on_embedded(
    example: impl FnOnce(Config) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let cluster = Cluster::start(3)?;
    example(cluster.config())
}

#[cfg(not(feature = "embedded"))]
fn run_on_embedded(
    _: impl FnOnce(Config) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    Err(USAGE.into())
}
