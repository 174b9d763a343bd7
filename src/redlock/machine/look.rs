//! Looks at the nodes: whether each still has its data, and what that means for the votes (S11).

use core::time::Duration;

use super::Redlock;
use crate::redlock::node::error::NodeError;
use crate::redlock::node::inquiry::{Findings, Progress, Word};
use crate::redlock::node::terms::Terms;
use crate::redlock::node::witness::disagreement;
use crate::redlock::node_set::NodeId;
use crate::resp::Value;
use crate::time::Instant;

impl Redlock {
    /// Tells the time since 1970, by the wall clock of this machine. The witness on each node is
    /// dated by two clocks, so that one that is wrong earns no credit (S11).
    ///
    /// A driver calls this before each [`handle_connected`](Self::handle_connected), and at least
    /// once a minute: in between, the time is taken to have gone on evenly. Without a call, the
    /// witnesses that this client finds or writes earn no credit, for any client.
    ///
    /// A wall clock that has been set forward is a hint that this machine was stopped, and its
    /// other clock with it (S9). Then the nodes are looked at once, which tells. So the more often
    /// a driver calls this, the sooner a stop is noticed; once a second is often enough.
    pub fn set_wall_clock(&mut self, now: Instant, since_1970: Duration) {
        if self.watch.set_wall(now, since_1970, self.config.drift) {
            self.nodes().into_iter().for_each(|id| self.look_now(now, id));
        }
    }

    /// Looks at a node now, or behind the look under way.
    pub(super) fn look_now(&mut self, now: Instant, id: NodeId) {
        self.nodes[id].look_now(now);
        self.watch(now, id);
    }

    /// Returns what all looks at this moment have in common.
    pub(super) fn terms(&self, now: Instant) -> Terms {
        self.watch.terms(now, self.quorum.nodes())
    }

    /// Returns whether a node is worth listening to.
    #[cfg(test)]
    pub(in crate::redlock) fn tells(&self, id: NodeId) -> bool {
        self.nodes[id].tells()
    }

    /// Returns whether a look at a node is under way.
    #[cfg(test)]
    pub(in crate::redlock) fn is_looking(&self, id: NodeId) -> bool {
        self.nodes[id].is_looking()
    }

    /// Brings the evidence about all nodes up to date.
    pub(super) fn settle_nodes(&mut self, now: Instant) {
        let terms = self.terms(now);
        for id in self.nodes.settle(now, self.quorum, &self.config, terms) {
            if self.nodes[id].is_ready() {
                self.changed.insert(id);
                self.nodes[id].doubt_untold_votes(now);
            }
        }
    }

    /// Looks at a node if it is time to, and ends or begins its quarantine.
    pub(super) fn watch(&mut self, now: Instant, id: NodeId) {
        let terms = self.terms(now);
        let node = &mut self.nodes[id];
        if node.wants_look(now) {
            node.start_look(now, &self.config, terms);
        }
        if node.settle(now, &self.config, terms) {
            self.changed.insert(id);
        }
    }

    /// Looks at the nodes that were not looked at lately, because a handshake has looked at one. If
    /// this client goes away, its last looks at all nodes are of one time. Else the next client
    /// would find one node in use when the others were not, and would believe none of them for a
    /// span.
    pub(super) fn look_at_others(&mut self, now: Instant, id: NodeId) {
        let terms = self.terms(now);
        for other in self.nodes().into_iter().filter(|other| *other != id) {
            if self.nodes[other].lags(now, &self.config, terms) {
                self.look_now(now, other);
            }
        }
    }

    /// Takes over what a look or a handshake, which left at `sent`, has found. Returns the reason
    /// why the session cannot go on.
    pub(super) fn looked(
        &mut self,
        now: Instant,
        id: NodeId,
        sent: Instant,
        found: &Findings,
    ) -> Result<(), NodeError> {
        if let Word::Given(word) = found.word {
            let nodes = self.quorum.nodes();
            if let Some(error) = disagreement(&self.config, nodes, word.constants) {
                return Err(error);
            }
            let max_ttl = word.constants.longest_ttl();
            self.watch.raise(max_ttl, self.config.span(max_ttl));
        }
        let terms = self.terms(now);
        let is_same = self.nodes[id].judge(now, sent, found, &self.config, terms);
        self.catch_up(now);
        self.settle_nodes(now);
        // Requests on their way count for nothing, because the node may have answered them with
        // other data.
        if is_same { Ok(()) } else { Err(NodeError::OtherData) }
    }

    /// Handles a reply to the look under way.
    pub(super) fn handle_look(
        &mut self,
        now: Instant,
        id: NodeId,
        sent: Instant,
        value: &Value<'_>,
    ) {
        let terms = self.terms(now);
        let result = match self.nodes[id].look_answered(now, value, &self.config, terms) {
            Progress::More | Progress::Again => return,
            Progress::Unanswered { .. } => {
                self.keep_error(id, value);
                self.watch(now, id);
                self.changed.insert(id);
                Ok(())
            }
            Progress::Done(found) => {
                if self.nodes[id].allow_scripts(&found) {
                    self.changed.insert(id);
                }
                self.looked(now, id, sent, &found)
            }
            Progress::Failed(error) => {
                self.keep_error(id, value);
                Err(error)
            }
        };
        let Err(error) = result else { return };
        if let Some(reason) = error.distrust() {
            self.nodes[id].distrust(now, reason, &self.config, terms);
        }
        self.drop_session(now, id, error);
    }
}
