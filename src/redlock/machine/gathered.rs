//! How requests for a key and a fencing number leave (S13): gathered per node, several in one
//! script call.
//!
//! No request is held back to make a call larger: a call has what was asked for since the last
//! write. A request that is alone leaves as a call of the script for one lock.
//!
//! Requests that wait leave before everything else that is about their locks. The release of a lock
//! that was given up must not overtake the request that takes its key.

use core::iter;

use super::Redlock;
use crate::redlock::lock::Phase;
use crate::redlock::lock::table::Table;
use crate::redlock::millis::Millis;
use crate::redlock::node::gathered::Joined;
use crate::redlock::node::request::{Intent, JOINED, LatencyClass, SetRequest};
use crate::redlock::node_set::NodeId;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::token::Nonce;
use crate::redlock::wire::command::{Call, SetForm};
use crate::redlock::wire::fencing::{self, Claim, Drawn};
use crate::redlock::wire::server_error::ServerError;
use crate::resp::Elements;
use crate::time::Instant;

impl Redlock {
    /// Sends the requests for fencing numbers that wait for a node.
    #[cold]
    pub(super) fn flush_gathered(&mut self, now: Instant, id: NodeId) {
        while self.nodes[id].gathered() > 0 {
            let requests = self.nodes[id].take_gathered(now);
            self.gathered -= requests.len();
            let Self { table, nonce, nodes, last_joined, .. } = self;
            let bytes = last_joined.bytes((), requests.iter(), |out| {
                let claims = claims(table, nonce, &requests, |slot| table[slot].ttl);
                fencing::acquire_many(out, Call::Sha, claims);
            });
            nodes[id].send_joined(bytes, Call::Sha, &requests, now);
        }
    }

    /// Sends one call of these requests, of which there is at least one, once more.
    fn resend_call(&mut self, now: Instant, id: NodeId, call: Call, requests: &[SetRequest]) {
        let mut bytes = core::mem::take(&mut self.scratch);
        bytes.clear();
        let claims = claims(&self.table, &self.nonce, requests, |slot| self.resend_ttl(now, slot));
        fencing::acquire_many(&mut bytes, call, claims);
        self.nodes[id].send_joined(&bytes, call, requests, now);
        self.scratch = bytes;
    }

    /// Hands the elements of a reply to `first` and to the requests that were sent in the same
    /// call. Returns `None` if these cannot have this reply.
    pub(super) fn handle_drawn_together(
        &mut self,
        now: Instant,
        id: NodeId,
        (first, sent): (SetRequest, Instant),
        elements: Elements<'_>,
    ) -> Option<()> {
        let call: Joined = iter::once(first).chain(self.nodes[id].joined(1)).collect();
        if call.len() == 1 || elements.len() != call.len() {
            return None;
        }
        let mut answers = [Drawn::Lost; JOINED];
        for ((request, answer), element) in call.iter().zip(&mut answers).zip(elements) {
            *answer = Self::read_drawn(request.intent, &element)?;
        }
        if self.config.is_sabotaged(Saboteur::AnswersSwapped) {
            answers[..call.len()].reverse();
        }
        for _ in &call {
            self.joined_answered(now, id, sent);
        }
        for (request, drawn) in call.into_iter().zip(answers) {
            self.handle_drawn(now, id, request, drawn);
        }
        Some(())
    }

    /// Returns `first`, whose reply has come, and takes the requests that were sent in the same
    /// call off those that are owed a reply.
    pub(super) fn take_call(
        &mut self,
        now: Instant,
        id: NodeId,
        first: SetRequest,
        sent: Instant,
    ) -> Joined {
        let call: Joined = iter::once(first).chain(self.nodes[id].joined(0)).collect();
        for _ in &call[1..] {
            self.joined_answered(now, id, sent);
        }
        call
    }

    fn joined_answered(&mut self, now: Instant, id: NodeId, sent: Instant) {
        if self.nodes[id].answered(now, sent, LatencyClass::Set) {
            self.node_changed(id);
        }
    }

    /// Returns `true` if the call of the next request has others in it.
    pub(super) fn has_joined(&self, id: NodeId) -> bool {
        self.nodes[id].joined(1).next().is_some()
    }

    /// Returns `true` if the call of the request that was answered last has others in it.
    pub(super) fn owes_joined(&self, id: NodeId) -> bool {
        self.nodes[id].joined(0).next().is_some()
    }

    /// Returns `true` if the error is about the form of a call of several requests.
    pub(super) fn can_resend_joined(
        &self,
        id: NodeId,
        first: SetRequest,
        error: ServerError,
    ) -> bool {
        let is_about_form = match error {
            ServerError::NoScript => first.form == SetForm::Fenced(Call::Sha),
            ServerError::KeyDenied => first.form.is_fenced(),
            _ => false,
        };
        is_about_form && self.owes_joined(id)
    }

    /// Sends the requests of a call again: with the text of the script for a node that does not
    /// know the script, and one by one to a node that has refused one key.
    pub(super) fn resend_joined(
        &mut self,
        now: Instant,
        id: NodeId,
        requests: &[SetRequest],
        error: ServerError,
    ) {
        let is_wanted = |request: &SetRequest| self.is_joined_wanted(now, *request);
        let (wanted, stale): (Joined, Joined) = requests.iter().copied().partition(is_wanted);
        match error {
            ServerError::NoScript if !wanted.is_empty() => {
                self.resend_call(now, id, Call::Text, &wanted);
            }
            _ => wanted.chunks(1).for_each(|one| self.resend_call(now, id, Call::Sha, one)),
        }
        for request in stale {
            self.handle_drawn(now, id, request, Drawn::of_error(error));
        }
    }

    /// Returns `true` if the request is worth sending again.
    fn is_joined_wanted(&self, now: Instant, request: SetRequest) -> bool {
        let lock = &self.table[request.slot];
        let is_open = matches!(lock.phase, Phase::Attempt | Phase::Held);
        // Nobody may get a key after the validity.
        let is_current = lock.serial == request.serial && now < lock.valid_until;
        request.intent == Intent::Fenced && is_open && is_current
    }
}

/// Returns what these requests ask for, with these ttls.
fn claims<'a>(
    table: &'a Table,
    nonce: &'a Nonce,
    requests: &'a [SetRequest],
    ttl: impl Fn(u32) -> Millis + Copy + 'a,
) -> impl ExactSizeIterator<Item = Claim<'a>> + Clone {
    requests.iter().map(move |request| {
        let SetRequest { slot, serial, .. } = *request;
        let token = table.token(slot, nonce, serial);
        let proposal = table.draws(slot).map_or(0, |draws| draws.proposal);
        Claim { resource: &table[slot].resource, token, proposal, ttl: ttl(slot) }
    })
}
