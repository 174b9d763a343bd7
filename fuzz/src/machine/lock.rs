//! What the caller knows of one lock.

use std::time::Duration;

use redbolt::redlock::{Redlock, Token};
use redbolt::time::Instant;

use super::numbers::{Number, TRIPS};

pub(super) struct Lock {
    /// The resources in order, each once.
    pub(super) resources: Vec<&'static [u8]>,
    pub(super) ttl: Duration,
    pub(super) state: State,
    pub(super) is_adopted: bool,
    pub(super) number: Number,
    /// The token of a held lock.
    pub(super) token: Option<Token>,
    /// The time of the event, which is later than the acquisition.
    pub(super) acquired: Instant,
    pub(super) valid_until: Instant,
    pub(super) extension: Option<Extension>,
    pub(super) keep: Option<Keep>,
    /// How long before the end of the lock a warning is due.
    pub(super) ahead: Duration,
    pub(super) is_warned: bool,
    /// The latest time of the next event, if the core is told the time.
    pub(super) due: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Wanted,
    Held,
    Releasing,
    /// The caller has let go of the lock during an extension.
    HandedOn,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Extension {
    pub(super) start: Instant,
    pub(super) ttl: Duration,
    pub(super) due: Instant,
}

/// The widest bounds of all requests to keep a lock alive.
#[derive(Clone, Copy)]
pub(super) struct Keep {
    pub(super) longest_ttl: Duration,
    pub(super) latest_end: Instant,
}

impl Lock {
    /// Returns for how long an attempt takes at most.
    pub(super) fn patience(&self, redlock: &Redlock) -> Duration {
        let timeout = redlock.config().longest_node_timeout(self.ttl);
        if self.number.is_fenced() { timeout * TRIPS } else { timeout }
    }

    pub(super) fn is_believed(&self, now: Instant) -> bool {
        self.state == State::Held && now < self.valid_until
    }
}
