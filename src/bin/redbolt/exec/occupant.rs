//! What stands under a resource that is not free.

use std::env;
use std::fmt;
use std::io;
use std::time::Duration;

use redbolt::Engine;
use redbolt::redlock::{Holder, NodeId, NodeSet, Occupancy, Stored, Token};
use redbolt::time::format_rounded;
use serde::Serialize;

use super::closer_look;
use super::fields::millis;
use super::remains::Remains;

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
    /// The redbolt that has started this one holds the lock, and waits for its command.
    Around,
    /// Keys that stay until somebody deletes them leave no quorum of nodes.
    Permanent(Box<Remains>),
    /// Several others have some nodes each.
    Split,
    /// Nobody holds it any more.
    Free,
    /// Too few nodes have said.
    Unknown,
}

impl Occupant {
    pub(super) fn new(engine: &Engine, resource: &[u8], holder: &Holder) -> Self {
        match holder.occupancy {
            Occupancy::Held if holder.remaining == Duration::MAX => {
                Self::permanent(engine, resource, holder.holding, holder.data)
            }
            Occupancy::Held if is_around(holder) => Self::Around,
            Occupancy::Held => {
                let text = holder.to_string();
                let name = text.split(' ').next().unwrap_or_default();
                Self::Held { holder: name.to_owned(), remaining: holder.remaining }
            }
            Occupancy::Blocked if leaves_no_quorum(engine, holder.data) => {
                Self::permanent(engine, resource, NodeSet::EMPTY, holder.data)
            }
            Occupancy::Blocked => Self::Split,
            Occupancy::Free => Self::Free,
            _ => Self::Unknown,
        }
    }

    /// Returns the same for nodes whose values have no quorum, after a closer look at them: values
    /// without a ttl may be among them.
    pub(super) fn closer(self, engine: &mut Engine, resource: &[u8]) -> io::Result<Self> {
        if !matches!(self, Self::Split | Self::Unknown) {
            return Ok(self);
        }
        let Some(found) = closer_look::look(engine, resource)? else { return Ok(self) };
        let is_kept = |value: &Stored| value.value().is_some() && value.ttl() == Some(None);
        let stored = found.stored.iter().enumerate();
        let no_ttl = stored.filter(|(_, stored)| stored.as_ref().is_ok_and(is_kept));
        let no_ttl: NodeSet = no_ttl.filter_map(|(place, _)| NodeId::new(place)).collect();
        let no_ttl = no_ttl.without(found.unknown);
        // Beside nodes that do not answer, one such key can be enough.
        let stays = no_ttl.union(found.data);
        let is_stuck = !stays.is_empty() && leaves_no_quorum(engine, stays.union(found.unknown));
        Ok(match is_stuck {
            true => Self::permanent(engine, resource, no_ttl, found.data),
            false => self,
        })
    }

    fn permanent(engine: &Engine, resource: &[u8], no_ttl: NodeSet, data: NodeSet) -> Self {
        let [no_ttl, data] = [no_ttl, data].map(|nodes| nodes.into_iter().collect::<Vec<_>>());
        Self::Permanent(Box::new(Remains::new(engine, resource, &no_ttl, &data)))
    }

    /// Returns what is known of this after some time.
    pub(super) fn after(self, time: Duration) -> Self {
        match self {
            Self::Held { remaining, .. } if remaining <= time => Self::Unknown,
            Self::Held { holder, remaining } => Self::Held { holder, remaining: remaining - time },
            other => other,
        }
    }

    /// Whether the lock stays taken as long as this process waits and nobody deletes the key.
    pub(super) fn is_permanent(&self) -> bool {
        matches!(self, Self::Permanent(_) | Self::Around)
    }

    /// Returns what somebody has to do before the lock comes free, in lines of its own.
    pub(super) fn way_out(&self) -> String {
        match self {
            Self::Permanent(remains) => remains.way_out(),
            _ => String::new(),
        }
    }
}

/// Returns whether the lock is that of the redbolt whose command this process is, or belongs to.
fn is_around(holder: &Holder) -> bool {
    let token = env::var("REDBOLT_TOKEN").ok().and_then(|token| token.parse::<Token>().ok());
    token.is_some() && token == holder.token()
}

/// Returns whether the other nodes are too few for a quorum.
fn leaves_no_quorum(engine: &Engine, nodes: NodeSet) -> bool {
    engine.nodes().count() - nodes.len() < engine.quorum().need()
}

/// Continues "waiting for r: " and the like.
impl fmt::Display for Occupant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { holder, remaining } => {
                write!(f, "held by {holder}, {}", AtMost(*remaining))
            }
            Self::Around => f.write_str("held by the redbolt that has started this one"),
            Self::Permanent(remains) => remains.fmt(f),
            Self::Split => f.write_str("held by several others, each without a quorum"),
            Self::Free => f.write_str("free at this moment"),
            Self::Unknown => f.write_str("too few nodes say what they have"),
        }
    }
}

/// The time that is left to a lock of another.
pub(super) struct AtMost(pub(super) Duration);

impl fmt::Display for AtMost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "for at most {} more unless it is extended", format_rounded(self.0))
    }
}
