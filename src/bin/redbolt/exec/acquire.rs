//! Acquiring the lock.

use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{AcquireError, Engine, Event, LockId, LostReason, NodeState, Token};
use rustix::process::Signal;

use super::args::Args;
use super::failure::Failure;
use super::message::Message;
use super::speech::Speech;
use super::watch::{News, Watch};
use crate::nodes;

/// How long nodes may take to be ready for the first attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The least time that the other nodes get to connect once a quorum is ready.
const GRACE: Duration = Duration::from_millis(10);

/// The [`GRACE`] where there is only one attempt.
const GRACE_FOR_ONE_ATTEMPT: Duration = Duration::from_millis(50);

/// A lock that is held.
pub(super) struct Lease {
    pub(super) lock: LockId,
    pub(super) token: Token,
    pub(super) valid_until: Instant,
}

/// Acquires the lock, unless a signal comes first.
pub(super) fn acquire(watch: &mut Watch, args: &Args, speech: &Speech) -> Result<Lease, Failure> {
    let start = watch.engine.now();
    wait_for_nodes(watch, args.wait())?;
    let wait = args.wait().saturating_sub(watch.engine.now() - start);
    announce_quarantine(&watch.engine, wait, speech);
    let request = watch.engine.acquire(args.resource.as_bytes(), args.ttl(), wait);
    let lock = request.map_err(|error| Failure::Usage(error.to_string()))?;
    loop {
        match watch.next(Instant::FAR_FUTURE)? {
            News::Engine(Event::Acquired { valid_until, .. }) => {
                let token = watch.engine.token(lock).filter(|_| watch.engine.is_held(lock));
                let token = token.ok_or_else(|| Failure::Overrun {
                    resource: args.resource_name(),
                    end: LostReason::Expired,
                    what: "it ended before the command could be started",
                    survivors: false,
                })?;
                let took = watch.engine.now() - start;
                if let Some(max_hold) = args.keep_alive() {
                    // An error means that the lock has just ended, which has an event of its own.
                    _ = watch.engine.keep_alive(lock, args.ttl(), max_hold);
                    // Renewals come earlier, so that only an end is announced.
                    _ = watch.engine.warn(lock, args.ttl() / 2);
                }
                speech.say(&Message::Locked { resource: args.resource_name(), took });
                let nodes = nodes::not_voting(&watch.engine);
                if !nodes.is_empty() {
                    speech.say(&Message::NotAllReady { nodes });
                }
                return Ok(Lease { lock, token, valid_until });
            }
            News::Engine(Event::AcquireFailed { error, .. }) => {
                return Err(explain(&watch.engine, args, error));
            }
            News::Signal(signal) => {
                interrupted(signal).inspect_err(|_| {
                    // No event has said that the lock is held, so that it can be cancelled.
                    _ = watch.engine.cancel(lock);
                })?;
            }
            News::Engine(_) | News::Time => {}
        }
    }
}

/// Waits until every node is ready or has failed. Once a quorum is ready, the other nodes get as
/// long again as the quorum took.
///
/// An attempt asks only the nodes that are ready when it starts. An attempt that starts too early
/// finds two holders in three nodes where there are only two in five, or gets a lock that is stored
/// on three nodes where five could have it.
fn wait_for_nodes(watch: &mut Watch, wait: Duration) -> Result<(), Failure> {
    let start = watch.engine.now();
    // A caller who does not want to wait means the wait for the lock, not that for the network.
    let (timeout, grace) = if wait.is_zero() {
        (CONNECT_TIMEOUT, GRACE_FOR_ONE_ATTEMPT)
    } else {
        (CONNECT_TIMEOUT.min(wait), GRACE)
    };
    let mut until = start + timeout;
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

/// Prints which nodes are in quarantine and for how long, if a quorum will be there within the
/// wait. Without a quorum in time, the failure says the same.
fn announce_quarantine(engine: &Engine, wait: Duration, speech: &Speech) {
    let Some(pause) = nodes::quarantined_for(engine).filter(|pause| *pause < wait) else { return };
    let nodes = nodes::describe(engine, None);
    speech.say(&Message::AwaitsQuorum { left: pause, nodes });
}

/// Returns how many nodes are ready, and for how many the first connection is still under way.
fn count(engine: &Engine) -> (usize, usize) {
    let (mut ready, mut open) = (0, 0);
    for (_, _, status) in engine.nodes() {
        match status.state {
            NodeState::Ready => ready += 1,
            // The node is reachable, and the end of the quarantine is far away.
            NodeState::Quarantined => {}
            _ if status.error.is_none() => open += 1,
            _ => {}
        }
    }
    (ready, open)
}

/// Ends the wait at any signal but `SIGCHLD`: a process can have inherited children of which it
/// knows nothing.
fn interrupted(signal: Signal) -> Result<(), Failure> {
    if signal == Signal::CHILD {
        return Ok(());
    }
    Err(Failure::Interrupted { signal })
}

fn explain(engine: &Engine, args: &Args, error: AcquireError) -> Failure {
    let resource = args.resource_name();
    match error {
        AcquireError::Held { .. } => Failure::Held { resource, nodes: nodes::not_voting(engine) },
        AcquireError::NoQuorum(outcomes) => {
            Failure::NoQuorum { resource, nodes: nodes::describe(engine, Some(&outcomes)) }
        }
        AcquireError::Quarantined { outcomes, retry_after, .. } => {
            let nodes = nodes::describe(engine, Some(&outcomes));
            Failure::Unavailable { resource, retry_after, nodes }
        }
        // This engine has no other request, so the nodes were late and not the queue.
        _ => Failure::NoQuorum { resource, nodes: nodes::describe(engine, None) },
    }
}
