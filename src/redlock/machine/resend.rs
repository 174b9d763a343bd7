//! Sending once more, in another way, what a node did not run only because of the way in which it
//! was put: by the text of a script that it does not know, by a script where it has no native
//! command, or key by key where it refused one key of a group. Always on the same connection.

use smallvec::SmallVec;

use super::Redlock;
use crate::redlock::lock::Phase;
use crate::redlock::node::batch::{Member, Purpose};
use crate::redlock::node_set::NodeId;
use crate::redlock::wire::answer::Compared;
use crate::redlock::wire::command::{Call, Form, SetForm};
use crate::redlock::wire::request::{CompareRequest, Expected, Intent, Request, SetRequest};
use crate::redlock::wire::server_error::ServerError;
use crate::time::Instant;

impl Redlock {
    /// Sends a request again in another form, where the error is about the form. False if there is
    /// no other form.
    pub(super) fn retry_in_other_form(
        &mut self,
        now: Instant,
        id: NodeId,
        request: Request,
        error: ServerError,
    ) -> bool {
        use ServerError::{Denied, KeyDenied, NoScript, Unsupported};
        match request {
            Request::Compare(request) if error == KeyDenied => self.split_group(now, id, request),
            Request::Compare(request) => match request.form {
                // A server may not know its native command after all, or may forbid it to us where
                // it allows the script.
                Form::Native(_) if matches!(error, Unsupported | Denied) => {
                    // It would say so every time.
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
            Request::Set(request) => error == NoScript && self.resend_set(now, id, request),
            Request::Query(_) | Request::Handshake => false,
        }
    }

    /// A node did not know the script that takes several resources: sends its text, as long as
    /// nothing that gives the lock up is behind it. False if it is too late.
    fn resend_set(&mut self, now: Instant, id: NodeId, request: SetRequest) -> bool {
        let lock = &self.table[request.slot];
        let is_wanted = match request.intent {
            Intent::Attempt => matches!(lock.phase, Phase::Attempt | Phase::Held),
            Intent::Repair => lock.phase == Phase::Held,
        };
        // Later than its validity nobody may get a key.
        let is_current = lock.serial == request.serial && now < lock.valid_until;
        if request.form != SetForm::Script(Call::Sha) || !is_wanted || !is_current {
            return false;
        }
        let ttl = match request.intent {
            Intent::Attempt => lock.ttl,
            Intent::Repair => self.rest_of(now, request.slot),
        };
        let form = SetForm::Script(Call::Text);
        self.encode_set_command(request.slot, form, ttl);
        let request = Request::Set(SetRequest { form, ..request });
        self.nodes[id].send(&self.scratch, Expected { request, sent: now });
        true
    }

    /// Sends the oldest compare request of a node again, by a script.
    fn resend_group(&mut self, now: Instant, id: NodeId, request: CompareRequest, call: Call) {
        self.nodes[id].batch.request_answered();
        let (remaining, stale) = self.requeue(id, request.count);
        if remaining > 0 {
            let is_set = self.nodes[id].batch.ends_with_set();
            self.send_group(now, id, request.op, Form::Script(call), remaining, is_set);
        }
        self.fail_stale(now, id, stale);
    }

    /// The node refused a group because of one of its keys: asks for each of them alone. False for
    /// a request that is alone already.
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

    /// Makes the oldest `count` members on their way the youngest. Extensions whose round is over
    /// are left out: the ttl that they asked for is not known any more. Returns how many remain,
    /// and those that do not, which are owed an answer.
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

    /// Answers the extensions that [`requeue`](Self::requeue) left out. Only after the others were
    /// sent: what follows from an answer may put more behind those on their way.
    fn fail_stale(&mut self, now: Instant, id: NodeId, stale: SmallVec<[Member; 4]>) {
        for member in stale {
            self.answer_member(now, id, member, Compared::Failed);
        }
    }
}
