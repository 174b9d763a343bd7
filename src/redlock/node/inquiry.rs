//! What a node is asked about itself: in the handshake, before the node may vote (S10), and by each
//! later look at the node (S11).
//!
//! The commands of an inquiry leave in one write, and their replies come in order. The first vote
//! comes behind the replies of the handshake. Any doubt keeps the node out: a node without a vote
//! costs availability, a wrong vote costs the lock.

mod findings;
mod step;

use bytes::BytesMut;
use smallvec::SmallVec;

pub(crate) use self::findings::{Findings, Progress, Renewal, Word};
pub(super) use self::step::SECTIONS;
use self::step::{Step, about_witness};
use super::error::NodeError;
use super::identity::{Identity, Info};
use crate::redlock::config::RedlockConfig;
use crate::redlock::login::Login;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::wire::command::{Call, Look, Native};
use crate::redlock::wire::introduction;
use crate::redlock::wire::native;
use crate::redlock::wire::probe::MissingRights;
use crate::redlock::wire::script;
use crate::redlock::wire::server_error::ServerError;
use crate::redlock::wire::testimony::Testimony;
use crate::resp::{Elements, Value};

/// How a node is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Means {
    /// By the witness.
    Witness,
    /// By `INFO` alone, because no guard is wanted.
    Unwanted,
    /// By `INFO` alone, because the node does not allow the question for the witness.
    Denied,
}

/// An inquiry under way on one connection.
pub(crate) struct Inquiry {
    /// Those of a look lie here, so that a look allocates nothing.
    steps: SmallVec<[Step; SECTIONS.len()]>,
    answered: usize,
    info: Info,
    /// Whether a node may do without scripts, if it has a native compare-and-delete.
    spares_scripts: bool,
    /// Whether a node without scripts is asked whether it runs them by now.
    retries_scripts: bool,
    native: Option<Native>,
    missing: MissingRights,
    speaks_resp3: bool,
    tracks: bool,
    /// What came of the wish to be told of the witness again; `None` in a handshake.
    renewal: Option<Renewal>,
    word: Word,
}

impl Inquiry {
    /// Creates the handshake of a connection with this `login`.
    pub(crate) fn handshake(login: &Login, guard: RestartGuard) -> Self {
        let mut steps = SmallVec::with_capacity(29);
        if login.has_auth() {
            steps.push(Step::Auth);
        }
        if login.database != 0 {
            steps.push(Step::Select);
        }
        steps.extend(SECTIONS.map(Step::Info));
        steps.push(Step::Capabilities);
        steps.extend(script::ALL.map(Step::Load));
        steps.extend([Call::Text, Call::Sha].map(Step::Probe));
        steps.extend([Step::Hello, Step::Track]);
        if guard != RestartGuard::Off {
            steps.extend([Step::OptIn, Step::ReadWitness]);
            steps.extend(about_witness(guard, Call::Text));
        }
        Self::of(steps)
    }

    /// Creates a look at a node on a connection whose handshake is over.
    pub(crate) fn look(means: Means, guard: RestartGuard) -> Self {
        Self::of(match means {
            Means::Witness => about_witness(guard, Call::Sha).collect(),
            Means::Unwanted | Means::Denied => SECTIONS.map(Step::Info).into(),
        })
    }

    /// Asks to be told anew what happens to the witness: the server says so once.
    pub(crate) fn tracking_anew(mut self) -> Self {
        self.steps.insert_many(0, [Step::OptIn, Step::ReadWitness]);
        Self { tracks: true, renewal: Some(Renewal::Asked), ..self }
    }

    /// Lets the node serve without scripts, if it has a native compare-and-delete.
    pub(crate) fn sparing_scripts(self) -> Self {
        Self { spares_scripts: true, ..self }
    }

    /// Asks a node without scripts whether it runs them by now.
    pub(crate) fn retrying_scripts(mut self) -> Self {
        self.steps.insert_many(0, [Call::Text, Call::Sha].map(Step::Probe));
        Self { retries_scripts: true, ..self }
    }

    /// Adds the name of the connection, if there is one. Behind `INFO`: who refuses a connection as
    /// such answers the first command, and then says nothing more.
    pub(crate) fn introduced(mut self, config: &RedlockConfig) -> Self {
        if !config.connection_name.is_empty() {
            let place = self.steps.iter().position(|step| *step == Step::Capabilities);
            let steps = (0..introduction::REQUESTS).map(Step::Introduction);
            self.steps.insert_many(place.unwrap_or(0), steps);
        }
        self
    }

    /// Adds the label of the client, if there is one. The last step stays the last.
    pub(crate) fn labelled(mut self, config: &RedlockConfig) -> Self {
        if !config.label.is_empty() {
            self.steps.insert(self.steps.len() - 1, Step::Label);
        }
        self
    }

    fn of(steps: SmallVec<[Step; SECTIONS.len()]>) -> Self {
        Self {
            steps,
            answered: 0,
            info: Info::default(),
            spares_scripts: false,
            retries_scripts: false,
            native: None,
            missing: MissingRights::default(),
            speaks_resp3: false,
            tracks: false,
            renewal: None,
            word: Word::Unasked,
        }
    }

    /// Returns whether the server has agreed to speak RESP3.
    pub(crate) fn speaks_resp3(&self) -> bool {
        self.speaks_resp3
    }

    /// Returns what came of the wish to be told of the witness again, if there was one.
    pub(crate) fn renewal(&self) -> Renewal {
        self.renewal.unwrap_or(Renewal::Asked)
    }

    /// Appends the commands of all steps without a reply, in their order. Returns their number.
    pub(crate) fn encode(&self, login: &Login, look: &Look<'_>, out: &mut BytesMut) -> usize {
        let steps = &self.steps[self.answered..];
        steps.iter().for_each(|step| step.encode(login, look, out));
        steps.len()
    }

    /// Returns the number of steps without a reply.
    pub(crate) fn owed(&self) -> usize {
        self.steps.len() - self.answered
    }

    /// Handles the reply to the oldest step without a reply.
    pub(crate) fn handle_reply(&mut self, value: &Value<'_>) -> Progress {
        use Value::{BulkError, Error};
        let Some(&step) = self.steps.get(self.answered) else {
            return Progress::Failed(NodeError::UnsolicitedReply);
        };
        let error = match (step, value) {
            (Step::Witness(call), value) => return self.handle_testimony(call, value),
            (Step::Probe(call), value) => self.read_probe(call, value),
            // The probe finds what else is missing.
            (Step::Info(_), Error(text) | BulkError(text)) if text.starts_with(b"NOPERM ") => {
                self.missing.insert(b"info");
                None
            }
            // No lock needs the label or the name.
            (Step::Label | Step::Introduction(_), Value::Simple(_) | Error(_) | BulkError(_)) => {
                None
            }
            (Step::TrySet | Step::TryNative(_), Value::Integer(_) | Error(_) | BulkError(_)) => {
                self.read_try(step, value);
                None
            }
            (Step::Hello | Step::Track | Step::OptIn | Step::ReadWitness, value) => {
                self.read_tracking(step, value)
            }
            // A node that forbids us to load scripts may still run their text. A node that does not
            // tell its commands is taken to have only the old ones, and a node that does not tell
            // its settings is not durable.
            (Step::Load(_) | Step::Capabilities | Step::Setting(_), Error(_) | BulkError(_)) => {
                None
            }
            (Step::Load(script), Value::Bulk(sha)) if *sha == script.sha.as_bytes() => None,
            (Step::Capabilities, Value::Array(commands)) => {
                self.native = native::read(commands.clone());
                None
            }
            (Step::Setting(_), Value::Array(pair) | Value::Map(pair)) => {
                self.read_settings(pair.clone());
                None
            }
            (step, Error(text) | BulkError(text)) => {
                Some(refusal(step, ServerError::classify(text)))
            }
            (Step::Auth | Step::Select, Value::Simple(b"OK")) => None,
            (Step::Info(_), Value::Bulk(text) | Value::Verbatim { text, .. }) => {
                self.info.read(text);
                None
            }
            _ => Some(NodeError::UnexpectedReply),
        };
        self.answered += 1;
        match error {
            Some(error) => Progress::Failed(error),
            None if self.answered < self.steps.len() => Progress::More,
            None => self.done(self.word),
        }
    }

    fn read_probe(&mut self, call: Call, value: &Value<'_>) -> Option<NodeError> {
        let by = if call == Call::Text { "eval" } else { "evalsha" };
        if self.retries_scripts && matches!(value, Value::Error(_) | Value::BulkError(_)) {
            // Whatever the error is, the node serves on as it did.
            self.missing.insert(by.as_bytes());
            return None;
        }
        self.missing.read(by, value).is_none().then_some(NodeError::UnexpectedReply)
    }

    /// Reads what the server says to the wish to be told of keys. A server that speaks no RESP3, or
    /// does not let us, is looked at now and then.
    fn read_tracking(&mut self, step: Step, value: &Value<'_>) -> Option<NodeError> {
        match (step, value) {
            (Step::Hello, Value::Map(_)) => self.speaks_resp3 = true,
            // In RESP2 there is no way to tell.
            (Step::Track, Value::Simple(b"OK")) => self.tracks = self.speaks_resp3,
            (Step::Hello, Value::Array(_))
            | (Step::OptIn, Value::Simple(b"OK"))
            | (Step::ReadWitness, Value::Bulk(_) | Value::Null) => {}
            (step, Value::Error(text) | Value::BulkError(text)) => {
                let error = ServerError::classify(text);
                if let Some(renewal) = &mut self.renewal {
                    // What a look finds does not depend on this.
                    let is_passing = error.is_passing();
                    *renewal = if is_passing { Renewal::PutOff } else { Renewal::Refused };
                    return None;
                }
                // Who may not read the witness can be told of locks.
                self.tracks &= step != Step::OptIn;
                // `INFO` says more exactly than the error what keeps the node.
                let why = || self.verdict().err().unwrap_or_else(|| refusal(step, error));
                return error.is_passing().then(why);
            }
            _ => return Some(NodeError::UnexpectedReply),
        }
        None
    }

    fn read_try(&mut self, step: Step, value: &Value<'_>) {
        match step {
            _ if native::is_allowed(value) => {}
            Step::TrySet => self.missing.insert(b"set"),
            _ => self.native = None,
        }
    }

    /// Handles the reply to the last step.
    fn handle_testimony(&mut self, call: Call, value: &Value<'_>) -> Progress {
        use ServerError::{Cluster, NoScript, NotServing, Overloaded};
        let (Value::Error(text) | Value::BulkError(text)) = value else {
            let Some((testimony, info)) = Testimony::read(value) else {
                return Progress::Failed(NodeError::UnexpectedReply);
            };
            self.answered += 1;
            self.info.read(info);
            return self.done(Word::Given(testimony));
        };
        let error = ServerError::classify(text);
        if error == NoScript && call == Call::Sha {
            self.steps[self.answered] = Step::Witness(Call::Text);
            return Progress::Again;
        }
        self.answered += 1;
        let is_denied = error != Overloaded;
        let has_info = self.steps.contains(&Step::Info(SECTIONS[0]));
        let verdict = if has_info { self.verdict().err() } else { None };
        match (verdict, error) {
            // `INFO` says more exactly than the error why a node is no master.
            (Some(error), _) => Progress::Failed(error),
            (None, NotServing | Cluster) => Progress::Failed(NodeError::Server(error)),
            (None, _) if !has_info => Progress::Unanswered { is_denied },
            (None, _) => self.done(if is_denied { Word::Denied } else { Word::Later }),
        }
    }

    fn done(&mut self, word: Word) -> Progress {
        self.word = word;
        if let Some(native) = self.untried() {
            self.steps.extend([Step::TrySet, Step::TryNative(native)]);
            return Progress::Again;
        }
        match self.verdict() {
            Ok(identity) => Progress::Done(Findings {
                identity,
                is_durable: self.info.is_durable(),
                native: self.native,
                missing: self.missing,
                speaks_resp3: self.speaks_resp3,
                tracks: self.tracks,
                word,
                time: match word {
                    Word::Given(testimony) => Some(testimony.time),
                    Word::Unasked | Word::Denied | Word::Later => self.info.time,
                },
            }),
            Err(error) => Progress::Failed(error),
        }
    }

    /// Returns the native command that takes the place of scripts, before it was tried: that a
    /// server has a command does not say that we may run it.
    fn untried(&self) -> Option<Native> {
        let wanted = self.native.filter(|_| self.spares_scripts && !self.missing.allows_scripts());
        wanted.filter(|native| !self.steps.contains(&Step::TryNative(*native)))
    }

    /// Returns who the server is, or why the node cannot serve.
    fn verdict(&self) -> Result<Identity, NodeError> {
        let missing = self.missing.for_locks(self.spares_scripts && self.native.is_some());
        if missing.is_empty() || self.retries_scripts {
            self.info.verdict()
        } else {
            Err(NodeError::MissingRights(missing))
        }
    }

    fn read_settings(&mut self, mut pairs: Elements<'_>) {
        while let (Some(Value::Bulk(name)), Some(Value::Bulk(value))) = (pairs.next(), pairs.next())
        {
            self.info.read_setting(name, value);
        }
    }
}

/// Returns the meaning of an error reply to a step. An error about a login needs a person to mend
/// it, unless the server says that the error is only for the moment.
fn refusal(step: Step, error: ServerError) -> NodeError {
    match step {
        Step::Auth | Step::Select if !error.is_passing() => NodeError::LoginRefused,
        _ => NodeError::Server(error),
    }
}

#[cfg(test)]
mod tests;
