//! Errors and notices that no client has given, for tests with a fake of their own.

use super::cause::LockErrorKind;
use super::failure::ClientFailure;
use super::lock_error::{ClientClosed, LockError, NodeReasons};
use super::notice::{LockNotice, LockNoticeKind};
use crate::net::Address;
use crate::redlock::{AcquireError, NodeOutcome, NodeOutcomes};
use crate::time::Instant;
use core::time::Duration;

/// The nodes of a fake, of the addresses that are kept for documentation.
const NODES: [&str; 3] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];

impl LockError {
    /// Creates an error that no client has given, for a test whose fake fails. The nodes, where the
    /// kind has any, are `192.0.2.1`, `192.0.2.2` and `192.0.2.3`.
    ///
    /// ```
    /// use redbolt::{AcquireError, LockError, LockErrorKind, NodeSet};
    ///
    /// let held = AcquireError::Held { refused: NodeSet::first(2) };
    /// let error = LockError::fake(LockErrorKind::Acquire(held), "orders/42");
    /// assert!(error.is_contended());
    /// assert!(error.to_string().starts_with("lock \"orders/42\": held by another (192.0.2.1:"));
    ///
    /// let error = LockError::fake(LockErrorKind::fake_no_quorum(), "orders/42");
    /// assert!(error.is_unavailable());
    /// let error = LockError::fake(LockErrorKind::Closed(None), "orders/42");
    /// assert!(error.is_closed());
    /// ```
    #[must_use]
    pub fn fake(kind: LockErrorKind, resource: impl AsRef<[u8]>) -> Self {
        // The addresses can be read.
        let addresses = NODES.iter().filter_map(|host| Address::new(host, 6379).ok()).collect();
        let nodes = NodeReasons { addresses, reasons: Vec::new() };
        Self::new(kind, resource.as_ref(), 1).with_nodes(nodes)
    }
}

impl LockErrorKind {
    /// Creates the kind of a request that has found every node down, for
    /// [`LockError::fake`].
    #[must_use]
    pub fn fake_no_quorum() -> Self {
        Self::Acquire(AcquireError::NoQuorum(outcomes(NodeOutcome::Down)))
    }

    /// Creates the kind of a request that has found every node in quarantine, for
    /// [`LockError::fake`]. [`LockError::retry_after`] returns `retry_after`.
    ///
    /// ```
    /// use redbolt::{LockError, LockErrorKind};
    /// use std::time::Duration;
    ///
    /// let pause = Duration::from_secs(7);
    /// let error = LockError::fake(LockErrorKind::fake_quarantined(pause), "orders/42");
    /// assert!(error.is_unavailable());
    /// assert_eq!(error.retry_after(), Some(pause));
    /// ```
    #[must_use]
    pub fn fake_quarantined(retry_after: Duration) -> Self {
        let outcomes = outcomes(NodeOutcome::Quarantined);
        Self::Acquire(AcquireError::Quarantined {
            outcomes,
            at: Instant::ZERO + retry_after,
            retry_after,
        })
    }
}

fn outcomes(outcome: NodeOutcome) -> NodeOutcomes {
    NodeOutcomes::new(NODES.len(), |_| outcome)
}

impl LockNotice {
    /// Creates a notice that no client has given, for a test whose fake loses a lock.
    ///
    /// ```
    /// use redbolt::{LockNotice, LockNoticeKind, LostReason};
    ///
    /// let notice = LockNotice::fake(LockNoticeKind::Lost(LostReason::Majority), "leader");
    /// assert!(notice.is_lost() && !notice.is_planned());
    /// assert_eq!(notice.to_string(), "lock \"leader\": too few nodes still have it");
    /// ```
    #[must_use]
    pub fn fake(kind: LockNoticeKind, resource: impl AsRef<[u8]>) -> Self {
        Self::new(kind, resource.as_ref(), 1)
    }
}

impl ClientClosed {
    /// Creates the error of a release that no client has refused, for a test whose fake is shut
    /// down (`None`) or has died.
    #[must_use]
    pub fn fake(failure: Option<ClientFailure>, resource: impl AsRef<[u8]>) -> Self {
        Self::new(failure, resource.as_ref(), 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::{ExtendError, LostReason, NodeSet, RequestError};

    /// The predicates of an error, in the order of their table.
    fn predicates(error: &LockError) -> [bool; 6] {
        [
            error.is_contended(),
            error.is_unavailable(),
            error.is_overloaded(),
            error.is_closed(),
            error.is_lost(),
            error.is_invalid(),
        ]
    }

    #[test]
    fn a_fake_can_fail_in_every_way_that_a_caller_can_tell_apart() {
        let held = AcquireError::Held { refused: NodeSet::first(2) };
        let rows = [
            (LockErrorKind::Acquire(held), "held by another (192.0.2.1:6379: refused"),
            (LockErrorKind::fake_no_quorum(), "no quorum of nodes (192.0.2.1:6379: down"),
            (LockErrorKind::Busy { max: 7 }, "7 requests wait"),
            (LockErrorKind::Closed(None), "the client is shut down"),
            (LockErrorKind::Extend(ExtendError::Lost(LostReason::Expired)), "lost: the validity"),
            (LockErrorKind::Request(RequestError::NoTries), "0 tries are asked for"),
        ];
        for (place, (kind, text)) in rows.into_iter().enumerate() {
            let error = LockError::fake(kind, "r");
            let expected: [bool; 6] = core::array::from_fn(|index| index == place);
            assert_eq!(predicates(&error), expected, "{error}");
            assert!(error.to_string().starts_with(&format!("lock \"r\": {text}")), "{error}");
        }
        let pause = Duration::from_secs(7);
        let error = LockError::fake(LockErrorKind::fake_quarantined(pause), "r");
        assert!(error.is_unavailable() && error.retry_after() == Some(pause), "{error}");
        assert_eq!(error.nodes().count(), 3);
        assert_eq!(
            ClientClosed::fake(None, "r").to_string(),
            "lock \"r\": the client is shut down"
        );
    }
}
