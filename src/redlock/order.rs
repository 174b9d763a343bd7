//! The order in which a resource prefers nodes: the same in all clients that name the nodes alike.
//!
//! A resource belongs to a [stripe](super::stripe). Each pair of a stripe and a node has a
//! weight, the XXH64 of both, and the heaviest nodes come first (rendezvous hashing). So resources
//! are spread evenly over the nodes, and a node that is out changes the order of no others.

use smallvec::SmallVec;

use super::node_set::{MAX_NODES, NodeId, NodeSet};
use super::stripe::stripe;
use super::xxh64::{xxh64, xxh64_of_number};

/// The names of all nodes, as hashes.
#[derive(Debug)]
pub(super) struct Order(SmallVec<[u64; MAX_NODES]>);

impl Order {
    /// Creates the order of `count` nodes with these names. A node without a name has its position
    /// for a name.
    pub(super) fn new(names: &[String], count: usize) -> Self {
        let name = |index: usize| match names.get(index) {
            Some(name) => xxh64(name.as_bytes(), 0),
            None => xxh64(index.to_string().as_bytes(), 0),
        };
        Self((0..count).map(name).collect())
    }

    /// Returns the first `count` of the nodes `among`, in the order of a resource with this `key`.
    pub(super) fn first(&self, key: &[u8], among: NodeSet, count: usize) -> NodeSet {
        let stripe = u64::from(stripe(key));
        let mut weights = [0; MAX_NODES];
        for id in among {
            weights[id.index()] = xxh64_of_number(self.0[id.index()], stripe);
        }
        // To sort the few nodes would take twice the instructions, and to look for the heaviest
        // ones an eighth more: for a quorum most nodes stay. Equal weights, which no two names
        // have, would leave the first of the list in front.
        let lighter = |lightest: NodeId, id: NodeId| {
            if weights[id.index()] <= weights[lightest.index()] { id } else { lightest }
        };
        let mut first = among;
        for _ in count..among.len() {
            let Some(lightest) = first.into_iter().reduce(lighter) else { break };
            first.remove(lightest);
        }
        first
    }

    /// Returns the node with this place among the nodes `among`, counted from 0, in the order of a
    /// resource with this `key`. Behind the last one the count begins anew.
    pub(super) fn at(&self, key: &[u8], among: NodeSet, place: usize) -> Option<NodeId> {
        let place = place.checked_rem(among.len())?;
        let before = self.first(key, among, place);
        self.first(key, among, place + 1).without(before).into_iter().next()
    }
}

#[cfg(test)]
mod tests;
