//! From nothing to a held lock.

use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{AcquireError, Engine, Event, LockId, NodeState, Token};
use rustix::process::Signal;

use super::args::Args;
use super::failure::Failure;
use super::watch::{News, Watch};
use crate::nodes::{self, GUARD_HINT};
use crate::output;

/// How long nodes may take to be ready for the first attempt.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);

/// Once a quorum is ready, how long the other nodes get to catch up at least.
const GRACE: Duration = Duration::from_millis(10);

/// The same where there is no second attempt to make up for the first.
const GRACE_FOR_ONE_ATTEMPT: Duration = Duration::from_millis(50);

/// A lock that is held.
pub(super) struct Lease {
    pub(super) lock: LockId,
    pub(super) token: Token,
    pub(super) valid_until: Instant,
}

/// Acquires the lock, unless a signal comes first.
pub(super) fn acquire(watch: &mut Watch, args: &Args) -> Result<Lease, Failure> {
    let start = watch.engine.now();
    settle(watch, args.wait())?;
    let wait = args.wait().saturating_sub(watch.engine.now() - start);
    announce_quarantine(&watch.engine, wait);
    let request = watch.engine.acquire(args.resource.as_bytes(), args.ttl, wait);
    let lock = request.map_err(|error| Failure::Usage(error.to_string()))?;
    loop {
        match watch.next(Instant::FAR_FUTURE)? {
            News::Engine(Event::Acquired { valid_until, .. }) => {
                let token = watch.engine.token(lock).filter(|_| watch.engine.is_held(lock));
                let token = token.ok_or_else(|| Failure::Overrun {
                    resource: args.resource_name(),
                    what: "it ended before the command could be started",
                    survivors: false,
                })?;
                let took = watch.engine.now() - start;
                args.tell(format_args!("{} is locked after {took:.1?}", args.resource_name()));
                let troubled = nodes::troubled(&watch.engine);
                if !troubled.is_empty() {
                    let nodes = troubled.trim_end();
                    args.tell(format_args!("not every node is ready:\n{nodes}"));
                }
                if let Some(max_hold) = args.keep_alive() {
                    // A lock that has just ended says so by itself.
                    _ = watch.engine.keep_alive(lock, args.ttl, max_hold);
                }
                return Ok(Lease { lock, token, valid_until });
            }
            News::Engine(Event::AcquireFailed { error, .. }) => {
                return Err(explain(&watch.engine, args, error));
            }
            News::Signal(signal) => {
                interrupted(signal).inspect_err(|_| {
                    // Nothing has been reported of the lock, so it cannot be held.
                    _ = watch.engine.cancel(lock);
                })?;
            }
            News::Engine(_) | News::Time => {}
        }
    }
}

/// Waits until every node is ready or has failed, because an attempt asks only those that are
/// ready at its moment. Asked too early, it finds two holders in three nodes where there are only
/// two in five, or gets a lock that stands on three nodes where it could stand on five. Once a
/// quorum is ready, the others get as long again as it took.
fn settle(watch: &mut Watch, wait: Duration) -> Result<(), Failure> {
    let start = watch.engine.now();
    // A caller who does not want to wait at all means the lock, not the network.
    let (patience, grace) = if wait.is_zero() {
        (CONNECT_PATIENCE, GRACE_FOR_ONE_ATTEMPT)
    } else {
        (CONNECT_PATIENCE.min(wait), GRACE)
    };
    let mut until = start + patience;
    let quorum = watch.engine.quorum().need();
    let mut is_quorate = false;
    loop {
        let (ready, open) = count(&watch.engine);
        if open == 0 {
            return Ok(());
        }
        let now = watch.engine.now();
        if !is_quorate && ready >= quorum {
            is_quorate = true;
            until = until.min(now + (now - start).max(grace));
        }
        match watch.next(until)? {
            News::Time => return Ok(()),
            News::Signal(signal) => interrupted(signal)?,
            News::Engine(_) => {}
        }
    }
}

/// Says why nothing will happen for a while, if that will then end within the wait: where it does
/// not, the failure says it.
fn announce_quarantine(engine: &Engine, wait: Duration) {
    let Some(pause) = nodes::quarantined_for(engine).filter(|pause| *pause < wait) else { return };
    output::say(format_args!(
        "waiting {:.1} s for a quorum of nodes:\n{}\n{GUARD_HINT}",
        pause.as_secs_f64(),
        nodes::describe(engine, None).trim_end(),
    ));
}

/// How many nodes are ready, and of how many nothing is known yet.
fn count(engine: &Engine) -> (usize, usize) {
    let (mut ready, mut open) = (0, 0);
    for (_, _, status) in engine.nodes() {
        match status.state {
            NodeState::Ready => ready += 1,
            // It is there, and its time is far away.
            NodeState::Quarantined => {}
            _ if status.error.is_none() => open += 1,
            _ => {}
        }
    }
    (ready, open)
}

/// Every signal ends the wait, except the one that says something of a child: a process can have
/// children that it inherited and knows nothing of.
fn interrupted(signal: Signal) -> Result<(), Failure> {
    if signal == Signal::CHILD {
        return Ok(());
    }
    Err(Failure::Interrupted { signal })
}

fn explain(engine: &Engine, args: &Args, error: AcquireError) -> Failure {
    let resource = args.resource_name();
    match error {
        AcquireError::Held => Failure::Held { resource, nodes: nodes::troubled(engine) },
        AcquireError::NoQuorum(outcomes) => {
            Failure::NoQuorum { resource, nodes: nodes::describe(engine, Some(&outcomes)) }
        }
        AcquireError::Unavailable { outcomes, retry_after, .. } => {
            let nodes = nodes::describe(engine, Some(&outcomes));
            Failure::Unavailable { resource, retry_after, nodes }
        }
        // There is no other request in this engine to queue behind, so the nodes came too late.
        _ => Failure::NoQuorum { resource, nodes: nodes::describe(engine, None) },
    }
}
