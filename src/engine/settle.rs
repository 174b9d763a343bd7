//! Polling until something is done: until the nodes are ready, or until nothing is owed any more.

use core::time::Duration;
use std::io;

use super::engine::Engine;
use crate::net::Clock;
use crate::redlock::{NodeState, NodeStatus};

impl Engine {
    /// Polls until every node is ready or the first attempt to reach the node has failed, or until
    /// `timeout` is over. Once a quorum is ready, the other nodes get as long again as the quorum
    /// took. Returns how many nodes are ready.
    ///
    /// [`acquire`](Self::acquire) waits for connections by itself and needs no `settle` before.
    /// `settle` is useful before a single attempt: an attempt asks the nodes that are ready when
    /// the attempt starts, and where only a bare quorum is ready, a single refusal decides the
    /// attempt.
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
    /// cleaned up, or until `timeout` is over. Returns whether all of that is done. Events that
    /// come meanwhile stay to be taken.
    ///
    /// Call `drain` before the engine is dropped, or left without polls for long, if the last
    /// releases must be known to have arrived: on a node that has not answered an earlier release,
    /// later releases wait for that answer, and only a poll reads the answer. `drain` does not
    /// release locks that are still held.
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
