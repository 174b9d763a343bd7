use super::*;

fn node(index: usize) -> NodeId {
    NodeId::new(index).expect("there are few nodes")
}

fn five() -> Order {
    let names: Vec<String> = (1..=5).map(|last| format!("10.0.0.{last}:6379")).collect();
    Order::new(&names, 5)
}

/// Returns the nodes one after the other.
fn whole(order: &Order, key: &[u8]) -> Vec<usize> {
    let all = NodeSet::first(5);
    let first = |count| order.first(key, all, count);
    let found: Vec<_> = (0..5).map(|at| first(at + 1).without(first(at))).map(only).collect();
    for (place, index) in found.iter().chain(&found).enumerate() {
        assert_eq!(order.at(key, all, place), Some(node(*index)));
    }
    found
}

fn only(set: NodeSet) -> usize {
    let mut nodes = set.into_iter();
    nodes.next().filter(|_| nodes.next().is_none()).expect("one node").index()
}

/// Other clients compute these orders too, so they must never change.
#[test]
fn orders_are_part_of_the_protocol() {
    // The stripe of this key is 12739, as for any user of CRC16.
    assert_eq!(stripe(b"123456789"), 12_739);
    assert_eq!(whole(&five(), b"123456789"), [4, 1, 0, 2, 3]);
}

#[test]
fn the_order_of_the_others_stays_where_a_node_is_missing() {
    let order = five();
    for key in 0..200_u32 {
        let key = key.to_be_bytes();
        let all = whole(&order, &key);
        for missing in 0..5 {
            let mut left = NodeSet::first(5);
            left.remove(node(missing));
            let expected: NodeSet =
                all.iter().filter(|at| **at != missing).take(3).map(|at| node(*at)).collect();
            assert_eq!(order.first(&key, left, 3), expected, "{all:?} without {missing}");
        }
    }
}

#[test]
fn of_equal_names_the_first_ones_come_first() {
    let order = Order::new(&["same"; 4].map(String::from), 4);
    for count in 0..=4 {
        let first = order.first(b"key", NodeSet::first(4), count);
        assert_eq!(first, NodeSet::first(count));
    }
}

#[test]
fn too_few_nodes_are_all_that_there_are() {
    let few: NodeSet = [node(1), node(4)].into_iter().collect();
    assert_eq!(five().first(b"key", few, 3), few);
    assert_eq!(five().first(b"key", NodeSet::EMPTY, 3), NodeSet::EMPTY);
}

#[test]
fn resources_are_spread_evenly() {
    let order = five();
    let mut counts = [0; 5];
    for key in 0..10_000_u32 {
        let key = format!("resource-{key}");
        order.first(key.as_bytes(), NodeSet::first(5), 3).into_iter().for_each(|id| {
            counts[id.index()] += 1;
        });
    }
    assert!(counts.iter().all(|count| (5_600..6_400).contains(count)), "{counts:?}");
}

#[test]
fn nodes_without_names_go_by_their_positions() {
    let order = Order::new(&[], 5);
    assert_eq!(order.0, Order::new(&["0", "1", "2", "3", "4"].map(String::from), 5).0);
}
