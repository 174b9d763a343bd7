//! [`ReleaseReport`], what a client says of a release.

use core::fmt;
use std::sync::Arc;

use crate::net::Address;
use crate::redlock::{LostReason, NodeId, NodeSet, ReleaseOutcome};

/// What has become of a lock that its owner has released, with the addresses of the nodes.
/// `Display` writes one line:
///
/// ```text
/// released
/// ```
///
/// That is the line as soon as a quorum of the nodes has confirmed. A lock that the next in line of
/// the same client has got at once is `passed on to the next in line`. The nodes that have not yet
/// confirmed are named only where something is wrong: where they are out, or where a quorum is
/// missing.
///
/// ```text
/// released; goes on in the background at 10.0.0.3:6379
/// released, but no quorum has confirmed; no answer from 10.0.0.2:6379, 10.0.0.3:6379
/// was lost before: the validity ended; its keys are being released in the background
/// ```
///
/// # A lock that was lost before
///
/// The client releases the keys of such a lock by itself: at once where too few nodes still had
/// them, else at the end of the validity. So the report comes at once, and tells nothing of the
/// nodes: [`lost`](Self::lost) has the reason, [`is_complete`](Self::is_complete) is `false`, and
/// [`outcome`](Self::outcome) is empty.
///
/// The keys are gone a round trip later, and on a node that is down with their ttl. A loss is told
/// a little before the end of the validity (`lost_lead`, 1 ms), and until that end the lock still
/// stands in the line of its client: a single attempt of the same client can fail meanwhile, with
/// "held by another lock of this client". A request with a [`wait`](super::LockRequest::wait) gets
/// its turn.
#[derive(Clone)]
pub struct ReleaseReport {
    outcome: ReleaseOutcome,
    /// Why the lock was lost before.
    lost: Option<LostReason>,
    /// The nodes that were out when the release ended, of those that had not confirmed.
    out: NodeSet,
    addresses: Arc<[Address]>,
}

impl ReleaseReport {
    pub(super) const fn new(
        outcome: ReleaseOutcome,
        out: NodeSet,
        addresses: Arc<[Address]>,
    ) -> Self {
        Self { outcome, lost: None, out, addresses }
    }

    /// Reports on a lock that was lost before its release.
    pub(super) fn of_lost(reason: LostReason, addresses: Arc<[Address]>) -> Self {
        let outcome = ReleaseOutcome::default();
        Self { outcome, lost: Some(reason), out: NodeSet::EMPTY, addresses }
    }

    /// Returns `true` if a quorum of the nodes is known not to have the lock, so that others can
    /// take the lock, or if the next in line of this client has it already. Else the lock ends with
    /// its ttl at the latest.
    ///
    /// Always `false` for a lock that was lost before, because the report then tells nothing of the
    /// nodes: ask [`lost`](Self::lost) first.
    ///
    /// ```no_run
    /// # async fn done(guard: redbolt::Guard) -> Result<(), redbolt::ClientClosed> {
    /// let report = guard.release().await?;
    /// if let Some(reason) = report.lost() {
    ///     eprintln!("somebody else may have had the lock meanwhile: {reason}");
    /// } else if !report.is_complete() {
    ///     eprintln!("others may have to wait for the ttl: {report}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.outcome.is_quorum_free || self.outcome.is_passed_on
    }

    /// Returns why the lock was lost before it was released; `None` for a lock that was held until
    /// then.
    #[must_use]
    pub const fn lost(&self) -> Option<LostReason> {
        self.lost
    }

    /// Returns the answers, by the numbers of the nodes. Empty for a lock that was lost before.
    #[must_use]
    pub const fn outcome(&self) -> &ReleaseOutcome {
        &self.outcome
    }

    /// Returns the address of a node; `None` for a node that is not configured.
    #[must_use]
    pub fn address(&self, node: NodeId) -> Option<&Address> {
        self.addresses.get(node.index())
    }
}

impl fmt::Display for ReleaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = self.lost {
            return write!(
                f,
                "was lost before: {reason}; its keys are being released in the background"
            );
        }
        let ReleaseOutcome { unconfirmed, is_quorum_free, .. } = self.outcome;
        self.outcome.write(f, |node| {
            // The answer of a node that works is only a little later than those of the quorum.
            let is_late = unconfirmed.contains(node) && !self.out.contains(node);
            self.address(node).filter(|_| !is_quorum_free || !is_late)
        })
    }
}

/// Prints what `Display` writes.
impl fmt::Debug for ReleaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReleaseReport({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Config;

    fn nodes<const N: usize>(indexes: [usize; N]) -> NodeSet {
        indexes.into_iter().filter_map(NodeId::new).collect()
    }

    #[test]
    fn nodes_are_named_only_where_something_is_wrong() {
        let config = Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"]).expect("three addresses");
        let addresses: Arc<[Address]> = config.nodes.into();
        let none = nodes([]);
        // The nodes that have not confirmed, those of them that are out, and those with the value
        // of somebody else; whether a quorum is free; and the text.
        let rows = [
            (none, none, none, true, "released"),
            (nodes([2]), none, none, true, "released"),
            (
                nodes([2]),
                nodes([2]),
                none,
                true,
                "released; goes on in the background at 10.0.0.3:6379",
            ),
            (nodes([2]), none, nodes([0]), true, "released; another value at 10.0.0.1:6379"),
            (
                nodes([1, 2]),
                nodes([1]),
                none,
                false,
                "released, but no quorum has confirmed; no answer from 10.0.0.2:6379, \
                 10.0.0.3:6379",
            ),
        ];
        for (unconfirmed, out, foreign, is_quorum_free, text) in rows {
            let mut outcome = ReleaseOutcome { unconfirmed, foreign, ..ReleaseOutcome::default() };
            outcome.is_quorum_free = is_quorum_free;
            let report = ReleaseReport::new(outcome, out, Arc::clone(&addresses));
            assert_eq!(report.to_string(), text);
            assert_eq!((report.is_complete(), report.lost()), (is_quorum_free, None));
        }
        let outcome = ReleaseOutcome { is_passed_on: true, ..ReleaseOutcome::default() };
        let report = ReleaseReport::new(outcome, none, Arc::clone(&addresses));
        assert_eq!(report.to_string(), "passed on to the next in line");
        assert!(report.is_complete());
        let report = ReleaseReport::of_lost(LostReason::Majority, addresses);
        let text = "was lost before: too few nodes still have it; \
                    its keys are being released in the background";
        assert_eq!(report.to_string(), text);
        assert_eq!((report.is_complete(), report.lost()), (false, Some(LostReason::Majority)));
    }
}
