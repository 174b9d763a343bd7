//! Connecting to a host that has several addresses: to one after the other, until one is up.
//!
//! A name such as `localhost` may stand for addresses at which nobody listens, or which cannot be
//! reached from here. An address that fails is followed by the next one at once, and one that says
//! nothing by the next one a moment later, while the attempts before go on (as RFC 8305 has it).

use core::time::Duration;
use std::vec::IntoIter;

use mio::{Registry, Token};
use smallvec::SmallVec;

use super::connection::Connection;
use super::transport::Target;
use crate::redlock::NodeError;
use crate::time::Instant;

/// The most addresses of a name that are tried.
pub(super) const MAX_ADDRESSES: usize = 16;

/// The time without an answer after which the next address is tried as well: the value that RFC
/// 8305 recommends.
const PATIENCE: Duration = Duration::from_millis(250);

/// The attempts to connect to one node. The first that comes up ends the others.
pub(super) struct Race {
    left: IntoIter<Target>,
    running: SmallVec<[Connection; 1]>,
    /// The time at which the next address is tried, whatever the others do.
    next_at: Instant,
    patience: Duration,
    /// Why the first attempt that failed did: the system has put the best address first.
    failure: Option<NodeError>,
}

/// What has come of the attempts so far.
pub(super) enum Progress {
    Up(Connection),
    Pending,
    /// No address is left, or there was none.
    Failed(NodeError),
}

impl Race {
    /// Creates a race between these addresses, which may take as long as `within`. Nothing happens
    /// before the first [`go_on`](Self::go_on).
    pub(super) fn new(mut targets: Vec<Target>, within: Duration) -> Self {
        targets.truncate(MAX_ADDRESSES);
        // All addresses have their turn before the end.
        let share = within / u32::try_from(targets.len().max(1)).unwrap_or(u32::MAX);
        Self {
            left: targets.into_iter(),
            running: SmallVec::new(),
            next_at: Instant::ZERO,
            patience: PATIENCE.min(share),
            failure: None,
        }
    }

    /// Returns when to call [`go_on`](Self::go_on), if no event comes before.
    pub(super) fn next_at(&self) -> Instant {
        if self.left.as_slice().is_empty() { Instant::FAR_FUTURE } else { self.next_at }
    }

    /// Looks at all attempts, and tries the next addresses if their time has come. All sockets have
    /// the same token.
    pub(super) fn go_on(&mut self, now: Instant, registry: &Registry, token: Token) -> Progress {
        let mut index = 0;
        while let Some(connection) = self.running.get_mut(index) {
            match connection.is_connected() {
                Ok(true) => {
                    let winner = self.running.swap_remove(index);
                    self.end(registry);
                    return Progress::Up(winner);
                }
                Ok(false) => index += 1,
                Err(error) => {
                    self.running.swap_remove(index).close(registry);
                    self.failed(error);
                }
            }
        }
        while self.running.is_empty() || now >= self.next_at {
            let Some(target) = self.left.next() else { break };
            match Connection::open(&target, registry, token) {
                Ok(connection) => {
                    self.running.push(connection);
                    self.next_at = now + self.patience;
                }
                Err(error) => self.failed(error),
            }
        }
        if !self.running.is_empty() {
            return Progress::Pending;
        }
        Progress::Failed(self.failure.unwrap_or(NodeError::NameNotResolved))
    }

    /// Notes a failure. The next address need not wait.
    fn failed(&mut self, error: NodeError) {
        self.failure.get_or_insert(error);
        self.next_at = Instant::ZERO;
    }

    /// Ends all attempts.
    pub(super) fn end(&mut self, registry: &Registry) {
        self.running.drain(..).for_each(|connection| connection.close(registry));
    }
}

#[cfg(test)]
mod tests;
