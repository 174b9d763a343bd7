//! The node timeout: for how long nodes are waited for, by what their round trips were.
//!
//! Each node has a patience of its own ([`RoundTrip`](super::round_trip::RoundTrip)). A request
//! needs a quorum, so the patience with the node that completes the fastest quorum decides: one
//! slow node makes nobody wait. The patience with a node is at most four of its round trips, so the
//! timeout is at most four round trips of that quorum.

use core::time::Duration;

use smallvec::SmallVec;

use super::Node;
use super::pipeline::Lateness;
use crate::redlock::config::RedlockConfig;
use crate::redlock::node_set::MAX_NODES;
use crate::time::Instant;

/// How long each of some nodes is waited for, in nanoseconds.
pub(crate) type Waits = SmallVec<[u64; MAX_NODES]>;

/// The bounds of a node timeout, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// What is waited for nodes that are near.
    pub(crate) least: u64,
    /// What nodes get that are far away.
    pub(crate) most: u64,
}

impl Limits {
    /// Returns the bounds for a lock with this ttl.
    pub(crate) fn new(config: &RedlockConfig, ttl: Duration) -> Self {
        let [least, most] = [config.node_timeout(ttl), config.longest_node_timeout(ttl)]
            .map(|time| (Instant::ZERO + time).as_nanos());
        Self { least, most }
    }

    /// Returns how long `need` answers are waited for, from nodes with these patiences, in
    /// nanoseconds. Nodes that are too few get the least.
    pub(crate) fn timeout(self, mut waits: Waits, need: usize) -> u64 {
        waits.sort_unstable();
        let last = need.checked_sub(1).and_then(|last| waits.get(last));
        self.bound(last.copied().unwrap_or_default())
    }

    /// Returns the patience with one node, within the bounds.
    pub(crate) fn bound(self, wait: u64) -> u64 {
        wait.clamp(self.least, self.most)
    }
}

impl Node {
    /// Checks whether replies are late, for a node as far away as this one.
    pub(crate) fn check(&mut self, now: Instant, limits: Limits) -> Lateness {
        self.settle_patience(limits);
        self.pipeline.check(now)
    }

    /// Lets the oldest request wait for as long as the measured round trips allow.
    pub(super) fn settle_patience(&mut self, limits: Limits) {
        self.pipeline.set_patience(limits.bound(self.patience()));
    }

    /// Returns the round trip for pauses.
    pub(crate) fn round_trip(&self) -> Duration {
        self.round_trip.get()
    }

    /// Returns the least round trip of the connection; zero before the first answer.
    #[cfg(feature = "net")]
    pub(crate) fn least_round_trip(&self) -> Duration {
        self.round_trip.least()
    }

    /// Returns the round trip for patience, in nanoseconds; zero before the first answer. A server
    /// that has just been connected may have been slow.
    pub(crate) fn distance(&self) -> u64 {
        self.round_trip.distance()
    }

    /// Returns how long an answer is worth waiting for, in nanoseconds; zero before the first one.
    pub(crate) fn patience(&self) -> u64 {
        self.round_trip.patience()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn limits(node_timeout: Option<u64>, ttl: u64) -> [u64; 2] {
        let config =
            RedlockConfig { node_timeout: node_timeout.map(ms), ..RedlockConfig::default() };
        let Limits { least, most } = Limits::new(&config, ms(ttl));
        [least, most]
    }

    #[test]
    fn the_bounds_follow_the_ttl() {
        let rows = [
            // ttl; least and most, in ms
            (10, [5, 5]),
            (20, [5, 5]),
            (40, [5, 10]),
            (100, [5, 25]),
            (1_000, [50, 250]),
            (4_000, [50, 1_000]),
            (60_000, [50, 1_000]),
        ];
        for (ttl, expected) in rows {
            assert_eq!(limits(None, ttl), expected.map(|time| time * MS), "ttl {ttl} ms");
        }
        // A floor that is configured holds although it is more than a quarter of the ttl.
        assert_eq!(limits(Some(300), 1_000), [300 * MS; 2]);
        assert_eq!(limits(Some(20), 1_000), [20 * MS, 250 * MS]);
        assert_eq!(limits(Some(2_000), 60_000), [2_000 * MS; 2]);
    }

    #[test]
    fn the_fastest_quorum_decides_within_the_bounds() {
        let limits = Limits { least: 50 * MS, most: 1_000 * MS };
        let rows: [(&[u64], usize, u64); 9] = [
            (&[1, 1, 1, 1, 1], 3, 50),
            (&[120, 120, 120, 120, 120], 3, 120),
            // One far node among near ones costs nothing, and two of them neither.
            (&[1, 1, 600, 1, 1], 3, 50),
            (&[600, 1, 600, 1, 1], 3, 50),
            (&[600, 1, 300, 1, 120], 3, 120),
            (&[600, 1, 300, 1, 120], 5, 600),
            (&[4_000, 4_000, 4_000], 2, 1_000),
            // No reply has come yet.
            (&[0, 0, 0], 2, 50),
            (&[600], 2, 50),
        ];
        for (waits, need, expected) in rows {
            let found = limits.timeout(waits.iter().map(|wait| wait * MS).collect(), need);
            assert_eq!(found, expected * MS, "{need} of {waits:?}");
        }
    }
}
