//! Polling until something is done: until the nodes are ready, or until nothing is owed any more.

use core::time::Duration;
use std::io;

use super::engine::Engine;
use crate::net::Clock;
use crate::redlock::{NodeState, NodeStatus};

impl Engine {
    /// Polls until every node is ready or has failed once, or until `timeout` is over. Returns the
    /// number of ready nodes.
    ///
    /// Once a quorum is ready, the other nodes get as much time as the quorum took, and at least
    /// 10 ms, but never more than `timeout` in total.
    ///
    /// Calling `settle` before [`acquire`](Self::acquire) is not necessary, because a request waits
    /// for the nodes by itself. `settle` is useful before a single attempt without retries. An
    /// attempt asks only the nodes that are ready at that moment. If these are a bare quorum, one
    /// refusal is enough for the attempt to fail.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`poll`](Self::poll).
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

    /// Polls until no lock is wanted, held or owed a reply, and no token waits for cleanup, or
    /// until `timeout` is over. Returns `true` if all of this is done.
    ///
    /// Call `drain` before you drop an engine or stop polling for long, so that the last releases
    /// arrive. On a node that has not yet answered an earlier release, later ones wait for this
    /// answer, and only a poll receives the answer.
    ///
    /// `drain` does not release held locks: release them before. Events stay in the queue, to be
    /// taken afterwards.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`poll`](Self::poll).
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

/// Returns `true` while the first attempt to reach a node is under way.
fn is_untried(node: &NodeStatus<'_>) -> bool {
    use NodeState::{Connecting, Down, Handshake};
    node.error.is_none() && matches!(node.state, Down | Connecting | Handshake)
}
