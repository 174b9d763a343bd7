//! Polling until something is done: until the nodes are ready, or until nothing is owed any more.

use core::time::Duration;
use std::io;

use super::engine::Engine;
use crate::net::Clock;
use crate::redlock::{NodeState, NodeStatus};

impl Engine {
    /// Polls until every node is ready or has been tried in vain, or until `timeout` is over. Once
    /// a quorum is ready, the others get as long again as it took. Returns how many nodes are
    /// ready.
    ///
    /// Not needed before [`acquire`](Self::acquire), which waits by itself; useful before a first
    /// attempt that will not be repeated. An attempt asks the nodes that are ready at its moment:
    /// with a bare quorum of them, a single refusal decides it.
    ///
    /// # Errors
    ///
    /// As [`poll`](Self::poll).
    pub fn settle(&mut self, timeout: Duration) -> io::Result<usize> {
        const LEAST_GRACE: Duration = Duration::from_millis(10);
        let start = Clock::now();
        let mut until = start + timeout;
        let mut is_quorate = false;
        loop {
            let now = Clock::now();
            let states = || self.nodes().map(|(_, _, node)| node);
            let ready = states().filter(|node| node.state == NodeState::Ready).count();
            let untried = states().filter(is_untried).count();
            if untried == 0 || now >= until {
                self.flush()?;
                return Ok(ready);
            }
            if !is_quorate && ready >= self.redlock.quorum().need() {
                is_quorate = true;
                until = until.min(now + LEAST_GRACE.max(now - start));
            }
            self.wait(Some(until - now))?;
        }
    }

    /// Polls until no lock is wanted, held or owed a reply any more and no token waits to be
    /// cleaned up, or until `timeout` is over. Returns whether all is done. Events that come
    /// meanwhile stay to be taken.
    ///
    /// To be called before an engine is dropped, or not polled for long, whose last releases should
    /// be known to have arrived: on a node that has not answered an earlier one they wait for that
    /// answer, and only a poll takes it. Locks that are still held are not released by this.
    ///
    /// # Errors
    ///
    /// As [`poll`](Self::poll).
    pub fn drain(&mut self, timeout: Duration) -> io::Result<bool> {
        let until = Clock::now() + timeout;
        loop {
            let now = Clock::now();
            let is_done = self.redlock.in_use() == 0 && self.redlock.cleanup() == 0;
            if is_done || now >= until {
                self.redlock.flush_batches(now);
                self.flush()?;
                return Ok(is_done);
            }
            self.wait(Some(until - now))?;
        }
    }
}

/// Whether the first attempt to reach a node is still under way.
fn is_untried(node: &NodeStatus<'_>) -> bool {
    use NodeState::{Connecting, Down, Handshake};
    node.error.is_none() && matches!(node.state, Down | Connecting | Handshake)
}
