//! What stands under a resource that is not free.

use std::fmt;
use std::time::Duration;

use redbolt::Engine;
use redbolt::redlock::{Holder, Occupancy};
use redbolt::time::format_rounded;
use serde::Serialize;

use super::fields::millis;

/// What a majority of the nodes has under a resource. No more is shown of a value than its begin
/// and its end, because whoever has the value can release the lock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum Occupant {
    /// Another holds the lock.
    Held {
        holder: String,
        #[serde(rename = "remaining_ms", serialize_with = "millis")]
        remaining: Duration,
    },
    /// A key without a ttl.
    NoTtl,
    /// Data that is not a string, on these nodes.
    Data { nodes: Vec<String> },
    /// Several others have some nodes each.
    Split,
    /// Nobody holds it any more.
    Free,
    /// Too few nodes have said.
    Unknown,
}

impl Occupant {
    pub(super) fn new(engine: &Engine, holder: &Holder) -> Self {
        // Without the nodes that have data, no quorum is left.
        let is_data = engine.nodes().count() - holder.data.len() < engine.quorum().need();
        match holder.occupancy {
            Occupancy::Held if holder.remaining == Duration::MAX => Self::NoTtl,
            Occupancy::Held => {
                let text = holder.to_string();
                let name = text.split(' ').next().unwrap_or_default();
                Self::Held { holder: name.to_owned(), remaining: holder.remaining }
            }
            Occupancy::Blocked if is_data => {
                let addresses = holder.data.into_iter().filter_map(|node| engine.address(node));
                Self::Data { nodes: addresses.map(ToString::to_string).collect() }
            }
            Occupancy::Blocked => Self::Split,
            Occupancy::Free => Self::Free,
            _ => Self::Unknown,
        }
    }

    /// Whether the lock stays taken until somebody deletes the key.
    pub(super) fn is_permanent(&self) -> bool {
        matches!(self, Self::NoTtl | Self::Data { .. })
    }
}

/// Continues "waiting for r: " and the like.
impl fmt::Display for Occupant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { holder, remaining } => {
                write!(f, "held by {holder} for another {}", format_rounded(*remaining))
            }
            Self::NoTtl => {
                f.write_str("held by another, whose key has no ttl and stays until it is deleted")
            }
            Self::Data { nodes } => {
                let nodes = nodes.join(", ");
                write!(f, "its key is not a lock but other data, such as a list, at {nodes}")
            }
            Self::Split => f.write_str("held by several others, each without a quorum"),
            Self::Free => f.write_str("free at this moment"),
            Self::Unknown => f.write_str("too few nodes say what they have"),
        }
    }
}
