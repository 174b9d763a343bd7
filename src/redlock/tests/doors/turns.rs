//! Whose turn it is, among engines that have seen each other at the door.

use super::*;

/// Creates five nodes, and a request that has seen so many others have the lock.
fn waiting_behind(others: u8, seed: u64) -> (Rig, LockId) {
    let mut rig = Rig::seeded(5, seed);
    rig.opens_doors = false;
    let lock = rig.refused(Duration::from_secs(600));
    for owner in 0..others {
        let door = rig.look("r");
        rig.reply(door, &token(owner));
    }
    (rig, lock)
}

/// Creates five nodes, and lets the lock for which nine others wait be released after 40 ms.
fn crowded(seed: u64) -> Rig {
    let (mut rig, lock) = waiting_behind(9, seed);
    rig.has_for(lock, ms(40));
    rig
}

/// Else the only try of a short wait would be made in its middle, and its end would come then.
#[test]
fn a_short_wait_has_room_for_several_looks_whatever_the_crowd_is() {
    for seed in 0..20 {
        let mut rig = crowded(seed);
        let started = rig.now;
        rig.acquire("r", ms(400));
        let mut looks = 0;
        while rig.events().is_empty() {
            rig.until(|rig| rig.redlock.in_use() == 0 || (0..5).any(|index| rig.has_output(index)));
            for index in 0..5 {
                for command in rig.sent(index) {
                    let is_look = command.starts_with("GET");
                    looks += usize::from(is_look);
                    rig.reply(index, &if is_look { token(9) } else { "$-1".into() });
                }
            }
        }
        assert!(looks >= 2, "{looks} looks");
        assert!(rig.now - started >= ms(300), "given up after {:?}", rig.now - started);
    }
}

/// Short pauses would put the request ahead of those who have waited for longer.
#[test]
fn pauses_before_a_crowd_are_long_from_the_first_one_on() {
    for seed in 0..20 {
        let mut rig = crowded(seed);
        rig.acquire("r", Duration::from_secs(60));
        let door = rig.look("r");
        rig.reply(door, &token(9));
        let looked = rig.now;
        rig.look("r");
        assert!(rig.now - looked >= ms(80), "{:?}", rig.now - looked);
    }
}

/// Others would be refused for ever.
#[test]
fn who_has_just_had_the_lock_before_others_pauses_and_then_looks() {
    let mut rig = rig();
    let first = rig.refused(WAIT);
    let door = rig.look("r");
    rig.reply(door, &token(0));
    rig.has_for(first, ms(40));
    let released = rig.now;
    rig.acquire("r", WAIT);
    assert_eq!(rig.look("r"), door, "not the nodes at once");
    let pause = rig.now - released;
    assert!(pause >= ms(20) && pause <= ms(40), "{pause:?}");
    // Nobody has come, so the lock is free for those who have had it.
    rig.reply(door, NOBODY);
    assert!(rig.all_asked());
}

/// Those behind in line wait for less than those before other clients.
#[test]
fn a_tenure_before_others_ends_when_those_in_line_have_had_the_lock() {
    let (mut rig, first) = waiting_behind(1, 7);
    let others = [(); 2].map(|()| rig.acquire("r", WAIT));
    rig.let_in(first);
    // Both stood in line when the tenure began, and this one did not.
    rig.acquire("r", WAIT);
    let mut holder = first;
    for next in others {
        rig.redlock.release(rig.now, holder).expect("it is held");
        let is_next =
            |event: &Event| matches!(event, Event::Acquired { lock, .. } if *lock == next);
        assert!(rig.events().iter().any(is_next));
        holder = next;
    }
    rig.redlock.release(rig.now, holder).expect("it is held");
    assert!((0..5).all(|index| rig.sent(index)[0].contains("release")), "others have their turn");
}

/// The same where the nodes hear of each release.
#[test]
fn a_tenure_before_others_ends_on_the_nodes_as_early_as_inside_the_engine() {
    let (mut rig, first) = waiting_behind(1, 7);
    let others = [(); 2].map(|()| rig.acquire("r", WAIT));
    rig.let_in(first);
    rig.acquire("r", WAIT);
    let mut holder = first;
    for next in others {
        rig.release_on_nodes(holder);
        let sent: Vec<_> = (0..5).map(|index| rig.sent(index)).collect();
        let is_next = |sent: &Vec<String>| sent.len() == 2 && sent[1].starts_with("SET r ");
        assert!(sent.iter().all(is_next), "{sent:?}");
        (0..5).for_each(|index| rig.reply(index, ":1"));
        (0..5).for_each(|index| rig.reply(index, "+OK"));
        rig.events();
        assert!(rig.redlock.is_held(rig.now, next));
        holder = next;
    }
    rig.release_on_nodes(holder);
    assert!((0..5).all(|index| rig.sent(index).len() == 1), "others have their turn");
}

/// Whoever is next in line knows of others by the one before.
#[test]
fn pauses_of_the_next_in_line_before_a_crowd_are_long_from_the_first_one_on() {
    for seed in 0..20 {
        let (mut rig, first) = waiting_behind(9, seed);
        rig.acquire("r", Duration::from_secs(60));
        rig.let_in(first);
        rig.advance(ms(40));
        rig.release_on_nodes(first);
        for index in 0..5 {
            assert_eq!(rig.sent(index).len(), 2, "the release, and the next SET");
            rig.reply(index, ":1");
            rig.reply(index, "$-1");
        }
        let refused = rig.now;
        rig.look("r");
        assert!(rig.now - refused >= ms(80), "{:?}", rig.now - refused);
    }
}

/// As long as the token of an adoption is on the nodes, nobody else gets the lock.
#[test]
fn an_adoption_leaves_nothing_to_others() {
    let mut rig = crowded(1);
    let token = Token::from_bytes([7; 20]);
    rig.redlock.adopt(rig.now, &["r"], token, TTL, WAIT).expect("in bounds");
    let is_asked = |index| rig.sent(index).iter().any(|sent| sent.contains("extend 1 r"));
    assert!((0..5).all(is_asked), "at once");
}

/// A line that has had the resource for a tenure leaves it for half a gap at least, even if the
/// turns of others seem to be shorter.
#[test]
fn a_line_comes_back_early_from_a_turn_and_not_from_a_tenure() {
    for (tenure, is_early) in [(ms(500), true), (ms(10), false)] {
        let mut rig = Rig::unconnected_seeded(5, 7, |config| config.tenure = tenure);
        rig.masters.iter_mut().for_each(|master| master.tracks = true);
        rig.connect_all(5);
        rig.opens_doors = false;
        let first = rig.refused(Duration::from_secs(600));
        let door = rig.look("r");
        rig.reply(door, &token(0));
        let second = rig.acquire("r", Duration::from_secs(60));
        rig.let_in(first);
        rig.acquire("r", Duration::from_secs(60));
        rig.advance(ms(12));
        rig.redlock.release(rig.now, first).expect("it is held");
        // Behind a whole tenure nothing was passed on.
        let is_passed = rig.redlock.release(rig.now, second).is_ok();
        assert_eq!(is_passed, is_early);
        for index in 0..5 {
            assert_eq!(rig.sent(index).len(), 1, "the turn of the line is over");
            rig.reply(index, ":1");
        }
        let released = rig.now;
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let gap = rig.now - released;
        assert_eq!(gap < ms(25), is_early, "back after {gap:?}, tenure {tenure:?}");
    }
}
