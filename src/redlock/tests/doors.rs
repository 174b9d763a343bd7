//! Looks at the door: who waits asks one node, and all only when nobody is there.

mod dead;
mod lines;
mod listening;
mod shared;
mod turns;
mod wanted;

use super::*;

/// Creates five nodes, whose doors the tests answer.
fn rig() -> Rig {
    let mut rig = Rig::new(5);
    rig.opens_doors = false;
    rig
}

impl Rig {
    /// Lets time pass until a request looks at the door. Returns the node, and checks that nothing
    /// else has left for any node.
    fn look(&mut self, resource: &str) -> usize {
        self.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let sent: Vec<_> = (0..5).map(|index| self.sent(index)).collect();
        let door = sent.iter().position(|sent| !sent.is_empty()).expect("somebody is asked");
        let expected = format!("GETRANGE {resource} 0 39");
        let is_right = |(index, sent): (usize, &Vec<String>)| {
            if index == door { sent[..] == [expected.clone()] } else { sent.is_empty() }
        };
        assert!(sent.iter().enumerate().all(is_right), "{sent:?}");
        door
    }

    /// Requests a lock that all nodes refuse.
    fn refused(&mut self, wait: Duration) -> LockId {
        let lock = self.acquire("r", wait);
        for index in 0..5 {
            assert_eq!(self.sent(index).len(), 1, "one SET");
            self.reply(index, "$-1");
        }
        lock
    }

    /// Lets the request that looks at the door next find nobody there, and get the lock.
    fn let_in(&mut self, expected: LockId) {
        let door = self.look("r");
        self.reply(door, NOBODY);
        assert!(self.all_asked());
        (0..5).for_each(|index| self.reply(index, "+OK"));
        assert!(matches!(self.event(), Event::Acquired { lock, .. } if lock == expected));
    }

    /// Lets the request that looks at the door next get the lock, and release it after a while.
    fn has_for(&mut self, lock: LockId, held: Duration) {
        self.let_in(lock);
        self.advance(held);
        self.redlock.release(self.now, lock).expect("it is held");
        (0..5).for_each(|index| _ = self.sent(index));
        (0..5).for_each(|index| self.reply(index, ":1"));
        self.events();
    }

    fn all_asked(&mut self) -> bool {
        (0..5).all(|index| self.sent(index).iter().any(|command| command.starts_with("SET r ")))
    }
}

/// A token that somebody else has drawn.
fn token(number: u8) -> String {
    format!(
        "$20\r\n{}",
        "abcdefghij".chars().nth(number.into()).unwrap_or('z').to_string().repeat(20)
    )
}

#[test]
fn who_was_refused_looks_at_one_node_and_asks_all_when_nobody_is_there() {
    let mut rig = rig();
    rig.refused(WAIT);
    let door = rig.look("r");
    rig.reply(door, &token(0));
    assert_eq!(rig.look("r"), door, "the same node for all who contend");
    rig.reply(door, NOBODY);
    assert!(rig.all_asked());
    (0..3).for_each(|index| rig.reply(index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    let counters = rig.redlock.counters();
    assert_eq!((counters.attempts, counters.looked), (2, 2));
}

/// The owner of the token at the door can be gone, and only that node would know.
#[test]
fn after_some_looks_that_show_the_same_token_one_goes_to_another_node() {
    let mut rig = rig();
    rig.refused(Duration::from_secs(60));
    let mut doors = Vec::new();
    for _ in 0..10 {
        let door = rig.look("r");
        doors.push(door);
        rig.reply(door, &token(0));
    }
    let (first, second) = (doors[0], doors[4]);
    assert_ne!(first, second);
    let expected = (0..10).map(|look| if look % 4 == 0 && look > 0 { second } else { first });
    assert_eq!(doors, expected.collect::<Vec<_>>());
}

#[test]
fn a_door_that_says_nothing_keeps_nobody_out() {
    // What the door answers; nothing at all, or a connection that ends, too.
    for answer in [Some("-ERR anything"), Some("-NOPERM no right to get"), Some(""), None] {
        let mut rig = rig();
        rig.refused(WAIT);
        let door = rig.look("r");
        match answer {
            Some("") => rig.close(door),
            Some(error) => rig.reply(door, error),
            None => rig.advance(ms(50)),
        }
        let asked = (0..5).filter(|index| !rig.sent(*index).is_empty()).count();
        assert!(asked >= 3, "{answer:?}: {asked} nodes are asked");
        if answer.is_some_and(|answer| answer.starts_with('-')) {
            assert_eq!(rig.state(door), NodeState::Ready, "a look is not worth a session");
        }
    }
}

#[test]
fn our_own_token_at_the_door_is_left_from_an_attempt() {
    let mut rig = rig();
    rig.refused(WAIT);
    let door = rig.look("r");
    let own = Token::of_attempt(&NONCE, 1);
    let own: Vec<u8> = [b"$20\r\n", own.as_ref(), b"\r\n"].concat();
    rig.owed[door].pop_front();
    rig.redlock.handle_received(rig.now, node(door), &own);
    assert!(rig.all_asked());
}

#[test]
fn data_that_is_no_string_is_somebodys_and_keeps_nobody_out_for_ever() {
    let mut rig = rig();
    rig.refused(Duration::from_secs(60));
    let door = rig.look("r");
    for _ in 0..4 {
        rig.reply(door, NO_STRING);
        let next = rig.look("r");
        if next != door {
            rig.reply(next, NOBODY);
            return assert!(rig.all_asked());
        }
    }
    panic!("always the same door");
}

/// Data that are no lock may stay for ever at two nodes, and three make a quorum without them.
#[test]
fn data_on_both_nodes_that_are_looked_at_keep_nobody_out_for_ever() {
    let mut rig = rig();
    rig.refused(Duration::from_secs(60));
    let mut doors = Vec::new();
    for look in 0..24 {
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let sent: Vec<_> = (0..5).map(|index| rig.sent(index)).collect();
        let door = sent.iter().position(|sent| sent[..] == ["GETRANGE r 0 39".to_owned()]);
        let Some(door) = door else {
            let is_set = |sent: &Vec<String>| sent[0].starts_with("SET r ");
            assert!(sent.iter().all(is_set), "look {look}: {sent:?}");
            doors.dedup();
            return assert!(doors.len() >= 2, "both were looked at: {doors:?}");
        };
        doors.push(door);
        rig.reply(door, NO_STRING);
    }
    panic!("only ever the nodes with data: {doors:?}");
}

/// The place of a request that has ended belongs to another resource.
#[test]
fn what_a_request_has_seen_ends_with_it() {
    let mut rig = rig();
    let first = rig.refused(WAIT);
    let door = rig.look("r");
    rig.reply(door, &token(0));
    rig.redlock.cancel(rig.now, first).expect("it waits");
    rig.events();
    let second = rig.held("s");
    assert_eq!(first.index(), second.index());
    rig.redlock.release(rig.now, second).expect("it is held");
    rig.acquire("s", WAIT);
    let is_asked = |index| rig.sent(index).iter().any(|command| command.starts_with("SET s "));
    assert!((0..5).all(is_asked), "nobody else was seen before s");
}

/// Else the request would take the key of its own last attempt for that of somebody else.
#[test]
fn a_look_follows_the_release_of_the_last_attempt() {
    let is_found = |failing: usize| {
        let mut rig = rig();
        let before = rig.held("a");
        rig.acquire("r", WAIT);
        (0..5).for_each(|index| _ = rig.sent(index));
        rig.redlock.release(rig.now, before).expect("it is held");
        // The release of `r` waits behind this group.
        (0..5).for_each(|index| _ = rig.sent(index));
        let vote = |index| if index == failing { "-ERR anything" } else { "$-1" };
        (0..5).for_each(|index| rig.reply(index, vote(index)));
        assert_eq!(rig.sent(failing), [""; 0]);
        // Every fourth look goes to the next node.
        let mut has_answered = [false; 5];
        for _ in 0..5 {
            rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
            let door = (0..5).find(|index| rig.has_output(*index)).expect("somebody is asked");
            let sent = rig.sent(door);
            assert_eq!(sent.last().map(String::as_str), Some("GETRANGE r 0 39"), "{sent:?}");
            if door == failing {
                assert_eq!(sent, ["EVALSHA release 1 r #2", "GETRANGE r 0 39"]);
                return true;
            }
            if !core::mem::replace(&mut has_answered[door], true) {
                rig.reply(door, ":1");
            }
            rig.reply(door, &token(0));
        }
        false
    };
    assert_eq!((0..5).filter(|failing| is_found(*failing)).count(), 2, "the first and the next");
}

/// The owner has the others. Whoever stood there would see nobody, ask all nodes again and again,
/// and would not be told of the end of the owner.
#[test]
fn nobody_looks_at_a_node_that_has_granted_the_last_attempt_in_vain() {
    for granting in [&[0][..], &[1], &[2], &[3], &[4], &[0, 1], &[2, 3]] {
        let mut rig = rig();
        rig.acquire("r", WAIT);
        let grants = |index: usize| granting.contains(&index);
        (0..5).for_each(|index| _ = rig.sent(index));
        // The last answers come when the refusals have decided.
        (0..5).filter(|index| !grants(*index)).for_each(|index| rig.reply(index, "$-1"));
        granting.iter().for_each(|index| rig.reply(*index, "+OK"));
        let is_look = |command: &String| command == "GETRANGE r 0 39";
        let mut looks = Vec::new();
        while looks.is_empty() {
            rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
            looks = (0..5).filter(|index| rig.sent(*index).iter().any(is_look)).collect();
        }
        assert!(looks.len() == 1 && !grants(looks[0]), "{granting:?} have granted: {looks:?}");
    }
}

/// One that looked apart from all others for ever, at a node that tells nothing of keys, waited for
/// nine seconds behind two that were called in turn.
#[test]
fn who_has_lost_an_attempt_looks_where_all_look_behind_the_next_owner() {
    let mut rig = rig();
    rig.refused(WAIT);
    let usual = rig.look("r");
    rig.reply(usual, NOBODY);
    assert!(rig.all_asked());
    (0..5).for_each(|index| rig.reply(index, if index == usual { "+OK" } else { "$-1" }));
    (0..5).for_each(|index| _ = rig.sent(index));
    rig.reply(usual, ":1");
    let mut doors = Vec::new();
    for owner in 0..3 {
        doors.push(rig.look("r"));
        rig.reply(doors[owner], &token(owner as u8));
    }
    assert_eq!((doors[0] == doors[1], doors[1] == usual, doors[2] == usual), (true, false, true));
}

#[test]
fn an_answer_that_no_look_can_have_ends_the_session() {
    let mut rig = rig();
    rig.refused(WAIT);
    let door = rig.look("r");
    rig.reply(door, ":1");
    assert_ne!(rig.state(door), NodeState::Ready);
}

/// The result of the last attempt is told, so that all nodes are asked.
#[test]
fn a_wait_ends_with_an_attempt_at_all_nodes() {
    let mut rig = rig();
    let lock = rig.refused(ms(300));
    loop {
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let sent: Vec<_> = (0..5).map(|index| rig.sent(index)).collect();
        if let Some(door) = sent.iter().position(|sent| sent[..] == ["GETRANGE r 0 39".to_owned()])
        {
            rig.reply(door, &token(0));
            continue;
        }
        assert!(sent.iter().all(|sent| sent[0].starts_with("SET r ")), "{sent:?}");
        (0..5).for_each(|index| rig.reply(index, "$-1"));
        break;
    }
    let events = rig.wait();
    let is_held = |event: &Event| {
        matches!(event, Event::AcquireFailed { lock: failed, error: AcquireError::Held { .. } }
            if *failed == lock)
    };
    assert!(events.iter().any(is_held), "{events:?}");
}

/// The bound on the end of a request counts from its wait.
#[test]
fn a_look_that_would_take_the_rest_of_the_wait_is_left_out() {
    for wait in [1, 2, 3, 5, 8] {
        let mut rig = rig();
        let lock = rig.refused(ms(wait));
        let until = rig.now + ms(wait);
        while rig.redlock.in_use() > 0 {
            rig.until(|rig| rig.redlock.in_use() == 0 || (0..5).any(|index| rig.has_output(index)));
            let sent: Vec<_> = (0..5).map(|index| rig.sent(index)).collect();
            let is_attempt = sent.iter().any(|sent| sent.iter().any(|c| c.starts_with("SET")));
            assert!(!is_attempt || rig.now <= until, "an attempt behind the wait of {wait} ms");
            if is_attempt {
                let all = sent.iter().enumerate().filter(|(_, sent)| !sent.is_empty());
                all.for_each(|(index, _)| rig.reply(index, "$-1"));
            }
        }
        let events = rig.events();
        assert!(events.iter().any(|event| event.lock() == Some(lock)), "{events:?}");
    }
}

#[test]
fn who_counts_its_tries_or_has_one_only_never_looks() {
    let mut rig = rig();
    let options = AcquireOptions::new().tries(3);
    rig.redlock.acquire_with(rig.now, &["r"], TTL, WAIT, &options).expect("in bounds");
    for _ in 0..3 {
        rig.until(|rig| rig.has_output(0));
        for index in 0..5 {
            assert!(rig.sent(index)[0].starts_with("SET r "));
            rig.reply(index, "$-1");
        }
    }
    assert_eq!(rig.redlock.counters().looked, 0);
}

#[test]
fn who_has_seen_nobody_takes_the_lock_again_at_once() {
    let mut rig = rig();
    let first = rig.held("r");
    rig.redlock.release(rig.now, first).expect("it is held");
    rig.acquire("r", WAIT);
    assert!(rig.all_asked());
}
