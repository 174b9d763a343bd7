//! The release behind the command, and whether the lock was there until then.
//!
//! A release is decided by the nodes that answer first, and these may be the few that still had the
//! lock. So the nodes are asked what they have in the same write, ahead of the release: each says
//! what it had, and all that answer in time are heard.

use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use redbolt::redlock::{NodeSet, QueryId};
use redbolt::time::Instant;
use redbolt::{Engine, Event, NodeState};

use super::acquire::Lease;
use super::args::Args;
use super::failure::Failure;
use super::watch::Watch;
use crate::nodes;

/// How long nodes may take to confirm that the lock is released, unless they are far away. The
/// kernel has the releases by then. Only the replies are waited for, and a stalled node sends none.
const TIMEOUT: Duration = Duration::from_millis(250);

/// What has become of a release.
pub(super) struct Release {
    /// Whether the lock was held until now. What is left of a lost one is deleted all the same.
    pub(super) was_held: bool,
    /// Whether a quorum has confirmed that nothing of the lock is left there.
    pub(super) is_confirmed: bool,
}

/// Releases the lock. `has_worked` says that the command has ended under the lock, as far as is
/// known here.
pub(super) fn release(
    watch: &mut Watch,
    lease: &Lease,
    args: &Args,
    has_worked: bool,
) -> Result<Release, Failure> {
    let engine = &mut watch.engine;
    // A query that is refused leaves the answers to the release.
    let query = has_worked.then(|| engine.query(args.resource.as_bytes()).ok()).flatten();
    // An error means that the lock has ended already, and that the engine releases it by itself.
    let was_held = engine.release(lease.lock).is_ok();
    let timeout = nodes::time_to_answer(engine, TIMEOUT);
    let until = engine.now() + timeout;
    let is_confirmed = engine.drain(timeout).unwrap_or(false);
    if has_worked && was_held && was_gone(engine, lease, query, until) {
        return Err(Failure::Gone { resource: args.resource_name() });
    }
    Ok(Release { was_held, is_confirmed })
}

/// Returns whether so many nodes lacked the lock before its release that another may have had the
/// lock. A node that has lost its data in a restart has had no vote to give since then.
fn was_gone(
    engine: &mut Engine,
    lease: &Lease,
    mut query: Option<QueryId>,
    until: Instant,
) -> bool {
    let need = engine.quorum().need();
    let mut may_have_had: NodeSet = engine.nodes().map(|(id, ..)| id).collect();
    loop {
        match engine.next_event() {
            Some(Event::Released { lock, outcome }) if lock == lease.lock => {
                may_have_had = may_have_had.intersection(outcome.may_have_had());
                if outcome.released.len() >= need {
                    return false;
                }
            }
            Some(Event::Queried { query: id, holder, .. }) if Some(id) == query => {
                let is_ours = holder.token() == Some(lease.token);
                // Where another value is at as many nodes, ours is among the others.
                let others = holder.others.without(holder.data);
                let ours = if is_ours { holder.holding } else { others };
                may_have_had = may_have_had.intersection(ours.union(holder.unknown));
                query = None;
            }
            Some(_) => {}
            None => {
                let left = until - engine.now();
                if query.is_none() || left.is_zero() || engine.poll(Some(left)).is_err() {
                    break;
                }
            }
        }
    }
    let others = engine.nodes().filter(|(id, ..)| !may_have_had.contains(*id));
    others.filter(|(.., status)| status.state != NodeState::Quarantined).count() >= need
}
