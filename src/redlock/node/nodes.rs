//! All masters of one engine, in the order of the configuration.

use core::ops::{Index, IndexMut};

use super::Node;
use crate::redlock::config::RedlockConfig;
use crate::redlock::login::Login;
use crate::redlock::node_set::{NodeId, NodeSet};

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
