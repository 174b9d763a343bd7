//! Everything that is due at a moment: for locks, for nodes and for queries.

use super::{Reason, Redlock};
use crate::redlock::lock::Phase;
use crate::redlock::node::Due;
use crate::redlock::node::error::NodeError;
use crate::redlock::node::patience::Limits;
use crate::redlock::node::pipeline::Lateness;
use crate::redlock::node_set::NodeId;
use crate::time::Instant;

impl Redlock {
    /// Returns when [`handle_timeout`](Self::handle_timeout) is due next, and why. `None` means
    /// never. The answer may change with every command and every handler. The cost: one look at
    /// each node.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Instant, Reason)> {
        let mut next = (self.timers.next().unwrap_or(Instant::FAR_FUTURE), Reason::Lock);
        for (id, node) in self.nodes().into_iter().zip(self.nodes.iter()) {
            let at = node.next_due();
            if at < next.0 {
                next = (at, Reason::Node(id));
            }
        }
        if let Some(at) = self.queries.due_at().filter(|at| *at < next.0) {
            next = (at, Reason::Query);
        }
        (next.0 < Instant::FAR_FUTURE).then_some(next)
    }

    /// Returns when the first thing is due for a lock, if that is by `at`, that no reply can
    /// change: a loss, a renewal, a retry, the end of a wait. For a driver that would leave replies
    /// unread until then. The cost: a look at each timer up to then, and at some thousand at most.
    /// Where there are more, the answer can be too early.
    #[cfg(any(feature = "net", test))]
    pub(crate) fn first_due_without_reply(&self, at: Instant) -> Option<Instant> {
        self.timers.first_by(at, |slot| {
            let lock = &self.table[slot];
            (!lock.awaits_reply()).then_some(lock.due)
        })
    }

    /// Does everything that is due at `now`: ends validities, attempts and waits, starts retries,
    /// connects to nodes, cleans up.
    ///
    /// A call before the time from [`poll_timeout`](Self::poll_timeout) does nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        for node in self.nodes() {
            while let Some(due) = self.nodes[node].due(now) {
                self.node_due(now, node, due);
            }
        }
        self.end_queries(now);
        loop {
            while let Some(slot) = self.timers.pop(now) {
                let due = self.table[slot].due;
                if due > now {
                    // The deadline has moved to a later moment since this timer was set, or the
                    // lock has ended and left the timer behind.
                    self.schedule(slot, due);
                } else {
                    self.lock_due(now, slot);
                }
            }
            self.admit(now);
            // An attempt is over at once if too few nodes can do what it needs. Then a pause
            // follows, or the end of the request, so this comes to an end.
            if self.timers.next().is_none_or(|at| at > now) {
                return;
            }
        }
    }

    /// Does one thing that is due for a node.
    fn node_due(&mut self, now: Instant, id: NodeId, due: Due) {
        let node = &mut self.nodes[id];
        match due {
            Due::Connect => {
                node.connecting(now, now + self.config.connect_timeout);
                self.to_connect.insert(id);
                self.changed.insert(id);
            }
            Due::AskForLogin => {
                node.asked_for_login(now, self.config.reconnect_max, &mut self.rng);
                self.to_log_in.insert(id);
            }
            Due::GiveUp(error) => self.drop_session(now, id, error),
            Due::Check => match node.check(now, Limits::new(&self.config, self.config.max_ttl)) {
                Lateness::NoNews => {}
                Lateness::Late => self.changed.insert(id),
                Lateness::Silent => self.drop_session(now, id, NodeError::NoReply),
            },
            Due::CleanUp => self.clean_up(now, id),
            Due::BecomeHealthy => {
                node.healthy();
                self.changed.insert(id);
            }
            Due::Watch => self.watch(now, id),
        }
    }

    /// Does what is due for a lock in its phase.
    fn lock_due(&mut self, now: Instant, slot: u32) {
        match self.table[slot].phase {
            Phase::InLine | Phase::Ready => self.wait_ended(now, slot),
            Phase::Attempt => self.attempt_timed_out(now, slot),
            Phase::Adoption => self.adoption_timed_out(now, slot),
            Phase::Backoff => {
                if !self.peek(now, slot) {
                    self.retry(now, slot);
                }
            }
            Phase::Stepping => self.step(now, slot),
            // A door that does not answer keeps nobody out.
            Phase::AtDoor => self.go_in(slot),
            Phase::Held => self.held_due(now, slot),
            Phase::Lapsing => self.lapsed(now, slot),
            Phase::Releasing => self.release_due(slot),
            Phase::Draining => self.release_awaited(now, slot),
            Phase::Free => {}
        }
    }
}
