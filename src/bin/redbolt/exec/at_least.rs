//! `--at-least`: a lock that stays when the command has ended, so that no other machine runs the
//! command once more.

use std::io;
use std::mem;
use std::time::Duration;

use redbolt::Event;
use redbolt::time::Instant;
use rustix::process::Signal;

use super::acquire::Lease;
use super::args::Args;
use super::ending::Ending;
use super::failure::Failure;
use super::message::Message;
use super::signals::{self, Meaning};
use super::speech::Speech;
use super::suspend::{self, Origin};
use super::watch::{News, Watch};
use crate::nodes;

/// The pause after an extension that too few nodes have confirmed.
const PAUSE: Duration = Duration::from_millis(500);

/// How long the nodes beyond the quorum may take to answer as well, unless they are far away.
const REST_TIMEOUT: Duration = Duration::from_millis(250);

/// What has become of the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// The time is over, or the lock is lost. What is there of the lock can be released.
    Over,
    /// The lock stays on the nodes. There is nothing to release.
    Left,
}

/// A lock that is to stay.
struct Stay<'a> {
    watch: &'a mut Watch,
    lease: &'a Lease,
    args: &'a Args,
    speech: &'a Speech,
    until: Instant,
    /// A signal has come: what can be done now is done, and nothing is waited for.
    is_hurried: bool,
    /// What has been said once is not said again.
    is_staying: bool,
    has_failed: bool,
}

/// Returns when a lock may end whose command has ended so; `None` where the lock may end now. A
/// command that was not started has not done its work, and another machine may have more luck.
pub(super) fn until(
    lease: &Lease,
    args: &Args,
    result: &Result<Ending, Failure>,
) -> Option<Instant> {
    let has_run = matches!(result, Ok(_) | Err(Failure::Overrun { .. }));
    args.at_least.filter(|_| has_run).map(|at_least| lease.since + at_least)
}

/// Leaves the lock on the nodes until that time: by their clocks, which need no process here. Stays
/// only as long as no ttl reaches so far, or too few nodes agree.
pub(super) fn stay(
    watch: &mut Watch,
    lease: &Lease,
    args: &Args,
    speech: &Speech,
    until: Instant,
) -> io::Result<Outcome> {
    let (is_hurried, is_staying, has_failed) = (false, false, false);
    Stay { watch, lease, args, speech, until, is_hurried, is_staying, has_failed }.leave()
}

impl Stay<'_> {
    fn leave(mut self) -> io::Result<Outcome> {
        loop {
            let now = self.watch.engine.now();
            let left = self.until - now;
            if left.is_zero() {
                return Ok(Outcome::Over);
            }
            let valid = self.watch.engine.remaining(self.lease.lock);
            if valid.is_zero() {
                self.speech.say(&Message::KeptShort { left: valid, short: left });
                return Ok(Outcome::Over);
            }
            if valid >= left {
                // No ttl is shortened.
                return self.disown(valid);
            }
            let longest = self.watch.engine.redlock_config().max_ttl;
            if left > longest && !self.is_hurried {
                self.keep_alive();
                self.tell_staying(left - longest);
                self.wait(self.until - longest)?;
            } else if self.extend(left.min(longest))? {
                return self.disown(left.min(longest));
            } else if self.is_hurried {
                let valid = self.watch.engine.remaining(self.lease.lock);
                return self.disown(valid);
            } else {
                self.tell_failure(left);
                self.wait(self.until.min(now + PAUSE))?;
            }
        }
    }

    /// Asks the nodes to keep the lock for this time from now. Returns whether a quorum has agreed.
    fn extend(&mut self, left: Duration) -> io::Result<bool> {
        // What is said of an earlier renewal is no answer.
        self.watch.engine.poll(Some(Duration::ZERO))?;
        while self.watch.engine.next_event().is_some() {}
        let (engine, lock) = (&mut self.watch.engine, self.lease.lock);
        let ttl = whole_millis(left).max(engine.redlock_config().shortest_ttl());
        // An error means that the lock has just ended, of which an event tells, or that the engine
        // cannot take a request now.
        if engine.extend(lock, ttl).is_err() {
            return Ok(false);
        }
        loop {
            match self.watch.next(Instant::FAR_FUTURE)? {
                News::Engine(Event::Extended { lock: id, .. }) if id == lock => return Ok(true),
                News::Engine(Event::ExtendFailed { lock: id, .. }) if id == lock => {
                    return Ok(false);
                }
                News::Signal(signal) => self.signalled(signal)?,
                News::Engine(_) | News::Time => {}
            }
        }
    }

    /// Gives the lock up, and leaves its keys where they are, for about this time.
    fn disown(self, left: Duration) -> io::Result<Outcome> {
        let Self { watch, lease, speech, until, .. } = self;
        if watch.engine.disown(lease.lock).is_err() {
            // The lock has just ended.
            let (left, short) = (Duration::ZERO, until - watch.engine.now());
            speech.say(&Message::KeptShort { left, short });
            return Ok(Outcome::Over);
        }
        let short = until - (watch.engine.now() + left);
        watch.engine.drain(nodes::time_to_answer(&watch.engine, REST_TIMEOUT))?;
        speech.say(&match short {
            Duration::ZERO => Message::Kept { left },
            _ => Message::KeptShort { left, short },
        });
        Ok(Outcome::Left)
    }

    /// Keeps the lock alive while this process stays, whatever was wanted for the command.
    fn keep_alive(&mut self) {
        let engine = &mut self.watch.engine;
        let longest = engine.redlock_config().max_hold;
        // An error means that the lock has just ended, which the next turn finds.
        _ = engine.keep_alive(self.lease.lock, self.args.ttl(), longest);
    }

    /// Waits until then, until the lock is lost, or until a signal comes.
    fn wait(&mut self, until: Instant) -> io::Result<()> {
        while !self.is_hurried {
            match self.watch.next(until)? {
                News::Time => return Ok(()),
                News::Engine(Event::Lost { .. }) => return Ok(()),
                News::Signal(signal) => self.signalled(signal)?,
                News::Engine(_) => {}
            }
        }
        Ok(())
    }

    fn signalled(&mut self, signal: Signal) -> io::Result<()> {
        match signals::meaning(signal) {
            Meaning::EndsCommand => self.is_hurried = true,
            Meaning::Stop => _ = suspend::suspend(self.watch, None, Origin::Ours)?,
            // The command has ended, and does not get what is meant for it.
            Meaning::ForCommand | Meaning::Child | Meaning::Continue | Meaning::None => {}
        }
        Ok(())
    }

    fn tell_staying(&mut self, left: Duration) {
        if !mem::replace(&mut self.is_staying, true) {
            self.speech.say(&Message::Staying { left });
        }
    }

    fn tell_failure(&mut self, left: Duration) {
        if !mem::replace(&mut self.has_failed, true) {
            let nodes = nodes::describe_waiting(&self.watch.engine);
            self.speech.say(&Message::NotKeptYet { left, nodes });
        }
    }
}

/// Rounds up to whole milliseconds, which is how nodes count.
fn whole_millis(time: Duration) -> Duration {
    let millis = time.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_rounded_up_so_that_the_nodes_keep_the_lock_for_long_enough() {
        for (nanos, millis) in [(0, 0), (1, 1), (1_000_000, 1), (1_000_001, 2), (29_999_999, 30)] {
            let rounded = whole_millis(Duration::from_nanos(nanos));
            assert_eq!(rounded, Duration::from_millis(millis), "{nanos}");
        }
        assert!(whole_millis(Duration::MAX) >= Duration::from_secs(1 << 40));
    }
}
