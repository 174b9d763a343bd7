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

/// The stretch of a hedge that nothing was learned about.
const ONCE: u32 = 64;

/// The longest stretch.
const MOST: u32 = 8 * ONCE;

/// By how much a hedge that helped makes the next ones earlier.
const HELPED: u32 = ONCE / 16;

/// By how much a hedge in vain makes the next ones later. Where all nodes are busy alike, the node
/// asked last is the first to answer half of the time. Where one of the first nodes is slow, the
/// others nearly always are. So one hedge in vain outweighs four that helped.
const IN_VAIN: u32 = 4 * HELPED;

/// What the hedges of all attempts have in common. Round trips and queues change little from one
/// attempt of a crowd to the next, and to sort them for each cost a tenth of the client's time.
///
/// Whether a hedge is worth its requests shows only when the attempt is decided. If one of the
/// first nodes is slow, the nodes that the hedge has asked make the quorum. If all nodes are busy,
/// the first nodes are mostly enough, and more requests only keep all of them busier. The round
/// trips of a crowd swing too much to tell the two cases apart beforehand. So hedges in vain make
/// the next ones later, and hedges that helped make them earlier again.
pub(super) struct Hedge {
    renew_at: Instant,
    /// For how many more attempts this is good.
    uses: u32,
    /// The patience with the fastest quorum, in nanoseconds.
    fastest: u64,
    /// The shortest hedge, in nanoseconds.
    least: u64,
    /// How much later hedges are than by round trips and queues, in parts of [`ONCE`].
    stretch: u32,
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

    pub(super) const fn new() -> Self {
        Self { renew_at: Instant::ZERO, uses: 0, fastest: 0, least: LEAST_HEDGE, stretch: ONCE }
    }

    /// Looks at all nodes that are ready, of which `need` make a quorum. Forgets some of what was
    /// learned: the crowd may be gone.
    pub(super) fn renew(
        &mut self,
        now: Instant,
        nodes: impl Iterator<Item = Answering>,
        need: usize,
    ) {
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
        *self = Self {
            renew_at: now + Self::LASTS,
            uses: Self::USES,
            fastest: of_quorum(times),
            least: LEAST_HEDGE + HEDGE_PER_REQUEST * of_quorum(queues),
            stretch: (self.stretch - 1).max(ONCE),
        };
    }

    /// Learns whether the hedge of an attempt has helped.
    pub(super) fn learn(&mut self, has_helped: bool) {
        let stretch = if has_helped { self.stretch - HELPED } else { self.stretch + IN_VAIN };
        self.stretch = stretch.clamp(ONCE, MOST);
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
        let time = slowest.min(self.fastest.saturating_mul(2)).max(self.least);
        time.saturating_mul(self.stretch.into()) / u64::from(ONCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_nanos(7_000_000_000);

    /// Five nodes with these patiences, which have answered all but one request.
    fn hedge(patiences: [u64; 5]) -> Hedge {
        let node = |patience| Answering { patience, unanswered: 1 };
        renewed(patiences.into_iter().map(node))
    }

    fn renewed(nodes: impl Iterator<Item = Answering>) -> Hedge {
        let mut hedge = Hedge::new();
        hedge.renew(NOW, nodes, 3);
        hedge
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
        let least = renewed(nodes.into_iter()).take(1);
        assert_eq!(least, LEAST_HEDGE + 50 * HEDGE_PER_REQUEST);
    }

    #[test]
    fn fewer_ready_nodes_than_a_quorum_leave_the_shortest_hedge() {
        assert_eq!(renewed([].into_iter()).take(0), LEAST_HEDGE);
    }

    #[test]
    fn a_hedge_is_used_up_by_time_or_by_attempts() {
        assert!(Hedge::new().is_used_up(NOW));
        let mut hedge = hedge([1; 5]);
        let end = NOW + Hedge::LASTS;
        assert!(!hedge.is_used_up(end - Duration::from_nanos(1)) && hedge.is_used_up(end));
        for _ in 0..Hedge::USES {
            assert!(!hedge.is_used_up(NOW));
            hedge.take(1);
        }
        assert!(hedge.is_used_up(NOW));
    }
    #[test]
    fn hedges_in_vain_make_the_next_ones_later_up_to_eight_times() {
        let mut hedge = hedge([1; 5]);
        hedge.learn(false);
        assert_eq!(hedge.take(1), LEAST_HEDGE * 5 / 4);
        (0..100).for_each(|_| hedge.learn(false));
        assert_eq!(hedge.take(1), LEAST_HEDGE * 8);
    }

    #[test]
    fn hedges_that_helped_make_the_next_ones_earlier_and_weigh_a_quarter() {
        let mut hedge = hedge([1; 5]);
        hedge.learn(false);
        (0..3).for_each(|_| hedge.learn(true));
        assert!(hedge.take(1) > LEAST_HEDGE);
        (0..2).for_each(|_| hedge.learn(true));
        assert_eq!(hedge.take(1), LEAST_HEDGE);
    }

    #[test]
    fn what_was_learned_is_forgotten_a_little_whenever_the_nodes_are_looked_at() {
        let mut hedge = hedge([1; 5]);
        hedge.learn(false);
        let mut look = || hedge.renew(NOW, [].into_iter(), 3);
        (0..15).for_each(|_| look());
        assert!(hedge.take(1) > LEAST_HEDGE);
        hedge.renew(NOW, [].into_iter(), 3);
        assert_eq!(hedge.take(1), LEAST_HEDGE);
    }
}
