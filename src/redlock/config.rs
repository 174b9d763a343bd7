//! The settings of the algorithm.

use core::time::Duration;

use super::ask::Ask;
use super::bounds::MIN_TTL;
use super::millis::Millis;
use super::restart_guard::RestartGuard;
use super::sabotage::Saboteur;
use super::validity::Drift;
use crate::time::Instant;

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
    /// How many nodes an attempt asks at first. Default: `All`.
    pub ask: Ask,
    /// The longest ttl of any lock, at most [`LONGEST_TTL`]: at least six round trips to a node, so
    /// that the node can be looked at often enough. Default: 60 s.
    ///
    /// [`LONGEST_TTL`]: super::LONGEST_TTL
    pub max_ttl: Duration,
    /// The rule for restarted nodes, which may have forgotten locks (S11). Default: `On`.
    pub restart_guard: RestartGuard,
    /// The longest time for which extensions may keep a lock, counted from its acquisition (S12).
    /// Default: 1 h.
    pub max_hold: Duration,
    /// The time before the end of its validity at which a lock is reported as lost, so that the
    /// report comes in time. The keys are released at the end. At most 2 ms. Default: 1 ms. A lead
    /// of less than 1 ms can be too short while dozens of requests are on their way: deadlines are
    /// then up to 500 µs late, and the replies that have come are handled first.
    pub lost_lead: Duration,
    /// The longest time by which the wall clock of a node may differ from true time when the node
    /// is restarted, or loses its data otherwise: for fencing numbers alone (S13). A node takes
    /// part in them when its data is older than twice this and 2 s, and while its clock is within
    /// twice this of the clocks of a majority. Of all clients, the one with the smallest value says
    /// how far clocks may be off. At most 10 min. Default: 5 s.
    ///
    /// Keep [`max_ttl`](Self::max_ttl) longer than twice this and 2 s. With a shorter one, a node
    /// at which no client has looked for a while takes no part for that time
    /// ([`FenceBar::TooYoung`](super::FenceBar::TooYoung)).
    pub fence_skew: Duration,
    /// The bounds on how far clocks may run apart (S2). Default: 1 % of the ttl + 2 ms.
    pub drift: Drift,
    /// The least time for which an attempt or an extension waits for its nodes: all that nodes get
    /// which are near. `None` stands for 5 % of the ttl, at least 5 ms, at most 50 ms.
    ///
    /// Nodes that are farther away get more, by their measured round trips: twice the round trip of
    /// the slowest node in the fastest quorum, up to four times where round trips vary, within
    /// [`longest_node_timeout`](Self::longest_node_timeout). When the oldest request to a node has
    /// waited for longer than that node's round trips allow, and than this setting, computed from
    /// `max_ttl`, new attempts skip the node.
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
    /// The longest pause of a request whose resource somebody else holds: behind an attempt in
    /// vain, or behind a look that has shown somebody. Where round trips are long, pauses behind an
    /// attempt can last for 16 of them, because clients that retry sooner collide again, and pauses
    /// behind a look for four, or for one for each other client, up to 16. A client that has just
    /// had a resource which others want makes pauses up to six times as long at first, up to 16
    /// times where more than six others want the resource, and pauses down to a twentieth of
    /// `retry_max` when all others have had time for a turn. Default: 100 ms.
    pub retry_max: Duration,
    /// The time for which locks of one engine may follow one another on a resource. Then the engine
    /// leaves the resource to other engines for the [`tenure_gap`](Self::tenure_gap). An engine
    /// that has seen others wait leaves the resource to them sooner: when all have had the lock who
    /// stood in line when the tenure began.
    ///
    /// An engine whose caller asks again at once for what was just released sees nobody, and nor
    /// does one that passes a lock on to its own line. Each eighth of a tenure, but not more often
    /// than once in 50 ms or in a whole tenure, such an engine asks one node whether others wait.
    /// Whoever waits has left a mark there, a key that lives for a minute at the most: when it has
    /// seen locks of one engine follow one another for half of a tenure, or for an eighth if no
    /// other engine is known. So does whoever gets the lock behind one that was seen for half of a
    /// tenure, and an engine with a line asks when it comes back from the gap, too.
    /// `Duration::MAX` stands for no limit. Default: 500 ms.
    ///
    /// A set that others have kept waiting for as long, and for 100 ms at least, takes its
    /// resources one by one ([`acquire_all`](crate::redlock::Redlock::acquire_all)). With
    /// `Duration::MAX` no set does.
    pub tenure: Duration,
    /// The time for which an engine leaves a resource to others after its `tenure`, at random from
    /// one half of this setting to all of it, but for no more than half of the wait of its next
    /// request. The others find the free resource by their retries, so this should not be much
    /// shorter than `retry_max`. Four round trips if that is longer, in which somebody comes back
    /// who was refused. Zero stays zero, and then others have the resource by luck alone. Default:
    /// 50 ms.
    pub tenure_gap: Duration,
    /// The longest pause between two connection attempts to a node that is down. A node that needs
    /// another configuration is tried about twice a minute. Default: 2 s.
    pub reconnect_max: Duration,
    /// The maximum number of locks that are wanted, held or being released at once. When this
    /// number is reached because a minority of nodes owes replies for longer than a node timeout,
    /// the connections to these nodes are closed. Default: 65 536.
    pub max_locks: usize,
    /// The maximum number of requests on their way to one node before new attempts skip the node:
    /// so many attempts can begin in one round trip, which far nodes make long.
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
    /// The name of each connection, which operators see in `CLIENT LIST`: at most 100 visible ASCII
    /// characters without a space. Empty for no name; then the nodes are not told the library and
    /// its version either. The name is not the label, which only `redbolt who` shows. A node that
    /// refuses the name votes all the same. Default: `redbolt`.
    pub connection_name: Vec<u8>,
    /// The names of the nodes, by which each client computes the same order. Without names the
    /// positions count.
    pub(crate) names: Vec<String>,
    /// Where the engine runs, with a space behind: before the label.
    pub(crate) place: String,
    /// The rule that this build breaks.
    #[cfg(redbolt_sabotage)]
    pub saboteur: Option<Saboteur>,
}

impl Default for RedlockConfig {
    fn default() -> Self {
        Self {
            quorum: None,
            ask: Ask::All,
            max_ttl: Duration::from_secs(60),
            restart_guard: RestartGuard::default(),
            max_hold: Duration::from_secs(3600),
            lost_lead: Duration::from_millis(1),
            fence_skew: Duration::from_secs(5),
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
            connection_name: b"redbolt".to_vec(),
            names: Vec::new(),
            place: String::new(),
            #[cfg(redbolt_sabotage)]
            saboteur: None,
        }
    }
}

impl RedlockConfig {
    /// Returns the least time for which an attempt with this ttl waits for its nodes: that for
    /// nodes which are near.
    pub fn node_timeout(&self, ttl: Duration) -> Duration {
        Duration::from_nanos(self.least_wait(Millis::of(ttl)))
    }

    /// Returns the same in nanoseconds, because every attempt asks for this time.
    #[inline]
    pub(super) fn least_wait(&self, ttl: Millis) -> u64 {
        const LEAST: u64 = 5_000_000;
        const MOST: u64 = 50_000_000;
        match self.node_timeout {
            Some(timeout) => (Instant::ZERO + timeout).as_nanos(),
            None => (ttl.as_nanos() / 20).clamp(LEAST, MOST),
        }
    }

    /// Returns the longest time for which an attempt with this ttl waits for its nodes, however far
    /// away they are: a quarter of the ttl, at most 1 s, and never less than `node_timeout`. A
    /// [node timeout of a request](super::AcquireOptions::node_timeout) stands for itself.
    pub fn longest_node_timeout(&self, ttl: Duration) -> Duration {
        const MOST: Duration = Duration::from_secs(1);
        self.node_timeout(ttl).max((ttl / 4).min(MOST))
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
    pub(crate) fn span(&self, ttl: Duration) -> Duration {
        ttl.saturating_add(self.drift.of(ttl))
    }

    /// Returns the time without a reply after which a node that is near is skipped, whatever the
    /// ttl of a lock.
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
