//! When the other nodes are asked because the first ones take too long.

use super::*;

/// A client of five nodes, which asks nobody whether others wait for its locks.
fn rig() -> Rig {
    Rig::with(5, |config| (config.ask, config.tenure) = (Ask::Majority, Duration::MAX))
}

#[test]
fn a_slow_node_makes_the_attempt_ask_the_others_after_the_hedge() {
    let mut rig = rig();
    rig.acquire("r", NO_WAIT);
    let asked = rig.got(&["SET r #1 NX PX 10000"]);
    rig.reply(asked[0], "+OK");
    rig.reply(asked[1], "+OK");
    rig.advance(Duration::from_micros(900));
    assert_eq!(rig.got(&[]), [0; 0]);
    rig.advance(Duration::from_micros(100));
    let others = rig.got(&["SET r #1 NX PX 10000"]);
    assert_eq!(others.len(), 2);
    // A request is no vote, and an answer of any of the three is the third one.
    assert_eq!(rig.events(), []);
    rig.reply(others[1], "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
}

/// Takes a lock with a hedge. Returns after how many microseconds the other nodes were asked. The
/// third vote comes from the first nodes, or from the others.
fn hedged(rig: &mut Rig, resource: &str, from_first: bool) -> u32 {
    let lock = rig.acquire(resource, NO_WAIT);
    let asked: Vec<_> = (0..5).filter(|index| !rig.sent(*index).is_empty()).collect();
    assert_eq!(asked.len(), 3);
    asked[..2].iter().for_each(|index| rig.reply(*index, "+OK"));
    let mut others = Vec::new();
    let mut waited = 0;
    while others.is_empty() {
        rig.advance(Duration::from_micros(50));
        waited += 50;
        others = (0..5).filter(|index| !rig.sent(*index).is_empty()).collect();
    }
    let mut last = vec![asked[2]];
    last.splice(if from_first { 1..1 } else { 0..0 }, others);
    rig.reply(last[0], "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    last[1..].iter().for_each(|index| rig.reply(*index, "+OK"));
    rig.redlock.release(rig.now, lock).expect("it is held");
    for index in 0..5 {
        assert_eq!(rig.sent(index).len(), 1);
        rig.reply(index, ":1");
    }
    rig.events();
    waited
}

/// Where all nodes are busy, more requests would keep them busier.
#[test]
fn hedges_are_later_where_the_first_nodes_decide_all_the_same() {
    let mut rig = rig();
    let waits: Vec<_> = (0..40).map(|_| hedged(&mut rig, "r", true)).collect();
    assert_eq!(waits[..3], [1_000, 1_250, 1_500]);
    assert!(waits.is_sorted() && (3_900..=4_000).contains(&waits[39]), "{waits:?}");
}

#[test]
fn a_hedge_leaves_the_others_half_of_the_time_that_the_caller_has_set() {
    let mut rig = rig();
    (0..40).for_each(|_| _ = hedged(&mut rig, "r", true));
    let options = AcquireOptions::new().node_timeout(ms(4));
    let lock = rig.redlock.acquire_with(rig.now, &["r"], TTL, NO_WAIT, &options);
    lock.expect("the request is in bounds");
    let asked: Vec<_> = (0..5).filter(|index| !rig.sent(*index).is_empty()).collect();
    asked[..2].iter().for_each(|index| rig.reply(*index, "+OK"));
    rig.advance(Duration::from_micros(1_950));
    assert_eq!(rig.got(&[]), [0; 0]);
    rig.advance(Duration::from_micros(50));
    assert!((0..5).filter(|index| !rig.sent(*index).is_empty()).count() == 2);
}

#[test]
fn hedges_are_as_early_as_ever_where_the_others_decide() {
    let mut rig = rig();
    let waits: Vec<_> = (0..40).map(|_| hedged(&mut rig, "r", false)).collect();
    assert_eq!(waits, [1_000; 40]);
}

/// The answers are late because of the requests before, and the others have as many.
#[test]
fn the_hedge_is_longer_where_nodes_have_much_to_do() {
    let mut rig = rig();
    (0..100).for_each(|number| _ = rig.acquire(&format!("r{number}"), NO_WAIT));
    let before: Vec<_> = (0..5).map(|index| rig.sent(index).len()).collect();
    rig.acquire("r", NO_WAIT);
    let asked: Vec<_> = (0..5).filter(|index| !rig.sent(*index).is_empty()).collect();
    for index in &asked[..2] {
        (0..=before[*index]).for_each(|_| rig.reply(*index, "+OK"));
    }
    rig.events();
    let is_asked = |rig: &mut Rig| {
        let sent: Vec<_> = (0..5).flat_map(|index| rig.sent(index)).collect();
        sent.iter().any(|command| command.starts_with("SET r #"))
    };
    rig.advance(ms(1));
    assert!(!is_asked(&mut rig), "{} requests are before this one", before[asked[2]]);
    rig.advance(Duration::from_micros(10 * before[asked[2]] as u64));
    assert!(is_asked(&mut rig));
}

/// Others that are asked later are no first nodes: what they say is no news of a hedge, and does
/// not put off the next look.
#[test]
fn a_node_that_was_full_at_the_hedge_is_asked_soon_after_that() {
    let mut rig = Rig::with(5, |config| (config.ask, config.max_pipeline) = (Ask::Majority, 1));
    rig.acquire("f", NO_WAIT);
    let first = rig.got(&["SET f #1 NX PX 10000"]);
    first[..2].iter().for_each(|index| rig.reply(*index, "+OK"));
    rig.advance(ms(1));
    let others = rig.got(&["SET f #1 NX PX 10000"]);
    rig.reply(others[0], "+OK");
    rig.reply(others[1], "+OK");
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    // One node still owes an answer about the first lock, and has no room.
    let full = first[2];
    rig.acquire("g", NO_WAIT);
    let asked = rig.got(&["SET g #2 NX PX 10000"]);
    assert!(asked.len() == 3 && !asked.contains(&full), "{full}, {asked:?}");
    rig.reply(asked[0], "+OK");
    rig.advance(ms(1));
    assert_eq!(rig.got(&["SET g #2 NX PX 10000"]).len(), 1);
    rig.reply(full, "+OK");
    // Four nodes are asked now, and three of them have not answered.
    rig.advance(ms(1));
    assert_eq!(rig.got(&["SET g #2 NX PX 10000"]), [full]);
}

#[test]
fn the_others_get_as_long_as_the_first() {
    let mut rig = rig();
    rig.acquire("r", NO_WAIT);
    let asked = rig.got(&["SET r #1 NX PX 10000"]);
    rig.reply(asked[0], "+OK");
    rig.advance(ms(1));
    assert_eq!(rig.got(&["SET r #1 NX PX 10000"]).len(), 2);
    rig.advance(ms(49));
    assert_eq!(rig.events(), [], "the others were asked 49 ms ago");
    rig.advance(ms(1));
    let Event::AcquireFailed { error: AcquireError::NoQuorum(_), .. } = rig.event() else {
        panic!("nobody has answered")
    };
}

/// Where all nodes are slow, more requests would only make them slower.
#[test]
fn the_others_are_not_asked_while_they_could_not_decide() {
    let mut rig = rig();
    rig.acquire("r", NO_WAIT);
    let asked = rig.got(&["SET r #1 NX PX 10000"]);
    rig.advance(ms(24));
    assert_eq!(rig.got(&[]), [0; 0], "none of the three has answered, and two more are no quorum");
    // Half of the time of the attempt is theirs in any case.
    rig.advance(ms(1));
    assert_eq!(rig.got(&["SET r #1 NX PX 10000"]).len(), 2);
    asked.iter().for_each(|index| rig.reply(*index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { .. }));
}
