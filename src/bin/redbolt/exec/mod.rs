//! `redbolt exec`: a command that runs only while a lock is held.
//!
//! This folder knows processes, process groups, signals, terminals and exit codes, and the public
//! API of the library. It must never know the protocol or the algorithm.
//!
//! One thread waits for everything at once ([`watch`]): the engine, signals, the time. First it
//! acquires the lock ([`acquire`]), then it runs the command ([`command`]) in a process group of
//! its own ([`child`], [`terminal`]), and ends that group before the lock does ([`schedule`],
//! [`group`]).

mod acquire;
mod alarm;
mod args;
mod child;
mod command;
mod failure;
mod group;
mod schedule;
mod signals;
mod terminal;
mod watch;

use std::process::ExitCode;
use std::time::Duration;

pub(crate) use self::args::Args;
use self::failure::Failure;
use self::watch::Watch;
use crate::output;

/// How long nodes may take to confirm that the lock is released. The releases have been handed to
/// the kernel by then; only their replies are waited for, and a stalled node gives none.
const RELEASE_PATIENCE: Duration = Duration::from_millis(250);

/// The same where there was no lock, only attempts at it: nobody's command has run, and whoever
/// asked wants the answer.
const FAILED_PATIENCE: Duration = Duration::from_millis(50);

pub(crate) fn run(args: Args) -> ExitCode {
    match acquire_and_run(&args) {
        Ok(code) => code.into(),
        Err(failure) => {
            output::say(&failure);
            failure.exit_code(args.conflict_exit_code).into()
        }
    }
}

/// The exit code of the command.
fn acquire_and_run(args: &Args) -> Result<u8, Failure> {
    let mut watch = Watch::new(args.config()?)?;
    let lease = match acquire::acquire(&mut watch, args) {
        Ok(lease) => lease,
        Err(failure) => {
            // Votes of a failed attempt are being released. Why it failed is worth more than
            // what may go wrong with that.
            _ = watch.engine.drain(FAILED_PATIENCE);
            return Err(failure);
        }
    };
    let result = command::run(&mut watch, &lease, args);
    if result.as_ref().is_err_and(Failure::has_survivors) {
        output::say("the lock is left to its ttl: what is left of the command may not be dead yet");
        return result;
    }
    // An error means that the lock has ended already; what is left of it is released just so.
    _ = watch.engine.release(lease.lock);
    let is_done = watch.engine.drain(RELEASE_PATIENCE).unwrap_or(false);
    args.tell(if is_done { "released" } else { "released, but not every node has confirmed it" });
    result
}
