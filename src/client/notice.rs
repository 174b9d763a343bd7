//! [`LockNotice`]: what is told of a lock that ends, or is about to end.

use core::fmt;

use super::error::write_closed;
use super::failure::ClientFailure;
use crate::engine::Resources;
use crate::redlock::LostReason;

/// What a [`LockSignal`](super::LockSignal) or a callback tells of a lock: the resource, and what
/// has become of the lock. `Display` writes one line, with at most 64 bytes of the resource:
///
/// ```text
/// lock "orders/42": too few nodes still have it
/// ```
///
/// The cost of a notice: one allocation.
#[derive(Clone, PartialEq, Eq)]
pub struct LockNotice {
    kind: LockNoticeKind,
    /// The first resource, and how many there are.
    resource: Box<[u8]>,
    count: usize,
}

/// The reason of a [`LockNotice`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LockNoticeKind {
    /// Little is left of the validity of the lock. Unless an extension succeeds, the lock will be
    /// lost for this reason: [`LostReason::MaxHold`] where the owner has planned the end, and
    /// [`LostReason::Expired`] where renewals fail or nobody asked for any.
    Expiring(LostReason),
    /// The lock is not held any more, although its owner has not given it back.
    Lost(LostReason),
    /// The lock is not held any more, because the client was shut down (`None`), or because its
    /// thread has died.
    Closed(Option<ClientFailure>),
    /// The owner has released the lock or handed it over.
    Released,
}

impl LockNotice {
    /// Creates the notice of a lock on `count` resources, of which `resource` is the first.
    pub(super) fn new(kind: LockNoticeKind, resource: &[u8], count: usize) -> Self {
        Self { kind, resource: resource.into(), count }
    }

    /// Returns what has become of the lock.
    #[must_use]
    pub const fn kind(&self) -> LockNoticeKind {
        self.kind
    }

    /// Returns the resource of the lock; of several, the first in the request.
    #[must_use]
    pub const fn resource(&self) -> &[u8] {
        &self.resource
    }

    /// Returns `true` if the lock ended although its owner has not given it back.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        matches!(self.kind, LockNoticeKind::Lost(_))
    }

    /// Returns `true` if the lock ends, or is about to end, as this process has planned: the lock
    /// was released or handed over, its `max_hold` is over, or the client was shut down. Everything
    /// else is a fault: nodes are gone, the lock was not extended in time, a thread has died.
    ///
    /// ```no_run
    /// # async fn watch(guard: redbolt::Guard) {
    /// let notice = guard.expiring().await;
    /// if notice.is_planned() {
    ///     println!("{notice}");
    /// } else {
    ///     eprintln!("ALARM: {notice}");
    /// }
    /// # }
    /// ```
    #[must_use]
    pub const fn is_planned(&self) -> bool {
        use LockNoticeKind::{Closed, Expiring, Lost, Released};
        matches!(
            self.kind,
            Expiring(LostReason::MaxHold) | Lost(LostReason::MaxHold) | Closed(None) | Released
        )
    }
}

impl fmt::Display for LockNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, resource, count } = self;
        write!(f, "lock {}: {kind}", Resources { first: resource, count: *count })
    }
}

/// Prints what `Display` writes.
impl fmt::Debug for LockNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LockNotice({self})")
    }
}

impl fmt::Display for LockNoticeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expiring(LostReason::MaxHold) => f.write_str("max_hold is nearly over"),
            Self::Expiring(_) => f.write_str("little is left of the validity"),
            Self::Lost(reason) => reason.fmt(f),
            Self::Closed(failure) => write_closed(f, *failure),
            Self::Released => f.write_str("released"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LockNoticeKind::{Closed, Expiring, Lost, Released};
    use LostReason::{Expired, Majority, MaxHold};

    #[test]
    fn what_was_planned_is_told_from_a_fault() {
        let rows = [
            (Expiring(MaxHold), true, "max_hold is nearly over"),
            (Expiring(Expired), false, "little is left of the validity"),
            (Lost(MaxHold), true, "max_hold is over"),
            (Lost(Expired), false, "the validity ended"),
            (Lost(Majority), false, "too few nodes still have it"),
            (Closed(None), true, "the client is shut down"),
            (
                Closed(Some(ClientFailure::Panic)),
                false,
                "the client has ended: the client's thread has panicked",
            ),
            (Released, true, "released"),
        ];
        for (kind, is_planned, text) in rows {
            let notice = LockNotice::new(kind, b"r", 1);
            assert_eq!(notice.is_planned(), is_planned, "{kind:?}");
            assert_eq!(notice.to_string(), format!("lock \"r\": {text}"));
        }
    }
}
