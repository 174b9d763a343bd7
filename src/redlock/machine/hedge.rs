//! How long an attempt that asks a majority first waits for its first nodes.

use core::time::Duration;

use smallvec::SmallVec;

use crate::redlock::node_set::{MAX_NODES, NodeId, NodeSet};
use crate::time::Instant;

/// The shortest hedge, in nanoseconds. Near nodes answer within some ten microseconds, and what
/// keeps one of them busy for a moment is no reason to ask all the others.
pub(super) const LEAST_HEDGE: u64 = 1_000_000;

/// By how much each other request makes the shortest hedge longer, of those that a quorum of nodes
/// still works on. A server of a busy machine takes some microseconds for each of them, and to ask
/// more nodes would not help.
const HEDGE_PER_REQUEST: u64 = 10_000;

/// The stretch for a node of which nothing was learned.
const ONCE: u32 = 64;

/// The longest stretch.
const MOST: u32 = 4 * ONCE;

/// By how much a hedge that helped against a node makes those to come earlier.
const HELPED: u32 = ONCE / 16;

/// By how much a hedge in vain makes those to come later. Where all nodes are busy alike, the nodes
/// asked last are the first to answer half of the time. Where one of the first nodes is slow, the
/// nodes asked last nearly always are. So one hedge in vain outweighs four that helped.
const IN_VAIN: u32 = 4 * HELPED;

/// What the hedges of all attempts have in common. Round trips and queues change little from one
/// attempt of a crowd to the next, and to sort them for each cost a tenth of the client's time.
///
/// Whether a hedge is worth its requests shows only when the attempt is decided. A node that is
/// slow has still not answered by then. A node that is busy like all others often has, and more
/// requests only keep all of them busier. The round trips of a crowd swing too much to tell the two
/// apart beforehand. So hedges in vain make the next ones later, and hedges that helped make them
/// earlier again, for each node by itself: that many are busy must put off no hedge against the one
/// that is slow.
pub(super) struct Hedge {
    renew_at: Instant,
    /// For how many more attempts this is good.
    uses: u32,
    /// The patience with each node, and with the fastest quorum, in nanoseconds. Zero for a node
    /// that is not ready.
    patiences: [u64; MAX_NODES],
    fastest: u64,
    /// The shortest hedge, in nanoseconds.
    least: u64,
    /// How much later than by round trips and queues a hedge against each node is, in parts of
    /// [`ONCE`].
    stretches: [u32; MAX_NODES],
    /// Until when what was learned has been forgotten.
    forgotten: Instant,
}

/// How long a node may take for a reply, in nanoseconds, and how many requests it works on.
pub(super) struct Answering {
    pub id: NodeId,
    pub patience: u64,
    pub unanswered: usize,
}

/// Returns the latest hedge of an attempt, in nanoseconds from its start, given the longest time
/// for which the attempt waits, and its validity. Half of the time in which votes count is left for
/// the spare nodes.
pub(super) fn latest(longest_wait: Duration, validity: u64) -> u64 {
    let longest = u64::try_from(longest_wait.as_nanos()).unwrap_or(u64::MAX);
    longest.min(validity / 2) / 2
}

impl Hedge {
    /// A small part of the shortest hedge.
    const LASTS: Duration = Duration::from_micros(100);
    /// Hundreds of attempts can begin at one moment, and each makes the queues longer.
    const USES: u32 = 16;

    pub(super) const fn new() -> Self {
        Self {
            renew_at: Instant::ZERO,
            uses: 0,
            patiences: [0; MAX_NODES],
            fastest: 0,
            least: LEAST_HEDGE,
            stretches: [ONCE; MAX_NODES],
            forgotten: Instant::ZERO,
        }
    }

    /// Looks at all nodes that are ready, of which `need` make a quorum.
    pub(super) fn renew(
        &mut self,
        now: Instant,
        nodes: impl Iterator<Item = Answering>,
        need: usize,
    ) {
        // The deviation of a patience alone says little: replies that come together show none.
        let (mut times, mut queues) = (SmallVec::<[u64; MAX_NODES]>::new(), SmallVec::new());
        self.patiences = [0; MAX_NODES];
        for node in nodes {
            self.patiences[node.id.index()] = node.patience;
            times.push(node.patience);
            queues.push(node.unanswered.saturating_sub(1) as u64);
        }
        let of_quorum = |mut values: SmallVec<[u64; MAX_NODES]>| {
            values.sort_unstable();
            values.get(need - 1).copied().unwrap_or_default()
        };
        self.forget(now);
        self.renew_at = now + Self::LASTS;
        self.uses = Self::USES;
        self.fastest = of_quorum(times);
        self.least = LEAST_HEDGE + HEDGE_PER_REQUEST * of_quorum(queues);
    }

    /// Forgets what was learned, in a fifth of a second at most: the crowd may be gone.
    fn forget(&mut self, now: Instant) {
        let passed = now - self.forgotten;
        let millis = u32::try_from(passed.as_millis()).unwrap_or(MOST);
        if millis == 0 {
            return;
        }
        // The part of a millisecond counts for the next time.
        self.forgotten = now - Duration::from_nanos((passed.subsec_nanos() % 1_000_000).into());
        for stretch in &mut self.stretches {
            *stretch = stretch.saturating_sub(millis).max(ONCE);
        }
    }

    /// Learns from an attempt that has succeeded after its hedge. Of the nodes that were `late`,
    /// those in `agreed` have answered before the nodes asked last could decide.
    pub(super) fn learn(&mut self, late: NodeSet, agreed: NodeSet) {
        for id in late {
            let stretch = &mut self.stretches[id.index()];
            let next = if agreed.contains(id) { *stretch + IN_VAIN } else { *stretch - HELPED };
            *stretch = next.clamp(ONCE, MOST);
        }
    }

    /// Returns `true` if the nodes have to be looked at again.
    #[inline]
    pub(super) fn is_used_up(&self, now: Instant) -> bool {
        self.uses == 0 || now >= self.renew_at
    }

    /// Returns how long an attempt waits for these first nodes, in nanoseconds.
    #[inline]
    pub(super) fn take(&mut self, asked: NodeSet) -> u64 {
        self.uses = self.uses.saturating_sub(1);
        let slowest = asked.into_iter().map(|id| self.patiences[id.index()]).max().unwrap_or(0);
        let time = slowest.min(self.fastest.saturating_mul(2)).max(self.least);
        time.saturating_mul(self.stretch(asked).into()) / u64::from(ONCE)
    }

    /// Returns how much later than by round trips and queues a hedge against these nodes is, for
    /// comparison.
    #[inline]
    pub(super) fn stretch(&self, nodes: NodeSet) -> u32 {
        nodes.into_iter().map(|id| self.stretches[id.index()]).min().unwrap_or(ONCE)
    }
}

#[cfg(test)]
mod tests;
