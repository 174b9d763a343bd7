//! Connections: how they come up, what is read from them, and how they end.

use super::Redlock;
use crate::redlock::node::batch::{Member, Purpose};
use crate::redlock::node::error::NodeError;
use crate::redlock::node::handshake::Identity;
use crate::redlock::node_set::NodeId;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::request::Request;
use crate::resp::Status;
use crate::time::Instant;

/// The longest reply that is waited for, in bytes. The longest that is asked for, a section of
/// `INFO`, has some two thousand. A driver whose read buffer holds this much can always go on.
pub const MAX_REPLY: usize = 64 * 1024;

impl Redlock {
    /// The connection that [`Action::Connect`](super::Action::Connect) asked for is up.
    pub fn handle_connected(&mut self, now: Instant, node: NodeId) {
        let until = now + self.config.connect_timeout;
        let Some(found) = self.nodes.get_mut(node) else { return };
        if found.connected(now, until) {
            self.node_changed(node);
        }
    }

    /// The connection of `node` ended, or could not be had, because of `error`.
    pub fn handle_closed(&mut self, now: Instant, node: NodeId, error: NodeError) {
        if self.nodes.get(node).is_some() {
            self.session_ended(now, node, error);
            self.admit(now);
        }
    }

    /// The first `count` bytes of what [`poll_transmit`](Self::poll_transmit) yielded for `node`
    /// were written.
    ///
    /// # Panics
    ///
    /// If `count` is more than was there.
    pub fn handle_sent(&mut self, node: NodeId, count: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.transmitted(count);
        }
    }

    /// Bytes came from `node`. Returns how many of them are done with; the rest is the beginning
    /// of a reply, and the driver hands it in again with more behind it.
    ///
    /// `now` must have been read after the bytes were (S3).
    pub fn handle_received(&mut self, now: Instant, node: NodeId, bytes: &[u8]) -> usize {
        let mut done = 0;
        while done < bytes.len() {
            let Some(found) = self.nodes.get_mut(node) else { return bytes.len() };
            if !found.is_connected() {
                // The session ended with the reply before: what is left belongs to nothing.
                return bytes.len();
            }
            match found.parse(&bytes[done..]) {
                Ok(Status::Complete((value, used))) => {
                    done += used;
                    self.handle_reply(now, node, &value);
                }
                Ok(Status::Partial) if bytes.len() - done >= MAX_REPLY => {
                    self.drop_session(now, node, NodeError::ReplyTooLong);
                }
                Ok(Status::Partial) => break,
                Err(error) => self.drop_session(now, node, NodeError::Protocol(error)),
            }
        }
        self.admit(now);
        done
    }

    /// The node proved what it must (S10), and votes from here on, unless it may have forgotten
    /// locks (S11).
    pub(super) fn session_ready(&mut self, now: Instant, id: NodeId, identity: Identity) {
        let same =
            |other: &NodeId| *other != id && self.nodes[*other].process() == Some(identity.run_id);
        let twin = self.nodes().into_iter().find(same);
        if let Some(other) = twin.filter(|_| !self.config.is_sabotaged(Saboteur::SameProcessVotes))
        {
            return self.drop_session(now, id, NodeError::SameProcess(other));
        }
        self.nodes[id].ready(now, identity, &self.config);
        self.node_changed(id);
        self.clean_up(now, id);
    }

    /// Puts the deletions that are due on a node into its batch.
    pub(super) fn clean_up(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id];
        if !node.is_ready() {
            return;
        }
        node.cleanup.take_due(now, |slot, serial, keys| {
            let is_set = keys > 1;
            node.batch.add(Member { purpose: Purpose::CleanUp, slot, serial, is_set });
        });
    }

    /// Ends the session of a node from our side.
    pub(super) fn drop_session(&mut self, now: Instant, id: NodeId, error: NodeError) {
        self.must_close(id);
        self.session_ended(now, id, error);
    }

    /// The session of a node is over: what was on its way is unknown for ever (S4, S6).
    fn session_ended(&mut self, now: Instant, id: NodeId, error: NodeError) {
        let max = self.config.reconnect_max;
        let orphans = self.nodes[id].down(now, error, max, &mut self.rng);
        self.node_changed(id);
        for expected in orphans {
            match expected.request {
                Request::Set(request) => self.set_lost(now, id, request),
                Request::Query(query) => self.handle_view(id, query, None),
                // The members of a compare request are in the batch.
                Request::Compare(_) | Request::Handshake => {}
            }
        }
        for member in self.nodes[id].batch.take() {
            self.member_lost(now, id, member);
        }
    }
}
