//! A round of visits to all nodes.

use std::io;

use super::error::DeskError;
use super::nodes::VisitedNode;
use super::verdict;
use crate::engine::config::Config;
use crate::net::{Clock, Talk, in_threads};
use crate::redlock::{MAX_RESOURCE, NodeError, Quorum, RESERVED, RequestError};

/// All nodes, each at the other end of a conversation, or why not.
pub(super) struct Round {
    /// What the answers of each node are worth.
    pub(super) nodes: Vec<VisitedNode>,
    talks: Vec<Result<Talk, NodeError>>,
}

impl Round {
    /// Begins a conversation with every node.
    pub(super) fn begin(config: &Config, quorum: Quorum) -> io::Result<Self> {
        let Config { nodes, redlock, credentials, .. } = config;
        let begin = |address| Talk::begin(address, credentials.as_ref(), redlock, nodes.len());
        let talks = in_threads(nodes.iter().collect(), begin)?;
        let heard: Vec<_> = talks.iter().map(|talk| talk.as_ref().map(Talk::heard)).collect();
        let nodes = verdict::weigh(Clock::now(), redlock, quorum, nodes, &heard);
        Ok(Self { nodes, talks })
    }

    /// Asks all nodes, at the same time: none is asked before all have been reached.
    pub(super) fn ask<T: Send>(
        &mut self,
        ask: impl Fn(&mut Talk) -> T + Sync,
    ) -> io::Result<Vec<Result<T, NodeError>>> {
        in_threads(self.talks.iter_mut().collect(), |talk: &mut Result<Talk, NodeError>| {
            talk.as_mut().map(&ask).map_err(|error| *error)
        })
    }
}

/// Returns the keys of these resources.
pub(super) fn keys(config: &Config, resources: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, DeskError> {
    let prefix = &config.redlock.prefix;
    let key = |resource: &Vec<u8>| {
        let len = prefix.len() + resource.len();
        let error = if resource.is_empty() {
            RequestError::EmptyResource
        } else if resource.starts_with(RESERVED) {
            RequestError::ReservedResource
        } else if len > MAX_RESOURCE {
            RequestError::ResourceTooLong { len }
        } else {
            return Ok([&prefix[..], resource].concat());
        };
        Err(DeskError::Resource(error))
    };
    resources.iter().map(key).collect()
}
