//! Visits: what an operator asks of a node, and has the node write into its witness (S11).
//!
//! A visit has two parts. The [inspection] writes nothing: the handshake of every session, and then
//! the witness, the time and the number of keys. The *order* calls one of the scripts of the
//! witness. Whoever visits all nodes can so look at each before the first is changed.

pub(in crate::redlock) mod answers;
pub(in crate::redlock) mod audit;
pub(in crate::redlock) mod facts;
pub(in crate::redlock) mod inspection;
pub(in crate::redlock) mod prospect;

use core::time::Duration;

use bytes::BytesMut;

use super::error::NodeError;
use crate::redlock::config::RedlockConfig;
use crate::redlock::login::Login;
use crate::redlock::millis::Millis;
use crate::redlock::wire::command::{self, Call, Look};
use crate::redlock::wire::script::Script;
use crate::redlock::wire::server_error::ServerError;
use crate::redlock::wire::testimony::Testimony;
use crate::redlock::wire::witness::{CLOSE, CLOSED, DECLARE_FRESH, LOOK, RAISE_MAX_TTL, REOPEN};
use crate::resp::Value;

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
            name: &self.config.connection_name,
            database: login.database,
            wall: u64::try_from(self.since_1970.as_micros()).unwrap_or(u64::MAX),
            max_ttl: Millis::of(self.config.max_ttl),
            nodes: self.nodes,
            gap: self.config.max_ttl,
            label: None,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::{self, Status};

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
