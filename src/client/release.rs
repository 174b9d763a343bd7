//! [`ReleaseReport`], what a client says of a release.

use core::fmt;
use core::ops::Deref;
use std::sync::Arc;

use crate::net::Address;
use crate::redlock::ReleaseOutcome;

/// The answers of the nodes to a release, with the addresses of the nodes. `Display` writes one
/// line:
///
/// ```text
/// released; goes on in the background at 10.0.0.3:6379
/// ```
#[derive(Clone)]
pub struct ReleaseReport {
    outcome: ReleaseOutcome,
    addresses: Arc<[Address]>,
}

impl ReleaseReport {
    pub(super) const fn new(outcome: ReleaseOutcome, addresses: Arc<[Address]>) -> Self {
        Self { outcome, addresses }
    }

    /// Returns the answers, by the numbers of the nodes.
    #[must_use]
    pub const fn outcome(&self) -> &ReleaseOutcome {
        &self.outcome
    }
}

impl Deref for ReleaseReport {
    type Target = ReleaseOutcome;

    fn deref(&self) -> &ReleaseOutcome {
        &self.outcome
    }
}

impl fmt::Display for ReleaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.outcome.write(f, |node| self.addresses.get(node.index()))
    }
}

/// Prints what `Display` writes.
impl fmt::Debug for ReleaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReleaseReport({self})")
    }
}
