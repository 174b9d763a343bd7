//! The end of a load on one engine: nothing is left under way, and nothing on a node that answers.

use std::io;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Clock, Engine, NodeState};

/// How long what is under way may go on after the end of the run before it is cancelled, and how
/// long it may then take to end.
const GRACE: Duration = Duration::from_secs(2);

/// How long the engine may then wait for the replies of every node.
const DRAIN: Duration = Duration::from_secs(2);

/// A load that starts nothing more.
pub(crate) trait Ending {
    fn engine(&mut self) -> &mut Engine;

    /// Sleeps until something happens, but not past `until`, and handles what happened. Returns the
    /// time at the end of this turn.
    fn turn(&mut self, now: Instant, until: Instant) -> io::Result<Instant>;

    fn is_under_way(&self) -> bool;

    /// Cancels what still waits for a lock.
    fn cancel(&mut self);
}

/// Returns when all is over and every node has answered, or when that takes too long. What still
/// waits for a lock after [`GRACE`] is cancelled.
pub(crate) fn finish(load: &mut impl Ending) -> io::Result<()> {
    wind_down(load)?;
    load.cancel();
    wind_down(load)?;
    drain(load)
}

fn wind_down(load: &mut impl Ending) -> io::Result<()> {
    let mut now = Clock::now();
    let deadline = now + GRACE;
    while load.is_under_way() && now < deadline {
        now = load.turn(now, deadline)?;
    }
    Ok(())
}

/// Lets the last releases arrive. A drain of the engine leaves a slow minority to the ttl, too long
/// a time for those who use the servers: nodes that answer get all the time.
fn drain(load: &mut impl Ending) -> io::Result<()> {
    let mut now = Clock::now();
    let deadline = now + DRAIN;
    load.engine().drain(DRAIN)?;
    while now < deadline && is_owed(load.engine()) {
        now = load.turn(now, deadline)?;
    }
    Ok(())
}

/// Returns `true` if something may be left on a node that answers.
fn is_owed(engine: &Engine) -> bool {
    let state = |node| engine.node(node).map(|status| status.state);
    engine.owing().into_iter().any(|node| state(node) == Some(NodeState::Ready))
}
