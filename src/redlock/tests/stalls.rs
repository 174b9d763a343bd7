//! What a stall leaves behind: nodes that answered nothing for seconds, and then everything.

use super::*;

/// The round trip before the stall and after it.
const ROUND_TRIP: Duration = Duration::from_millis(1);

/// The number of locks that are wanted when the nodes stop.
const LOCKS: usize = 8;

/// Creates a machine with three nodes, two of which have just answered after four seconds.
fn after_a_stall() -> Rig {
    let mut rig = Rig::new(3);
    let warm = rig.acquire("warm", NO_WAIT);
    answer(&mut rig, "+OK");
    rig.redlock.release(rig.now, warm).expect("it is held");
    answer(&mut rig, "+OK");
    for number in 0..LOCKS {
        rig.acquire(&number.to_string(), NO_WAIT);
    }
    rig.advance(ms(50));
    let set = ["+OK"; LOCKS].join("\r\n");
    let released = format!("*{LOCKS}\r\n{}", [":1"; LOCKS].join("\r\n"));
    rig.reply(0, &format!("{set}\r\n{released}"));
    rig.advance(ms(3_950));
    rig.reply(1, &format!("{set}\r\n{released}"));
    rig.reply(2, &format!("{set}\r\n{released}"));
    assert_eq!(rig.events().len(), 2 + LOCKS, "all have failed, and the first one was released");
    assert_eq!(rig.redlock.in_use(), 0);
    (0..3).for_each(|index| drop(rig.sent(index)));
    // The replies came together, and the rig has counted one of each.
    rig.owed.iter_mut().for_each(VecDeque::clear);
    rig
}

/// Lets all nodes answer what has left for them, one round trip later: `reply` to a `SET`. The
/// releases that follow are answered at once.
fn answer(rig: &mut Rig, reply: &str) {
    let asked = [0, 1, 2].map(|index| rig.sent(index));
    rig.advance(ROUND_TRIP);
    for (index, commands) in asked.iter().enumerate() {
        for command in commands {
            rig.reply(index, if command.starts_with("SET") { reply } else { ":1" });
        }
    }
    for index in 0..3 {
        rig.sent(index).iter().for_each(|_| rig.reply(index, ":1"));
    }
}

/// Lets time pass until the nodes are asked, and lets them refuse. Returns the pause before, or
/// `None` once the request has ended.
fn refuse(rig: &mut Rig) -> Option<Duration> {
    let start = rig.now;
    rig.until(|rig| rig.redlock.in_use() == 0 || rig.has_output(0));
    let pause = rig.now - start;
    let is_asked = rig.redlock.in_use() > 0;
    is_asked.then(|| answer(rig, "$-1")).map(|()| pause)
}

#[test]
fn a_wait_that_is_shorter_than_the_stall_was_is_used() {
    let mut rig = after_a_stall();
    let start = rig.now;
    rig.acquire("r", ms(800));
    while refuse(&mut rig).is_some() {}
    assert!(rig.now - start >= ms(700), "given up after {:?}", rig.now - start);
}

#[test]
fn the_pauses_after_a_stall_are_those_before_it() {
    let mut rig = after_a_stall();
    rig.redlock.acquire(rig.now, b"r", TTL, Duration::from_secs(60)).expect("in bounds");
    let pauses: Vec<_> = (0..40).map_while(|_| refuse(&mut rig)).collect();
    assert_eq!(pauses.len(), 40);
    let longest = pauses.iter().max().copied().unwrap_or_default();
    assert!(longest <= RedlockConfig::default().retry_max, "{longest:?}");
}

/// The attempt of a short lock ends after a twentieth of the ttl, wherever the nodes are.
#[test]
fn nodes_that_seem_farther_away_than_the_timeout_cut_no_wait_short() {
    let mut rig = Rig::new(3);
    rig.acquire("far", NO_WAIT);
    (0..3).for_each(|index| drop(rig.sent(index)));
    rig.advance(ms(40));
    (0..3).for_each(|index| rig.reply(index, "$-1"));
    (0..3).for_each(|index| rig.sent(index).iter().for_each(|_| rig.reply(index, ":-1")));
    assert_eq!((rig.events().len(), rig.redlock.in_use()), (1, 0));
    let start = rig.now;
    rig.redlock.acquire(rig.now, b"r", ms(100), ms(30)).expect("in bounds");
    while refuse(&mut rig).is_some() {}
    assert!(rig.now - start >= ms(15), "given up after {:?}", rig.now - start);
}
