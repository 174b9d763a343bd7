//! `redbolt`: lock from the shell, and measure locking.

mod bench;
mod duration;
mod exec;
mod exit;
mod nodes;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

/// Distributed locks over independent Redis or Valkey masters.
#[derive(Parser)]
#[command(name = "redbolt", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure how many locks a second the nodes and this machine can take
    Bench(bench::Args),
    /// Run a command while holding a lock
    Exec(exec::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nothing is left to do if even the complaint cannot be written.
            let _ = error.print();
            let asked_for =
                matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if asked_for { ExitCode::SUCCESS } else { exit::USAGE.into() };
        }
    };
    match cli.command {
        Command::Bench(args) => bench::run(args),
        Command::Exec(args) => exec::run(args),
    }
}
