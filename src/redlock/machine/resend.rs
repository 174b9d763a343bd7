//! Requests that are sent again in another form, because a node refused only the form: with the
//! text of a script that the node does not know, by script where the node has no native command, or
//! key by key where the node refused one key of a group. The request always goes on the same
//! connection.

use smallvec::SmallVec;

use super::Redlock;
use crate::redlock::lock::Phase;
use crate::redlock::millis::Millis;
use crate::redlock::node::batch::{Member, Purpose};
use crate::redlock::node::request::{CompareRequest, Expected, Intent, Request, SetRequest};
use crate::redlock::node_set::NodeId;
use crate::redlock::wire::answer::Compared;
use crate::redlock::wire::command::{Call, Form, SetForm};
use crate::redlock::wire::server_error::ServerError;
use crate::time::Instant;

impl Redlock {
    /// Sends a request again in another form, if the error is about the form. Returns `false` if
    /// there is no other form.
    pub(super) fn retry_in_other_form(
        &mut self,
        now: Instant,
        id: NodeId,
        Expected { request, sent }: Expected,
        error: ServerError,
    ) -> bool {
        use ServerError::{Denied, KeyDenied, NoScript, Unsupported};
        match request {
            Request::Compare(request) if error == KeyDenied => self.split_group(now, id, request),
            Request::Compare(request) => match request.form {
                // A server may not know its native command after all, or may forbid the command but
                // allow the script.
                Form::Native(_) if matches!(error, Unsupported | Denied) => {
                    // The server would refuse the command every time.
                    self.nodes[id].native = None;
                    self.resend_group(now, id, request, Call::Sha);
                    true
                }
                Form::Script(Call::Sha) if error == NoScript => {
                    self.resend_group(now, id, request, Call::Text);
                    true
                }
                Form::Native(_) | Form::Script(_) => false,
            },
            Request::Set(request) if self.can_resend_joined(id, request, error) => {
                let requests = self.take_call(now, id, request, sent);
                self.resend_joined(now, id, &requests, error);
                true
            }
            Request::Set(request) if error == NoScript => match request.form {
                SetForm::Fenced(_) => self.resend_fenced(now, id, request),
                _ => self.resend_set(now, id, request),
            },
            Request::Set(_) => false,
            Request::Door(_)
            | Request::Ttl(_)
            | Request::Ticket(..)
            | Request::TicketTtl(_)
            | Request::TicketBack
            | Request::OptIn
            | Request::Mark
            | Request::Wanted { .. }
            | Request::Query(_)
            | Request::Handshake
            | Request::Look => false,
        }
    }

    /// Sends the text of the script for several resources to a node that did not know the script.
    /// Returns `false` if it is too late: the lock has been given up, or its validity is over.
    fn resend_set(&mut self, now: Instant, id: NodeId, request: SetRequest) -> bool {
        let lock = &self.table[request.slot];
        let is_wanted = match request.intent {
            Intent::Attempt => matches!(lock.phase, Phase::Attempt | Phase::Held),
            Intent::Repair => lock.phase == Phase::Held,
            _ => false,
        };
        // Nobody may get a key after the validity.
        let is_current = lock.serial == request.serial && now < lock.valid_until;
        if request.form != SetForm::Script(Call::Sha) || !is_wanted || !is_current {
            return false;
        }
        let ttl = self.resend_ttl(now, request.slot);
        let form = SetForm::Script(Call::Text);
        self.encode_set_command(request.slot, form, ttl);
        let request = Request::Set(SetRequest { form, ..request });
        self.nodes[id].send(&self.scratch, Expected { request, sent: now });
        true
    }

    /// Returns the ttl of keys whose request is sent again. The other nodes may have decided since:
    /// then the keys end with the validity, as in a repair.
    pub(super) fn resend_ttl(&self, now: Instant, slot: u32) -> Millis {
        let lock = &self.table[slot];
        if lock.phase == Phase::Held { self.repair_ttl(now, slot) } else { lock.ttl }
    }

    /// Sends the oldest compare request of a node again, by script.
    fn resend_group(&mut self, now: Instant, id: NodeId, request: CompareRequest, call: Call) {
        self.nodes[id].batch.request_answered();
        let (remaining, stale) = self.requeue(id, request.count);
        if remaining > 0 {
            let is_set = self.nodes[id].batch.ends_with_set();
            self.send_group(now, id, request.op, Form::Script(call), remaining, is_set);
        }
        self.fail_stale(now, id, stale);
    }

    /// Splits a group, which a node refused because of one key, into one request for each key.
    /// Returns `false` for a request with only one key.
    fn split_group(&mut self, now: Instant, id: NodeId, request: CompareRequest) -> bool {
        if request.count < 2 {
            return false;
        }
        self.nodes[id].batch.request_answered();
        for _ in 0..request.count {
            let (remaining, stale) = self.requeue(id, 1);
            if remaining > 0 {
                let form = Form::Script(Call::Sha);
                self.send_group(now, id, request.op, form, 1, false);
            }
            self.fail_stale(now, id, stale);
        }
        true
    }

    /// Moves the oldest `count` members on their way behind the youngest. An extension whose round
    /// is over is left out, because its ttl is not known any more. Returns the number of members
    /// that were moved, and the members that were left out, which are owed an answer.
    fn requeue(&mut self, id: NodeId, count: u32) -> (usize, SmallVec<[Member; 4]>) {
        let (mut remaining, mut stale) = (0, SmallVec::new());
        for _ in 0..count {
            let Some(member) = self.nodes[id].batch.pop_sent() else { break };
            let is_extension = matches!(member.purpose, Purpose::Extend | Purpose::Adopt);
            if is_extension && !self.is_open_round(member) {
                stale.push(member);
            } else {
                self.nodes[id].batch.push_sent(member);
                remaining += 1;
            }
        }
        (remaining, stale)
    }

    /// Answers the extensions that [`requeue`](Self::requeue) left out. The other members must have
    /// been sent before: an answer may have effects that put more members behind those on their
    /// way.
    fn fail_stale(&mut self, now: Instant, id: NodeId, stale: SmallVec<[Member; 4]>) {
        for member in stale {
            self.answer_member(now, id, member, Compared::Failed);
        }
    }
}
