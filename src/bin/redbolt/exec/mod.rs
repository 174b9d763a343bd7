//! `redbolt exec`: a command that runs only while a lock is held.
//!
//! This folder knows processes, process groups, signals, terminals and exit codes, and the public
//! API of the library. This folder must never know the protocol or the algorithm.
//!
//! One thread waits for the engine, signals and the time, all at once ([`watch`]). The thread
//! contacts the nodes ([`contact`]), acquires the lock ([`acquire`]), runs the command
//! ([`command`]) in a process group of its own ([`birth`], [`child`], [`terminal`]), and ends all
//! that the command has started ([`descendants`], [`process`]) before the lock ends ([`schedule`],
//! [`leftovers`]). A job that is stopped is stopped as a whole ([`suspend`]). The lock can stay
//! behind the command ([`at_least`]). This process ends as the command has ended ([`ending`]). What
//! differs between operating systems is in [`system`].
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

use std::iter;
use std::process::ExitCode;
use std::time::Duration;

use redbolt::{Config, Engine, Event, LockId, NodeState};

pub(crate) use self::args::Args;
use self::ending::Ending;
use self::failure::Failure;
use self::message::Message;
pub(crate) use self::refusal::refuse;
use self::speech::Speech;
use self::style::Style;
use self::watch::Watch;
use crate::{exit, nodes, output};

/// How long nodes may take to confirm that the lock is released, unless they are far away. The
/// kernel has the releases by then. Only the replies are waited for, and a stalled node sends none.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(250);

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
    // An error means that the lock has ended already, and that the engine releases it by itself.
    _ = watch.engine.release(lease.lock);
    let timeout = nodes::time_to_answer(&watch.engine, RELEASE_TIMEOUT);
    let is_confirmed = watch.engine.drain(timeout).unwrap_or(false);
    if result.is_ok() && was_gone(&mut watch.engine, lease.lock) {
        return Err(Failure::Gone { resource: args.resource_name() });
    }
    let held = watch.engine.now() - lease.since;
    speech.say(&Message::Released { is_confirmed, held });
    result
}

/// Whether so many nodes lacked the lock before its release that another may have had it. A node
/// that has lost its data in a restart has had no vote to give since then.
fn was_gone(engine: &mut Engine, lock: LockId) -> bool {
    let outcome = |event| match event {
        Event::Released { lock: released, outcome } if released == lock => Some(outcome),
        _ => None,
    };
    let Some(outcome) = iter::from_fn(|| engine.next_event()).find_map(outcome) else {
        return false;
    };
    let others = engine.nodes().filter(|(id, ..)| !outcome.may_have_had().contains(*id));
    let voters = others.filter(|(.., status)| status.state != NodeState::Quarantined);
    voters.count() >= engine.quorum().need()
}
