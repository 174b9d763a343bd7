//! Why a node does not have what was wanted.

use core::fmt;
use core::time::Duration;

use super::finding::InitFinding;
use super::step::InitWait;
use crate::net::Address;
use crate::redlock::NodeError;
use crate::time::format_duration;

/// The reason why a node does not have what was wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InitRefusal {
    /// The node cannot be reached, cannot serve, or belongs to another deployment.
    Node(NodeError),
    /// The node is the same server process as this other one, and would vote twice.
    SameProcess(Address),
    /// A node with keys is not new.
    NotEmpty {
        /// The number of keys in the database, without those of the witness and the labels of
        /// clients.
        keys: u64,
    },
    /// Nobody can tell whether the node is new: the user has no right to `DBSIZE`.
    KeysUnknown,
    /// A node with a witness is not new: clients have been there.
    HasWitness(InitFinding),
    /// The deployment has a longer `max_ttl`.
    LongerMaxTtl {
        /// The `max_ttl` of the configuration.
        ours: Duration,
        /// The `max_ttl` of the deployment.
        recorded: Duration,
        /// For how long no client must run before it can be lowered.
        quiet: Duration,
    },
    /// The deployment has another number of nodes.
    OtherNodes {
        /// The number of nodes of the configuration.
        ours: u64,
        /// The number of nodes of the deployment.
        recorded: u64,
        /// For how long no client must run before the number can be changed.
        quiet: Duration,
    },
    /// An earlier change of the deployment has closed the node, and was not finished.
    HalfChanged,
    /// So few nodes of the deployment are on the list that the others could be a quorum.
    TooFewKept {
        /// The number of nodes of the deployment.
        of: u64,
        /// How many of them are on the list.
        kept: u64,
    },
    /// A client has looked at the node so lately that locks may still be held.
    InUse(InitWait),
    /// The node was closed for all clients, and not opened: other nodes could not be closed.
    Closed,
    /// Nothing was written, because other nodes could not be closed.
    NotReached,
    /// The constants of the node are not those that were to be changed, or written.
    ChangedMeanwhile,
}

impl fmt::Display for InitRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(error) => error.fmt(f),
            Self::SameProcess(other) => write!(f, "{}{other}", NodeError::SAME_PROCESS),
            Self::NotEmpty { keys } => {
                let noun = if *keys == 1 { "key" } else { "keys" };
                write!(f, "not new, it has {keys} {noun}: use init without --fresh")
            }
            Self::KeysUnknown => f.write_str(
                "the user may not run: dbsize, so that nothing tells whether it is empty",
            ),
            Self::HasWitness(finding) => write!(f, "{finding}: use init without --fresh"),
            Self::LongerMaxTtl { ours, recorded, .. } => {
                let [ours, recorded] = [ours, recorded].map(|ttl| format_duration(*ttl));
                write!(f, "max_ttl is {recorded}, and cannot be lowered to {ours} under clients")
            }
            &Self::OtherNodes { ours, recorded, .. } => {
                NodeError::OtherNodes { ours, recorded }.fmt(f)
            }
            Self::HalfChanged => NodeError::Reconfiguring.fmt(f),
            Self::TooFewKept { of, kept } => {
                write!(f, "only {kept} nodes of its deployment of {of} are on the list")
            }
            Self::InUse(wait) => wait.fmt(f),
            Self::Closed => f.write_str("closed for all clients, and not opened yet"),
            Self::NotReached => f.write_str("nothing written, because of the others"),
            Self::ChangedMeanwhile => f.write_str("changed by somebody else meanwhile"),
        }
    }
}
