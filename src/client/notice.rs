//! [`LockNotice`]: what is told of a lock that ends, or is about to end.

use core::fmt;

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
    /// Little is left of the validity of the lock.
    Expiring,
    /// The lock is not held any more, although its owner has not given it back.
    Lost(LostReason),
    /// The lock is not held any more, because the client was shut down or its thread has died.
    Closed,
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
            Self::Expiring => f.write_str("little is left of the validity"),
            Self::Lost(reason) => reason.fmt(f),
            Self::Closed => f.write_str("the client is shut down"),
            Self::Released => f.write_str("released"),
        }
    }
}
