//! [`Unlock`]: the end of a lock by an operator.

use core::fmt;
use std::io;

use super::error::UnlockError;
use super::nodes::{NodeWeight, VisitedNode};
use super::round::{self, Round};
use crate::engine::config::Config;
use crate::redlock::{NodeError, Quorum, Removal, StoredValue};

/// How often the value is deleted at most. The second time shows whether it came back.
const ROUNDS: usize = 4;

/// Ends a lock: deletes its value on every node that answers, wherever exactly this value stands.
///
/// Nothing else is ever deleted: neither another value nor data of another type. So a lock that
/// another client has taken meanwhile is safe from an order that was meant for an earlier one. A
/// client that [passes a lock on](crate::ReleaseOutcome::is_passed_on) to its next caller keeps the
/// value: then the order ends the lock of that caller.
///
/// The promise that no two clients believe in a lock ends with an unlock (SAFETY.md, assumption 3).
/// The holder is not asked, and goes on. A client of redbolt believes in the lock until its
/// validity ends, or until its next extension, which is refused: then it is told that the lock is
/// lost. Others can have the lock at once. Whoever must be sure that the holder has stopped waits
/// for the ttl instead, or stops the holder first.
///
/// ```no_run
/// use redbolt::redlock::StoredValue;
/// use redbolt::{Config, Unlock};
///
/// let config = Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?;
/// let token = StoredValue::from_hex("3f9c01").expect("hex digits");
/// let report = Unlock::new(config, "orders/42", token).run()?;
/// println!("{}", report.verdict());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `run`"]
pub struct Unlock {
    config: Config,
    resource: Vec<u8>,
    value: StoredValue,
}

impl Unlock {
    /// Ends the lock on `resource` whose token is `value`. The nodes, their logins, `prefix`,
    /// `quorum` and `connect_timeout` of the configuration count.
    pub fn new(config: Config, resource: impl Into<Vec<u8>>, value: StoredValue) -> Self {
        Self { config, resource: resource.into(), value }
    }

    /// Visits all nodes, and blocks meanwhile. Connecting, the login and the deletion may take
    /// `connect_timeout` each, and the lookup of a name as long as the system lets it.
    ///
    /// Each node is visited in a thread of its own. May be repeated at any time.
    ///
    /// # Errors
    ///
    /// Returns an [`UnlockError`] for a configuration, a resource or a value that is out of bounds,
    /// and for a node whose deployment has another number of nodes: then nothing was deleted.
    /// Returns [`UnlockError::Io`] if the system can start no thread: then the value may have been
    /// deleted on other nodes. Whatever else is wrong with a node is no error, but part of the
    /// report.
    pub fn run(&self) -> Result<UnlockReport, UnlockError> {
        let quorum = self.config.check_engine()?;
        let value = self.value.as_bytes();
        let len = value.len();
        if len > StoredValue::MAX_LEN {
            return Err(UnlockError::ValueTooLong { len });
        }
        let keys = round::keys(&self.config, core::slice::from_ref(&self.resource))?;
        let mut round = Round::begin(&self.config, quorum)?;
        check_deployment(&round.nodes)?;
        let mut remove = || -> io::Result<Vec<_>> {
            Ok(round.ask(|talk| talk.remove(&keys[0], value))?.into_iter().map(result).collect())
        };
        let mut results = remove()?;
        // An extension that was answered before the deletion may have given the value back.
        let mut is_back = results.contains(&Ok(UnlockResult::Deleted));
        for _ in 1..ROUNDS {
            if !is_back {
                break;
            }
            let again = remove()?;
            is_back = again.contains(&Ok(UnlockResult::Deleted));
            // A node that has something else by now has deleted the value before.
            let is_deleted = |result: &Result<_, _>| *result == Ok(UnlockResult::Deleted);
            for (result, again) in results.iter_mut().zip(again) {
                *result = if is_deleted(&again) { again } else { *result };
            }
        }
        let node = |(node, result)| UnlockNode { node, result };
        let nodes = round.nodes.into_iter().zip(results).map(node).collect();
        Ok(UnlockReport { quorum, nodes, is_back })
    }
}

/// Refuses a list of nodes that is not that of the deployment: a lock is not ended before a quorum
/// of all of its nodes has nothing.
fn check_deployment(nodes: &[VisitedNode]) -> Result<(), UnlockError> {
    let other = |node: &VisitedNode| match node.weight {
        NodeWeight::Out(NodeError::OtherNodes { ours, recorded }) => {
            Some(UnlockError::OtherNodes { node: node.address.clone(), ours, recorded })
        }
        _ => None,
    };
    nodes.iter().find_map(other).map_or(Ok(()), Err)
}

/// Says what a node has done.
fn result(
    removal: Result<Result<Option<Removal>, NodeError>, NodeError>,
) -> Result<UnlockResult, NodeError> {
    Ok(match removal?? {
        Some(Removal::Deleted) => UnlockResult::Deleted,
        Some(Removal::Gone) => UnlockResult::Gone,
        Some(Removal::Other) => UnlockResult::Other,
        None => UnlockResult::Data,
    })
}

/// What was done, node by node, in the order of the configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnlockReport {
    quorum: Quorum,
    nodes: Vec<UnlockNode>,
    /// The value came back after each deletion.
    is_back: bool,
}

/// What was done on one node.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnlockNode {
    /// The node, and what its answer is worth.
    pub node: VisitedNode,
    /// What was done, or why it is not known.
    pub result: Result<UnlockResult, NodeError>,
}

/// What was done on a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum UnlockResult {
    /// The value stood there, and was deleted.
    Deleted,
    /// Nothing stood there.
    Gone,
    /// Another value stands there, and was left alone.
    Other,
    /// Data of another type stands there, and was left alone.
    Data,
}

/// What has become of the lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum UnlockVerdict {
    /// The value was deleted, and a quorum has nothing: the lock has ended.
    Ended,
    /// A quorum has nothing, and the value stood nowhere: the lock had ended before.
    WasFree,
    /// A quorum does not have the value, because too many nodes for a lock have another one.
    OtherValue,
    /// The holder gave the value back to nodes on which it had been deleted. The lock may be held
    /// still: stop the holder, or unlock again.
    Back,
    /// Too few nodes have given an answer that counts. The lock may be held still.
    TooFew,
}

impl UnlockReport {
    /// Returns how many nodes must agree.
    pub fn quorum(&self) -> Quorum {
        self.quorum
    }

    /// Returns the nodes.
    pub fn nodes(&self) -> &[UnlockNode] {
        &self.nodes
    }

    /// Returns the number of nodes on which the value was deleted.
    pub fn deleted(&self) -> usize {
        let is_deleted = |node: &&UnlockNode| node.result == Ok(UnlockResult::Deleted);
        self.nodes.iter().filter(is_deleted).count()
    }

    /// Returns what has become of the lock. Only nodes that can vote count, and of those in
    /// quarantine what they have.
    pub fn verdict(&self) -> UnlockVerdict {
        use UnlockResult::{Data, Deleted, Gone, Other};
        let counted = || self.nodes.iter().filter(|node| node.counts());
        let count = |results: &[UnlockResult]| {
            counted()
                .filter(|node| node.result.is_ok_and(|result| results.contains(&result)))
                .count()
        };
        let need = self.quorum.need();
        if self.is_back {
            return UnlockVerdict::Back;
        }
        if count(&[Deleted, Gone]) >= need {
            let is_ended = count(&[Deleted]) > 0;
            return if is_ended { UnlockVerdict::Ended } else { UnlockVerdict::WasFree };
        }
        let is_known = count(&[Deleted, Gone, Other, Data]) >= need;
        if is_known { UnlockVerdict::OtherValue } else { UnlockVerdict::TooFew }
    }
}

/// A line for each node, indented by two spaces, and the verdict.
impl fmt::Display for UnlockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nodes.iter().try_for_each(|node| writeln!(f, "  {node}"))?;
        writeln!(f, "{}", self.verdict())
    }
}

impl UnlockNode {
    /// Returns whether the answer counts. A node that does not may have lost what it had, or may
    /// have what others never had. Of one in quarantine, that it has nothing does not count (S11).
    fn counts(&self) -> bool {
        match self.result {
            Ok(UnlockResult::Gone) => self.node.weight == NodeWeight::Counts,
            _ => self.node.weight.counts(),
        }
    }
}

impl fmt::Display for UnlockNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VisitedNode { address, weight, .. } = &self.node;
        match self.result {
            Ok(result) if *weight == NodeWeight::Counts => write!(f, "{address}: {result}"),
            Ok(result) if weight.counts() => write!(f, "{address}: {result} ({weight})"),
            Ok(result) => write!(f, "{address}: {result}, but does not count: {weight}"),
            // Why the node cannot vote says more than that it does not let us delete.
            Err(error) if weight.counts() => write!(f, "{address}: {error}"),
            Err(_) => write!(f, "{address}: {}", self.node.status()),
        }
    }
}

impl fmt::Display for UnlockResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deleted => "deleted",
            Self::Gone => "nothing was there",
            Self::Other => "another value, left alone",
            Self::Data => "data of another type, left alone",
        })
    }
}

impl fmt::Display for UnlockVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ended => "the lock has ended",
            Self::WasFree => "the lock had ended before",
            Self::OtherValue => "another value, or other data, stands there",
            Self::Back => "the holder has given it back to nodes: it may be held still",
            Self::TooFew => "too few nodes have said what counts: it may be held still",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `d`eleted, `g`one, `o`ther, `l`ist, `-` for no answer; a capital letter for a node that does
    /// not count. In quarantine: `?` for gone, `!` for deleted.
    fn verdict(nodes: &str) -> UnlockVerdict {
        let node = |letter: char| {
            let weight = match letter {
                '-' => NodeWeight::Out(NodeError::ConnectTimeout),
                '?' | '!' => NodeWeight::Quarantined { remaining: None },
                letter if letter.is_uppercase() => NodeWeight::Out(NodeError::EvictsKeys),
                _ => NodeWeight::Counts,
            };
            let result = match letter.to_ascii_lowercase() {
                'd' | '!' => Ok(UnlockResult::Deleted),
                'g' | '?' => Ok(UnlockResult::Gone),
                'o' => Ok(UnlockResult::Other),
                'l' => Ok(UnlockResult::Data),
                _ => Err(NodeError::ConnectTimeout),
            };
            let address = "h:1".parse().expect("an address");
            let detail = String::new();
            UnlockNode { node: VisitedNode { address, weight, detail }, result }
        };
        let nodes: Vec<_> = nodes.chars().map(node).collect();
        let quorum = Quorum::majority(nodes.len()).expect("some nodes");
        UnlockReport { quorum, nodes, is_back: false }.verdict()
    }

    #[test]
    fn a_lock_has_ended_only_where_a_quorum_that_counts_has_nothing() {
        use UnlockVerdict::{Ended, OtherValue, TooFew, WasFree};
        let rows = [
            ("ddddd", Ended),
            ("dgg--", Ended),
            ("dddoo", Ended),
            ("ggg--", WasFree),
            ("gggoo", WasFree),
            ("gggD-", WasFree),
            ("ggooo", OtherValue),
            ("ddooo", OtherValue),
            ("ooo--", OtherValue),
            ("lll--", OtherValue),
            ("ggo--", OtherValue),
            ("dd---", TooFew),
            ("ddD--", TooFew),
            ("ooO--", TooFew),
            ("-----", TooFew),
            ("g??--", TooFew),
            ("dd???", TooFew),
            ("gg!??", Ended),
        ];
        for (nodes, expected) in rows {
            assert_eq!(verdict(nodes), expected, "{nodes}");
        }
    }
}
