//! Delayed restart, kept by the client (S11): how long a node is known, and from when it votes.
//!
//! A master that restarts without its memory may grant what it granted before. Redlock's page asks
//! that such a master stays away for the longest ttl. Nobody makes a server do so, therefore each
//! client does it for itself.
//!
//! Whatever a process may have forgotten was granted before the process started. No holder believes
//! in that grant for longer than the longest ttl after the start. So a node votes from the start of
//! its process plus `RedlockConfig::quarantine`, on any clock within the configured drift. Nobody
//! knows for certain when the process started. But the start was not after the moment at which this
//! client first saw the process, and by the uptime of the process some time before that.

use core::fmt;
use core::time::Duration;

use super::handshake::Identity;
use crate::redlock::restart_guard::RestartGuard;
use crate::time::Instant;

/// The reason why a node does not vote although it could.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum QuarantineReason {
    /// This client meets the node for the first time, and the process of the node is too young.
    FirstContact,
    /// The process is not the one that was there before.
    Restarted,
    /// The process has been a replica of some master. Locks may be missing that the process granted
    /// before as a master, or that its master granted.
    WasReplica,
    /// The node said during a session that it is loading, or that it is a replica. The data of the
    /// node may have been exchanged.
    StoppedServing,
}

impl fmt::Display for QuarantineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstContact => "it has not been seen up for as long as a lock can last",
            Self::Restarted => "it was restarted",
            Self::WasReplica => "it was a replica",
            Self::StoppedServing => "it was loading data, or a replica, while it was in use",
        })
    }
}

/// The quarantine of a node, which does not vote for a while (S11). Releases and extensions are
/// still sent to the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Quarantine {
    /// The reason.
    pub reason: QuarantineReason,
    /// The time left.
    pub remaining: Duration,
}

/// The evidence about one node, kept through all its sessions.
#[derive(Default)]
pub(crate) struct Record {
    known: Option<Identity>,
    /// The moment from which the node is believed; [`Instant::ZERO`] while nothing speaks against
    /// it.
    until: Instant,
    reason: Option<QuarantineReason>,
}

impl Record {
    /// Judges a node by what it said of itself in the handshake. `now` is read after the answer
    /// was. `span` is how long a lock can be believed after a crash of the node that granted it.
    pub(crate) fn meet(
        &mut self,
        now: Instant,
        node: &Identity,
        guard: RestartGuard,
        span: Duration,
    ) {
        if self.until <= now {
            self.end();
        }
        let before = self.known.replace(*node);
        if guard == RestartGuard::Off || before.is_some_and(|known| known.is_same(node)) {
            return;
        }
        let until = now + span.saturating_sub(credit(node, guard, span));
        // An older quarantine can last longer than the new one, and is not shortened.
        if until <= self.until || until <= now {
            return;
        }
        self.until = until;
        self.reason = Some(match before {
            _ if node.was_replica => QuarantineReason::WasReplica,
            Some(_) => QuarantineReason::Restarted,
            None => self.reason.unwrap_or(QuarantineReason::FirstContact),
        });
    }

    /// Starts a quarantine: the node said during a session that it has no data of its own to answer
    /// from.
    pub(crate) fn distrust(&mut self, now: Instant, guard: RestartGuard, span: Duration) {
        if guard == RestartGuard::Off {
            return;
        }
        // The next handshake counts as a first one. The uptime and the files of the node prove
        // nothing against this.
        self.known = None;
        self.until = self.until.max(now + span);
        self.reason = Some(QuarantineReason::StoppedServing);
    }

    /// Returns the moment from which the node is believed, and why not before. Returns `None` if it
    /// is believed now.
    #[inline]
    pub(crate) fn pending(&self) -> Option<(Instant, QuarantineReason)> {
        self.reason.map(|reason| (self.until, reason))
    }

    /// Ends the quarantine.
    pub(crate) fn end(&mut self) {
        *self = Self { known: self.known, ..Self::default() };
    }
}

/// Returns the time for which a new node has certainly been what it is now.
fn credit(node: &Identity, guard: RestartGuard, span: Duration) -> Duration {
    // The uptime counts for the process, which may have become a master only just now.
    if node.was_replica {
        return Duration::ZERO;
    }
    match guard {
        RestartGuard::Strict => Duration::ZERO,
        RestartGuard::Durable if node.is_durable => span,
        // The uptime is the difference of two times in whole seconds, each rounded down.
        _ => node.uptime.saturating_sub(Duration::from_secs(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::node::handshake::identity;

    const SPAN: Duration = Duration::from_secs(60);
    const NOW: Instant = Instant::from_nanos(1_000_000_000_000);

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Returns how long a record keeps out a node that it meets now.
    fn wait(record: &mut Record, node: &Identity, guard: RestartGuard) -> Duration {
        record.meet(NOW, node, guard, SPAN);
        record.pending().map_or(Duration::ZERO, |(until, _)| until - NOW)
    }

    #[test]
    fn a_process_that_is_new_to_us_waits_for_what_its_uptime_lacks() {
        use RestartGuard::{Durable, Off, On, Strict};
        let node = |uptime| Identity { uptime: secs(uptime), ..identity(1) };
        let durable = |uptime| Identity { is_durable: true, ..node(uptime) };
        let replica = |uptime| Identity { was_replica: true, ..durable(uptime) };
        let rows = [
            (On, node(0), 60),
            (On, node(1), 60),
            (On, node(2), 59),
            (On, node(60), 1),
            (On, node(61), 0),
            (On, node(u64::MAX), 0),
            (On, durable(0), 60),
            (On, replica(900), 60),
            (Strict, node(900), 60),
            (Strict, durable(900), 60),
            (Durable, durable(0), 0),
            (Durable, node(0), 60),
            (Durable, node(900), 0),
            (Durable, replica(900), 60),
            (Off, node(0), 0),
            (Off, replica(0), 0),
        ];
        for (guard, node, expected) in rows {
            let found = wait(&mut Record::default(), &node, guard);
            assert_eq!(found, secs(expected), "{guard:?}, {node:?}");
        }
    }

    #[test]
    fn a_process_that_we_know_is_believed_on_a_new_connection() {
        for guard in [RestartGuard::On, RestartGuard::Strict] {
            let mut record = Record::default();
            record.meet(NOW, &identity(1), guard, SPAN);
            record.end();
            assert_eq!(wait(&mut record, &identity(1), guard), secs(0));
            assert_eq!(wait(&mut record, &identity(2), guard), secs(60));
            assert_eq!(record.pending().map(|(_, why)| why), Some(QuarantineReason::Restarted));
        }
    }

    #[test]
    fn a_new_history_of_replication_is_a_new_identity() {
        let mut record = Record::default();
        record.meet(NOW, &Identity { uptime: secs(900), ..identity(1) }, RestartGuard::On, SPAN);
        let other = Identity { replication: Some([b'9'; 40]), was_replica: true, ..identity(1) };
        assert_eq!(wait(&mut record, &other, RestartGuard::On), secs(60));
        assert_eq!(record.pending().map(|(_, why)| why), Some(QuarantineReason::WasReplica));
    }

    #[test]
    fn distrust_is_not_shortened_by_an_uptime_or_by_files() {
        for guard in [RestartGuard::On, RestartGuard::Strict, RestartGuard::Durable] {
            let mut record = Record::default();
            record.distrust(NOW, guard, SPAN);
            let node = Identity { uptime: secs(900), is_durable: true, ..identity(1) };
            assert_eq!(wait(&mut record, &node, guard), secs(60), "{guard:?}");
            let why = record.pending().map(|(_, why)| why);
            assert_eq!(why, Some(QuarantineReason::StoppedServing));
        }
        let mut record = Record::default();
        record.distrust(NOW, RestartGuard::Off, SPAN);
        assert_eq!(record.pending(), None);
    }

    #[test]
    fn a_second_restart_counts_from_itself() {
        let mut record = Record::default();
        record.meet(NOW, &identity(1), RestartGuard::On, SPAN);
        let later = NOW + secs(30);
        record.meet(later, &identity(2), RestartGuard::On, SPAN);
        let expected = Some((later + SPAN, QuarantineReason::Restarted));
        assert_eq!(record.pending(), expected);
    }
}
