//! Connections: how they begin, what they receive, and how they end.

use super::Redlock;
use crate::redlock::bounds::MAX_REPLY;
use crate::redlock::login::Login;
use crate::redlock::node::batch::{Member, Purpose};
use crate::redlock::node::error::NodeError;
use crate::redlock::node::inquiry::Findings;
use crate::redlock::node::request::Request;
use crate::redlock::node_set::NodeId;
use crate::redlock::sabotage::Saboteur;
use crate::resp::Status;
use crate::time::Instant;

impl Redlock {
    /// Sets the login to `node` for the handshakes to come. A connection that is up keeps its own.
    ///
    /// A driver whose passwords change calls this before each
    /// [`handle_connected`](Self::handle_connected), and for each
    /// [`Action::Login`](super::Action::Login). A node that has refused the login before is then
    /// due to be connected at once. The database must stay the same, because locks of another
    /// database are not seen.
    pub fn set_login(&mut self, node: NodeId, login: Login) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.set_login(login);
        }
    }

    /// Reports that the connection requested by [`Action::Connect`](super::Action::Connect) is up.
    /// The handshake is queued for the next [`poll_transmit`](Self::poll_transmit).
    pub fn handle_connected(&mut self, now: Instant, node: NodeId) {
        let terms = self.terms(now);
        let Some(found) = self.nodes.get_mut(node) else { return };
        if found.connected(now, &self.config, terms) {
            self.node_changed(node);
        }
    }

    /// Reports that the connection of `node` has ended, or could not be opened, because of `error`.
    ///
    /// Requests without a reply end in this call, and none of them counts as a vote (S4). A token
    /// that may exist although nobody holds the lock is cleaned up after the reconnect (S6).
    pub fn handle_closed(&mut self, now: Instant, node: NodeId, error: NodeError) {
        if self.nodes.get(node).is_some() {
            self.session_ended(now, node, error);
            self.admit(now);
        }
    }

    /// Reports that the server of `node` has accepted the connection requested by
    /// [`Action::Connect`](super::Action::Connect), and that TLS comes next. A driver without TLS
    /// never calls this.
    #[cfg(feature = "net")]
    pub(crate) fn handle_reached(&mut self, now: Instant, node: NodeId) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.reached(now);
        }
    }

    /// Reports the same as [`handle_closed`](Self::handle_closed), and what else is known, such as
    /// the name of a file.
    #[cfg(feature = "net")]
    pub(crate) fn handle_failed(
        &mut self,
        now: Instant,
        node: NodeId,
        error: NodeError,
        detail: &str,
    ) {
        self.handle_closed(now, node, error);
        if let Some(node) = self.nodes.get_mut(node).filter(|_| !detail.is_empty()) {
            node.keep_detail(detail);
        }
    }

    /// Reports that the first `count` bytes from [`poll_transmit`](Self::poll_transmit) were
    /// written to `node`.
    ///
    /// # Panics
    ///
    /// Panics if `count` is more than the number of bytes that were there.
    pub fn handle_sent(&mut self, node: NodeId, count: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.transmitted(count);
        }
    }

    /// Handles `bytes` that came from `node`. Returns how many of them are used up. The rest is the
    /// beginning of a reply; the driver passes the rest again, with more bytes behind it.
    ///
    /// `now` must have been read after the bytes were (S3). Replies are parsed in place.
    pub fn handle_received(&mut self, now: Instant, node: NodeId, bytes: &[u8]) -> usize {
        let mut done = 0;
        while done < bytes.len() {
            let Some(found) = self.nodes.get(node) else { return bytes.len() };
            if !found.is_connected() {
                // The session ended with the previous reply: the remaining bytes belong to nothing.
                done = bytes.len();
                break;
            }
            if found.is_between_replies() {
                let granted = self.handle_grants(now, node, &bytes[done..]);
                if granted > 0 {
                    done += granted;
                    continue;
                }
            }
            match self.nodes[node].parse(&bytes[done..]) {
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

    /// Ends the handshake of a node that has proved what it must (S10). The handshake left at
    /// `sent`. From here on the node votes, unless it may have forgotten locks (S11).
    pub(super) fn session_ready(
        &mut self,
        now: Instant,
        id: NodeId,
        sent: Instant,
        found: &Findings,
    ) {
        let run_id = Some(found.identity.run_id);
        let same = |other: &NodeId| *other != id && self.nodes[*other].process() == run_id;
        let duplicate = self.nodes().into_iter().find(same);
        if let Some(other) =
            duplicate.filter(|_| !self.config.is_sabotaged(Saboteur::SameProcessVotes))
        {
            return self.drop_session(now, id, NodeError::SameProcess(other));
        }
        let terms = self.terms(now);
        self.nodes[id].ready(now, found, &self.config, terms);
        // Other data is no reason to end a session that begins with it.
        match self.looked(now, id, sent, found) {
            Ok(()) | Err(NodeError::OtherData) => {}
            Err(error) => return self.drop_session(now, id, error),
        }
        self.look_at_others(now, id);
        self.node_changed(id);
        self.clean_up(now, id);
    }

    /// Adds the tokens whose cleanup is due on a node to the batch of the node.
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

    /// Ends the session of a node from this side.
    pub(super) fn drop_session(&mut self, now: Instant, id: NodeId, error: NodeError) {
        self.must_close(id);
        self.session_ended(now, id, error);
    }

    /// Ends the session of a node. The fate of the requests on their way stays unknown for ever
    /// (S4, S6).
    fn session_ended(&mut self, now: Instant, id: NodeId, error: NodeError) {
        let max = self.config.reconnect_max;
        self.gathered -= self.nodes[id].gathered();
        let lost = self.nodes[id].down(now, error, max, &mut self.rng);
        self.settle_nodes(now);
        self.node_changed(id);
        for expected in lost {
            match expected.request {
                Request::Set(request) => self.set_lost(now, id, request),
                Request::Door(request) => self.handle_door(now, id, request, None),
                Request::Ttl(request) => self.handle_ttl(now, id, request, None),
                Request::Ticket(request, _) | Request::TicketTtl(request) => {
                    self.ticket_settled(request);
                }
                Request::Query(query) => self.handle_view(id, query, None),
                // The members of a compare request are in the batch.
                Request::Compare(_)
                | Request::OptIn
                | Request::TicketBack
                | Request::Mark
                | Request::Wanted { .. }
                | Request::Handshake
                | Request::Look => {}
            }
        }
        self.wake_all(now, id);
        for member in self.nodes[id].batch.take() {
            self.member_lost(now, id, member);
        }
    }
}
