//! Visits: what an operator asks of a node, and has the node write into its witness (S11).
//!
//! A visit has two parts. The *inspection* writes nothing: the handshake of every session, and then
//! the witness, the time and the number of keys. The *order* calls one of the scripts of the
//! witness. Whoever visits all nodes can so look at each before the first is changed.

pub(in crate::redlock) mod audit;
pub(in crate::redlock) mod prospect;

use core::time::Duration;

use bytes::BytesMut;

use super::error::NodeError;
use super::identity::{Identity, RunId};
use super::inquiry::{Inquiry, Progress};
use crate::redlock::config::RedlockConfig;
use crate::redlock::login::Login;
use crate::redlock::millis::Millis;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::wire::command::{self, Call, Look};
use crate::redlock::wire::script::Script;
use crate::redlock::wire::server_error::ServerError;
use crate::redlock::wire::testimony::{Constants, Testimony};
use crate::redlock::wire::witness::{
    CLOSE, CLOSED, DECLARE_FRESH, LOOK, RAISE_MAX_TTL, REOPEN, STAMP, WITNESS,
};
use crate::resp::{self, Value};

/// What a node is to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// A witness, where there is none of this data.
    Witness,
    /// The declaration that the node is new.
    Declaration,
    /// A longer `max_ttl`, and a witness as above.
    MaxTtl,
    /// That the node is closed by this change, if no client has looked for this long.
    Close { quiet: Duration, change: u64 },
    /// That the node is opened by this change, with new constants.
    Open { change: u64 },
}

/// Who visits: what a node is told of the deployment and of the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visitor<'a> {
    pub(crate) config: &'a RedlockConfig,
    /// The number of nodes.
    pub(crate) nodes: usize,
    /// The wall clock of the visitor.
    pub(crate) since_1970: Duration,
}

impl<'a> Visitor<'a> {
    /// Returns the arguments of a look.
    pub(super) fn look(&self, login: &Login) -> Look<'a> {
        Look {
            prefix: &self.config.prefix,
            database: login.database,
            wall: u64::try_from(self.since_1970.as_micros()).unwrap_or(u64::MAX),
            max_ttl: Millis::of(self.config.max_ttl),
            nodes: self.nodes,
            gap: self.config.max_ttl,
            label: None,
        }
    }
}

/// What an inspection has found on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sight {
    pub(crate) run_id: RunId,
    /// The witness that stands, if any.
    pub(crate) standing: Option<Standing>,
    /// The time by the clock of the node, in microseconds since 1970.
    pub(crate) time: u64,
    /// The number of keys in the database, those of the witness included.
    pub(crate) keys: u64,
    /// The time of the last look of a client, by the same clock, as the stamp says.
    pub(crate) seen: Option<u64>,
}

#[cfg(test)]
impl Sight {
    /// What an inspection finds on a node without a witness at this time.
    pub(crate) const fn empty(time: u64) -> Self {
        Self { run_id: RunId([b'a'; 40]), standing: None, time, keys: 0, seen: None }
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

/// What a node has answered to an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Receipt {
    Done(Testimony),
    /// The node has this number of keys, and nothing was written.
    NotEmpty(u64),
    Closed,
    /// A client has looked at the node this long ago, and the node must still be left alone.
    InUse {
        ago: Duration,
        left: Duration,
    },
    /// Another has changed the node meanwhile, and nothing was written.
    Changed,
}

/// The questions behind the handshake, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    Witness,
    Stamp,
    Time,
    Keys,
}

const QUESTIONS: [Question; 4] =
    [Question::Witness, Question::Stamp, Question::Time, Question::Keys];

/// An inspection under way.
pub(crate) struct Inspection {
    handshake: Inquiry,
    identity: Option<Identity>,
    database: u32,
    answered: usize,
    standing: Option<Standing>,
    seen: Option<u64>,
    time: u64,
}

impl Inspection {
    pub(crate) fn new(login: &Login) -> Self {
        Self {
            handshake: Inquiry::handshake(login, RestartGuard::Off),
            identity: None,
            database: login.database,
            answered: 0,
            standing: None,
            seen: None,
            time: 0,
        }
    }

    /// Returns all commands of the inspection. None of them leaves a key behind.
    pub(crate) fn commands(&self, login: &Login, visitor: Visitor<'_>) -> BytesMut {
        let mut out = BytesMut::new();
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
        let Some(identity) = self.identity else {
            match self.handshake.handle_reply(value) {
                Progress::Done(found) => self.identity = Some(found.identity),
                Progress::Failed(error) => return Err(error),
                Progress::More | Progress::Again | Progress::Unanswered { .. } => {}
            }
            return Ok(None);
        };
        if let Value::Error(text) | Value::BulkError(text) = value {
            return Err(NodeError::Server(ServerError::classify(text)));
        }
        match (QUESTIONS.get(self.answered), value) {
            (Some(Question::Witness | Question::Stamp), Value::Null) => {}
            (Some(Question::Stamp), Value::Bulk(text)) => {
                self.seen = text.split(u8::is_ascii_whitespace).next().and_then(number);
            }
            (Some(Question::Witness), Value::Bulk(text)) => {
                self.standing = Standing::read(text, &identity.in_witness(self.database));
            }
            (Some(Question::Time), Value::Array(parts)) => {
                let mut parts = parts.clone().map(|part| match part {
                    Value::Bulk(digits) => number(digits),
                    _ => None,
                });
                let (Some(Some(seconds)), Some(Some(micros))) = (parts.next(), parts.next()) else {
                    return Err(NodeError::UnexpectedReply);
                };
                self.time = seconds.saturating_mul(1_000_000).saturating_add(micros);
            }
            (Some(Question::Keys), Value::Integer(keys)) => {
                let keys = u64::try_from(*keys).map_err(|_| NodeError::UnexpectedReply)?;
                let Self { standing, seen, time, .. } = *self;
                return Ok(Some(Sight { run_id: identity.run_id, standing, time, keys, seen }));
            }
            _ => return Err(NodeError::UnexpectedReply),
        }
        self.answered += 1;
        Ok(None)
    }
}

impl Standing {
    /// Reads the value of a witness. Any other value counts as no witness, as in the scripts.
    pub(super) fn read(text: &[u8], own: &[u8]) -> Option<Self> {
        let mut words = text.split(u8::is_ascii_whitespace);
        let identity = words.next().filter(|word| !word.is_empty())?;
        let mut next = || number(words.next()?);
        let (born, _wall, _origin) = (next()?, next()?, next()?);
        let (max_ttl, nodes) = (next()?, next()?);
        let constants = Constants { max_ttl, nodes };
        Some(Self { is_own: identity == own, born, constants, change: next() })
    }

    /// Whether an operator has declared the node fresh, and the process is still the same.
    pub(crate) fn is_declared(&self) -> bool {
        self.is_own && self.born == 0
    }
}

impl Order {
    const fn script(self) -> Script {
        match self {
            Self::Witness => LOOK,
            Self::Declaration => DECLARE_FRESH,
            Self::MaxTtl => RAISE_MAX_TTL,
            Self::Close { .. } => CLOSE,
            Self::Open { .. } => REOPEN,
        }
    }

    /// Returns the command of the order.
    pub(crate) fn command(self, login: &Login, visitor: Visitor<'_>) -> BytesMut {
        let mut out = BytesMut::new();
        let (script, look) = (self.script(), visitor.look(login));
        match self {
            Self::Witness | Self::Declaration | Self::MaxTtl => {
                command::about_witness(&mut out, script, Call::Text, &look);
            }
            Self::Close { quiet, change } => {
                let look = Look { nodes: CLOSED as usize, gap: quiet, ..look };
                command::about_change(&mut out, script, &look, change);
            }
            Self::Open { change } => command::about_change(&mut out, script, &look, change),
        }
        out
    }

    /// Reads the reply to the order.
    ///
    /// # Errors
    ///
    /// Returns the class of an error reply, and [`NodeError::UnexpectedReply`] for any other that
    /// the script cannot have.
    pub(crate) fn read(self, value: &Value<'_>) -> Result<Receipt, NodeError> {
        match value {
            Value::Error(text) | Value::BulkError(text) => {
                return Err(NodeError::Server(ServerError::classify(text)));
            }
            Value::Array(parts) if parts.len() == 2 => {
                let mut parts = parts.clone();
                let (Some(Value::Integer(first)), Some(Value::Integer(second))) =
                    (parts.next(), parts.next())
                else {
                    return Err(NodeError::UnexpectedReply);
                };
                return self.read_pair(first, second).ok_or(NodeError::UnexpectedReply);
            }
            // A node that is closed says no more.
            _ if matches!(self, Self::Close { .. }) => return Err(NodeError::UnexpectedReply),
            _ => {}
        }
        let testimony = Testimony::read(value).map(|(testimony, _)| Receipt::Done(testimony));
        testimony.ok_or(NodeError::UnexpectedReply)
    }

    /// Reads a reply of two integers.
    fn read_pair(self, first: i64, second: i64) -> Option<Receipt> {
        let micros = |number| u64::try_from(number).ok().map(Duration::from_micros);
        match (self, first) {
            (Self::Declaration, -1) => Some(Receipt::NotEmpty(second.unsigned_abs())),
            (Self::Open { .. }, -1) => Some(Receipt::Changed),
            (Self::Close { .. }, 0) => Some(Receipt::Closed),
            (Self::Close { .. }, left) => {
                Some(Receipt::InUse { ago: micros(second)?, left: micros(left)? })
            }
            _ => None,
        }
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::node::identity::identity;
    use crate::resp::Status;

    const CONSTANTS: Constants = Constants { max_ttl: 60_000, nodes: 3 };

    #[test]
    fn a_witness_is_read_as_the_scripts_read_it() {
        let standing = |is_own, change| Standing { is_own, born: 5, constants: CONSTANTS, change };
        let rows = [
            ("me 5 6 7 60000 3", Some(standing(true, None))),
            ("me 5 6 7 60000 3 more", Some(standing(true, None))),
            ("me 5 6 7 60000 3 8", Some(standing(true, Some(8)))),
            ("other 5 6 7 60000 3", Some(standing(false, None))),
            ("me 5 6 7 60000", None),
            (" me 5 6 7 60000 3", None),
            ("me x 6 7 60000 3", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(Standing::read(text.as_bytes(), b"me"), expected, "{text}");
        }
    }

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
    fn a_reply_that_no_script_gives_is_told_from_a_refusal() {
        let rows: [(&[u8], Result<Receipt, NodeError>); 5] = [
            (b"*2\r\n:-1\r\n:7\r\n", Ok(Receipt::NotEmpty(7))),
            (b"*2\r\n:1\r\n:7\r\n", Err(NodeError::UnexpectedReply)),
            (b"+OK\r\n", Err(NodeError::UnexpectedReply)),
            (b"-OOM no memory\r\n", Err(NodeError::Server(ServerError::Overloaded))),
            (b"$-1\r\n", Err(NodeError::UnexpectedReply)),
        ];
        for (bytes, expected) in rows {
            let Ok(Status::Complete((value, _))) = resp::parse(bytes) else { panic!("a reply") };
            assert_eq!(Order::Declaration.read(&value), expected, "{}", bytes.escape_ascii());
        }
        let Ok(Status::Complete((refusal, _))) = resp::parse(rows[0].0) else { panic!("a reply") };
        assert_eq!(Order::Witness.read(&refusal), Err(NodeError::UnexpectedReply));
    }

    #[test]
    fn a_node_that_is_closed_is_told_from_one_that_is_in_use() {
        let close = Order::Close { quiet: Duration::from_secs(90), change: 7 };
        let open = Order::Open { change: 7 };
        let [ago, left] = [5, 85].map(Duration::from_micros);
        let unexpected = Err(NodeError::UnexpectedReply);
        let rows: [(Order, &[u8], Result<Receipt, NodeError>); 9] = [
            (close, b"*2\r\n:0\r\n:0\r\n", Ok(Receipt::Closed)),
            (close, b"*2\r\n:85\r\n:5\r\n", Ok(Receipt::InUse { ago, left })),
            (close, b"*2\r\n:-1\r\n:5\r\n", unexpected),
            (close, b"*2\r\n:85\r\n:-5\r\n", unexpected),
            (close, b"*2\r\n:0\r\n$1\r\n0\r\n", unexpected),
            (close, b"+OK\r\n", unexpected),
            (open, b"*2\r\n:-1\r\n:3\r\n", Ok(Receipt::Changed)),
            (open, b"*2\r\n:0\r\n:0\r\n", unexpected),
            (open, b"$-1\r\n", unexpected),
        ];
        for (order, bytes, expected) in rows {
            let Ok(Status::Complete((value, _))) = resp::parse(bytes) else { panic!("a reply") };
            assert_eq!(order.read(&value), expected, "{order:?}: {}", bytes.escape_ascii());
        }
    }
}
