//! Connections: from the handshake over every reply to the end.

use super::acquire::Vote;
use super::command::{self, By};
use super::handshake::{Identity, Progress};
use super::lease::Compared;
use super::lock::Phase;
use super::machine::Redlock;
use super::nodes::NodeId;
use super::pipeline::{Expected, What};
use super::reply::{Reply, ServerError};
use super::status::Trouble;
use super::token::Token;
use crate::resp::{Status, Value};
use crate::time::Instant;

/// The longest reply that is waited for, in bytes. The longest that is asked for, a section of
/// `INFO`, has some two thousand. A driver whose read buffer holds this much can always go on.
pub const MAX_REPLY: usize = 64 * 1024;

impl Redlock {
    /// The connection that [`Action::Connect`](super::Action::Connect) asked for is up.
    pub fn handle_connected(&mut self, now: Instant, node: NodeId) {
        let until = now + self.config.connect_timeout;
        let Some(found) = self.nodes.get_mut(node.index()) else { return };
        if found.connected(now, until) {
            self.node_changed(node);
        }
    }

    /// The connection of `node` ended, or could not be had, because of `trouble`.
    pub fn handle_closed(&mut self, now: Instant, node: NodeId, trouble: Trouble) {
        if node.index() < self.nodes.len() {
            self.session_ended(now, node, trouble);
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
        if let Some(node) = self.nodes.get_mut(node.index()) {
            node.outbox.advance(count);
        }
    }

    /// Bytes came from `node`. Returns how many of them are done with; the rest is the beginning
    /// of a reply, and the driver hands it in again with more behind it.
    ///
    /// `now` must have been read after the bytes were (S3).
    pub fn handle_received(&mut self, now: Instant, node: NodeId, bytes: &[u8]) -> usize {
        let mut done = 0;
        while done < bytes.len() {
            let Some(found) = self.nodes.get_mut(node.index()) else { return bytes.len() };
            if !found.is_connected() {
                // The session ended with the reply before: what is left belongs to nothing.
                return bytes.len();
            }
            match found.parser.parse(&bytes[done..]) {
                Ok(Status::Complete((value, used))) => {
                    done += used;
                    self.handle_reply(now, node, &value);
                }
                Ok(Status::Partial) if bytes.len() - done >= MAX_REPLY => {
                    self.drop_session(now, node, Trouble::ReplyTooLong);
                }
                Ok(Status::Partial) => break,
                Err(error) => self.drop_session(now, node, Trouble::Protocol(error)),
            }
        }
        self.admit(now);
        done
    }

    fn handle_reply(&mut self, now: Instant, id: NodeId, value: &Value<'_>) {
        if matches!(value, Value::Push(_) | Value::Attribute(_)) {
            // Both come beside replies, never in the place of one.
            return;
        }
        let node = &mut self.nodes[id.index()];
        let Some(request) = node.pipeline.next() else {
            return self.drop_session(now, id, Trouble::UnsolicitedReply);
        };
        let reply = Reply::read(value);
        // A reply of the wrong type means that we are out of step: this reply and all behind it
        // belong to other requests than we think. The request stays in the queue, unanswered.
        let fits = match request.what {
            What::Set => matches!(reply, Reply::Ok | Reply::Nil | Reply::Error(..)),
            What::Release(_) | What::Extend(_) | What::Cleanup(_) => {
                matches!(reply, Reply::Integer(-1..=1) | Reply::Error(..))
            }
            What::Handshake => true,
        };
        if !fits {
            return self.drop_session(now, id, Trouble::UnexpectedReply);
        }
        node.answered(now, request);
        if request.what == What::Handshake {
            return self.handle_handshake(now, id, value);
        }
        if let Reply::Error(error, text) = reply {
            node.counters.errors += 1;
            if let ServerError::NoScript = error
                && self.resend_by_text(now, id, request)
            {
                return;
            }
            self.handle_error(now, id, request, error, text);
        } else {
            self.handle_answer(now, id, request, reply);
        }
    }

    fn handle_answer(&mut self, now: Instant, id: NodeId, request: Expected, reply: Reply<'_>) {
        let compared = match reply {
            Reply::Integer(1) => Compared::Ours,
            Reply::Integer(0) => Compared::Absent,
            _ => Compared::Foreign,
        };
        match request.what {
            What::Set if reply == Reply::Ok => self.handle_vote(now, id, request, Vote::Granted),
            What::Set => self.handle_vote(now, id, request, Vote::Refused),
            What::Release(_) => self.handle_release(now, id, request, compared),
            What::Extend(_) => self.handle_extension(now, id, request, compared),
            What::Cleanup(_) => {
                let cleanup = &mut self.nodes[id.index()].cleanup;
                match compared {
                    Compared::Ours => cleanup.settled(request.slot),
                    _ => cleanup.again(now, request.slot),
                }
                self.clean_up(now, id);
            }
            What::Handshake => {}
        }
    }

    /// An error reply: what it means for the request, then what it means for the node.
    fn handle_error(
        &mut self,
        now: Instant,
        id: NodeId,
        request: Expected,
        error: ServerError,
        text: &[u8],
    ) {
        self.nodes[id.index()].keep_message(text);
        if error == ServerError::WrongType && request.what == What::Set {
            self.table[request.slot].wrong_type = true;
        }
        match request.what {
            What::Set => {
                let failed = error.ruled_out_execution();
                let vote = if failed { Vote::Failed } else { Vote::Unclear };
                self.handle_vote(now, id, request, vote);
            }
            // Somebody's data is at the key, so our token is not.
            What::Release(_) if error == ServerError::WrongType => {
                self.handle_release(now, id, request, Compared::Foreign);
            }
            What::Extend(_) if error == ServerError::WrongType => {
                self.handle_extension(now, id, request, Compared::Foreign);
            }
            What::Release(_) => self.handle_release(now, id, request, Compared::Failed),
            What::Extend(_) => self.handle_extension(now, id, request, Compared::Failed),
            What::Cleanup(_) => self.nodes[id.index()].cleanup.again(now, request.slot),
            What::Handshake => {}
        }
        let trouble = Trouble::Server(error);
        match error {
            ServerError::Overloaded => {
                self.nodes[id.index()].overloaded(now, trouble);
                self.node_changed(id);
            }
            ServerError::NotServing => self.drop_session(now, id, trouble),
            ServerError::Denied | ServerError::Cluster | ServerError::Unsupported => {
                self.drop_session(now, id, trouble);
            }
            ServerError::NoScript | ServerError::WrongType | ServerError::Other => {}
        }
    }

    /// The node does not know the script: sends its text instead, once, on the same connection.
    /// False if the text was what the node was sent, or if nobody waits for the answer any more.
    fn resend_by_text(&mut self, now: Instant, id: NodeId, request: Expected) -> bool {
        let Some(what) = request.what.by_text() else { return false };
        let node = &mut self.nodes[id.index()];
        let out = node.outbox.buffer();
        match what {
            What::Cleanup(by) => {
                let Some(ghost) = node.cleanup.get(request.slot) else { return false };
                let token = Token::of_attempt(&self.nonce, ghost.serial);
                command::release(out, by, &ghost.resource, &token);
            }
            What::Extend(by) => {
                let lock = &self.table[request.slot];
                if lock.phase != Phase::Held || lock.round.number != request.serial {
                    return false;
                }
                let token = Token::of_attempt(&self.nonce, lock.serial);
                command::extend(out, by, &lock.resource, &token, lock.round.ttl);
            }
            What::Release(by) => {
                let token = Token::of_attempt(&self.nonce, request.serial);
                command::release(out, by, &self.table[request.slot].resource, &token);
            }
            What::Set | What::Handshake => return false,
        }
        node.pipeline.push(Expected { what, sent: now, ..request });
        true
    }

    fn handle_handshake(&mut self, now: Instant, id: NodeId, value: &Value<'_>) {
        let node = &mut self.nodes[id.index()];
        let Some(handshake) = node.handshake() else { return };
        match handshake.handle_reply(value) {
            Progress::More => {}
            Progress::Done(identity) => self.session_ready(now, id, identity),
            Progress::Failed(trouble) => {
                if let Value::Error(text) = value {
                    node.counters.errors += 1;
                    node.keep_message(text);
                }
                self.drop_session(now, id, trouble);
            }
        }
    }

    /// The node proved what it must (S10). Delayed restart (S11) will be decided here, before the
    /// node is ready: from here on it votes.
    fn session_ready(&mut self, now: Instant, id: NodeId, identity: Identity) {
        let same = |other: &NodeId| {
            *other != id && self.nodes[other.index()].process() == Some(identity.run_id)
        };
        if let Some(other) = self.nodes().into_iter().find(same) {
            return self.drop_session(now, id, Trouble::SameProcess(other));
        }
        self.nodes[id.index()].ready(now, identity);
        self.node_changed(id);
        self.clean_up(now, id);
    }

    /// Sends the deletions that are due on a node.
    pub(super) fn clean_up(&mut self, now: Instant, id: NodeId) {
        let nonce = self.nonce;
        let node = &mut self.nodes[id.index()];
        if !node.is_ready() {
            return;
        }
        node.cleanup.take_due(now, |place, ghost| {
            let token = Token::of_attempt(&nonce, ghost.serial);
            command::release(node.outbox.buffer(), By::Sha, &ghost.resource, &token);
            let what = What::Cleanup(By::Sha);
            node.pipeline.push(Expected { what, slot: place, serial: ghost.serial, sent: now });
            node.counters.scripts += 1;
        });
    }

    /// Ends the session of a node from our side.
    pub(super) fn drop_session(&mut self, now: Instant, id: NodeId, trouble: Trouble) {
        self.must_close(id);
        self.session_ended(now, id, trouble);
    }

    /// The session of a node is over: what was on its way is unknown for ever (S4, S6).
    fn session_ended(&mut self, now: Instant, id: NodeId, trouble: Trouble) {
        let max = self.config.reconnect_max;
        let orphans = self.nodes[id.index()].down(now, trouble, max, &mut self.rng);
        self.node_changed(id);
        for request in orphans {
            match request.what {
                What::Set => self.orphan_vote(now, id, request),
                What::Release(_) => self.handle_release(now, id, request, Compared::Failed),
                What::Extend(_) => self.handle_extension(now, id, request, Compared::Failed),
                What::Cleanup(_) => self.nodes[id.index()].cleanup.lost(now, request.slot),
                What::Handshake => {}
            }
        }
    }

    /// A `SET` whose reply will never come. For a lock that was given up, its release died with it
    /// on the same connection and goes to the cleanup list by itself.
    fn orphan_vote(&mut self, now: Instant, id: NodeId, request: Expected) {
        let lock = &mut self.table[request.slot];
        lock.owed -= 1;
        let current = lock.serial == request.serial;
        if current && matches!(lock.phase, Phase::Attempt | Phase::Held) {
            lock.votes.open.remove(id);
            lock.exists.remove(id);
            lock.ghosts.insert(id);
            self.count_votes(now, request.slot);
        }
        self.recycle(request.slot);
    }
}
