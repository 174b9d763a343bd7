//! Requests to a master, as the queue of expected replies remembers them.

use crate::redlock::holder::QueryId;
use crate::redlock::wire::command::{Form, SetForm};
use crate::time::Instant;

/// The maximum number of keys in one script call. With more keys there is hardly any gain, and a
/// longer call would hold up the locks behind it.
pub(crate) const GROUP: usize = 64;

/// The maximum number of locks with fencing numbers in one script call. With more of them there is
/// hardly any gain, and a longer call would hold up the locks behind it.
pub(crate) const JOINED: usize = 16;

/// A request that is on its way, and whose reply is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Expected {
    pub(crate) request: Request,
    pub(crate) sent: Instant,
}

/// A request to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    Set(SetRequest),
    Compare(CompareRequest),
    /// A look at the door: a read of the first key of a lock that somebody else has.
    Door(DoorRequest),
    /// A question for the ttl of that key.
    Ttl(DoorRequest),
    /// A request for one of the tickets there.
    Ticket(TicketRequest, Nth),
    /// A question for the ttl of the first one.
    TicketTtl(TicketRequest),
    /// The end of a ticket: its owner has no use for it any more.
    TicketBack,
    /// The wish to be told what happens to the key that the next request reads.
    OptIn,
    /// The mark of a request that waits while locks of one engine follow one another.
    Mark,
    /// A question whether there is such a mark for the resource with this hash.
    Wanted {
        hash: u32,
        /// The slot of the lock whose tenure the answer bounds; `None` for that of the next one.
        lock: Option<u32>,
    },
    /// A query for the holder of a resource.
    Query(QueryId),
    /// The next step of the handshake.
    Handshake,
    /// The next step of a look at the data of the node.
    Look,
}

/// The class of a request. Latencies are counted per class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LatencyClass {
    Set,
    Release,
    Extend,
    Other,
}

impl Request {
    /// Returns whether the request is about a fencing number.
    pub(crate) const fn is_fenced(self) -> bool {
        matches!(self, Self::Set(SetRequest { form, .. }) if form.is_fenced())
    }

    /// Returns whether neither a lock nor the session depends on the request.
    pub(crate) const fn is_hint(self) -> bool {
        !matches!(self, Self::Set(_) | Self::Compare(_) | Self::Handshake | Self::Look)
    }

    pub(crate) const fn class(self) -> LatencyClass {
        match self {
            Self::Set(_) => LatencyClass::Set,
            Self::Compare(CompareRequest { op: Op::Release, .. }) => LatencyClass::Release,
            Self::Compare(CompareRequest { op: Op::Extend, .. }) => LatencyClass::Extend,
            Self::Door(_)
            | Self::Ttl(_)
            | Self::Ticket(..)
            | Self::TicketTtl(_)
            | Self::TicketBack
            | Self::OptIn
            | Self::Mark
            | Self::Wanted { .. }
            | Self::Query(_)
            | Self::Handshake
            | Self::Look => LatencyClass::Other,
        }
    }
}

/// A request to take the keys of one lock, if all of them are free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SetRequest {
    /// The slot of the lock.
    pub(crate) slot: u32,
    /// The serial number of the attempt whose token is stored.
    pub(crate) serial: u64,
    pub(crate) intent: Intent,
    pub(crate) form: SetForm,
}

/// A request to read whose token stands at the door, or for how long yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DoorRequest {
    /// The slot of the request that waits.
    pub(crate) slot: u32,
    /// The number of the look. A larger one would make every entry larger.
    pub(crate) number: u32,
}

/// A request about one of the tickets at the door.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TicketRequest {
    /// The slot of the request that waits.
    pub(crate) slot: u32,
    /// A half of the hash of the owner's token. The whole would make every entry larger.
    pub(crate) token: u32,
}

/// Which of the two tickets behind the token of an owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Nth {
    /// That of the one who goes first.
    First,
    /// That of the one who goes a little later.
    Second,
}

/// The reason why a node is sent a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Intent {
    /// The node is to vote in an attempt.
    Attempt,
    /// The node is to vote in an attempt that has asked no other node yet.
    Knock,
    /// The node lacks the key of a held lock. The answer is no vote.
    Repair,
    /// The node was to vote, and has said since then that its keys may be gone. A grant does not
    /// count (S11).
    // Not a kind of `Request`: a second one with this payload would make every entry larger.
    Doubted,
    /// The node is to vote in an attempt, and to draw a fencing number (S13).
    Fenced,
    /// The node is to draw a fencing number for a lock that is held. The serial of the request is
    /// that of the draw, here and below.
    Draw,
    /// The node is to accept a fencing number that others have drawn.
    Raise,
    /// The node was to draw for a lock that is held, or to accept a number, and has said since then
    /// that its keys may be gone. The answer does not count.
    DoubtedDraw,
    DoubtedRaise,
}

impl Intent {
    /// Returns what is left of the intent when the node says that its keys may be gone: no vote,
    /// and no number.
    pub(crate) const fn doubted(self) -> Self {
        match self {
            Self::Attempt | Self::Knock | Self::Fenced | Self::Doubted => Self::Doubted,
            Self::Repair => Self::Repair,
            Self::Draw | Self::DoubtedDraw => Self::DoubtedDraw,
            Self::Raise | Self::DoubtedRaise => Self::DoubtedRaise,
        }
    }
}

/// A request to compare the values of `count` keys with tokens, and to act where they are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CompareRequest {
    pub(crate) op: Op,
    pub(crate) form: Form,
    /// The number of answers in the reply. A set of resources has one answer for the whole set.
    pub(crate) count: u32,
}

/// The action on a key that holds our token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    /// Delete the key.
    Release,
    /// Let the key live longer.
    Extend,
}
