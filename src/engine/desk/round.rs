//! A round of visits to all nodes.

use std::io;

use super::nodes::VisitedNode;
use super::verdict;
use crate::engine::config::Config;
use crate::net::{Clock, Talk, in_threads};
use crate::redlock::{NodeError, Quorum, RequestError, Unanswered};

/// All nodes, each at the other end of a conversation, or why not.
pub(super) struct Round {
    /// What the answers of each node are worth.
    pub(super) nodes: Vec<VisitedNode>,
    talks: Vec<Result<Talk, Unanswered>>,
}

impl Round {
    /// Begins a conversation with every node.
    pub(super) fn begin(config: &Config, quorum: Quorum) -> io::Result<Self> {
        let Config { nodes, redlock, credentials, .. } = config;
        let begin = |address| Talk::begin(address, credentials.as_ref(), redlock, nodes.len());
        let talks = in_threads(nodes.iter().collect(), begin)?;
        let heard = talks.iter().map(|talk| match talk {
            Ok(talk) => Ok(talk.heard()),
            Err(unanswered) => Err(unanswered.error),
        });
        let heard: Vec<_> = heard.collect();
        let mut nodes = verdict::weigh(Clock::now(), redlock, quorum, nodes, &heard);
        for (node, talk) in nodes.iter_mut().zip(&talks) {
            if let Err(unanswered) = talk {
                node.detail.clone_from(&unanswered.message.text);
            }
        }
        Ok(Self { nodes, talks })
    }

    /// Asks all nodes, at the same time: none is asked before all have been reached.
    pub(super) fn ask<T: Send>(
        &mut self,
        ask: impl Fn(&mut Talk) -> T + Sync,
    ) -> io::Result<Vec<Result<T, NodeError>>> {
        in_threads(self.talks.iter_mut().collect(), |talk: &mut Result<Talk, Unanswered>| {
            talk.as_mut().map(&ask).map_err(|unanswered| unanswered.error)
        })
    }
}

/// Returns the keys of these resources.
pub(super) fn keys(config: &Config, resources: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, RequestError> {
    let prefix = &config.redlock.prefix;
    let key = |resource: &Vec<u8>| {
        config.redlock.check_resource(resource)?;
        Ok([&prefix[..], resource].concat())
    };
    resources.iter().map(key).collect()
}
