//! Polling until something is done: until the nodes are ready, or until nothing is owed any more.

use core::time::Duration;
use std::io;

use super::engine::Engine;
use crate::net::Clock;
use crate::redlock::{NodeState, NodeStatus};
use crate::time::Instant;

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
        let mut settling = Settling::new(Clock::now(), timeout);
        loop {
            let now = Clock::now();
            let readiness = self.readiness();
            let until = settling.until(now, readiness.is_quorate());
            if readiness.untried == 0 || now >= until {
                self.flush()?;
                return Ok(readiness.ready);
            }
            self.wait(Some(until - now))?;
        }
    }

    /// Counts the nodes by what they are good for now.
    pub(crate) fn readiness(&self) -> Readiness {
        let nodes = || self.nodes().map(|(_, _, node)| node);
        Readiness {
            ready: nodes().filter(|node| node.state == NodeState::Ready).count(),
            untried: nodes().filter(is_untried).count(),
            need: self.redlock.quorum().need(),
        }
    }

    /// Polls until nothing of this engine is held or owed on a quorum of the nodes, or until
    /// `timeout` is over. Returns `true` if that is so: no lock is wanted or held, and on a quorum
    /// of the nodes no answer about a lock is owed and no token waits for cleanup.
    ///
    /// Once a quorum is done, the other nodes get as much time as the quorum took, and at least
    /// 10 ms, but never more than `timeout` in total. A minority that is down holds nobody up. What
    /// is left there is told by [`in_use`](Self::in_use), [`cleanup`](Self::cleanup) and
    /// [`owing`](Self::owing); when the engine is dropped, it is left to its ttl, and keeps nobody
    /// from a lock.
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
        let mut settling = Settling::new(Clock::now(), timeout);
        while !self.drain_for(&mut settling, timeout)? {}
        Ok(self.is_drained())
    }

    /// Drains for at most `step`. Returns `true` once there is nothing more to wait for.
    pub(crate) fn drain_for(
        &mut self,
        settling: &mut Settling,
        step: Duration,
    ) -> io::Result<bool> {
        let end = Clock::now() + step;
        loop {
            let now = Clock::now();
            let until = settling.until(now, self.is_drained());
            let is_empty = self.redlock.in_use() == 0 && self.redlock.cleanup() == 0;
            let is_over = is_empty || now >= until;
            if is_over || now >= end {
                self.redlock.flush_batches(now);
                self.flush()?;
                return Ok(is_over);
            }
            self.wait(Some(until.min(end) - now))?;
        }
    }

    /// Returns `true` if no lock is wanted or held, and a quorum of the nodes owes nothing.
    pub(crate) fn is_drained(&self) -> bool {
        self.redlock.is_drained()
    }
}

/// How many nodes are good for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readiness {
    /// Nodes that vote.
    pub(crate) ready: usize,
    /// Nodes whose first connection is still under way.
    pub(crate) untried: usize,
    /// How many votes a lock needs.
    pub(crate) need: usize,
}

impl Readiness {
    pub(crate) const fn is_quorate(&self) -> bool {
        self.ready >= self.need
    }
}

/// A wait for the nodes. Once a quorum is there, or done, the other nodes get as much time as the
/// quorum took, and at least 10 ms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settling {
    start: Instant,
    until: Instant,
    is_quorate: bool,
}

impl Settling {
    pub(crate) fn new(start: Instant, timeout: Duration) -> Self {
        Self { start, until: start + timeout, is_quorate: false }
    }

    /// Returns the end of the wait, as far as it is known at `now`, when a quorum is there or not.
    pub(crate) fn until(&mut self, now: Instant, is_quorate: bool) -> Instant {
        const LEAST_GRACE: Duration = Duration::from_millis(10);
        if !self.is_quorate && is_quorate {
            self.is_quorate = true;
            self.until = self.until.min(now + LEAST_GRACE.max(now - self.start));
        }
        self.until
    }
}

/// Returns `true` while the first attempt to reach a node is under way.
fn is_untried(node: &NodeStatus<'_>) -> bool {
    use NodeState::{Connecting, Down, Handshake};
    node.error.is_none() && matches!(node.state, Down | Connecting | Handshake)
}
