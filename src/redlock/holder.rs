//! Who holds a resource, as the nodes say. The answer is advice: it was true on its way here, and
//! nothing may be decided by it that a lock should decide.

use core::fmt;
use core::time::Duration;

use super::node_set::NodeSet;
use super::token::Token;

/// How many bytes of a value are looked at. Other Redlock libraries have values of 20 to 36 bytes.
pub(crate) const MAX_VALUE: usize = 40;

/// The number of one question who holds a resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QueryId(u64);

impl QueryId {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }
}

/// Who holds a resource, as the nodes saw it: advice, not a lock.
///
/// Every node is in exactly one of the sets.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    value: [u8; MAX_VALUE],
    len: u8,
    /// The nodes that have the value which most nodes have.
    pub holding: NodeSet,
    /// The nodes that have another, or data that is no lock.
    pub others: NodeSet,
    /// The nodes that have nothing at the key.
    pub free: NodeSet,
    /// The nodes that were not connected, did not answer in time, or answered with an error.
    pub unknown: NodeSet,
    /// Whether a quorum of the nodes is in `holding`.
    pub is_quorum: bool,
    /// How long a quorum of nodes keeps the value from now on, at most; zero without a quorum. Its
    /// owner counts with less, by the drift. `Duration::MAX` for a value without a ttl.
    pub remaining: Duration,
}

impl Holder {
    /// Nobody, as far as the nodes say: those in `free` have no key, those in `others` have data
    /// of an unknown owner, those in `unknown` did not say.
    pub(crate) const fn nobody(free: NodeSet, others: NodeSet, unknown: NodeSet) -> Self {
        Self {
            value: [0; MAX_VALUE],
            len: 0,
            holding: NodeSet::EMPTY,
            others,
            free,
            unknown,
            is_quorum: false,
            remaining: Duration::ZERO,
        }
    }

    /// Sets the value that the nodes in `holding` have; at most [`MAX_VALUE`] bytes of it are kept.
    pub(crate) fn set_value(&mut self, value: &[u8]) {
        let value = &value[..value.len().min(MAX_VALUE)];
        self.value[..value.len()].copy_from_slice(value);
        // At most MAX_VALUE.
        self.len = value.len() as u8;
    }

    /// What most of the nodes that have anything have, cut to 40 bytes; `None` when none has.
    pub fn value(&self) -> Option<&[u8]> {
        (!self.holding.is_empty()).then(|| &self.value[..usize::from(self.len)])
    }

    /// The same, if it is the token of an engine such as this.
    pub fn token(&self) -> Option<Token> {
        Some(Token::from_bytes(self.value()?.try_into().ok()?))
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value().map(|value| value.escape_ascii().to_string());
        f.debug_struct("Holder")
            .field("value", &value)
            .field("holding", &self.holding)
            .field("others", &self.others)
            .field("free", &self.free)
            .field("unknown", &self.unknown)
            .field("is_quorum", &self.is_quorum)
            .field("remaining", &self.remaining)
            .finish()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(value) = self.value() else { return f.write_str("nobody") };
        match self.token() {
            Some(token) => token.fmt(f)?,
            None => value.escape_ascii().fmt(f)?,
        }
        match self.is_quorum {
            true if self.remaining == Duration::MAX => f.write_str(" for ever"),
            true => write!(f, " for another {:.3} s", self.remaining.as_secs_f64()),
            false => f.write_str(" without a quorum"),
        }
    }
}
