//! Inspections: what `redbolt init` asks of a node before anything is written there (S10, S11).

use bytes::BytesMut;

use super::Visitor;
use super::facts::Facts;
use crate::redlock::login::Login;
use crate::redlock::node::error::NodeError;
use crate::redlock::node::identity::{Identity, RunId};
use crate::redlock::node::inquiry::{Inquiry, Progress};
use crate::redlock::node::message::Message;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::wire::probe::MissingRights;
use crate::redlock::wire::rights;
use crate::redlock::wire::server_error::ServerError;
use crate::redlock::wire::testimony::Constants;
use crate::redlock::wire::witness::{COUNT_LABELS, LABEL, STAMP, WITNESS};
use crate::redlock::wire::written::{Stamp, Written, read_time};
use crate::resp::{self, Value};

/// What an inspection has found on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sight {
    pub(crate) run_id: RunId,
    /// The witness that stands, if any.
    pub(crate) standing: Option<Standing>,
    /// The time by the clock of the node, in microseconds since 1970.
    pub(crate) time: u64,
    /// The number of keys in the database: the labels of clients do not count, the two keys of the
    /// witness do. `None` if the user may not ask.
    pub(crate) keys: Option<u64>,
    /// The time of the last look of a client, by the same clock, as the stamp says.
    pub(crate) seen: Option<u64>,
    /// How often clients have looked, as the stamp says. A declaration counts as the first look.
    pub(crate) looks: u64,
}

#[cfg(test)]
impl Sight {
    /// What an inspection finds on a node without a witness at this time.
    pub(crate) const fn empty(time: u64) -> Self {
        let run_id = RunId([b'a'; 40]);
        Self { run_id, standing: None, time, keys: Some(0), seen: None, looks: 0 }
    }
}

/// A witness that stands on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Standing {
    /// The identity is that of the node.
    pub(crate) is_own: bool,
    /// The time since when the data is in one piece, in microseconds since 1970; 0 if an operator
    /// declared the node fresh.
    pub(crate) born: u64,
    pub(crate) constants: Constants,
    /// The number of the last change of the constants.
    pub(crate) change: Option<u64>,
}

/// The questions behind the handshake, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    Witness,
    Stamp,
    Time,
    /// How many of the keys are labels of clients.
    Labels,
    Keys,
}

const QUESTIONS: [Question; 5] =
    [Question::Witness, Question::Stamp, Question::Time, Question::Labels, Question::Keys];

/// A node that could not be inspected.
#[derive(Clone, Debug)]
pub(crate) struct Uninspected {
    pub(crate) error: NodeError,
    /// The user of the login; `None` for `default`.
    pub(crate) user: Option<String>,
    /// The error of the server, if it has answered with one.
    pub(crate) message: Message,
    /// What the node has told of itself.
    pub(crate) facts: Facts,
}

impl Uninspected {
    /// The node has said nothing. `detail` is what else is known of the error.
    pub(crate) fn of(error: NodeError, detail: &str, login: &Login) -> Self {
        let (user, message) = (login.username.clone(), Message::of_detail(detail, login));
        Self { error, user, message, facts: Facts::default() }
    }
}

/// An inspection under way.
pub(crate) struct Inspection<'a> {
    login: &'a Login,
    handshake: Inquiry,
    identity: Option<Identity>,
    answered: usize,
    standing: Option<Standing>,
    stamp: Option<Stamp>,
    time: u64,
    labels: u64,
    message: Message,
    facts: Facts,
}

impl<'a> Inspection<'a> {
    pub(crate) fn new(login: &'a Login) -> Self {
        Self {
            login,
            handshake: Inquiry::handshake(login, RestartGuard::Off),
            identity: None,
            answered: 0,
            standing: None,
            stamp: None,
            time: 0,
            labels: 0,
            message: Message::default(),
            facts: Facts::default(),
        }
    }

    /// Returns all commands of the inspection. None of them leaves a key behind.
    pub(crate) fn commands(&self, visitor: Visitor<'_>) -> BytesMut {
        let (login, mut out) = (self.login, BytesMut::new());
        let look = visitor.look(login);
        self.handshake.encode(login, &look, &mut out);
        for question in QUESTIONS {
            match question {
                Question::Witness => {
                    resp::command(&mut out, &[b"GET", &[look.prefix, WITNESS].concat()]);
                }
                Question::Stamp => {
                    resp::command(&mut out, &[b"GET", &[look.prefix, STAMP].concat()]);
                }
                Question::Time => resp::command(&mut out, &[b"TIME"]),
                Question::Labels => {
                    let (script, labels) = (COUNT_LABELS.text, [look.prefix, LABEL].concat());
                    resp::command(&mut out, &[b"EVAL", script.as_bytes(), b"0", &labels]);
                }
                Question::Keys => resp::command(&mut out, &[b"DBSIZE"]),
            }
        }
        out
    }

    /// Handles the next reply. Returns `None` if more replies are owed.
    ///
    /// # Errors
    ///
    /// Returns the reason why the node cannot serve.
    pub(crate) fn handle_reply(&mut self, value: &Value<'_>) -> Result<Option<Sight>, NodeError> {
        let Some(identity) = self.identity else { return self.handle_handshake(value) };
        let question = QUESTIONS.get(self.answered).copied();
        if let Value::Error(text) | Value::BulkError(text) = value {
            match question {
                // Whoever may not count cannot tell a label from a lock.
                Some(Question::Labels) => {}
                Some(Question::Keys) if rights::is_missing(text) => {
                    return Ok(Some(self.sight(identity, None)));
                }
                question => {
                    self.message = Message::of_error(text, self.login);
                    return Err(refusal(question, text));
                }
            }
        }
        match (question, value) {
            (Some(Question::Witness | Question::Stamp), Value::Null) => {}
            (Some(Question::Stamp), Value::Bulk(text)) => self.stamp = Stamp::read(text),
            (Some(Question::Witness), Value::Bulk(text)) => {
                self.standing = Standing::read(text, &identity.in_witness(self.login.database));
            }
            (Some(Question::Time), value) => {
                self.time = read_time(value).ok_or(NodeError::UnexpectedReply)?;
            }
            (Some(Question::Labels), Value::Integer(labels)) => {
                self.labels = u64::try_from(*labels).map_err(|_| NodeError::UnexpectedReply)?;
            }
            (Some(Question::Labels), Value::Error(_) | Value::BulkError(_)) => {}
            (Some(Question::Keys), Value::Integer(keys)) => {
                let keys = u64::try_from(*keys).map_err(|_| NodeError::UnexpectedReply)?;
                return Ok(Some(self.sight(identity, Some(keys))));
            }
            _ => return Err(NodeError::UnexpectedReply),
        }
        self.answered += 1;
        Ok(None)
    }

    fn handle_handshake(&mut self, value: &Value<'_>) -> Result<Option<Sight>, NodeError> {
        if let Value::Bulk(text) | Value::Verbatim { text, .. } = value {
            self.facts.read(text, self.login);
        }
        match self.handshake.handle_reply(value) {
            Progress::Done(found) => self.identity = Some(found.identity),
            Progress::Failed(error) => {
                if let Value::Error(text) | Value::BulkError(text) = value {
                    self.message = Message::of_error(text, self.login);
                }
                return Err(error);
            }
            Progress::More | Progress::Again | Progress::Unanswered { .. } => {}
        }
        Ok(None)
    }

    fn sight(&self, identity: Identity, keys: Option<u64>) -> Sight {
        let Self { standing, time, labels, .. } = *self;
        // A label can come or go between the two answers.
        let keys = keys.map(|keys| keys.saturating_sub(labels));
        let seen = self.stamp.as_ref().map(|stamp| stamp.at);
        let looks = self.stamp.as_ref().map_or(0, |stamp| stamp.count);
        Sight { run_id: identity.run_id, standing, time, keys, seen, looks }
    }

    /// Returns what the node has told of itself.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns all that is known of a node whose inspection has ended with this error.
    pub(crate) fn uninspected(self, error: NodeError) -> Uninspected {
        let user = self.login.username.clone();
        Uninspected { error, user, message: self.message, facts: self.facts }
    }
}

/// Returns why a node cannot serve that has answered a question with an error.
fn refusal(question: Option<Question>, text: &[u8]) -> NodeError {
    let name = match question {
        Some(Question::Witness | Question::Stamp) => "get",
        Some(Question::Time) => "time",
        _ => return NodeError::Server(ServerError::classify(text)),
    };
    if !rights::is_missing(text) {
        return NodeError::Server(ServerError::classify(text));
    }
    let mut missing = MissingRights::default();
    missing.insert(name.as_bytes());
    NodeError::MissingRights(missing)
}

impl Standing {
    /// Reads the value of a witness.
    fn read(text: &[u8], own: &[u8]) -> Option<Self> {
        let Written { identity, born, constants, change, .. } = Written::read(text)?;
        Some(Self { is_own: identity == own, born, constants, change })
    }

    /// Whether an operator has declared the node fresh, and the process is still the same.
    pub(crate) fn is_declared(&self) -> bool {
        self.is_own && self.born == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::node::identity::identity;

    const CONSTANTS: Constants = Constants::open(60_000, 3);

    #[test]
    fn only_a_declaration_of_the_same_process_can_be_repeated() {
        for (is_own, born, expected) in [(true, 0, true), (true, 1, false), (false, 0, false)] {
            let standing = Standing { is_own, born, constants: CONSTANTS, change: None };
            assert_eq!(standing.is_declared(), expected, "{standing:?}");
        }
    }

    #[test]
    fn an_identity_is_written_as_the_scripts_write_it() {
        let mut identity = identity(b'a');
        let id = "a".repeat(40);
        assert_eq!(identity.in_witness(3), format!("{id}:{id}:0:3").into_bytes());
        (identity.replication, identity.evicted) = (None, None);
        assert_eq!(identity.in_witness(0), format!("{id}:::0").into_bytes());
    }

    #[test]
    fn a_missing_right_is_named_by_the_question_that_lacks_it() {
        let missing = |name: &str| {
            let mut missing = MissingRights::default();
            missing.insert(name.as_bytes());
            NodeError::MissingRights(missing)
        };
        let (no_command, no_key) =
            ("NOPERM User a has no permissions to run it", "NOPERM No permissions to access a key");
        let key_denied = NodeError::Server(ServerError::KeyDenied);
        let rows = [
            (Question::Witness, no_command, missing("get")),
            (Question::Stamp, no_command, missing("get")),
            (Question::Time, no_command, missing("time")),
            (Question::Stamp, no_key, key_denied),
            (Question::Time, "OOM no", NodeError::Server(ServerError::Overloaded)),
            (Question::Keys, "OOM no", NodeError::Server(ServerError::Overloaded)),
        ];
        for (question, text, expected) in rows {
            assert_eq!(refusal(Some(question), text.as_bytes()), expected, "{question:?} {text}");
        }
    }
}
