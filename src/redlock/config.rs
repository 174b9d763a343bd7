//! The settings of the algorithm, their bounds, and the errors of settings out of bounds.

use core::time::Duration;

use super::bounds::{
    LONGEST_TTL, MAX_NODE_TIMEOUT, MAX_RESOURCE, MIN_NODE_TIMEOUT, MIN_TTL, RESERVED,
};
use super::config_error::ConfigError;
use super::millis::Millis;
use super::quorum::Quorum;
use super::restart_guard::RestartGuard;
use super::sabotage::Saboteur;
use super::validity::Drift;

/// The least and the most of settings that are numbers.
pub(super) const LOCKS: [usize; 2] = [1, 1 << 24];
pub(super) const PIPELINE: [usize; 2] = [1, 1 << 20];
pub(super) const CLEANUP: [usize; 2] = [1, 1 << 20];
pub(super) const LABEL: [usize; 2] = [0, 100];
pub(super) const RATE: [usize; 2] = [0, Drift::MAX_RATE as usize];

/// The settings of the algorithm, without nodes and sockets. All clients that lock the same
/// resources must agree on the nodes, the quorum and `max_ttl`.
///
/// A client or an engine takes these settings as a part of its `Config`: there they are the field
/// `redlock`. Alone they are for [`Redlock`](super::Redlock), the algorithm under another driver.
///
/// ```
/// use redbolt::RedlockConfig;
/// use std::time::Duration;
///
/// let mut config = RedlockConfig::default();
/// config.max_ttl = Duration::from_secs(10);
/// config.max_locks = 1_000_000;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RedlockConfig {
    /// The number of nodes that must agree; `None` stands for a majority of the configured nodes
    /// (S3). More than a majority may be demanded; less is refused.
    pub quorum: Option<usize>,
    /// The longest ttl of any lock, at most [`LONGEST_TTL`]. Default: 60 s.
    pub max_ttl: Duration,
    /// The rule for restarted nodes, which may have forgotten locks (S11). Default: `On`.
    pub restart_guard: RestartGuard,
    /// The longest time for which extensions may keep a lock, counted from its acquisition (S12).
    /// Default: 1 h.
    pub max_hold: Duration,
    /// The time before the end of its validity at which a lock is reported as lost, so that the
    /// report comes in time. The keys are released at the end. At most 2 ms. Default: 1 ms.
    pub lost_lead: Duration,
    /// The bounds on how far clocks may run apart (S2). Default: 1 % of the ttl + 2 ms.
    pub drift: Drift,
    /// The time for which an attempt waits for its nodes. `None` stands for 5 % of the ttl, at
    /// least 5 ms, at most 50 ms. When the oldest request to a node has waited for this time,
    /// computed from `max_ttl`, new attempts skip the node.
    pub node_timeout: Option<Duration>,
    /// The longest time for a connection to come up, and again for its handshake. Default: 1 s.
    pub connect_timeout: Duration,
    /// The time without a reply after which a connection is closed. Until then the connection is
    /// kept, because a release queued behind a late `SET` on the same connection is the surest
    /// cleanup (S5). Default: 5 s.
    pub close_timeout: Duration,
    /// The longest time until a release is reported, with what is known by then. After the report,
    /// the release goes on in the background. Default: 1 s.
    pub release_timeout: Duration,
    /// The longest pause between two attempts for a resource that somebody else holds, or 32 round
    /// trips if that is longer: clients that retry sooner collide again. Default: 100 ms.
    pub retry_max: Duration,
    /// The time for which locks of one engine may follow one another on a resource. Then the engine
    /// leaves the resource to other engines for the [`tenure_gap`](Self::tenure_gap).
    /// `Duration::MAX` stands for no limit. Default: 500 ms.
    pub tenure: Duration,
    /// The time for which an engine leaves a resource to others after its `tenure`, at random from
    /// one half of this setting to all of it. The others find the free resource by their retries,
    /// so this should not be much shorter than `retry_max`. Default: 50 ms.
    pub tenure_gap: Duration,
    /// The longest pause between two connection attempts to a node that is down. A node that needs
    /// another configuration is tried about twice a minute. Default: 2 s.
    pub reconnect_max: Duration,
    /// The maximum number of locks that are wanted, held or being released at once. When this
    /// number is reached because a minority of nodes owes replies for longer than a node timeout,
    /// the connections to these nodes are closed. Default: 65 536.
    pub max_locks: usize,
    /// The maximum number of requests on their way to one node before new attempts skip the node.
    /// When fewer than a quorum of nodes are left, attempts wait inside the engine. The bound
    /// limits the time that a request spends in the queue of a server. Default: 1024.
    pub max_pipeline: usize,
    /// The maximum number of tokens per node that are kept for cleanup, because a broken connection
    /// left their fate open (S6). When there are more, the oldest token is left to its ttl.
    /// Default: 4096.
    pub max_cleanup: usize,
    /// Whether nodes that lack the key of a held lock are given the key while a majority confirms
    /// the lock, so that the lock does not depend on a bare quorum. Default: true.
    pub repair: bool,
    /// The prefix that is put before every resource to make the key. Default: empty, so that other
    /// Redlock libraries and this one exclude each other.
    pub prefix: Vec<u8>,
    /// The label by which `redbolt who` shows the locks of this client: at most 100 bytes. Each
    /// node gets the label with each look, in a key beside the locks, so that no lock costs more.
    /// An engine puts the name of its machine and the number of its process before. Anybody who may
    /// read the nodes can read the label. Default: empty, and nothing is written.
    pub label: Vec<u8>,
    /// The rule that this build breaks.
    #[cfg(redbolt_sabotage)]
    pub saboteur: Option<Saboteur>,
}

impl Default for RedlockConfig {
    fn default() -> Self {
        Self {
            quorum: None,
            max_ttl: Duration::from_secs(60),
            restart_guard: RestartGuard::default(),
            max_hold: Duration::from_secs(3600),
            lost_lead: Duration::from_millis(1),
            drift: Drift::default(),
            node_timeout: None,
            connect_timeout: Duration::from_secs(1),
            close_timeout: Duration::from_secs(5),
            release_timeout: Duration::from_secs(1),
            retry_max: Duration::from_millis(100),
            tenure: Duration::from_millis(500),
            tenure_gap: Duration::from_millis(50),
            reconnect_max: Duration::from_secs(2),
            max_locks: 65_536,
            max_pipeline: 1024,
            max_cleanup: 4096,
            repair: true,
            prefix: Vec::new(),
            label: Vec::new(),
            #[cfg(redbolt_sabotage)]
            saboteur: None,
        }
    }
}

impl RedlockConfig {
    /// Returns the time for which an attempt with this ttl waits for its nodes.
    pub fn node_timeout(&self, ttl: Duration) -> Duration {
        const LEAST: Duration = Duration::from_millis(5);
        const MOST: Duration = Duration::from_millis(50);
        self.node_timeout.unwrap_or_else(|| (ttl / 20).clamp(LEAST, MOST))
    }

    /// Returns the shortest ttl of a lock: [`MIN_TTL`], or more if the drift leaves nothing of
    /// that.
    pub fn shortest_ttl(&self) -> Duration {
        self.drift.shortest_ttl().max(MIN_TTL)
    }

    /// Returns the time after a restart during which a node does not vote (S11): `max_ttl` and its
    /// drift. On any two clocks within the drift, a forgotten lock can be believed in for that
    /// long.
    pub fn quarantine(&self) -> Duration {
        self.span(self.max_ttl)
    }

    /// Returns for how long a lock with this ttl can be believed after it was granted, on any clock
    /// within the drift.
    pub(super) fn span(&self, ttl: Duration) -> Duration {
        ttl.saturating_add(self.drift.of(ttl))
    }

    /// Returns the time without a reply after which a node is skipped, whatever the ttl of a lock.
    pub(super) fn stall_timeout(&self) -> Duration {
        self.node_timeout(self.max_ttl)
    }

    /// Returns whether this build breaks this rule: never, except in the tests of the tests.
    #[cfg(not(redbolt_sabotage))]
    #[inline]
    pub(super) const fn is_sabotaged(&self, _: Saboteur) -> bool {
        false
    }

    /// Returns whether this saboteur is at work.
    #[cfg(redbolt_sabotage)]
    pub(super) fn is_sabotaged(&self, saboteur: Saboteur) -> bool {
        self.saboteur == Some(saboteur)
    }

    /// Checks every bound, and returns the quorum for `nodes` nodes.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first value out of bounds, and the bounds of that value.
    pub fn check(&self, nodes: usize) -> Result<Quorum, ConfigError> {
        let Some(majority) = Quorum::majority(nodes) else {
            return Err(ConfigError::Nodes { count: nodes });
        };
        let majority = majority.need();
        let need = self.quorum.unwrap_or(majority);
        let Some(quorum) = Quorum::new(nodes, need) else {
            return Err(ConfigError::Quorum { need, majority, nodes });
        };
        self.check_durations()?;
        between("max_locks", self.max_locks, LOCKS)?;
        between("max_pipeline", self.max_pipeline, PIPELINE)?;
        between("max_cleanup", self.max_cleanup, CLEANUP)?;
        between("prefix length", self.prefix.len(), [0, MAX_RESOURCE / 2])?;
        if self.prefix.starts_with(RESERVED) {
            return Err(ConfigError::ReservedPrefix);
        }
        between("label length", self.label.len(), LABEL)?;
        between("drift.rate_ppm", self.drift.rate_ppm as usize, RATE)?;
        // A ttl counts in whole milliseconds.
        let max_ttl = Millis::of(self.max_ttl).duration();
        let drift = self.drift.of(max_ttl);
        if drift >= max_ttl {
            return Err(ConfigError::Drift { drift, max_ttl });
        }
        Ok(quorum)
    }

    fn check_durations(&self) -> Result<(), ConfigError> {
        const MS: Duration = Duration::from_millis(1);
        const MINUTE: Duration = Duration::from_secs(60);
        let node_timeout = self.stall_timeout();
        let rows = [
            ("max_ttl", self.max_ttl, MIN_TTL, LONGEST_TTL),
            ("max_hold", self.max_hold, MIN_TTL, Duration::MAX),
            ("lost_lead", self.lost_lead, Duration::ZERO, 2 * MS),
            (
                "node_timeout",
                self.node_timeout.unwrap_or(MIN_NODE_TIMEOUT),
                MIN_NODE_TIMEOUT,
                MAX_NODE_TIMEOUT,
            ),
            ("connect_timeout", self.connect_timeout, MS, MINUTE),
            ("close_timeout", self.close_timeout, node_timeout, 10 * MINUTE),
            ("release_timeout", self.release_timeout, MS, MINUTE),
            ("retry_max", self.retry_max, MS, MINUTE),
            ("tenure", self.tenure, MS, Duration::MAX),
            ("tenure_gap", self.tenure_gap, Duration::ZERO, MINUTE),
            ("reconnect_max", self.reconnect_max, MS, 10 * MINUTE),
        ];
        for (what, value, least, most) in rows {
            if value < least || value > most {
                return Err(ConfigError::Duration { what, value, least, most });
            }
        }
        Ok(())
    }
}

fn between(what: &'static str, value: usize, [least, most]: [usize; 2]) -> Result<(), ConfigError> {
    if value < least || value > most {
        return Err(ConfigError::Size { what, value, least, most });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::node_set::MAX_NODES;

    #[test]
    fn the_default_is_fine_for_every_number_of_nodes() {
        for nodes in 1..=MAX_NODES {
            let quorum =
                RedlockConfig::default().check(nodes).expect("the default is within bounds");
            assert_eq!(quorum.need(), nodes / 2 + 1);
        }
    }

    #[test]
    fn node_timeout_follows_the_ttl_between_its_bounds() {
        let config = RedlockConfig::default();
        for (ttl, timeout) in [(10, 5), (100, 5), (200, 10), (1_000, 50), (60_000, 50)] {
            let found = config.node_timeout(Duration::from_millis(ttl));
            assert_eq!(found, Duration::from_millis(timeout), "ttl {ttl} ms");
        }
        let own = RedlockConfig { node_timeout: Some(Duration::from_millis(300)), ..config };
        assert_eq!(own.node_timeout(Duration::from_secs(1)), Duration::from_millis(300));
    }

    #[test]
    fn a_configuration_that_is_accepted_has_room_for_a_ttl() {
        let micros = Duration::from_micros;
        for max_ttl in [10_000, 10_500, 10_999, 11_000, 60_000_000].map(micros) {
            for step in [0, 7_000, 7_900, 8_000, 8_500, 8_780].map(micros) {
                let drift = Drift::new(5_000, step);
                let config = RedlockConfig { max_ttl, drift, ..RedlockConfig::default() };
                let has_room = config.shortest_ttl() <= max_ttl;
                assert_eq!(config.check(1).is_ok(), has_room, "{max_ttl:?}, {drift:?}");
            }
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_named_with_its_bounds() {
        let error = |change: fn(&mut RedlockConfig), nodes| {
            let mut config = RedlockConfig::default();
            change(&mut config);
            config.check(nodes).expect_err("out of bounds").to_string()
        };
        assert_eq!(error(|_| (), 0), "0 nodes given, between 1 and 16 are possible");
        assert_eq!(error(|_| (), 17), "17 nodes given, between 1 and 16 are possible");
        assert_eq!(
            error(|c| c.quorum = Some(2), 5),
            "a quorum of 2 given, with 5 nodes between 3 and 5 is possible"
        );
        assert_eq!(
            error(|c| c.max_ttl = Duration::from_millis(9), 5),
            "max_ttl is 9ms, between 10ms and 168h is possible"
        );
        assert_eq!(
            error(|c| c.max_hold = Duration::ZERO, 5),
            "max_hold is 0s, at least 10ms is possible"
        );
        assert_eq!(
            error(|c| c.tenure = Duration::ZERO, 5),
            "tenure is 0s, at least 1ms is possible"
        );
        assert_eq!(
            error(|c| c.lost_lead = Duration::from_micros(2_500), 5),
            "lost_lead is 2.5ms, between 0s and 2ms is possible"
        );
        assert_eq!(
            error(|c| c.close_timeout = Duration::from_millis(49), 5),
            "close_timeout is 49ms, between 50ms and 10m is possible"
        );
        assert_eq!(
            error(|c| c.reconnect_max = Duration::MAX, 5),
            "reconnect_max is forever, between 1ms and 10m is possible"
        );
        assert_eq!(
            error(|c| c.prefix = vec![0; 2_049], 5),
            "prefix length is 2049, between 0 and 2048 is possible"
        );
        assert_eq!(
            error(|c| c.prefix = b"redbolt:app:".to_vec(), 5),
            "the prefix begins with \"redbolt:\", which is reserved"
        );
        assert_eq!(
            error(|c| c.label = vec![b'x'; 101], 5),
            "label length is 101, between 0 and 100 is possible"
        );
        assert_eq!(
            error(|c| c.drift.rate_ppm = 100_001, 5),
            "drift.rate_ppm is 100001, between 0 and 100000 is possible"
        );
        assert_eq!(
            error(|c| c.max_locks = 0, 5),
            "max_locks is 0, between 1 and 16777216 is possible"
        );
        assert_eq!(
            error(|c| c.drift.step = Duration::from_secs(60), 5),
            "a drift of 60.602s leaves nothing of max_ttl = 1m"
        );
    }
}
