//! What is due: the timers of locks, nodes and questions.

use super::{Reason, Redlock};
use crate::redlock::lock::Phase;
use crate::redlock::node::Due;
use crate::redlock::node::error::NodeError;
use crate::redlock::node::pipeline::Lateness;
use crate::redlock::node_set::NodeId;
use crate::time::Instant;

impl Redlock {
    /// When `handle_timeout` should be called next, and who armed it. Changes with every command
    /// and handler.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Instant, Reason)> {
        let mut next = (self.timers.next().unwrap_or(Instant::FAR_FUTURE), Reason::Lock);
        for (id, node) in self.nodes().into_iter().zip(self.nodes.iter()) {
            let at = node.next();
            if at < next.0 {
                next = (at, Reason::Node(id));
            }
        }
        if let Some(at) = self.queries.due_at().filter(|at| *at < next.0) {
            next = (at, Reason::Query);
        }
        (next.0 < Instant::FAR_FUTURE).then_some(next)
    }

    /// Does what is due at `now`: expires leases, ends attempts and waits, starts retries,
    /// reconnects, cleans up.
    pub fn handle_timeout(&mut self, now: Instant) {
        for node in self.nodes() {
            while let Some(due) = self.nodes[node].due(now) {
                self.node_due(now, node, due);
            }
        }
        while let Some(slot) = self.timers.pop(now) {
            let due = self.table[slot].due;
            if due > now {
                // The deadline moved back since the entry was made.
                self.timers.set(slot, due);
            } else {
                self.lock_due(now, slot);
            }
        }
        self.end_queries(now);
        self.admit(now);
    }

    fn node_due(&mut self, now: Instant, id: NodeId, due: Due) {
        let node = &mut self.nodes[id];
        match due {
            Due::Connect => {
                node.connecting(now + self.config.connect_timeout);
                self.to_connect.insert(id);
                self.changed.insert(id);
            }
            Due::GiveUp(error) => self.drop_session(now, id, error),
            Due::Check => match node.check(now) {
                Lateness::NoNews => {}
                Lateness::Late => self.changed.insert(id),
                Lateness::Silent => self.drop_session(now, id, NodeError::NoReply),
            },
            Due::CleanUp => self.clean_up(now, id),
            Due::BecomeHealthy => {
                node.healthy();
                self.changed.insert(id);
            }
            Due::EndQuarantine => {
                node.end_quarantine();
                self.changed.insert(id);
            }
        }
    }

    fn lock_due(&mut self, now: Instant, slot: u32) {
        match self.table[slot].phase {
            Phase::InLine | Phase::Ready => self.wait_ended(now, slot),
            Phase::Attempt => self.attempt_timed_out(now, slot),
            Phase::Adoption => self.adoption_timed_out(now, slot),
            Phase::Backoff => self.retry(slot),
            Phase::Held => self.held_due(now, slot),
            Phase::Lapsing => self.lapsed(now, slot),
            Phase::Releasing => self.release_due(slot),
            Phase::Free | Phase::Draining => {}
        }
    }
}
