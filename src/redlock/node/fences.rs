//! Which nodes may draw fencing numbers now (S13), and near which time.

use smallvec::SmallVec;

use super::Node;
use super::fitness::{Clock, FenceBar, span};
use super::nodes::Nodes;
use super::terms::Terms;
use crate::redlock::config::RedlockConfig;
use crate::redlock::node_set::{MAX_NODES, NodeId};
use crate::redlock::quorum::Quorum;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::sabotage::Saboteur;
use crate::time::Instant;

/// A second, less what the readings of clocks are wrong by, in microseconds.
const NEAR: u64 = 900_000;

impl Node {
    /// The node has refused to draw or to accept a number. No lock without a number is affected.
    pub(crate) fn deny_fences(&mut self) {
        self.fitness.is_denied = true;
    }

    /// Returns whether the node may be asked about a number of a lock that is held. Other nodes can
    /// end such a draw, and the next one can begin, however long this node does not answer.
    pub(crate) fn has_room_to_draw(&self, config: &RedlockConfig) -> bool {
        self.is_ready() && self.pipeline.len() < config.max_pipeline + config.max_locks
    }

    /// Returns why the node was not asked when a number was wanted last.
    pub(crate) fn fence_bar(&self) -> Option<FenceBar> {
        self.fitness.bar.filter(|_| self.is_ready())
    }
}

impl Nodes {
    /// Brings up to date why nodes take no part in fencing numbers. Returns the nodes of which that
    /// has changed, the remaining time aside.
    pub(crate) fn judge_fitness(
        &mut self,
        now: Instant,
        quorum: Quorum,
        config: &RedlockConfig,
        terms: Terms,
    ) -> impl Iterator<Item = NodeId> {
        let mut changed = [None; MAX_NODES];
        for (id, place) in self.ids().into_iter().zip(&mut changed) {
            let bar = self.bar(now, id, quorum, config, terms);
            let before = core::mem::replace(&mut self[id].fitness.bar, bar);
            let kind = |bar: Option<FenceBar>| bar.as_ref().map(core::mem::discriminant);
            *place = (kind(before) != kind(bar)).then_some(id);
        }
        changed.into_iter().flatten()
    }

    /// Returns `own`, the time of this client in microseconds since 1970, if that is within a
    /// second of the time of the nodes, which is that of their middle clock; and otherwise the
    /// nearest time that is. The scripts cut numbers that are farther away, each node in its own
    /// way.
    pub(crate) fn near_time(&self, now: Instant, own: u64) -> u64 {
        let Some(middle) = self.middle_time(now) else { return own };
        own.clamp(middle.saturating_sub(NEAR), middle.saturating_add(NEAR))
    }

    /// Returns the largest number that nodes are asked to accept for the sake of those who draw
    /// meanwhile: half a second ahead of the time of the nodes, or of `own` where no node has told
    /// its time. No node forgets more than a second (S13), however wrong the reading is by now.
    pub(crate) fn latest_time(&self, now: Instant, own: u64) -> u64 {
        self.middle_time(now).unwrap_or(own).saturating_add(500_000)
    }

    /// Returns the time that the middle clock of the nodes shows now, if any node has told its own.
    fn middle_time(&self, now: Instant) -> Option<u64> {
        let readings = self.iter().filter(|node| node.is_ready());
        let readings = readings.filter_map(|node| node.fitness.reading);
        let mut times: SmallVec<[u64; MAX_NODES]> = readings
            .map(|reading| {
                let passed = now.as_nanos().saturating_sub(reading.answered.as_nanos()) / 1_000;
                reading.time.saturating_add(passed)
            })
            .collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }

    fn bar(
        &self,
        now: Instant,
        id: NodeId,
        quorum: Quorum,
        config: &RedlockConfig,
        terms: Terms,
    ) -> Option<FenceBar> {
        let node = &self[id];
        if !node.is_ready() {
            return None;
        }
        if node.fitness.is_denied {
            return Some(FenceBar::Denied);
        }
        // Who trusts nodes that may have forgotten locks has no use for their clocks either.
        if config.restart_guard == RestartGuard::Off {
            return None;
        }
        let span = terms.span.max(span(config.fence_skew, config.drift));
        let whole_at = node.record.whole_at(now, config, terms.span, span);
        if whole_at > now && !config.is_sabotaged(Saboteur::YoungNodeDraws) {
            return Some(FenceBar::TooYoung { remaining: whole_at - now });
        }
        let clock = |node: &Node| {
            let reading = node.fitness.reading.filter(|_| node.is_ready());
            reading.map(|reading| Clock::read(now, reading, config.drift))
        };
        let Some(own) = clock(node) else { return Some(FenceBar::ClockUnknown) };
        let most = config.fence_skew.as_micros().saturating_mul(2);
        let near = self.iter().filter_map(clock).filter(|other| own.apart(*other) <= most).count();
        let is_off = near < quorum.need() && !config.is_sabotaged(Saboteur::FarClockDraws);
        is_off.then_some(FenceBar::ClockOff)
    }
}
