//! A round of visits to all nodes.

use std::io;

use super::error::DeskError;
use super::nodes::VisitedNode;
use super::verdict;
use crate::engine::config::Config;
use crate::net::{Talk, in_threads};
use crate::redlock::{MAX_RESOURCE, NodeError, RESERVED, RequestError};

/// What each node has said: what its answers are worth, and what it was asked then.
pub(super) type Visited<T> = (Vec<VisitedNode>, Vec<Result<T, NodeError>>);

/// Visits all nodes at once.
pub(super) fn visit<T: Send>(
    config: &Config,
    ask: impl Fn(&mut Talk) -> T + Sync,
) -> io::Result<Visited<T>> {
    let Config { nodes, redlock, credentials, .. } = config;
    let credentials = credentials.as_ref();
    let begin = |address| {
        let mut talk = Talk::begin(address, credentials, redlock)?;
        let answer = ask(&mut talk);
        Ok((*talk.introduced(), answer))
    };
    let visits = in_threads(nodes.iter().collect(), begin)?;
    let introduced: Vec<_> = visits
        .iter()
        .map(|visit| visit.as_ref().map(|visit| visit.0).map_err(|error| *error))
        .collect();
    let visited = verdict::weigh(redlock, nodes, &introduced);
    Ok((visited, visits.into_iter().map(|visit| visit.map(|visit| visit.1)).collect()))
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
