//! Resources that several sets have in turn: who waits for one of them does not mind which.

use super::*;

impl Rig {
    fn acquire_set(&mut self, resources: &[&str]) -> LockId {
        let lock = self.redlock.acquire_all(self.now, resources, TTL, WAIT);
        lock.expect("the request is in bounds")
    }

    /// Has a set for longer than a gap, and releases the set.
    fn has_set(&mut self, resources: &[&str], answer: &str) -> Vec<String> {
        let lock = self.acquire_set(resources);
        for index in 0..5 {
            assert_eq!(self.sent(index).len(), 1, "one request for all");
            self.reply(index, "+OK");
        }
        assert!(matches!(self.event(), Event::Acquired { .. }));
        self.gives_back(lock, answer)
    }

    /// Releases a lock after a while. Returns the resources of which the engine has asked whether
    /// others want them, and has got this answer.
    fn gives_back(&mut self, lock: LockId, answer: &str) -> Vec<String> {
        self.advance(ms(70));
        self.redlock.release(self.now, lock).expect("it is held");
        let mut asked = Vec::new();
        for index in 0..5 {
            for sent in self.sent(index) {
                let about = sent.strip_prefix("EVALSHA release 1 redbolt:wanted:");
                self.reply(index, if about.is_some() { answer } else { ":1" });
                asked.extend(about.and_then(|about| Some(about.split_once(' ')?.0.to_owned())));
            }
        }
        self.events();
        asked.sort();
        asked
    }

    fn asks_nobody(&mut self) -> bool {
        (0..5).all(|index| self.sent(index).is_empty())
    }
}

/// One of several locks in turn had the resource for ever, if it was held for longer than a gap.
#[test]
fn locks_in_turn_ask_about_the_resource_that_they_share() {
    for other in [&["b", "c"][..], &["b"]] {
        let mut rig = rig();
        assert_eq!(rig.has_set(&["a", "b"], ":0"), [""; 0]);
        assert_eq!(rig.has_set(other, ":0"), ["b"]);
        assert_eq!(rig.has_set(&["a", "b"], ":0"), ["b"]);
        assert_eq!(rig.has_set(&["a", "b"], ":0"), ["a", "b"], "nothing came between");
    }
}

#[test]
fn what_others_want_is_left_to_them_whatever_else_a_request_wants() {
    let mut rig = rig();
    rig.has_set(&["a", "b"], "");
    assert_eq!(rig.has_set(&["b", "c"], ":1"), ["b"]);
    assert_eq!(rig.has_set(&["a", "b"], ""), [""; 0], "the answer is known");
    for resources in [&["a", "b"][..], &["b", "c"], &["b"]] {
        rig.acquire_set(resources);
        assert!(rig.asks_nobody(), "{resources:?}");
    }
    rig.acquire_set(&["a", "c"]);
    assert!(!rig.asks_nobody(), "nobody wants these");
}

#[test]
fn who_has_seen_others_before_a_set_leaves_each_of_its_resources_to_them() {
    let mut rig = rig();
    let set = rig.acquire_set(&["a", "b"]);
    for index in 0..5 {
        rig.sent(index);
        rig.reply(index, "$-1");
    }
    for seen in [&*token(0), NOBODY] {
        let door = rig.look("a");
        rig.reply(door, seen);
    }
    for index in 0..5 {
        assert_eq!(rig.sent(index).len(), 1, "one request for all");
        rig.reply(index, "+OK");
    }
    rig.gives_back(set, ":0");
    for resource in ["a", "b"] {
        rig.acquire(resource, WAIT);
        assert!(rig.asks_nobody(), "{resource}");
    }
    rig.acquire("c", WAIT);
    assert!(!rig.asks_nobody(), "nobody was seen there");
}

#[test]
fn the_line_of_a_set_asks_about_each_resource() {
    let mut rig = rig();
    let mut owner = rig.acquire_set(&["a", "b"]);
    let next = rig.acquire_set(&["a", "b"]);
    for index in 0..5 {
        rig.sent(index);
        rig.reply(index, "+OK");
    }
    rig.events();
    for lock in [next, rig.acquire_set(&["a", "b"])] {
        let asked = rig.gives_back(owner, ":0");
        owner = lock;
        assert_eq!(asked, if lock == next { &[][..] } else { &["a", "b"] });
    }
}

/// Nobody stands in line behind a lock with other names, be it of the same engine.
#[test]
fn whoever_waits_for_sets_of_the_same_engine_looks_and_leaves_a_mark() {
    let mut rig = rig();
    let waiting = rig.acquire("b", Duration::from_secs(60));
    for index in 0..5 {
        rig.sent(index);
        rig.reply(index, "$-1");
    }
    for number in 2.. {
        let door = (0..5).find(|index| {
            rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
            rig.has_output(*index)
        });
        let door = door.expect("somebody is asked");
        match &rig.sent(door)[..] {
            [look] if look == "GETRANGE b 0 39" => {
                let token = Token::of_attempt(&NONCE, number);
                let token = core::str::from_utf8(token.as_ref()).expect("small numbers are ASCII");
                rig.reply(door, &format!("$20\r\n{token}"));
            }
            [mark] if mark.starts_with("SET redbolt:wanted:b ") => break,
            sent => panic!("{sent:?}"),
        }
        assert!(number < 12, "no mark");
    }
    rig.redlock.cancel(rig.now, waiting).expect("it waits");
}

/// The next in line comes directly behind the release, and so does the one behind.
#[test]
fn the_line_of_a_set_that_others_want_leaves_the_set_to_them() {
    let mut rig = rig();
    rig.has_set(&["a", "b"], "");
    assert_eq!(rig.has_set(&["a", "b"], ":1"), ["a", "b"]);
    let mut line: Vec<_> = (0..3).map(|_| rig.acquire_set(&["a", "b"])).collect();
    for number in 0..4 {
        let mut asked = 0;
        for index in 0..5 {
            for sent in rig.sent(index) {
                let is_release = sent.starts_with("EVALSHA release");
                rig.reply(index, if is_release { ":1" } else { "+OK" });
                asked += u32::from(!is_release);
            }
        }
        assert_eq!(asked, if number < 3 { 5 } else { 0 }, "{number}");
        if number == 1 {
            line.push(rig.acquire_set(&["a", "b"]));
        }
        if number < 3 {
            rig.events();
            // Whoever knows the token gives the lock back to the nodes.
            rig.redlock.token(line[number]).expect("it is held");
            rig.advance(ms(70));
            rig.redlock.release(rig.now, line[number]).expect("it is held");
        }
    }
}
