//! What comes of an inquiry: what a node has proved, or why it cannot vote.

use crate::redlock::node::error::NodeError;
use crate::redlock::node::identity::Identity;
use crate::redlock::wire::command::Native;
use crate::redlock::wire::probe::MissingRights;
use crate::redlock::wire::testimony::Testimony;

/// What came of the wish to be told of the witness again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Renewal {
    /// Nobody has refused.
    Asked,
    /// The server cannot answer for the moment.
    PutOff,
    Refused,
}

/// What a node has proved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Findings {
    pub(crate) identity: Identity,
    /// Whether a crash of the node loses nothing that the node has answered.
    pub(crate) is_durable: bool,
    /// The server's own compare-and-delete command, if there is one. Only a handshake asks.
    pub(crate) native: Option<Native>,
    /// The commands that the node does not run for us. No single lock needs one of them.
    pub(crate) missing: MissingRights,
    /// Whether the server may push. Only a handshake asks.
    pub(crate) speaks_resp3: bool,
    /// Whether the server tells what happens to the witness, as far as this inquiry has asked.
    pub(crate) tracks: bool,
    pub(crate) word: Word,
    /// The time of the node, in microseconds since 1970, if the node has told it.
    pub(crate) time: Option<u64>,
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
    /// More must be sent: the last command again, with the text of its script, or tries.
    Again,
    /// The node has proved everything.
    Done(Findings),
    /// The node did not answer a look. `true`: it does not allow the question. `false`: it cannot
    /// answer for the moment.
    Unanswered { is_denied: bool },
    /// The node cannot vote.
    Failed(NodeError),
}
