//! How long an attempt that asks a majority first waits for its first nodes.

use core::time::Duration;

use smallvec::SmallVec;

use crate::redlock::node_set::MAX_NODES;
use crate::time::Instant;

/// The shortest hedge, in nanoseconds. Near nodes answer within some ten microseconds, and what
/// keeps one of them busy for a moment is no reason to ask all the others.
pub(super) const LEAST_HEDGE: u64 = 1_000_000;

/// By how much each other request makes the shortest hedge longer, of those that a quorum of nodes
/// still works on. A server of a busy machine takes some microseconds for each of them, and to ask
/// more nodes would not help.
const HEDGE_PER_REQUEST: u64 = 10_000;

/// What the hedges of all attempts have in common. Round trips and queues change little from one
/// attempt of a crowd to the next, and to sort them for each cost a tenth of the client's time.
#[derive(Default)]
pub(super) struct Hedge {
    renew_at: Instant,
    /// For how many more attempts this is good.
    uses: u32,
    /// The patience with the fastest quorum, in nanoseconds.
    fastest: u64,
    /// The shortest hedge, in nanoseconds.
    least: u64,
}

/// How long a node may take for a reply, in nanoseconds, and how many requests it works on.
pub(super) struct Answering {
    pub patience: u64,
    pub unanswered: usize,
}

impl Hedge {
    /// A small part of the shortest hedge.
    const LASTS: Duration = Duration::from_micros(100);
    /// Hundreds of attempts can begin at one moment, and each makes the queues longer.
    const USES: u32 = 16;

    /// Looks at all nodes that are ready, of which `need` make a quorum.
    pub(super) fn new(now: Instant, nodes: impl Iterator<Item = Answering>, need: usize) -> Self {
        // The deviation of a patience alone says little: replies that come together show none.
        let (mut times, mut queues) = (SmallVec::<[u64; MAX_NODES]>::new(), SmallVec::new());
        for node in nodes {
            times.push(node.patience);
            queues.push(node.unanswered.saturating_sub(1) as u64);
        }
        let of_quorum = |mut values: SmallVec<[u64; MAX_NODES]>| {
            values.sort_unstable();
            values.get(need - 1).copied().unwrap_or_default()
        };
        Self {
            renew_at: now + Self::LASTS,
            uses: Self::USES,
            fastest: of_quorum(times),
            least: LEAST_HEDGE + HEDGE_PER_REQUEST * of_quorum(queues),
        }
    }

    /// Returns `true` if the nodes have to be looked at again.
    #[inline]
    pub(super) fn is_used_up(&self, now: Instant) -> bool {
        self.uses == 0 || now >= self.renew_at
    }

    /// Returns how long an attempt waits for its first nodes, in nanoseconds, given the patience
    /// with the slowest of them.
    #[inline]
    pub(super) fn take(&mut self, slowest: u64) -> u64 {
        self.uses = self.uses.saturating_sub(1);
        slowest.min(self.fastest.saturating_mul(2)).max(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_nanos(7_000_000_000);

    /// Five nodes with these patiences, which have answered all but one request.
    fn hedge(patiences: [u64; 5]) -> Hedge {
        let node = |patience| Answering { patience, unanswered: 1 };
        Hedge::new(NOW, patiences.into_iter().map(node), 3)
    }

    #[test]
    fn near_nodes_get_the_shortest_hedge() {
        assert_eq!(hedge([10, 20, 30, 40, 50]).take(50), LEAST_HEDGE);
    }

    #[test]
    fn a_hedge_is_the_patience_with_the_slowest_node_asked() {
        assert_eq!(hedge([4_000_000; 5]).take(5_000_000), 5_000_000);
    }

    #[test]
    fn a_node_that_is_much_slower_than_a_quorum_is_waited_for_twice_as_long_as_for_the_quorum() {
        let mut hedge = hedge([9_000_000, 2_000_000, 3_000_000, 90_000_000, 1_000_000]);
        assert_eq!(hedge.take(90_000_000), 6_000_000);
    }

    #[test]
    fn the_queue_of_the_quorum_makes_a_hedge_longer() {
        let nodes = [900, 1, 101, 51, 0].map(|unanswered| Answering { patience: 1, unanswered });
        let least = Hedge::new(NOW, nodes.into_iter(), 3).take(1);
        assert_eq!(least, LEAST_HEDGE + 50 * HEDGE_PER_REQUEST);
    }

    #[test]
    fn fewer_ready_nodes_than_a_quorum_leave_the_shortest_hedge() {
        assert_eq!(Hedge::new(NOW, [].into_iter(), 3).take(0), LEAST_HEDGE);
    }

    #[test]
    fn a_hedge_is_used_up_by_time_or_by_attempts() {
        assert!(Hedge::default().is_used_up(NOW));
        let mut hedge = hedge([1; 5]);
        let end = NOW + Hedge::LASTS;
        assert!(!hedge.is_used_up(end - Duration::from_nanos(1)) && hedge.is_used_up(end));
        for _ in 0..Hedge::USES {
            assert!(!hedge.is_used_up(NOW));
            hedge.take(1);
        }
        assert!(hedge.is_used_up(NOW));
    }
}
