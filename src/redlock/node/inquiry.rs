//! What a node is asked about itself: in the handshake, before the node may vote (S10), and by each
//! later look at the node (S11).
//!
//! The commands of an inquiry leave in one write, and their replies come in order. The first vote
//! comes behind the replies of the handshake. Any doubt keeps the node out: a node without a vote
//! costs availability, a wrong vote costs the lock.

use bytes::BytesMut;
use smallvec::SmallVec;

use super::error::NodeError;
use super::identity::{Identity, Info};
use crate::redlock::config::RedlockConfig;
use crate::redlock::login::Login;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::wire::command::{self, Call, Look, Native};
use crate::redlock::wire::probe::MissingRights;
use crate::redlock::wire::script::{self, Script};
use crate::redlock::wire::server_error::ServerError;
use crate::redlock::wire::testimony::Testimony;
use crate::redlock::wire::tracking;
use crate::resp::{self, Elements, Value};

/// The steps, in the order in which they are sent. Steps that are not needed are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Auth,
    Select,
    /// One section of `INFO`.
    Info(&'static [u8]),
    Capabilities,
    Load(Script),
    /// A try of all commands, by the text of the script and then by its SHA-1.
    Probe(Call),
    /// The change to RESP3, in which a server can push. Whoever may not goes on in RESP2.
    Hello,
    /// The wish to be told what happens to the witness, before the look at it.
    Track,
    /// The label of this client, beside the locks.
    Label,
    /// One setting of the server.
    Setting(&'static [u8]),
    /// The witness, always last: the locks of the session come behind its stamp.
    Witness(Call),
}

/// The sections of `INFO` that are read, one call each: several in one call need Redis 7.
pub(super) const SECTIONS: [&[u8]; 5] =
    [b"server", b"replication", b"memory", b"stats", b"persistence"];

/// The settings that decide whether a node is durable.
const SETTINGS: [&[u8]; 2] = [b"appendfsync", b"no-appendfsync-on-rewrite"];

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
    native: Option<Native>,
    missing: MissingRights,
    speaks_resp3: bool,
    tracks: bool,
}

/// What a node has proved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Findings {
    pub(crate) identity: Identity,
    /// Whether a crash of the node loses nothing that the node has answered.
    pub(crate) is_durable: bool,
    /// The server's own compare-and-delete command, if there is one. Only a handshake asks.
    pub(crate) native: Option<Native>,
    /// The commands that the node does not run for us. No lock needs one of them.
    pub(crate) missing: MissingRights,
    /// Whether the server may push. Only a handshake asks.
    pub(crate) speaks_resp3: bool,
    /// Whether the server tells what happens to the witness. Only a handshake asks.
    pub(crate) tracks: bool,
    pub(crate) word: Word,
}

/// What came of the question for the witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// Nobody asked.
    Unasked,
    Given(Testimony),
    /// The node does not allow the question.
    Denied,
    /// The node cannot answer for the moment.
    Later,
}

/// The meaning of one reply to an inquiry.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// More replies are owed.
    More,
    /// The last command must be sent again, with the text of its script.
    Again,
    /// The node has proved everything.
    Done(Findings),
    /// The node did not answer a look. `true`: it does not allow the question. `false`: it cannot
    /// answer for the moment.
    Unanswered { is_denied: bool },
    /// The node cannot vote.
    Failed(NodeError),
}

impl Inquiry {
    /// Creates the handshake of a connection with this `login`.
    pub(crate) fn handshake(login: &Login, guard: RestartGuard) -> Self {
        let mut steps = SmallVec::with_capacity(22);
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
        if guard != RestartGuard::Off {
            steps.extend([Step::Hello, Step::Track]);
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
            native: None,
            missing: MissingRights::default(),
            speaks_resp3: false,
            tracks: false,
        }
    }

    /// Returns whether the server has agreed to speak RESP3.
    pub(crate) fn speaks_resp3(&self) -> bool {
        self.speaks_resp3
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
            (Step::Probe(call), value) => {
                let by = if call == Call::Text { "eval" } else { "evalsha" };
                self.missing.read(by, value).is_none().then_some(NodeError::UnexpectedReply)
            }
            // The probe finds what else is missing.
            (Step::Info(_), Error(text) | BulkError(text)) if text.starts_with(b"NOPERM ") => {
                self.missing.insert(b"info");
                None
            }
            (Step::Hello, Value::Map(_)) => {
                self.speaks_resp3 = true;
                None
            }
            (Step::Track, Value::Simple(b"OK")) => {
                // In RESP2 there is no way to tell.
                self.tracks = self.speaks_resp3;
                None
            }
            // No lock needs the label.
            (Step::Label, Value::Simple(_) | Error(_) | BulkError(_)) => None,
            // A server that speaks no RESP3, or does not let us, is looked at now and then.
            (Step::Hello, Value::Array(_)) => None,
            (Step::Hello | Step::Track, Error(text) | BulkError(text))
                if !ServerError::classify(text).is_passing() =>
            {
                None
            }
            // A node that forbids us to load scripts may still run their text. A node that does not
            // tell its commands is taken to have only the old ones, and a node that does not tell
            // its settings is not durable.
            (Step::Load(_) | Step::Capabilities | Step::Setting(_), Error(_) | BulkError(_)) => {
                None
            }
            (Step::Load(script), Value::Bulk(sha)) if *sha == script.sha.as_bytes() => None,
            (Step::Capabilities, Value::Array(commands)) => {
                self.native = native(commands.clone());
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
            None => self.done(Word::Unasked),
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

    fn done(&self, word: Word) -> Progress {
        match self.verdict() {
            Ok(identity) => Progress::Done(Findings {
                identity,
                is_durable: self.info.is_durable(),
                native: self.native,
                missing: self.missing,
                speaks_resp3: self.speaks_resp3,
                tracks: self.tracks,
                word,
            }),
            Err(error) => Progress::Failed(error),
        }
    }

    /// Returns who the server is, or why the node cannot serve.
    fn verdict(&self) -> Result<Identity, NodeError> {
        let missing = self.missing.for_locks();
        if missing.is_empty() {
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

/// Returns the steps of a question for the witness.
fn about_witness(guard: RestartGuard, call: Call) -> impl Iterator<Item = Step> {
    let settings = SETTINGS.map(Step::Setting).into_iter();
    let wanted = if guard == RestartGuard::Durable { SETTINGS.len() } else { 0 };
    settings.take(wanted).chain([Step::Witness(call)])
}

impl Step {
    fn encode(self, login: &Login, look: &Look<'_>, out: &mut BytesMut) {
        match self {
            Self::Auth => resp::command(out, &login.auth()),
            Self::Select => {
                resp::command(out, &[b"SELECT", login.database.to_string().as_bytes()]);
            }
            Self::Info(section) => resp::command(out, &[b"INFO", section]),
            Self::Capabilities => resp::command(out, &[b"COMMAND", b"INFO", b"DELIFEQ", b"DELEX"]),
            Self::Load(script) => {
                resp::command(out, &[b"SCRIPT", b"LOAD", script.text.as_bytes()]);
            }
            Self::Probe(call) => command::probe(out, call, look.prefix),
            Self::Hello => tracking::hello(out),
            Self::Track => tracking::track(out, look.prefix),
            Self::Label => command::label(out, look),
            Self::Setting(name) => resp::command(out, &[b"CONFIG", b"GET", name]),
            Self::Witness(call) => command::look(out, call, look),
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

/// Returns the first of the native commands that the server has.
fn native(commands: Elements<'_>) -> Option<Native> {
    let known = [Native::DelIfEq, Native::DelEx].into_iter().zip(commands);
    known.filter(|(_, entry)| matches!(entry, Value::Array(_))).map(|(native, _)| native).next()
}

#[cfg(test)]
mod tests;
