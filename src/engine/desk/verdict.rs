//! What follows from what the nodes have said.

use core::cmp::Reverse;
use core::time::Duration;

use super::nodes::{NodeWeight, VisitedNode};
use super::report::{WhoResource, WhoState, WhoValue};
use crate::net::{Address, Heard};
use crate::redlock::{
    FirstLook, Found, MIN_TTL, NodeError, NodeId, NodeSet, Prospect, Quorum, RedlockConfig, Stored,
    StoredValue, Word, prospects,
};
use crate::time::Instant;

/// Says what the answers of each node are worth at `now`: what a client would think of the node
/// that meets all nodes for the first time.
///
/// There are two exceptions. Where no node has a witness, redbolt has never been, and nothing tells
/// of forgotten keys: other libraries know no quarantine. And the `max_ttl` of the configuration
/// counts for nothing, because nobody takes a lock here.
pub(super) fn weigh(
    now: Instant,
    config: &RedlockConfig,
    quorum: Quorum,
    addresses: &[Address],
    heard: &[Result<&Heard, NodeError>],
) -> Vec<VisitedNode> {
    let looks: Vec<_> =
        heard.iter().map(|heard| heard.as_ref().ok().map(|heard| heard.look())).collect();
    let is_witness = |look: &FirstLook<'_>| match look.answers.word {
        Word::Given(word) => word.found != Found::Nothing,
        _ => false,
    };
    let has_witness = looks.iter().flatten().any(is_witness);
    let config = RedlockConfig { max_ttl: MIN_TTL, ..config.clone() };
    let prospects = prospects(now, &looks, &config, quorum);
    let node = |((address, prospect), heard): ((&Address, Prospect), &Result<_, NodeError>)| {
        let weight = match (prospect, heard) {
            (Prospect::Votes, _) => NodeWeight::Counts,
            (Prospect::Waits(..), _) if !has_witness => NodeWeight::Counts,
            (Prospect::Waits(remaining, _), _) => {
                NodeWeight::Quarantined { remaining: (!remaining.is_zero()).then_some(remaining) }
            }
            (Prospect::Out(Some(NodeError::SameProcess(twin))), _) => {
                NodeWeight::SameProcess(addresses[twin.index()].clone())
            }
            (Prospect::Out(Some(error)), _) => NodeWeight::Out(error),
            (Prospect::Out(None), Err(error)) => NodeWeight::Out(*error),
            (Prospect::Out(None), Ok(_)) => NodeWeight::Out(NodeError::UnexpectedReply),
        };
        VisitedNode { address: address.clone(), weight, detail: String::new() }
    };
    addresses.iter().zip(prospects).zip(heard).map(node).collect()
}

/// Says what all nodes together have under a resource.
pub(super) fn judge(
    resource: Vec<u8>,
    stored: Vec<Result<Stored, NodeError>>,
    nodes: &[VisitedNode],
    quorum: Quorum,
) -> WhoResource {
    let which = |is_meant: &dyn Fn(&NodeWeight, &Stored) -> bool| -> NodeSet {
        let of = |place: usize| {
            let is_in = stored[place].as_ref().is_ok_and(|at| is_meant(&nodes[place].weight, at));
            is_in.then_some(NodeId::new(place)?)
        };
        (0..nodes.len()).filter_map(of).collect()
    };
    let free = which(&|weight, at| *weight == NodeWeight::Counts && *at == Stored::Nothing);
    let data = which(&|weight, at| weight.counts() && at.is_data());
    let mut values: Vec<WhoValue> = Vec::new();
    for value in stored.iter().flatten().filter_map(Stored::value) {
        if values.iter().any(|known| known.value == *value) {
            continue;
        }
        let with = which(&|weight, at| weight.counts() && at.value() == Some(value));
        if !with.is_empty() {
            values.push(of_value(value, with, &stored));
        }
    }
    values.sort_by_key(|value| Reverse(value.nodes.len()));
    let others = values.iter().fold(data, |set, value| set.union(value.nodes));
    let unknown = NodeSet::first(nodes.len()).without(free).without(others);
    let state = state(&values, [free, data, unknown], &stored, quorum);
    WhoResource { resource, state, values, free, data, unknown, stored }
}

fn of_value(value: &StoredValue, nodes: NodeSet, stored: &[Result<Stored, NodeError>]) -> WhoValue {
    let ttls = ttls(nodes, stored);
    let least = ttls.last().copied().filter(|ttl| *ttl < Duration::MAX);
    let most = ttls.first().copied().filter(|ttl| *ttl < Duration::MAX);
    WhoValue { value: value.clone(), nodes, least, most, client: None }
}

/// Returns the times that are left on these nodes, the longest first. [`Duration::MAX`] stands for
/// a key without a ttl.
fn ttls(nodes: NodeSet, stored: &[Result<Stored, NodeError>]) -> Vec<Duration> {
    let at = |node: NodeId| stored.get(node.index())?.as_ref().ok()?.ttl();
    let mut ttls: Vec<_> =
        nodes.into_iter().filter_map(at).map(|ttl| ttl.unwrap_or(Duration::MAX)).collect();
    ttls.sort_unstable_by_key(|ttl| Reverse(*ttl));
    ttls
}

/// Two majorities have a node in common: where a quorum has nothing, no value has a quorum.
fn state(
    values: &[WhoValue],
    [free, data, unknown]: [NodeSet; 3],
    stored: &[Result<Stored, NodeError>],
    quorum: Quorum,
) -> WhoState {
    let need = quorum.need();
    let most = values.first().map(|value| value.nodes).unwrap_or_default();
    let may_be = |set: NodeSet| set.union(unknown).len() >= need;
    if let Some(remaining) = ttls(most, stored).get(need - 1) {
        return match *remaining {
            Duration::MAX => WhoState::Permanent,
            remaining => WhoState::Held { remaining },
        };
    }
    if free.len() >= need {
        let is_all = values.is_empty() && data.is_empty();
        return if is_all { WhoState::Free } else { WhoState::Dangling };
    }
    // Without the nodes that have data, no quorum is left.
    if quorum.nodes() - data.len() < need {
        return WhoState::Data;
    }
    if may_be(most) || may_be(free) { WhoState::Unknown } else { WhoState::Split }
}

#[cfg(test)]
mod tests;
