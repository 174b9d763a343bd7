//! Connections: from the handshake over every reply to the end.

use core::iter;

use super::answer::Answer;
use super::attempt::Vote;
use super::batch::{Member, Purpose};
use super::command::Form;
use super::handshake::{Identity, Progress};
use super::lease::Compared;
use super::lock::Phase;
use super::machine::Redlock;
use super::nodes::NodeId;
use super::pipeline::{Expected, What};
use super::query::View;
use super::reply::ServerError;
use super::sabotage::Saboteur;
use super::status::Trouble;
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
            // These come beside replies, but only in RESP3, which nobody asked for.
            return self.drop_session(now, id, Trouble::UnexpectedReply);
        }
        let node = &mut self.nodes[id.index()];
        let Some(request) = node.pipeline.next() else {
            return self.drop_session(now, id, Trouble::UnsolicitedReply);
        };
        // A reply of the wrong type means that we are out of step: this reply and all behind it
        // belong to other requests than we think. The request stays in the queue, unanswered.
        let Some(answer) = Answer::read(request, value) else {
            return self.drop_session(now, id, Trouble::UnexpectedReply);
        };
        let is_back = node.answered(now, request);
        match answer {
            Answer::Handshake => self.handle_handshake(now, id, value),
            Answer::Vote(vote) if request.what.is_fill() => {
                self.handle_fill(now, id, request, vote)
            }
            Answer::Vote(vote) => self.handle_vote(now, id, request, vote),
            Answer::View(view) => self.handle_view(id, request, Some(view)),
            Answer::One(answer) => self.request_answered(now, id, iter::once(answer)),
            Answer::Many(answers) => {
                let count = request.slot as usize;
                self.request_answered(now, id, answers.iter().copied().take(count));
            }
            Answer::Error(error, text) => {
                node.counters.errors += 1;
                if !self.put_differently(now, id, request, error) {
                    self.handle_error(now, id, request, error, text);
                }
            }
        }
        if is_back {
            self.node_changed(id);
        }
    }

    /// Asks in another way where the error is about the way in which was asked. False if there is
    /// none.
    fn put_differently(
        &mut self,
        now: Instant,
        id: NodeId,
        request: Expected,
        error: ServerError,
    ) -> bool {
        if error == ServerError::KeyDenied {
            return self.put_one_by_one(now, id, request);
        }
        if !wants_another_form(request, error) {
            return false;
        }
        match request.what {
            What::SetAll(_) | What::FillAll(_) => self.put_set_otherwise(now, id, request),
            _ => self.put_otherwise(now, id, request, error),
        }
    }

    /// The oldest compare request was answered, one answer for each of its keys.
    fn request_answered(
        &mut self,
        now: Instant,
        id: NodeId,
        answers: impl Iterator<Item = Compared>,
    ) {
        self.nodes[id.index()].batch.answered();
        for answer in answers {
            if let Some(member) = self.nodes[id.index()].batch.pop_sent() {
                self.answer_member(now, id, member, answer);
            }
        }
        self.clean_up(now, id);
    }

    /// An error reply: what it means for the node, then what it means for the request. In this
    /// order, because the next lock that gets its turn must not be sent to a node that cannot.
    fn handle_error(
        &mut self,
        now: Instant,
        id: NodeId,
        request: Expected,
        error: ServerError,
        text: &[u8],
    ) {
        use ServerError::{Cluster, Denied, NotServing, Overloaded, Unsupported};
        let node = &mut self.nodes[id.index()];
        node.keep_message(text);
        match error {
            Overloaded => {
                node.overloaded(now, Trouble::Server(error));
                self.node_changed(id);
            }
            // A question is not worth a session.
            Denied | Unsupported if request.what == What::Holder => {}
            NotServing | Denied | Cluster | Unsupported => {
                if error == NotServing {
                    node.doubt(now, &self.config);
                }
                self.drop_session(now, id, Trouble::Server(error));
            }
            // What stands against one key must not shut out the node: who chooses the resources
            // could then take all locks away from everybody.
            _ => {}
        }
        match request.what {
            What::Set | What::SetAll(_) => {
                self.handle_vote(now, id, request, Vote::of_error(error));
            }
            What::Fill | What::FillAll(_) => {
                self.handle_fill(now, id, request, Vote::of_error(error));
            }
            What::Holder => self.handle_view(id, request, View::of_error(error)),
            // A session that ended has answered for all that was on its way.
            What::Release(_) | What::Extend(_) if self.nodes[id.index()].is_ready() => {
                // Somebody's data is at the key, so our token is not. Only a request for one key
                // can be answered so: a group takes what is no string for absent.
                let wrong_type = error == ServerError::WrongType;
                let answer = if wrong_type { Compared::Foreign } else { Compared::Failed };
                let count = request.slot as usize;
                self.request_answered(now, id, iter::repeat_n(answer, count));
            }
            What::Release(_) | What::Extend(_) | What::Handshake => {}
        }
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

    /// The node proved what it must (S10), and votes from here on, unless it may have forgotten
    /// locks (S11).
    fn session_ready(&mut self, now: Instant, id: NodeId, identity: Identity) {
        let same = |other: &NodeId| {
            *other != id && self.nodes[other.index()].process() == Some(identity.run_id)
        };
        let twin = self.nodes().into_iter().find(same);
        if let Some(other) = twin.filter(|_| !self.config.is_sabotaged(Saboteur::SameProcessVotes))
        {
            return self.drop_session(now, id, Trouble::SameProcess(other));
        }
        self.nodes[id.index()].ready(now, identity, &self.config);
        self.node_changed(id);
        self.clean_up(now, id);
    }

    /// Puts the deletions that are due on a node into its batch.
    pub(super) fn clean_up(&mut self, now: Instant, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        if !node.is_ready() {
            return;
        }
        node.cleanup.take_due(now, |slot, serial, keys| {
            let is_set = keys > 1;
            node.batch.add(Member { purpose: Purpose::CleanUp, slot, serial, is_set });
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
                What::Set | What::SetAll(_) => self.orphan_vote(now, id, request),
                What::Fill | What::FillAll(_) => self.orphan_fill(now, id, request),
                What::Holder => self.handle_view(id, request, None),
                // Their keys are in the batch.
                What::Release(_) | What::Extend(_) | What::Handshake => {}
            }
        }
        for member in self.nodes[id.index()].batch.take() {
            self.orphan_member(now, id, member);
        }
    }

    /// A `SET` whose reply will never come. For a lock that was given up, its release died with it
    /// on the same connection and goes to the cleanup list by itself.
    fn orphan_vote(&mut self, now: Instant, id: NodeId, request: Expected) {
        let lock = &mut self.table[request.slot];
        lock.owed -= 1;
        let current = lock.serial == request.serial;
        if current && matches!(lock.phase, Phase::Attempt | Phase::Held | Phase::Lapsing) {
            lock.votes.open.remove(id);
            if self.config.is_sabotaged(Saboteur::UnknownCounts) {
                lock.votes.granted.insert(id);
            }
            lock.exists.remove(id);
            lock.ghosts.insert(id);
            self.count_votes(now, request.slot);
            self.show_to_others(now, request.slot);
        }
        self.recycle(request.slot);
    }
}

/// Whether the request was not executed only because of how it was put. A server may not know its
/// native command after all, or may forbid it to us where it allows the script.
fn wants_another_form(request: Expected, error: ServerError) -> bool {
    use ServerError::{Denied, NoScript, Unsupported};
    match request.what {
        What::Release(Form::Native(_)) => matches!(error, Unsupported | Denied),
        _ => error == NoScript,
    }
}
