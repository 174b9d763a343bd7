//! Audits: what an operator asks of a node, without changing anything there (S10, S11).
//!
//! A client's handshake writes: its probe makes a key for a millisecond, and its look leaves a
//! stamp. An audit asks for the same facts by other commands, and makes of the two keys of the
//! witness the testimony that the script of a look would give now.

use bytes::BytesMut;

use super::Visitor;
use super::answers::{Answers, Unanswered};
use super::facts::{Facts, value_shown};
use crate::redlock::login::Login;
use crate::redlock::node::error::NodeError;
use crate::redlock::node::identity::Info;
use crate::redlock::node::inquiry::{SECTIONS, Word};
use crate::redlock::node::message::Message;
use crate::redlock::node::quarantine::QuarantineReason;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::token::hex;
use crate::redlock::wire::command::{Look, Native};
use crate::redlock::wire::native;
use crate::redlock::wire::probe::MissingRights;
use crate::redlock::wire::rights::{self, NO_KEY, TRIED};
use crate::redlock::wire::server_error::ServerError;
use crate::redlock::wire::testimony::{Constants, Found, Testimony};
use crate::redlock::wire::witness::{LABEL, STAMP, WITNESS};
use crate::redlock::wire::written::{Stamp, Written, read_time};
use crate::resp::{self, Elements, Value};

/// The settings that a full audit asks for. A node may refuse to tell them.
const SETTINGS: [&str; 4] =
    ["appendfsync", "no-appendfsync-on-rewrite", "save", "repl-backlog-ttl"];

/// Those of which durability depends.
const OF_DURABLE: [&str; 2] = ["appendfsync", "no-appendfsync-on-rewrite"];

/// The questions, in the order in which they are sent. Stored values and the time are read before
/// `INFO`, as in the script of a look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    Auth,
    Select,
    Time,
    /// One key of the witness.
    Read(&'static [u8]),
    Info(&'static [u8]),
    Right(&'static str),
    /// Which native compare-and-delete the server has.
    Capabilities,
    /// The right to run one.
    Native(Native),
    /// The right to write one key of the witness.
    Write(&'static [u8]),
    /// The right to write a label.
    Label,
    /// The rights to read and to write keys as a lock has one.
    ReadLock(Tried),
    WriteLock(Tried),
    /// The right to be told of a flush.
    Tracking,
    /// The right to be told of one key.
    Caching,
    Setting(&'static str),
}

/// The keys that no lock has, to try the rights to all. No character of one stands at its place in
/// the other, so that a pattern such as `a*` fits one of them at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tried {
    One,
    Other,
}

/// An audit under way on one connection.
pub(crate) struct Audit<'a> {
    login: &'a Login,
    questions: Vec<Question>,
    entropy: [u8; 16],
    answered: usize,
    guard: RestartGuard,
    /// What a look that leaves now would say of this client.
    look: Look<'a>,
    info: Info,
    time: Option<u64>,
    witness: Vec<u8>,
    stamp: Vec<u8>,
    /// The native compare-and-delete that a client would use.
    native: Option<Native>,
    /// The first error about the keys of the witness.
    trouble: Option<ServerError>,
    answers: Answers,
}

impl<'a> Audit<'a> {
    /// An audit of everything. `entropy` names a key that nobody has.
    pub(crate) fn full(login: &'a Login, visitor: Visitor<'a>, entropy: [u8; 16]) -> Self {
        let mut audit = Self::brief(login, visitor);
        audit.entropy = entropy;
        audit.questions.extend(TRIED.map(Question::Right));
        audit.questions.push(Question::Capabilities);
        audit.questions.extend(native::ALL.map(Question::Native));
        audit.questions.extend([WITNESS, STAMP].map(Question::Write));
        audit.questions.push(Question::Label);
        for key in [Tried::One, Tried::Other] {
            audit.questions.extend([Question::ReadLock(key), Question::WriteLock(key)]);
        }
        audit.questions.extend([Question::Tracking, Question::Caching]);
        audit.questions.extend(SETTINGS.map(Question::Setting));
        audit
    }

    /// An audit of what tells whether a client would believe the node.
    pub(crate) fn brief(login: &'a Login, visitor: Visitor<'a>) -> Self {
        let mut questions = Vec::new();
        if login.has_auth() {
            questions.push(Question::Auth);
        }
        if login.database != 0 {
            questions.push(Question::Select);
        }
        questions.push(Question::Time);
        questions.extend([WITNESS, STAMP].map(Question::Read));
        questions.extend(SECTIONS.map(Question::Info));
        if visitor.config.restart_guard == RestartGuard::Durable {
            questions.extend(OF_DURABLE.map(Question::Setting));
        }
        Self {
            login,
            questions,
            entropy: [0; 16],
            answered: 0,
            guard: visitor.config.restart_guard,
            look: visitor.look(login),
            info: Info::default(),
            time: None,
            witness: Vec::new(),
            stamp: Vec::new(),
            native: None,
            trouble: None,
            answers: Answers {
                verdict: Err(NodeError::UnexpectedReply),
                is_durable: false,
                word: Word::Unasked,
                change: None,
                missing: MissingRights::default(),
                lacks_tracking: false,
                lacks_label: false,
                lacks_locks: false,
                facts: Facts::default(),
                settings: Vec::new(),
                message: Message::default(),
            },
        }
    }

    /// Returns all commands of the audit. None of them changes anything, whatever stands at the
    /// node.
    pub(crate) fn commands(&self) -> BytesMut {
        let (login, mut out) = (self.login, BytesMut::new());
        let key = |name: &[u8]| [self.look.prefix, name].concat();
        let random = hex(&self.entropy).into_bytes();
        let random = |name| [self.look.prefix, name, &random].concat();
        let (no_key, no_label) = (random(NO_KEY), random(LABEL));
        let no_lock = |tried| match tried {
            Tried::One => random(b""),
            Tried::Other => key(hex(&self.entropy.map(|byte| !byte)).as_bytes()),
        };
        for question in &self.questions {
            match *question {
                Question::Auth => resp::command(&mut out, &login.auth()),
                Question::Select => {
                    resp::command(&mut out, &[b"SELECT", login.database.to_string().as_bytes()]);
                }
                Question::Time => resp::command(&mut out, &[b"TIME"]),
                Question::Read(name) => resp::command(&mut out, &[b"GET", &key(name)]),
                Question::Info(section) => resp::command(&mut out, &[b"INFO", section]),
                Question::Right(name) => rights::attempt(&mut out, name, &no_key),
                Question::Capabilities => native::ask(&mut out),
                Question::Native(native) => native::attempt(&mut out, native, &no_key),
                Question::Write(name) => rights::set(&mut out, &key(name)),
                Question::Label => rights::set(&mut out, &no_label),
                Question::ReadLock(tried) => resp::command(&mut out, &[b"GET", &no_lock(tried)]),
                Question::WriteLock(tried) => rights::set(&mut out, &no_lock(tried)),
                // This session tracks nothing, and goes on so.
                Question::Tracking => resp::command(&mut out, &[b"CLIENT", b"TRACKING", b"OFF"]),
                // Where nothing is tracked, this is an error about that, and not about rights.
                Question::Caching => resp::command(&mut out, &[b"CLIENT", b"CACHING", b"YES"]),
                Question::Setting(name) => {
                    resp::command(&mut out, &[b"CONFIG", b"GET", name.as_bytes()]);
                }
            }
        }
        out
    }

    /// Handles the next reply. Returns `None` if more replies are owed.
    pub(crate) fn handle_reply(
        &mut self,
        value: &Value<'_>,
    ) -> Option<Result<Answers, Unanswered>> {
        let question = *self.questions.get(self.answered)?;
        if let Value::Error(text) | Value::BulkError(text) = value {
            if let Some(error) = refusal(question, text) {
                return Some(Err(Unanswered {
                    error,
                    message: Message::of_error(text, self.login),
                }));
            }
        }
        self.read(question, value);
        self.answered += 1;
        (self.answered == self.questions.len()).then(|| Ok(self.done()))
    }

    fn read(&mut self, question: Question, value: &Value<'_>) {
        use Value::{Array, Bulk, BulkError, Error, Map, Verbatim};
        let error = match value {
            Error(text) | BulkError(text) => Some(*text),
            _ => None,
        };
        match (question, value) {
            (Question::Time, Array(_)) => self.time = read_time(value),
            (Question::Time, value) => rights::read(&mut self.answers.missing, "time", value),
            (Question::Right(name), value) => rights::read(&mut self.answers.missing, name, value),
            (Question::Capabilities, Array(commands)) => {
                self.native = native::read(commands.clone());
            }
            (Question::Native(native), value) if !native::is_allowed(value) => {
                self.native = self.native.filter(|known| *known != native);
            }
            (Question::Info(_), Bulk(text) | Verbatim { text, .. }) => {
                self.info.read(text);
                self.answers.facts.read(text, self.login);
            }
            (Question::Info(_), value) => rights::read(&mut self.answers.missing, "info", value),
            (Question::Read(WITNESS), Bulk(text)) => self.witness = text.to_vec(),
            (Question::Read(_), Bulk(text)) => self.stamp = text.to_vec(),
            (Question::Read(_) | Question::Write(_), _) => {
                if let Some(text) = error {
                    self.has_trouble(question, text);
                }
            }
            // An old server and a master without this command are no matter of rights.
            (Question::Tracking | Question::Caching, _) => {
                let class = error.map(ServerError::classify);
                self.answers.lacks_tracking |= class == Some(ServerError::Denied);
            }
            (Question::Label, _) => self.answers.lacks_label = is_about_key(error),
            (Question::ReadLock(_) | Question::WriteLock(_), _) => {
                self.answers.lacks_locks |= is_about_key(error);
            }
            (Question::Setting(name), Array(pair) | Map(pair)) => self.setting(name, pair.clone()),
            (Question::Auth | Question::Select | Question::Setting(_), _) => {}
            (Question::Capabilities | Question::Native(_), _) => {}
        }
    }

    fn has_trouble(&mut self, question: Question, text: &[u8]) {
        let class = ServerError::classify(text);
        // The try of the right has been allowed, and was the mistake that it should be.
        let is_tried = matches!(question, Question::Write(_))
            && class == ServerError::Unsupported
            && !rights::is_missing(text);
        if !is_tried && self.trouble.is_none() {
            self.trouble = Some(class);
            self.answers.message = Message::of_error(text, self.login);
        }
    }

    fn setting(&mut self, name: &'static str, mut pair: Elements<'_>) {
        if let (Some(_), Some(Value::Bulk(value))) = (pair.next(), pair.next()) {
            self.info.read_setting(name.as_bytes(), value);
            self.answers.settings.push((name, value_shown(value, self.login)));
        }
    }

    fn done(&self) -> Answers {
        use ServerError::{Cluster, NotServing, Overloaded};
        let mut answers = self.answers.clone();
        let missing = answers.missing.for_locks(self.native.is_some());
        answers.is_durable = self.info.is_durable();
        answers.verdict = match (missing.is_empty(), self.trouble) {
            (false, _) => Err(NodeError::MissingRights(missing)),
            (true, Some(error @ (NotServing | Cluster))) => {
                self.info.verdict().and(Err(NodeError::Server(error)))
            }
            (true, _) => self.info.verdict(),
        };
        answers.word = match (&answers.verdict, self.trouble, self.time) {
            _ if self.guard == RestartGuard::Off => Word::Unasked,
            (Err(_), ..) => Word::Unasked,
            _ if !answers.missing.allows_scripts() => Word::Denied,
            (_, Some(Overloaded), Some(_)) => Word::Later,
            (Ok(identity), None, Some(time)) => {
                let own = identity.in_witness(self.look.database);
                answers.change = change(&self.witness, &own);
                Word::Given(testimony(&self.witness, &self.stamp, &own, time, &self.look))
            }
            (Ok(_), ..) => Word::Denied,
        };
        answers
    }
}

/// Returns whether the user has no right to the key.
fn is_about_key(error: Option<&[u8]>) -> bool {
    error.map(ServerError::classify) == Some(ServerError::KeyDenied)
}

/// Returns the reason to end the audit at this error, if there is one: all later replies would be
/// the same.
fn refusal(question: Question, text: &[u8]) -> Option<NodeError> {
    let error = ServerError::classify(text);
    match question {
        Question::Auth | Question::Select if error.is_passing() => Some(NodeError::Server(error)),
        Question::Auth | Question::Select => Some(NodeError::LoginRefused),
        _ if error == ServerError::Denied && !text.starts_with(b"NOPERM") => {
            Some(NodeError::Server(error))
        }
        // Too many clients: the server has said so unasked, and closes the connection.
        Question::Time if error == ServerError::Overloaded => Some(NodeError::Server(error)),
        _ => None,
    }
}

/// Returns what the script of a look would answer now, by the values of its two keys.
fn testimony(witness: &[u8], stamp: &[u8], own: &[u8], time: u64, look: &Look<'_>) -> Testimony {
    let max_ttl = look.max_ttl.count().unsigned_abs();
    let ours = Constants::open(max_ttl, look.nodes as u64);
    let (found, [born, wall, origin], constants) = match Written::read(witness) {
        None => (Found::Nothing, [time, look.wall, time], ours),
        Some(other) if other.identity != own || other.born > time => {
            (Found::Other, [time, look.wall, other.origin], other.constants)
        }
        Some(same) => (Found::Same, [same.born, same.wall, same.origin], same.constants),
    };
    let stamp = Stamp::read(stamp).filter(|_| found != Found::Nothing);
    let Stamp { at, unseen, count } = stamp.unwrap_or(Stamp { at: time, unseen: (0, 0), count: 0 });
    let gap = u64::try_from(look.gap.as_micros()).unwrap_or(u64::MAX);
    let is_gap = time.saturating_sub(at) > gap.max(constants.max_ttl.saturating_mul(1_000));
    let unseen = if is_gap { (at, time) } else { unseen };
    let count = count.saturating_add(1);
    Testimony { found, time, born, wall, origin, constants, unseen, count }
}

/// Returns what has become of a node whose witness has another identity than its own.
fn change(witness: &[u8], own: &[u8]) -> Option<QuarantineReason> {
    let id = Written::read(witness)?.identity;
    let parts = |id: &[u8]| -> Vec<Vec<u8>> {
        id.split(|byte| *byte == b':').map(<[u8]>::to_vec).collect()
    };
    let (then, now) = (parts(id), parts(own));
    let differ = |place: usize| then.get(place) != now.get(place);
    if differ(0) {
        Some(QuarantineReason::Restarted)
    } else if differ(1) {
        Some(QuarantineReason::NewReplicationId)
    } else {
        differ(2).then_some(QuarantineReason::EvictedKeys)
    }
}

#[cfg(test)]
mod tests;
