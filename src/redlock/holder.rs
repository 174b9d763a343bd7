//! The holder of a resource, as the nodes report. A report is advice: it was true when the nodes
//! answered, and must not decide what a lock should decide.

use core::fmt;
use core::time::Duration;

use super::node_set::NodeSet;
use super::token::Token;

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
    /// The nodes that have nothing at the key.
    pub free: NodeSet,
    /// The nodes that were not connected, did not answer in time, or answered with an error.
    pub unknown: NodeSet,
    /// Whether a quorum of the nodes is in `holding`.
    pub is_quorum: bool,
    /// The longest time for which a quorum of nodes keeps the value from now on; zero without a
    /// quorum. The owner of the lock believes in a shorter time, because of the drift.
    /// `Duration::MAX` stands for a value without a ttl.
    pub remaining: Duration,
}

impl Holder {
    /// Creates the report that nobody holds the resource, as far as the nodes say: the nodes in
    /// `free` have no key, the nodes in `others` have data of an unknown owner, and the nodes in
    /// `unknown` did not say.
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

    /// Sets the value that the nodes in `holding` have, and keeps at most [`MAX_VALUE`] bytes of
    /// it.
    pub(crate) fn set_value(&mut self, value: &[u8]) {
        let value = &value[..value.len().min(MAX_VALUE)];
        self.value[..value.len()].copy_from_slice(value);
        // At most MAX_VALUE.
        self.len = value.len() as u8;
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
            .field("free", &self.free)
            .field("unknown", &self.unknown)
            .field("is_quorum", &self.is_quorum)
            .field("remaining", &self.remaining)
            .finish()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown(self).fmt(f)?;
        if self.holding.is_empty() {
            return Ok(());
        }
        match self.is_quorum {
            true if self.remaining == Duration::MAX => f.write_str(" for ever"),
            true => write!(f, " for another {:.3}s", self.remaining.as_secs_f64()),
            false => f.write_str(" without a quorum"),
        }
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
mod tests {
    use super::*;

    fn holder(value: &[u8]) -> Holder {
        let none = NodeSet::EMPTY;
        let mut holder = Holder::nobody(none, none, none);
        holder.set_value(value);
        holder.holding = NodeSet::first(3);
        holder
    }

    #[test]
    fn a_shown_holder_tells_no_value_with_which_to_release() {
        for (value, expected) in [
            (&[0xab; 20][..], "abab…abab"),
            (b"0190-a-token-of-another-library", "0190-a-t…"),
            (b"\0a b\x1b[31m", "\\x00a b…"),
            (b"1", "…"),
        ] {
            let shown = holder(value);
            assert_eq!(shown.to_string(), format!("{expected} without a quorum"));
            let debug = format!("{shown:?}");
            assert!(debug.starts_with(&format!("Holder {{ value: {expected}, ")), "{debug}");
            assert_eq!(shown.value(), Some(value), "whoever asks gets the value");
        }
        let none = NodeSet::EMPTY;
        assert_eq!(Holder::nobody(none, none, none).to_string(), "nobody");
    }
}
