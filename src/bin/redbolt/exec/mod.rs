//! `redbolt exec`: a command that runs only while a lock is held.
//!
//! This folder knows processes, process groups, signals, terminals and exit codes, and the public
//! API of the library. This folder must never know the protocol or the algorithm.
//!
//! One thread waits for the engine, signals and the time, all at once ([`watch`]). The thread
//! contacts the nodes ([`contact`]), acquires the lock ([`acquire`]), runs the command
//! ([`command`]) in a process group of its own ([`birth`], [`child`], [`terminal`]), and ends all
//! that the command has started ([`descendants`], [`process`]) before the lock ends ([`schedule`],
//! [`leftovers`]). A job that is stopped is stopped as a whole ([`suspend`]). The lock is released
//! behind the command ([`release`]), or stays ([`at_least`]). This process ends as the command has
//! ended ([`ending`]). What differs between operating systems is in [`system`].
//!
//! Of the nodes, [`changes`] knows what is worth a line, [`voters`] which of them vote, and
//! [`occupant`] what keeps the lock from us: [`remains`] of others, for which a
//! [closer look](closer_look) may be needed.
//!
//! What is said is a [`message`], as text or as JSON ([`style`], [`fields`]). A
//! second thread writes the messages ([`speech`], [`backlog`]); [`refusal`] says what is wrong with
//! arguments that cannot be parsed. Whatever is to be done is done
//! first, and said then.

mod acquire;
mod args;
mod at_least;
mod backlog;
mod birth;
mod changes;
mod child;
mod closer_look;
mod codes;
mod command;
mod contact;
mod descendants;
mod ending;
mod failure;
mod fields;
mod help;
mod leftovers;
mod message;
mod occupant;
mod process;
mod refusal;
mod release;
mod remains;
mod schedule;
mod signals;
mod speech;
mod style;
mod suspend;
mod system;
mod terminal;
mod voters;
mod watch;

use std::process::ExitCode;
use std::time::Duration;

use redbolt::Config;

pub(crate) use self::args::Args;
use self::ending::Ending;
use self::failure::Failure;
use self::message::Message;
pub(crate) use self::refusal::refuse;
use self::release::Release;
use self::speech::Speech;
use self::style::Style;
use self::watch::Watch;
use crate::{exit, output};

/// How long nodes may take to confirm the releases of failed attempts. No command has run, and the
/// caller waits for the exit code.
const CLEANUP_TIMEOUT: Duration = Duration::from_millis(50);

pub(crate) fn run(mut args: Args) -> ExitCode {
    let config = args.config();
    let speech =
        match Speech::start(Style::new(args.log(), args.volume(), Some(&args.resource_name()))) {
            Ok(speech) => speech,
            Err(error) => {
                // Nothing is held that could be held up.
                output::say(Failure::System(error));
                return exit::SOFTWARE.into();
            }
        };
    let result = config.and_then(|config| acquire_and_run(config, &args, &speech));
    let ending = result.unwrap_or_else(|failure| {
        let ending = failure.ending(&args.codes);
        speech.say(&Message::Failed { exit_code: ending.code(), failure: &failure });
        ending
    });
    speech.finish();
    ending.follow()
}

/// Runs the command under the lock. Returns how the command has ended.
fn acquire_and_run(config: Config, args: &Args, speech: &Speech) -> Result<Ending, Failure> {
    let mut watch = Watch::new(config)?;
    let lease = match acquire::acquire(&mut watch, args, speech) {
        Ok(lease) => lease,
        Err(failure) => {
            // The votes of the failed attempt are being released. The reason of the failure is
            // reported, and not what may go wrong with these releases.
            _ = watch.engine.drain(CLEANUP_TIMEOUT);
            return Err(failure);
        }
    };
    let result = command::run(&mut watch, &lease, args, speech);
    if let Some(until) = at_least::until(&lease, args, &result) {
        if at_least::stay(&mut watch, &lease, args, speech, until)? == at_least::Outcome::Left {
            return result;
        }
    }
    if result.as_ref().is_err_and(Failure::has_survivors) {
        speech.say(&Message::LeftToTtl);
        return result;
    }
    let Release { was_held, is_confirmed } =
        release::release(&mut watch, &lease, args, result.is_ok())?;
    let held = watch.engine.now() - lease.since;
    speech.say(&match was_held {
        true => Message::Released { is_confirmed, held },
        false => Message::Cleared { is_confirmed },
    });
    result
}
