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
mod tests {
    use super::*;

    /// What a node has: a letter stands for a value with a minute left, a capital letter for a
    /// value without a ttl, `.` for nothing, `#` for data that is no lock, `-` for no answer. In
    /// front of it: `?` for a node in quarantine, `!` for one that does not count.
    fn judged(nodes: &str, need: usize) -> WhoResource {
        let nodes: Vec<_> = nodes.split(' ').map(of).collect();
        let quorum = Quorum::new(nodes.len(), need).expect("a majority");
        let (nodes, stored): (Vec<_>, _) = nodes.into_iter().unzip();
        judge(b"r".to_vec(), stored, &nodes, quorum)
    }

    fn of(node: &str) -> (VisitedNode, Result<Stored, NodeError>) {
        let (weight, what) = match node.split_at(node.len() - 1) {
            ("?", what) => (NodeWeight::Quarantined { remaining: None }, what),
            ("!", what) => (NodeWeight::Out(NodeError::Replica), what),
            (_, "-") => (NodeWeight::Out(NodeError::ConnectTimeout), "-"),
            (_, what) => (NodeWeight::Counts, what),
        };
        let ttl = Some(Duration::from_secs(60));
        let value = StoredValue::new(what.to_lowercase());
        let stored = match what {
            "." => Ok(Stored::Nothing),
            "#" => Ok(Stored::Data { kind: "list".to_owned(), ttl: None }),
            "-" => Err(NodeError::ConnectTimeout),
            _ if value.as_bytes() == what.as_bytes() => Ok(Stored::Value { value, ttl }),
            _ => Ok(Stored::Value { value, ttl: None }),
        };
        let address = "h:1".parse().expect("an address");
        (VisitedNode { address, weight, detail: String::new() }, stored)
    }

    #[test]
    fn somebody_holds_a_resource_only_where_a_quorum_that_counts_says_so() {
        let rows = [
            ("a a a . .", 3, "held"),
            ("a a a b -", 3, "held"),
            ("a a ?a - -", 3, "held"),
            ("a a !a . -", 3, "unknown"),
            ("a a !a . .", 3, "unknown"),
            ("a a a . .", 4, "split"),
            ("A A A . .", 3, "permanent"),
            ("A A A a a", 3, "permanent"),
            ("A A a a a", 3, "held"),
            (". . . . .", 3, "free"),
            (". . . - -", 3, "free"),
            (". . . !a -", 3, "free"),
            (". . ?. - -", 3, "unknown"),
            ("a a . . .", 3, "dangling"),
            (". . . # #", 3, "dangling"),
            ("a a b b .", 3, "split"),
            ("a a # # .", 3, "split"),
            ("a # # # .", 3, "data"),
            ("# # # - -", 3, "data"),
            ("a a . . -", 3, "unknown"),
            ("- - - - -", 3, "unknown"),
            ("a", 1, "held"),
            ("?.", 1, "unknown"),
        ];
        for (nodes, need, expected) in rows {
            assert_eq!(judged(nodes, need).state.name(), expected, "{nodes}");
        }
    }

    #[test]
    fn the_values_on_most_nodes_come_first_and_every_node_is_in_one_set() {
        let found = judged("b a a # . - !c ?.", 5);
        let shown: Vec<_> = found.values.iter().map(|value| value.nodes.len()).collect();
        assert_eq!(shown, [2, 1]);
        let sizes = [found.free, found.data, found.unknown].map(NodeSet::len);
        assert_eq!(sizes, [1, 1, 3]);
    }

    #[test]
    fn a_quorum_keeps_a_value_as_long_as_the_last_node_that_it_needs() {
        let value = StoredValue::new("a");
        let at = |secs| {
            let ttl = Some(Duration::from_secs(secs));
            (of("a").0, Ok(Stored::Value { value: value.clone(), ttl }))
        };
        let (nodes, stored): (Vec<_>, _) = [at(5), at(1), at(9), at(7)].into_iter().unzip();
        let found = judge(Vec::new(), stored, &nodes, Quorum::new(4, 3).expect("a majority"));
        assert_eq!(found.state, WhoState::Held { remaining: Duration::from_secs(5) });
        let (least, most) = (found.values[0].least, found.values[0].most);
        assert_eq!((least, most), (Some(Duration::from_secs(1)), Some(Duration::from_secs(9))));
    }
}
