use super::*;

#[test]
fn requests_are_found_by_the_node_and_the_key_that_they_listen_for() {
    let [first, second] = [0, 1].map(|place| NodeId::new(place).expect("there are two"));
    let [a, b] = [b"a", b"b"].map(|key| Listening::new(first, key));
    let other = Listening::new(second, b"a");
    let mut listeners = Listeners::default();
    assert!(listeners.is_empty() && listeners.of(first, b"a").is_empty());
    for (slot, listening) in [(7, &a), (3, &b), (5, &a), (4, &other)] {
        listeners.add(slot, listening);
    }
    assert_eq!(listeners.of(first, b"a")[..], [7, 5]);
    assert_eq!((listeners.at(first), listeners.at(second)), (vec![3, 5, 7], vec![4]));
    for (slot, listening) in [(7, &a), (7, &b), (5, &other)] {
        listeners.remove(slot, listening);
    }
    let found = [b"a", b"b"].map(|key| listeners.of(first, key));
    assert_eq!((&found[0][..], &found[1][..]), (&[5][..], &[3][..]));
    for (slot, listening) in [(5, &a), (3, &b), (4, &other)] {
        listeners.remove(slot, listening);
    }
    assert!(listeners.is_empty() && listeners.at(second).is_empty());
}
