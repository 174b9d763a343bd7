//! All masters of one engine, in the order of the configuration.

use core::ops::{Index, IndexMut};
use core::time::Duration;

use super::Node;
use super::patience::Limits;
use super::terms::Terms;
use super::witness::{Alibi, Excuse};
use crate::redlock::config::RedlockConfig;
use crate::redlock::login::Login;
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::quorum::Quorum;
use crate::time::Instant;

/// The masters of one engine, indexed by their ids.
pub(crate) struct Nodes(Box<[Node]>);

impl Nodes {
    pub(crate) fn new(logins: Vec<Login>, config: &RedlockConfig) -> Self {
        Self(logins.into_iter().map(|login| Node::new(login, config)).collect())
    }

    /// Returns the ids of all nodes.
    pub(crate) fn ids(&self) -> NodeSet {
        NodeSet::first(self.0.len())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Node> {
        self.0.iter()
    }

    /// Decides for each node that was out of service whether the others were idle too (S11), and
    /// brings the evidence of all nodes up to date. Returns the nodes of which something changed
    /// that a user sees.
    ///
    /// A lock that another process granted under the name of the node was granted by a quorum of
    /// the other names too. So the others know of it, or were not in use. One node that was in use
    /// is enough to deny the idle time. A count of idle nodes proves nothing: several names can
    /// have moved at once.
    pub(crate) fn settle(
        &mut self,
        now: Instant,
        quorum: Quorum,
        config: &RedlockConfig,
        terms: Terms,
    ) -> NodeSet {
        for id in self.ids() {
            if let Some(excuse) = self.excuse(now, id, quorum, config, terms) {
                self[id].excuse(excuse);
            }
        }
        let ids = self.ids().into_iter();
        ids.filter(|id| self[*id].settle(now, config, terms)).collect()
    }

    /// Returns what the other nodes say about the time in which a node was out of service. Returns
    /// `None` if it was not.
    fn excuse(
        &self,
        now: Instant,
        id: NodeId,
        quorum: Quorum,
        config: &RedlockConfig,
        terms: Terms,
    ) -> Option<Excuse> {
        let gap = self[id].recent_gap(now, config, terms)?;
        let (mut idle, mut unknown) = (0, 0);
        for other in self.ids().into_iter().filter(|other| *other != id) {
            match self[other].alibi(&gap, now, config, terms) {
                Alibi::Idle => idle += 1,
                Alibi::InUse => return Some(Excuse::InUse),
                Alibi::Unknown => unknown += 1,
                Alibi::Silent => {}
            }
        }
        Some(match unknown {
            0 if idle + 1 >= quorum.need() => Excuse::Idle,
            0 => Excuse::TooFew,
            _ => Excuse::Unknown,
        })
    }

    /// Returns by how much, at most, our clock has fallen behind those of a majority, and takes
    /// note that this is known. Returns `None` if no majority is ahead.
    ///
    /// Whether our clock stood still or theirs were set makes no difference: the keys end earlier
    /// than we believe. The largest difference counts, because the clock of a node can also have
    /// been set back.
    pub(crate) fn catch_up(&mut self, now: Instant) -> Option<Duration> {
        let ahead = self.0.iter().filter_map(|node| node.record.pace.ahead(now));
        let (count, lost) =
            ahead.fold((0, Duration::ZERO), |(count, lost), by| (count + 1, lost.max(by)));
        if 2 * count <= self.0.len() {
            return None;
        }
        self.0.iter_mut().for_each(|node| node.record.pace.caught_up());
        Some(lost)
    }

    /// Returns how long `need` of the nodes in `asked` are waited for, in nanoseconds.
    pub(crate) fn timeout(&self, asked: NodeSet, need: usize, limits: Limits) -> u64 {
        limits.timeout(asked.into_iter().map(|id| self[id].patience()).collect(), need)
    }

    /// Returns the node with this id, or `None` if there is no such node.
    pub(crate) fn get(&self, id: NodeId) -> Option<&Node> {
        self.0.get(id.index())
    }

    /// Returns the node with this id to be changed, or `None` if there is no such node.
    pub(crate) fn get_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.0.get_mut(id.index())
    }
}

impl Index<NodeId> for Nodes {
    type Output = Node;

    fn index(&self, id: NodeId) -> &Node {
        &self.0[id.index()]
    }
}

impl IndexMut<NodeId> for Nodes {
    fn index_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.0[id.index()]
    }
}
