//! What comes of an audit.

use super::facts::Facts;
use crate::redlock::node::error::NodeError;
use crate::redlock::node::identity::Identity;
use crate::redlock::node::inquiry::Word;
use crate::redlock::node::message::Message;
use crate::redlock::node::quarantine::QuarantineReason;
use crate::redlock::wire::probe::MissingRights;

/// What a node has answered to an audit.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    /// Who the server is, or why the node cannot vote.
    pub(crate) verdict: Result<Identity, NodeError>,
    pub(crate) is_durable: bool,
    /// What a look would tell now.
    pub(crate) word: Word,
    /// What has become of the node since its witness was written, if the witness is another's.
    pub(crate) change: Option<QuarantineReason>,
    pub(crate) missing: MissingRights,
    /// Whether the node has refused a right without which nobody is told of a flush or of a key.
    pub(crate) lacks_tracking: bool,
    /// Whether the node has refused the right to the label of a client.
    pub(crate) lacks_label: bool,
    /// Whether the node has refused the right to a key that begins with the prefix, and goes on as
    /// no lock does.
    pub(crate) lacks_locks: bool,
    /// What the node has told in `INFO`, as users may see it.
    pub(crate) facts: Facts,
    /// Settings that the node has told, by name, as users may see them.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// The last error about the login or the witness.
    pub(crate) message: Message,
}

/// A node that has answered nothing of use.
#[derive(Clone, Debug)]
pub(crate) struct Unanswered {
    pub(crate) error: NodeError,
    /// The error of the server, if it has answered.
    pub(crate) message: Message,
}

impl Unanswered {
    /// The node has said nothing.
    pub(crate) fn of(error: NodeError) -> Self {
        Self { error, message: Message::default() }
    }
}
