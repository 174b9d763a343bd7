//! The holder of a resource, as the nodes report. A report is advice: it was true when the nodes
//! answered, and must not decide what a lock should decide.

use core::fmt;
use core::time::Duration;

use super::node_set::NodeSet;
use super::quorum::Quorum;
use super::token::Token;
use crate::time::format_rounded;

/// The maximum number of bytes of a value that are looked at. Other Redlock libraries have values
/// of 20 to 36 bytes.
pub(crate) const MAX_VALUE: usize = 40;

/// The number of bytes that a log shows of a value that is no token, and never more than half.
const SHOWN: usize = 8;

/// The id of one query for the holder of a resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QueryId(u64);

impl QueryId {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }
}

/// What the answers of the nodes say about a resource, taken together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Occupancy {
    /// A quorum of the nodes has the same value: somebody holds the resource, or somebody's value
    /// stands there.
    Held,
    /// A quorum of the nodes has nothing: nobody holds the resource.
    Free,
    /// Nobody holds the resource, and nobody gets it for now: too many nodes have different values,
    /// or data that is not a lock.
    Blocked,
    /// Too many nodes did not answer, or answered with an error, to say any of this.
    Unknown,
}

/// The holder of a resource, as the nodes report: advice, not a lock.
///
/// Every node is in exactly one of the sets. `Display` and `Debug` show only the begin of a value,
/// because whoever has the value can release the lock. [`value`](Self::value) returns all of it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    value: [u8; MAX_VALUE],
    len: u8,
    /// The nodes that have the most frequent value.
    pub holding: NodeSet,
    /// The nodes that have another value, or data that is not a lock.
    pub others: NodeSet,
    /// Those of `others` whose data is no string, and so neither a lock of redbolt nor of any other
    /// library.
    pub data: NodeSet,
    /// The nodes that have nothing at the key.
    pub free: NodeSet,
    /// The nodes that were not connected, did not answer in time, or answered with an error, and
    /// those that have nothing at the key but may have forgotten locks (S11).
    pub unknown: NodeSet,
    /// What all this says.
    pub occupancy: Occupancy,
    /// Whether a quorum of the nodes is in `holding`.
    pub is_quorum: bool,
    /// The longest time for which a quorum of nodes keeps the value from now on; zero without a
    /// quorum. The owner of the lock believes in a shorter time, because of the drift.
    /// `Duration::MAX` stands for a value without a ttl.
    pub remaining: Duration,
}

impl Holder {
    /// Creates the report without a value: the nodes in `free` have no key, the nodes in `others`
    /// have data of an unknown owner, and the nodes in `unknown` did not say.
    pub(crate) const fn without_value(free: NodeSet, others: NodeSet, unknown: NodeSet) -> Self {
        Self {
            value: [0; MAX_VALUE],
            len: 0,
            holding: NodeSet::EMPTY,
            others,
            data: NodeSet::EMPTY,
            free,
            unknown,
            occupancy: Occupancy::Unknown,
            is_quorum: false,
            remaining: Duration::ZERO,
        }
    }

    /// Sets the value that the nodes in `holding` have, and keeps at most [`MAX_VALUE`] bytes of
    /// it.
    pub(crate) fn set_value(&mut self, value: &[u8]) {
        let value = &value[..value.len().min(MAX_VALUE)];
        self.value[..value.len()].copy_from_slice(value);
        // At most MAX_VALUE.
        self.len = value.len() as u8;
    }

    /// Draws the conclusion from the sets of nodes.
    ///
    /// Two majorities have a node in common: where a quorum has nothing, no value has a quorum.
    pub(crate) fn conclude(&mut self, quorum: Quorum) {
        let may_be = |set: NodeSet| set.union(self.unknown).len() >= quorum.need();
        self.is_quorum = self.holding.len() >= quorum.need();
        self.occupancy = if self.is_quorum {
            Occupancy::Held
        } else if self.free.len() >= quorum.need() {
            Occupancy::Free
        } else if may_be(self.holding) || may_be(self.free) {
            Occupancy::Unknown
        } else {
            Occupancy::Blocked
        };
    }

    /// Returns the most frequent value on the nodes, cut to 40 bytes; `None` when no node has a
    /// value.
    pub fn value(&self) -> Option<&[u8]> {
        (!self.holding.is_empty()).then(|| &self.value[..usize::from(self.len)])
    }

    /// Returns the same value as a token; `None` when the value does not have the length of a
    /// token.
    pub fn token(&self) -> Option<Token> {
        Some(Token::from_bytes(self.value()?.try_into().ok()?))
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holder")
            .field("value", &format_args!("{}", Shown(self)))
            .field("holding", &self.holding)
            .field("others", &self.others)
            .field("data", &self.data)
            .field("free", &self.free)
            .field("unknown", &self.unknown)
            .field("occupancy", &self.occupancy)
            .field("is_quorum", &self.is_quorum)
            .field("remaining", &self.remaining)
            .finish()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { occupancy, unknown, data, .. } = self;
        match occupancy {
            Occupancy::Held if self.remaining == Duration::MAX => {
                return write!(f, "{} for ever (no ttl)", Shown(self));
            }
            Occupancy::Held => {
                let left = format_rounded(self.remaining);
                return write!(f, "{} for another {left}", Shown(self));
            }
            Occupancy::Free => f.write_str("nobody")?,
            Occupancy::Blocked => f.write_str("nobody, and the resource is not free")?,
            Occupancy::Unknown => write!(f, "unknown: no answer from {unknown:?}")?,
        }
        if !self.holding.is_empty() {
            write!(f, "; {} without a quorum at {:?}", Shown(self), self.holding)?;
        }
        if !data.is_empty() {
            write!(f, "; data that is not a lock at {data:?}")?;
        }
        Ok(())
    }
}

/// The value as a log may have it: a value is a secret, with which anybody can release the lock.
struct Shown<'a>(&'a Holder);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = self.0.value() else { return f.write_str("nobody") };
        if let Some(token) = self.0.token() {
            return token.fmt(f);
        }
        // A value of another library, or somebody's data.
        let (shown, rest) = value.split_at(SHOWN.min(value.len() / 2));
        shown.escape_ascii().fmt(f)?;
        f.write_str(if rest.is_empty() { "" } else { "…" })
    }
}

#[cfg(test)]
mod tests;
