//! The requests that a master is sent, as the queue of expected replies remembers them.

use super::command::{Form, SetForm};
use crate::redlock::holder::QueryId;
use crate::time::Instant;

/// How many keys one script call takes. The gain flattens out here, and a longer call would hold
/// up the locks behind it.
pub(crate) const GROUP: usize = 64;

/// A request on its way, whose reply is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Expected {
    pub(crate) request: Request,
    pub(crate) sent: Instant,
}

/// What a node was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    Set(SetRequest),
    Compare(CompareRequest),
    /// Who holds a resource.
    Query(QueryId),
    /// The next step of the handshake.
    Handshake,
}

/// What the latency of a request counts for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Set,
    Release,
    Extend,
    Other,
}

impl Request {
    pub(crate) const fn class(self) -> Class {
        match self {
            Self::Set(_) => Class::Set,
            Self::Compare(CompareRequest { op: Op::Release, .. }) => Class::Release,
            Self::Compare(CompareRequest { op: Op::Extend, .. }) => Class::Extend,
            Self::Query(_) | Self::Handshake => Class::Other,
        }
    }
}

/// Asks a node to take the keys of one lock, if all of them are free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SetRequest {
    /// The slot of the lock.
    pub(crate) slot: u32,
    /// The serial of the attempt whose token is stored.
    pub(crate) serial: u64,
    pub(crate) intent: Intent,
    pub(crate) form: SetForm,
}

/// Why a node is sent a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Intent {
    /// To vote in an attempt.
    Attempt,
    /// To have the key of a lock that is held, which the node misses. The answer is no vote.
    Repair,
}

/// Asks a node to compare the values of `count` keys with tokens, and to act where they agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CompareRequest {
    pub(crate) op: Op,
    pub(crate) form: Form,
    /// How many answers the reply has. A set of resources has one answer for all of them.
    pub(crate) count: u32,
}

/// What is done with a key that is ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    /// Delete the key.
    Release,
    /// Let the key live longer.
    Extend,
}
