//! `redbolt`, the command line: locks from the shell, and measurements of locking.
#![forbid(unsafe_code)]

mod bench;
mod check;
mod choice;
mod complaint;
mod completions;
mod duration;
mod exec;
mod exit;
mod failure;
mod ignored;
mod init;
mod json;
mod lines;
mod man;
mod nodes;
mod number;
mod output;
mod quote;
mod settings;
mod unlock;
mod wall_clock;
mod who;

use std::env;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

const AFTER_HELP: &str = "\
Examples:
  redbolt init --nodes db1,db2,db3 --fresh               # new servers
  redbolt check --nodes db1,db2,db3                      # all well?
  redbolt exec --nodes db1,db2,db3 orders/42 -- ./bill   # under a lock
  redbolt who --nodes db1,db2,db3 orders/42              # who has it?
  redbolt bench --nodes db1,db2,db3                      # measure

redbolt COMMAND -h is short, redbolt COMMAND --help has everything.";

/// Distributed locks over independent Redis or Valkey masters.
#[derive(Parser)]
#[command(name = "redbolt", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure how many locks a second the nodes and this machine can take
    Bench(bench::Args),
    /// Tell whether the nodes can vote, and what to change where they cannot
    Check(check::Args),
    /// Run a command while holding a lock
    Exec(exec::Args),
    /// Prepare the nodes of a new deployment, or of one that is to change
    Init(init::Args),
    /// Say who holds a lock, for how long, and on how many nodes
    Who(who::Args),
    /// End a lock that somebody holds, by its token
    Unlock(unlock::Args),
    /// Print what a shell needs to complete the command line
    Completions(completions::Args),
    /// Print a page of the manual, or write all pages
    Man(man::Args),
}

fn main() -> ExitCode {
    match Cli::try_parse().map(|cli| cli.command) {
        Ok(Command::Bench(args)) => bench::run(args),
        Ok(Command::Check(args)) => check::run(args),
        Ok(Command::Exec(args)) => exec::run(args),
        Ok(Command::Init(args)) => init::run(args),
        Ok(Command::Who(args)) => who::run(args),
        Ok(Command::Unlock(args)) => unlock::run(args),
        Ok(Command::Completions(args)) => completions::run(args, Cli::command()),
        Ok(Command::Man(args)) => man::run(args, Cli::command()),
        Err(asked) if is_asked_for(&asked) => output::print(&asked.to_string()),
        Err(error) => {
            let arguments: Vec<_> = env::args_os().skip(1).collect();
            let what = complaint::describe(&error, &Cli::command(), &arguments);
            if arguments.first().is_some_and(|command| command == "exec") {
                return exec::refuse(what, arguments);
            }
            output::say(what);
            exit::USAGE.into()
        }
    }
}

fn is_asked_for(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
}
