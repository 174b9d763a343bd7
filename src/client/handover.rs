//! The data with which another process goes on with a lock.

use core::fmt;

use super::ticket::Ticket;
use crate::redlock::Token;
use crate::time::Instant;

/// The data that another process needs to go on with a lock, by
/// [`Client::adopt`](super::Client::adopt).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handover {
    /// The resources, without the configured prefix.
    pub resources: Vec<Vec<u8>>,
    /// The value under which the lock is stored on the nodes. Whoever has the token can release the
    /// lock: keep the token secret.
    pub token: Token,
    /// The end of the validity, in time since the boot of this machine.
    pub valid_until: Instant,
}

impl Handover {
    /// Creates the parts of a lock that its owner has given away.
    pub(super) fn of(ticket: &Ticket, token: Token) -> Self {
        let resources = ticket.order.resources.iter().map(|name| name.to_vec()).collect();
        Self { resources, token, valid_until: ticket.disowned_until() }
    }
}

/// Prints no token, because a token must not get into a log.
impl fmt::Debug for Handover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handover")
            .field("resources", &self.resources.len())
            .field("valid_until", &self.valid_until)
            .finish_non_exhaustive()
    }
}
