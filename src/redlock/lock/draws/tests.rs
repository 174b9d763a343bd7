use super::*;

const P: u64 = 1 << 40;

fn node(index: usize) -> NodeId {
    NodeId::new(index).expect("few nodes")
}

fn fence(number: u64) -> Fence {
    Fence::new(number).expect("in range")
}

fn nodes<const N: usize>(indexes: [usize; N]) -> NodeSet {
    indexes.into_iter().map(node).collect()
}

/// The draws of nodes with these numbers above the proposal.
fn draws(numbers: &[u64]) -> Draws {
    let mut draws = Draws::default();
    draws.begin(Instant::ZERO, P);
    for (index, above) in numbers.iter().enumerate() {
        draws.drew(node(index), fence(P + above));
    }
    draws
}

#[test]
fn a_number_of_a_quorum_is_the_fence_whatever_the_others_drew() {
    use Outcome::{Fence, Impossible, Open, Raise};
    let rows: [(usize, &[u64], usize, Outcome); 15] = [
        // Nodes, what they drew above the proposal, how many may still draw.
        (1, &[0], 0, Fence(fence(P))),
        (3, &[0], 2, Open),
        (3, &[0], 1, Open),
        (3, &[0], 0, Impossible),
        (3, &[0, 0], 1, Fence(fence(P))),
        (3, &[0, 7], 1, Raise),
        (3, &[7, 7], 1, Fence(fence(P + 7))),
        (3, &[0, 7, 0], 0, Fence(fence(P))),
        (3, &[0, 7, 7], 0, Fence(fence(P + 7))),
        (5, &[0, 0, 7, 7], 1, Raise),
        (5, &[0, 7, 7, 9, 7], 0, Raise),
        (5, &[9, 0, 9, 0, 0], 0, Fence(fence(P))),
        (5, &[9, 0, 9, 0, 9], 0, Fence(fence(P + 9))),
        (5, &[0, 0], 1, Open),
        (5, &[0, 0], 0, Impossible),
    ];
    for (count, numbers, open, expected) in rows {
        let quorum = Quorum::majority(count).expect("few nodes");
        let drawn = NodeSet::first(numbers.len());
        let open = NodeSet::first(numbers.len() + open).without(drawn);
        let found = draws(numbers).outcome(quorum, open);
        assert_eq!(found, expected, "{numbers:?} of {count}, open {open:?}");
    }
}

#[test]
fn a_raise_needs_a_quorum_that_accepts_and_not_one_that_is_behind() {
    let three = Quorum::majority(3).expect("three");
    let mut draws = draws(&[0, 7]);
    let number = draws.begin_raise(Instant::ZERO, 0, 1, draws.raisable()).expect("in range");
    assert_eq!(number, fence(P + 8));
    assert_eq!(draws.outcome(three, nodes([2])), Outcome::Open);
    assert!(draws.raised(node(0), 1, Drawn::Accepted));
    assert_eq!(draws.outcome(three, nodes([2])), Outcome::Open);
    assert!(draws.raised(node(1), 1, Drawn::Behind(P + 20)));
    assert_eq!(draws.outcome(three, nodes([2])), Outcome::Open, "the last may draw it");
    assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Raise);
    assert_eq!(draws.begin_raise(Instant::ZERO, 0, 2, draws.raisable()), Some(fence(P + 21)));
    assert!(!draws.raised(node(1), 1, Drawn::Accepted), "that was the older question");
    assert!(draws.raised(node(0), 2, Drawn::Accepted));
    assert!(draws.raised(node(1), 2, Drawn::Accepted));
    assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Fence(fence(P + 21)));
}

#[test]
fn a_late_vote_completes_the_proposal_the_largest_or_the_raise() {
    let three = Quorum::majority(3).expect("three");
    for (late, expected) in [(0, 0), (7, 7), (8, 8)] {
        let mut draws = draws(&[0, 7]);
        draws.begin_raise(Instant::ZERO, 0, 1, draws.raisable());
        if expected == 8 {
            draws.raised(node(0), 1, Drawn::Accepted);
            assert_eq!(draws.raise_late(node(2), fence(P + 8)), None);
        } else {
            assert_eq!(draws.raise_late(node(2), fence(P)), Some((1, fence(P + 8))));
        }
        draws.drew(node(2), fence(P + late));
        let found = draws.outcome(three, NodeSet::EMPTY);
        assert_eq!(found, Outcome::Fence(fence(P + expected)), "{late}");
    }
}

#[test]
fn raises_end_and_never_leave_the_range() {
    let three = Quorum::majority(3).expect("three");
    let mut draws = draws(&[0, 7, 9]);
    for serial in 1..=u64::from(MOST_RAISES) {
        assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Raise, "{serial}");
        draws.begin_raise(Instant::ZERO, 0, serial, draws.raisable());
        for index in 0..3 {
            draws.raised(node(index), serial, Drawn::Behind(P + 100 * serial));
        }
    }
    assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Impossible);
    draws.seen = Fence::MOST;
    assert_eq!(draws.begin_raise(Instant::ZERO, 0, 9, draws.raisable()), None);
}

#[test]
fn nodes_without_the_token_accept_nothing_more() {
    let three = Quorum::majority(3).expect("three");
    let mut draws = draws(&[0, 7]);
    draws.begin_raise(Instant::ZERO, 0, 1, draws.raisable());
    draws.raised(node(0), 1, Drawn::Gone);
    draws.raised(node(1), 1, Drawn::Behind(P + 20));
    assert_eq!(draws.raisable(), nodes([1]));
    assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Impossible);
}

#[test]
fn a_node_that_draws_has_the_token_whatever_it_said_before() {
    let three = Quorum::majority(3).expect("three");
    let mut draws = draws(&[0, 7]);
    draws.begin_raise(Instant::ZERO, 0, 1, draws.raisable());
    draws.begin(Instant::ZERO, P);
    // The answer to a question of the draw before.
    assert!(!draws.raised(node(1), 1, Drawn::Gone));
    draws.drew(node(0), fence(P));
    draws.drew(node(1), fence(P + 9));
    assert_eq!(draws.outcome(three, NodeSet::EMPTY), Outcome::Raise);
    assert_eq!(draws.raisable(), nodes([0, 1]));
}

#[test]
fn what_was_seen_outlives_a_draw() {
    let mut draws = draws(&[7]);
    draws.begin_raise(Instant::ZERO, 0, 1, nodes([0]));
    draws.begin(Instant::ZERO, P + 1);
    assert_eq!((draws.seen, draws.is_raising()), (P + 8, false));
    assert_eq!(draws.raisable(), NodeSet::EMPTY);
}
