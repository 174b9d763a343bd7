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
