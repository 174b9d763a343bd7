use super::*;

const NOW: Instant = Instant::from_nanos(7_000_000_000);
const FIRST: NodeSet = NodeSet::first(3);

/// Five nodes with these patiences, which have answered all but one request.
fn hedge(patiences: [u64; 5]) -> Hedge {
    renewed(patiences.map(|patience| (patience, 1)))
}

/// Nodes with these patiences, which work on so many requests.
fn renewed<const N: usize>(nodes: [(u64, usize); N]) -> Hedge {
    let mut hedge = Hedge::new();
    let ids = NodeSet::first(N).into_iter();
    let answering = |(id, (patience, unanswered))| Answering { id, patience, unanswered };
    hedge.renew(NOW, ids.zip(nodes).map(answering), 3);
    hedge
}

#[test]
fn near_nodes_get_the_shortest_hedge() {
    assert_eq!(hedge([10, 20, 30, 40, 50]).take(FIRST), LEAST_HEDGE);
}

#[test]
fn a_hedge_is_the_patience_with_the_slowest_node_asked() {
    let ms = [4_000_000, 5_000_000, 4_000_000, 4_000_000, 6_000_000];
    assert_eq!(hedge(ms).take(FIRST), 5_000_000);
}

#[test]
fn a_node_that_is_much_slower_than_a_quorum_is_waited_for_twice_as_long_as_for_the_quorum() {
    let mut hedge = hedge([90_000_000, 2_000_000, 3_000_000, 9_000_000, 1_000_000]);
    assert_eq!(hedge.take(FIRST), 6_000_000);
}

#[test]
fn the_queue_of_the_quorum_makes_a_hedge_longer() {
    let least = renewed([900, 1, 101, 51, 0].map(|unanswered| (1, unanswered))).take(FIRST);
    assert_eq!(least, LEAST_HEDGE + 50 * HEDGE_PER_REQUEST);
}

#[test]
fn fewer_ready_nodes_than_a_quorum_leave_the_shortest_hedge() {
    assert_eq!(renewed([]).take(FIRST), LEAST_HEDGE);
}

#[test]
fn a_hedge_is_used_up_by_time_or_by_attempts() {
    assert!(Hedge::new().is_used_up(NOW));
    let mut hedge = hedge([1; 5]);
    let end = NOW + Hedge::LASTS;
    assert!(!hedge.is_used_up(end - Duration::from_nanos(1)) && hedge.is_used_up(end));
    for _ in 0..Hedge::USES {
        assert!(!hedge.is_used_up(NOW));
        hedge.take(FIRST);
    }
    assert!(hedge.is_used_up(NOW));
}

#[test]
fn hedges_in_vain_make_those_to_come_later_up_to_four_times() {
    let mut hedge = hedge([1; 5]);
    hedge.learn(FIRST, FIRST);
    assert_eq!(hedge.take(FIRST), LEAST_HEDGE * 5 / 4);
    (0..100).for_each(|_| hedge.learn(FIRST, FIRST));
    assert_eq!(hedge.take(FIRST), LEAST_HEDGE * 4);
}

#[test]
fn hedges_that_helped_make_those_to_come_earlier_and_weigh_a_quarter() {
    let mut hedge = hedge([1; 5]);
    hedge.learn(FIRST, FIRST);
    (0..3).for_each(|_| hedge.learn(FIRST, NodeSet::EMPTY));
    assert!(hedge.take(FIRST) > LEAST_HEDGE);
    (0..2).for_each(|_| hedge.learn(FIRST, NodeSet::EMPTY));
    assert_eq!(hedge.take(FIRST), LEAST_HEDGE);
}

#[test]
fn a_hedge_against_one_node_is_put_off_by_no_other_node() {
    let mut hedge = hedge([1; 5]);
    let others = NodeSet::first(2);
    (0..100).for_each(|_| hedge.learn(others, others));
    assert_eq!(hedge.take(others), LEAST_HEDGE * 4);
    assert_eq!(hedge.take(FIRST), LEAST_HEDGE);
}

/// The first look counts from the start of the machine.
#[test]
fn on_a_machine_that_has_run_for_months_no_more_is_forgotten() {
    let now = Instant::ZERO + Duration::from_secs(100 * 24 * 3600);
    let mut hedge = Hedge::new();
    hedge.renew(now, [].into_iter(), 3);
    (0..100).for_each(|_| hedge.learn(FIRST, FIRST));
    hedge.renew(now + Hedge::LASTS, [].into_iter(), 3);
    assert_eq!(hedge.take(FIRST), LEAST_HEDGE * 4);
}

#[test]
fn parts_of_a_millisecond_are_forgotten_too() {
    let mut hedge = hedge([1; 5]);
    (0..100).for_each(|_| hedge.learn(FIRST, FIRST));
    for step in 1..=103 {
        let now = NOW + step * Duration::from_micros(1_900);
        hedge.renew(now, [].into_iter(), 3);
    }
    assert_eq!(hedge.take(FIRST), LEAST_HEDGE);
}

#[test]
fn what_was_learned_is_forgotten_in_a_fifth_of_a_second() {
    let mut hedge = hedge([1; 5]);
    (0..100).for_each(|_| hedge.learn(FIRST, FIRST));
    let mut after = |millis| {
        hedge.renew(NOW + Duration::from_millis(millis), [].into_iter(), 3);
        hedge.take(FIRST)
    };
    assert_eq!(after(0), LEAST_HEDGE * 4);
    assert_eq!(after(64), LEAST_HEDGE * 3);
    assert!(after(191) > LEAST_HEDGE);
    assert_eq!(after(192), LEAST_HEDGE);
}
