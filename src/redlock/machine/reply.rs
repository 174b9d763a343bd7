//! Replies: what each reply means for the node, and which request gets the answer.

use core::iter;

use super::Redlock;
use crate::redlock::histogram::Alike;
use crate::redlock::node::batch::{Member, Purpose};
use crate::redlock::node::error::NodeError;
use crate::redlock::node::inquiry::{Progress, Word};
use crate::redlock::node::request::{
    CompareRequest, Expected, GROUP, Intent, LatencyClass, Op, Request, SetRequest,
};
use crate::redlock::node_set::NodeId;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::answer::{Compared, Seen, View, Vote};
use crate::redlock::wire::fencing::Drawn;
use crate::redlock::wire::server_error::ServerError;
use crate::resp::Value;
use crate::time::Instant;

impl Redlock {
    /// Handles one reply of a node.
    pub(super) fn handle_reply(&mut self, now: Instant, id: NodeId, value: &Value<'_>) {
        if matches!(value, Value::Push(_) | Value::Attribute(_)) {
            return self.handle_beside(now, id, value);
        }
        let node = &mut self.nodes[id];
        let Some(Expected { request, sent }) = node.next_expected() else {
            return self.drop_session(now, id, NodeError::UnsolicitedReply);
        };
        // Nearly all replies are votes, so votes take a short way.
        if let (Request::Set(request), Some(vote)) = (request, Vote::read(value)) {
            if node.answered(now, sent, LatencyClass::Set) {
                self.node_changed(id);
            }
            return self.handle_set_reply(now, id, request, vote);
        }
        // A reply of the wrong type means that the connection is out of step: this reply and all
        // replies behind it belong to other requests than they seem to. The request stays in the
        // queue, unanswered.
        if self.handle_other_reply(now, id, request, sent, value).is_none() {
            self.drop_session(now, id, NodeError::UnexpectedReply);
        }
    }

    /// Handles the grants at the beginning of `bytes`, where a reply begins: does for each of them
    /// what [`handle_reply`](Self::handle_reply) does. Returns their length.
    ///
    /// Most bytes of a busy node are runs of grants. Looking for these five bytes, instead of
    /// making values of them, and recording latencies of one bucket together saves 450 instructions
    /// of a cycle over five nodes, with 512 locks in flight.
    #[inline]
    pub(super) fn handle_grants(&mut self, now: Instant, id: NodeId, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        let mut run = Alike::default();
        while let Some(behind) = rest.strip_prefix(Vote::GRANT) {
            let node = &mut self.nodes[id];
            let Some(Expected { request: Request::Set(request), sent }) = node.next_expected()
            else {
                break;
            };
            if node.set_answered(now, sent, &mut run) {
                self.node_changed(id);
            }
            self.handle_set_reply(now, id, request, Vote::Granted);
            rest = behind;
        }
        self.nodes[id].run_ended(run);
        bytes.len() - rest.len()
    }

    /// Handles a reply that is no vote. Returns `None` if the request cannot have this reply.
    fn handle_other_reply(
        &mut self,
        now: Instant,
        id: NodeId,
        request: Request,
        sent: Instant,
        value: &Value<'_>,
    ) -> Option<()> {
        let answered = |redlock: &mut Self| redlock.request_answered(now, id, sent, request);
        match (request, value) {
            // The handshake reads its own replies.
            (Request::Handshake, _) => {
                answered(self);
                self.handle_handshake(now, id, sent, value);
            }
            // So does a look.
            (Request::Look, _) => {
                answered(self);
                self.handle_look(now, id, sent, value);
            }
            (_, Value::Error(text) | Value::BulkError(text)) => {
                answered(self);
                self.nodes[id].counters.errors += 1;
                let error = ServerError::classify(text);
                let expected = Expected { request, sent };
                if !self.retry_in_other_form(now, id, expected, error) {
                    self.handle_error(now, id, expected, error, text);
                }
            }
            (Request::Compare(CompareRequest { count: 1, .. }), _) => {
                let answer = Compared::read(value)?;
                answered(self);
                self.group_answered(now, id, iter::once(answer));
            }
            (Request::Compare(CompareRequest { op, count, .. }), _) => {
                let mut answers = [Compared::Failed; GROUP];
                let answers = answers.get_mut(..count as usize)?;
                match op {
                    Op::Release => Compared::read_releases(value, answers)?,
                    Op::Extend => Compared::read_many(value, answers)?,
                }
                answered(self);
                self.group_answered(now, id, answers.iter().copied());
            }
            (Request::Query(query), _) => {
                let view = View::read(value)?;
                answered(self);
                // A node that may have forgotten locks does not know that nobody has the key (S11).
                let forgot = view == View::Nothing && self.nodes[id].is_quarantined(now);
                self.handle_view(id, query, (!forgot).then_some(view));
            }
            (Request::Set(request), Value::Array(elements)) if request.form.is_fenced() => {
                self.handle_drawn_together(now, id, (request, sent), elements.clone())?;
            }
            (Request::Set(request), _) if request.form.is_fenced() && !self.has_joined(id) => {
                let drawn = Self::read_drawn(request.intent, value)?;
                answered(self);
                self.handle_drawn(now, id, request, drawn);
            }
            // This reply to a `SET` is neither a vote nor an error.
            (Request::Set(_), _) => return None,
            _ => return self.handle_reply_of_door(now, id, Expected { request, sent }, value),
        }
        Some(())
    }

    /// Handles a reply to one of the requests of a look at the door, or about a mark there. Returns
    /// `None` if the request cannot have this reply.
    fn handle_reply_of_door(
        &mut self,
        now: Instant,
        id: NodeId,
        Expected { request, sent }: Expected,
        value: &Value<'_>,
    ) -> Option<()> {
        match (request, value) {
            (Request::Door(door), _) => {
                let seen = Seen::read(value)?;
                self.request_answered(now, id, sent, request);
                self.handle_door(now, id, door, Some(seen));
            }
            (Request::Ttl(door), Value::Integer(millis)) => {
                self.request_answered(now, id, sent, request);
                self.handle_ttl(now, id, door, Some(*millis));
            }
            (Request::Ticket(ticket, nth), _) => {
                let is_drawn = Vote::read(value)? == Vote::Granted;
                self.request_answered(now, id, sent, request);
                self.handle_ticket(now, id, (ticket, nth), is_drawn.then_some(sent));
            }
            (Request::TicketTtl(ticket), Value::Integer(millis)) => {
                self.request_answered(now, id, sent, request);
                self.handle_ticket_ttl(now, id, ticket, *millis);
            }
            (Request::TicketBack, _) => {
                Compared::read(value)?;
                self.request_answered(now, id, sent, request);
            }
            (Request::OptIn | Request::Mark, Value::Simple(b"OK")) => {
                self.request_answered(now, id, sent, request);
            }
            (Request::Wanted { hash, lock }, _) => {
                let answer = Compared::read(value)?;
                self.request_answered(now, id, sent, request);
                self.handle_wanted(now, hash, lock, answer);
            }
            _ => return None,
        }
        Some(())
    }

    /// Takes the oldest request of a node, which was sent at `sent`, off the requests that are owed
    /// a reply.
    fn request_answered(&mut self, now: Instant, id: NodeId, sent: Instant, request: Request) {
        if self.nodes[id].answered(now, sent, request.class()) {
            self.node_changed(id);
        }
    }

    /// Hands a vote to the attempt or the repair that asked for it.
    // A function of its own would cost 65 instructions of a lone cycle, 30 of one in groups.
    #[inline(always)]
    fn handle_set_reply(&mut self, now: Instant, id: NodeId, request: SetRequest, vote: Vote) {
        match request.intent {
            Intent::Attempt => self.handle_vote(now, id, request, vote),
            Intent::Repair => self.handle_repair(now, id, request, vote),
            _ => self.handle_other_vote(now, id, request, vote),
        }
    }

    /// Hands the answers to the oldest compare request to its members, one answer each.
    fn group_answered(
        &mut self,
        now: Instant,
        id: NodeId,
        answers: impl Iterator<Item = Compared>,
    ) {
        self.nodes[id].batch.request_answered();
        for answer in answers {
            if let Some(member) = self.nodes[id].batch.pop_sent() {
                self.answer_member(now, id, member, answer);
            }
        }
        self.clean_up(now, id);
    }

    /// Hands an answer to the release, extension, adoption or cleanup of a member.
    // Nearly all answers are about releases. With a call for each, a cycle would cost 120
    // instructions more.
    #[inline(always)]
    pub(super) fn answer_member(
        &mut self,
        now: Instant,
        id: NodeId,
        member: Member,
        answer: Compared,
    ) {
        match member.purpose {
            Purpose::Release => self.handle_release(now, id, member, answer),
            _ => self.answer_other(now, id, member, answer),
        }
    }

    #[inline(never)]
    fn answer_other(&mut self, now: Instant, id: NodeId, member: Member, answer: Compared) {
        match member.purpose {
            Purpose::Release => {}
            Purpose::Extend => self.handle_extension(now, id, member, answer),
            Purpose::Adopt => self.handle_adoption(now, id, member, answer),
            Purpose::CleanUp => {
                let cleanup = &mut self.nodes[id].cleanup;
                match answer {
                    Compared::Ours => cleanup.settled(member.slot, member.serial),
                    _ => cleanup.retry_later(now, member.slot, member.serial),
                }
            }
        }
    }

    /// Handles a member whose connection died before the answer came.
    pub(super) fn member_lost(&mut self, now: Instant, id: NodeId, member: Member) {
        match member.purpose {
            Purpose::CleanUp => self.nodes[id].cleanup.lost(now, member.slot, member.serial),
            _ => self.answer_member(now, id, member, Compared::Failed),
        }
    }

    /// Handles an error reply: first for the node, then for the request. The order matters, because
    /// the next lock that gets its turn must not be sent to a node that cannot serve.
    fn handle_error(
        &mut self,
        now: Instant,
        id: NodeId,
        Expected { request, sent }: Expected,
        error: ServerError,
        text: &[u8],
    ) {
        use ServerError::{Cluster, Denied, NotServing, Overloaded, ScriptDenied, Unsupported};
        let terms = self.terms(now);
        let node = &mut self.nodes[id];
        node.keep_message(text);
        match error {
            Overloaded => {
                node.overloaded(now, NodeError::Server(error));
                self.node_changed(id);
            }
            // A query, a look at the door or a mark there is not worth a session.
            Denied | ScriptDenied | Unsupported if request.is_hint() => {}
            // No lock without a fencing number needs these commands.
            ScriptDenied | Unsupported if request.is_fenced() => {
                node.deny_fences();
                self.node_changed(id);
            }
            NotServing | Denied | ScriptDenied | Cluster | Unsupported => {
                if let Some(reason) = NodeError::Server(error).distrust() {
                    node.distrust(now, reason, &self.config, terms);
                }
                self.drop_session(now, id, NodeError::Server(error));
            }
            // An error about one key must not shut out the node. Otherwise a client that chooses
            // the resources could take all locks away from everybody.
            _ => {}
        }
        match request {
            Request::Set(request) if request.form.is_fenced() => {
                let drawn = match self.config.is_sabotaged(Saboteur::ErrorWroteNothing) {
                    true => Drawn::Failed,
                    false => Drawn::of_error(error),
                };
                for request in self.take_call(now, id, request, sent) {
                    self.handle_drawn(now, id, request, drawn);
                }
            }
            Request::Set(request) => {
                self.handle_set_reply(now, id, request, Vote::of_error(error));
            }
            Request::Door(request) => self.handle_door(now, id, request, Seen::of_error(error)),
            Request::Ttl(request) => self.handle_ttl(now, id, request, None),
            Request::Ticket(request, _) | Request::TicketTtl(request) => {
                self.ticket_failed(now, request, error);
            }
            Request::OptIn if error.is_passing() => {}
            Request::OptIn => self.listen_no_more(now, id),
            Request::Query(query) => self.handle_view(id, query, View::of_error(error)),
            // A session that has ended has already answered for all requests on their way.
            Request::Compare(request) if self.nodes[id].is_ready() => {
                let count = request.count as usize;
                self.group_answered(now, id, iter::repeat_n(Compared::of_error(error), count));
            }
            Request::Compare(_)
            | Request::TicketBack
            | Request::Mark
            | Request::Wanted { .. }
            | Request::Handshake
            | Request::Look => {}
        }
    }

    /// Handles the reply to the next step of the handshake.
    fn handle_handshake(&mut self, now: Instant, id: NodeId, sent: Instant, value: &Value<'_>) {
        let terms = self.terms(now);
        let node = &mut self.nodes[id];
        let Some(handshake) = node.handshake() else { return };
        match handshake.handle_reply(value) {
            // The last is for later looks.
            Progress::More | Progress::Unanswered { .. } => {}
            Progress::Again => node.go_on_asking(sent, &self.config, terms),
            Progress::Done(found) => {
                self.session_ready(now, id, sent, &found);
                // Why the node keeps no witness, if one was asked for.
                if self.nodes[id].is_ready() && found.word != Word::Unasked {
                    self.keep_error(id, value);
                }
            }
            Progress::Failed(error) => {
                self.keep_error(id, value);
                self.drop_session(now, id, error);
            }
        }
    }

    /// Counts an error of a node, and keeps its words. Does nothing for other replies.
    pub(super) fn keep_error(&mut self, id: NodeId, value: &Value<'_>) {
        if let Value::Error(text) | Value::BulkError(text) = value {
            self.nodes[id].counters.errors += 1;
            self.nodes[id].keep_message(text);
        }
    }
}
