//! Knocks: who is told that a long owner may be gone asks the door alone, and then the others.

use super::*;

impl Rig {
    /// Lets one request listen and a node tell that the key was touched. Returns the lock.
    fn is_told(&mut self) -> LockId {
        let lock = self.refused(LONG_WAIT);
        let door = self.listens(60_000);
        assert!(self.looks_after(door, &touched("r")) <= ms(1));
        lock
    }

    /// Returns the nodes that were asked for the lock, and what they were asked.
    fn asked_for_lock(&mut self) -> Vec<(usize, String)> {
        let sent = (0..5).flat_map(|index| self.sent(index).into_iter().map(move |c| (index, c)));
        sent.filter(|(_, command)| command.starts_with("SET r ")).collect()
    }
}

#[test]
fn a_knock_that_the_door_grants_goes_on_to_the_others_with_the_same_token() {
    let mut rig = telling();
    let lock = rig.is_told();
    let started = rig.now;
    let (door, request) = rig.knock();
    rig.advance(ms(1));
    rig.reply(door, "+OK");
    let asked = rig.asked_for_lock();
    assert_eq!(asked.len(), 4);
    assert!(asked.iter().all(|(index, other)| *index != door && *other == request), "{asked:?}");
    asked.iter().for_each(|(index, _)| rig.reply(*index, "+OK"));
    let Event::Acquired { lock: held, valid_until, .. } = rig.event() else { panic!("it is free") };
    // The validity counts from the knock: the key may be on the door since then.
    assert!(held == lock && valid_until < started + TTL);
    rig.redlock.release(rig.now, lock).expect("it is held");
    let released = (0..5).filter(|index| rig.has_output(*index)).count();
    assert_eq!(released, 5);
}

#[test]
fn a_knock_that_the_door_refuses_asks_nobody_else_and_leaves_nothing_to_release() {
    let mut rig = telling();
    rig.is_told();
    let (door, _) = rig.knock();
    rig.reply(door, "$-1");
    let (again, opts_in) = rig.long_look();
    assert!(again == door && opts_in);
    rig.reply(again, &token(0));
    rig.reply(again, ":60000");
    rig.advance(ms(1_000));
    assert!((0..5).all(|index| !rig.has_output(index)), "the request listens again");
}

#[test]
fn a_door_that_does_not_answer_a_knock_keeps_nobody_out() {
    // What the door answers; the end of its connection, and nothing at all.
    for answer in [Some("-ERR anything"), Some(""), None] {
        let mut rig = telling();
        let lock = rig.is_told();
        let (door, request) = rig.knock();
        match answer {
            Some("") => rig.close(door),
            Some(error) => rig.reply(door, error),
            None => {
                let since = rig.now;
                rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
                let waited = rig.now - since;
                assert!((ms(10)..=ms(15)).contains(&waited), "many may knock: {waited:?}");
            }
        }
        let asked = rig.asked_for_lock();
        assert!(asked.len() == 4 && asked.iter().all(|(_, other)| *other == request), "{asked:?}");
        asked.iter().for_each(|(index, _)| rig.reply(*index, "+OK"));
        assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
    }
}

#[test]
fn one_who_has_the_door_and_no_quorum_releases_and_comes_again() {
    let mut rig = telling();
    let lock = rig.is_told();
    let (door, _) = rig.knock();
    rig.reply(door, "+OK");
    let asked = rig.asked_for_lock();
    asked[..3].iter().for_each(|(index, _)| rig.reply(*index, "$-1"));
    let (last, _) = asked[3];
    for index in 0..5 {
        let may_have_key = index == door || index == last;
        assert_eq!(rig.has_output(index), may_have_key, "a release for {index}");
        rig.sent(index);
    }
    rig.reply(door, ":1");
    rig.reply(last, "$-1");
    rig.reply(last, ":0");
    let (again, _) = rig.long_look();
    rig.reply(again, NOBODY);
    rig.reply(again, ":-2");
    assert!(rig.all_asked());
    (0..5).for_each(|index| rig.reply(index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
}

#[test]
fn a_knock_is_one_more_way_to_ask_a_majority() {
    let mut rig = telling_as(5, 7, |config| config.ask = Ask::Majority);
    let lock = rig.acquire("r", LONG_WAIT);
    let asked = rig.asked_for_lock();
    asked.iter().for_each(|(index, _)| rig.reply(*index, "$-1"));
    let told = rig.listens(60_000);
    assert!(rig.looks_after(told, &touched("r")) <= ms(1));
    let (door, _) = rig.knock();
    rig.reply(door, "+OK");
    let asked = rig.asked_for_lock();
    assert_eq!(asked.len(), 4);
    asked[..2].iter().for_each(|(index, _)| rig.reply(*index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
}

impl Rig {
    /// Lets one request listen that has the first node of its order in an attempt in vain, as the
    /// owner does not, and a node tell that the key was touched. Returns the lock and that node.
    fn is_told_of_an_owner_without_the_first_node(&mut self) -> (LockId, usize) {
        let lock = self.refused(LONG_WAIT);
        let keyless = self.look("r");
        self.reply(keyless, &token(0));
        self.redlock.cancel(self.now, lock).expect("it waits");
        self.events();
        let lock = self.acquire("r", LONG_WAIT);
        for (index, _) in self.asked_for_lock() {
            self.reply(index, if index == keyless { "+OK" } else { "$-1" });
        }
        for index in 0..5 {
            if self.sent(index).iter().any(|command| command.starts_with("EVALSHA release 1 r ")) {
                self.reply(index, if index == keyless { ":1" } else { ":0" });
            }
        }
        let told = self.listens(60_000);
        assert!(self.looks_after(told, &touched("r")) <= ms(10));
        (lock, keyless)
    }
}

/// The owner can have got the lock without the first node.
#[test]
fn a_knock_goes_to_a_node_that_can_have_the_key_of_the_owner() {
    let mut rig = telling();
    let (lock, keyless) = rig.is_told_of_an_owner_without_the_first_node();
    let (door, _) = rig.knock();
    rig.reply(door, "$-1");
    // Every second look of one who listens goes to the next node, whatever that has voted.
    let looks = [0, 1].map(|_| {
        let (again, _) = rig.long_look();
        rig.reply(again, &token(0));
        rig.reply(again, ":60000");
        again
    });
    assert_ne!(door, keyless);
    assert!(looks.contains(&door), "{looks:?}");
    rig.redlock.cancel(rig.now, lock).expect("it waits");
}

/// The next owner can have a key there, and all others knock there.
#[test]
fn a_knock_behind_the_next_owner_goes_to_the_first_node_again() {
    let mut rig = telling();
    let (lock, keyless) = rig.is_told_of_an_owner_without_the_first_node();
    let (door, _) = rig.knock();
    assert_ne!(door, keyless);
    rig.reply(door, "$-1");
    let told = loop {
        let (again, opts_in) = rig.long_look();
        rig.reply(again, &token(1));
        if opts_in {
            rig.reply(again, ":60000");
            break again;
        }
    };
    assert!(rig.looks_after(told, &touched("r")) <= ms(10));
    let (door, _) = rig.knock();
    assert_eq!(door, keyless);
    rig.reply(door, "$-1");
    rig.redlock.cancel(rig.now, lock).expect("it waits");
}

/// Whoever dies after a knock leaves a key at one node alone, and that is no owner who keeps the
/// lock for long.
#[test]
fn who_finds_a_new_token_after_a_knock_looks_elsewhere_soon() {
    let mut rig = telling();
    let lock = rig.is_told();
    let (door, _) = rig.knock();
    let since = rig.now;
    rig.reply(door, "$-1");
    let elsewhere = loop {
        let (again, opts_in) = rig.long_look();
        if again != door {
            break again;
        }
        rig.reply(again, &token(1));
        if opts_in {
            rig.reply(again, ":60000");
        }
    };
    assert!(rig.now - since <= ms(500), "{:?}", rig.now - since);
    rig.reply(elsewhere, "$-1");
    assert!(rig.asked_for_lock().len() >= 4);
    rig.redlock.cancel(rig.now, lock).expect("it waits");
}

/// Only one request has heard the push, and the next in line can count its attempts.
#[test]
fn who_is_next_in_line_knocks_for_nobody_else() {
    let mut rig = telling();
    let first = rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let options = AcquireOptions::new().tries(1);
    let next = rig.redlock.acquire_with(rig.now, &[b"r"], TTL, LONG_WAIT, &options);
    next.expect("the request is in bounds");
    // Pushes about one token rest, so the third knock is not at once.
    for _ in 0..2 {
        assert!(rig.looks_after(door, &touched("r")) <= ms(10));
        rig.knocks_in_vain();
        let (again, _) = rig.long_look();
        rig.reply(again, &token(0));
        rig.reply(again, ":60000");
    }
    let push = format!("{}\r\n", touched("r"));
    rig.redlock.handle_received(rig.now, node(door), push.as_bytes());
    rig.run_actions();
    assert!((0..5).all(|index| !rig.has_output(index)), "it rests");
    rig.redlock.cancel(rig.now, first).expect("it waits");
    rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
    assert_eq!(rig.asked_for_lock().len(), 5);
}

/// One command tells as much as two would.
#[test]
fn where_one_node_is_a_quorum_nobody_knocks() {
    let mut rig = telling_as(1, 7, |_| ());
    let lock = rig.acquire("r", LONG_WAIT);
    rig.sent(0);
    rig.reply(0, "$-1");
    loop {
        rig.until(|rig| rig.has_output(0));
        let sent = rig.sent(0);
        rig.reply(0, &token(0));
        if sent.len() > 1 {
            rig.reply(0, ":60000");
            break;
        }
    }
    let push = format!("{}\r\n", touched("r"));
    rig.redlock.handle_received(rig.now, node(0), push.as_bytes());
    rig.until(|rig| rig.has_output(0));
    assert_eq!(rig.sent(0)[0], "GETRANGE r 0 39");
    rig.redlock.cancel(rig.now, lock).expect("it waits");
}

#[test]
fn who_gives_up_after_a_knock_leaves_no_key() {
    let mut rig = telling();
    let lock = rig.is_told();
    let (door, _) = rig.knock();
    rig.redlock.cancel(rig.now, lock).expect("it waits");
    assert!(rig.sent(door)[0].starts_with("EVALSHA release 1 r "));
    rig.reply(door, "+OK");
    rig.reply(door, ":1");
    assert!((0..5).all(|index| !rig.has_output(index)));
    rig.events();
    assert_eq!(rig.redlock.in_use(), 0);
}

/// The adoption holds the resource for long, and the news of before say nothing of its end.
#[test]
fn who_steps_back_for_an_adoption_knocks_no_more_for_what_was_told_before() {
    let mut rig = telling();
    let lock = rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let push = format!("{}\r\n", touched("r"));
    rig.redlock.handle_received(rig.now, node(door), push.as_bytes());
    rig.run_actions();
    let token_of_another = Token::of_attempt(b"another-one-", 1);
    rig.redlock.adopt(rig.now, &["r"], token_of_another, TTL, NO_WAIT).expect("a request");
    rig.run_actions();
    let mut trail = Vec::new();
    while trail.len() < 2 {
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let sent: Vec<_> = (0..5).map(|index| rig.sent(index)).collect();
        for (index, sent) in sent.iter().enumerate() {
            let Some(command) = sent.first() else { continue };
            rig.reply(
                index,
                match command.split(' ').next() {
                    Some("EVALSHA") => ":0",
                    Some("GETRANGE") => NOBODY,
                    _ => "$-1",
                },
            );
        }
        let is_set = |sent: &Vec<String>| sent.iter().any(|command| command.starts_with("SET r "));
        match sent.iter().filter(|sent| is_set(sent)).count() {
            0 => {}
            asked => trail.push(asked),
        }
    }
    assert_eq!(trail, [5, 5], "how many nodes were asked for the lock");
    rig.redlock.cancel(rig.now, lock).expect("it waits");
}
