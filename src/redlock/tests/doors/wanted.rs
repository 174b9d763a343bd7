//! Marks: who waits for long is seen by an engine that is never refused.

use super::*;

const MARK: &str = "redbolt:wanted:r";

impl Rig {
    /// Lets time pass until something leaves, and returns that with the number of its node.
    fn next_sent(&mut self) -> Vec<(usize, String)> {
        self.until(|rig| (0..5).any(|index| rig.has_output(index)));
        self.sent_to_any()
    }

    fn sent_to_any(&mut self) -> Vec<(usize, String)> {
        let sent =
            |rig: &mut Self, index| rig.sent(index).into_iter().map(move |sent| (index, sent));
        (0..5).flat_map(|index| sent(self, index).collect::<Vec<_>>()).collect()
    }

    /// Waits at the door for `wait`, which shows `token` of the number of the look. Returns the
    /// marks, with the time since the first look, and with the node, which answers them so.
    fn marks_within(
        &mut self,
        wait: Duration,
        answer: &str,
        token: impl Fn(u64) -> String,
    ) -> Vec<(Duration, usize, String)> {
        self.refused(Duration::from_secs(600));
        let (mut marks, mut first) = (Vec::new(), None);
        for look in 0..u64::MAX {
            for (index, sent) in self.next_sent() {
                let since = *first.get_or_insert(self.now);
                if self.now - since > wait {
                    return marks;
                }
                if sent.starts_with("GETRANGE r 0 39") {
                    self.reply(index, &format!("$20\r\n{}", token(look)));
                } else {
                    assert!(sent.starts_with(&format!("SET {MARK} ")), "{sent}");
                    self.reply(index, answer);
                    marks.push((self.now - since, index, sent));
                }
            }
        }
        marks
    }

    /// Has the lock for a moment, and asks for it again at once. Returns whether the engine has
    /// asked if somebody waits, who gets this answer.
    fn has_lock_again(&mut self, answer: &str) -> bool {
        let lock = self.held_again();
        self.advance(ms(10));
        self.release_on_nodes(lock);
        let sent = self.sent_to_any();
        for (index, sent) in &sent {
            let is_question = sent.starts_with(&format!("EVALSHA release 1 {MARK} wanted: "));
            self.reply(*index, if is_question { answer } else { ":1" });
        }
        self.events();
        assert!((5..=6).contains(&sent.len()), "{sent:?}");
        sent.len() > 5
    }

    /// Acquires a lock whose `SET` leaves at once.
    fn held_again(&mut self) -> LockId {
        let lock = self.acquire("r", WAIT);
        for (index, sent) in self.sent_to_any() {
            assert!(sent.starts_with("SET r "), "{sent}");
            self.reply(index, "+OK");
        }
        assert!(matches!(self.event(), Event::Acquired { lock: held, .. } if held == lock));
        lock
    }

    /// Has the lock again and again until the engine has asked whether somebody waits.
    fn is_asked(&mut self, answer: &str) {
        let began = self.now;
        while !self.has_lock_again(answer) {
            assert!(self.now - began < ms(63), "nobody is asked");
        }
        assert!(self.now - began >= ms(52), "after {:?}", self.now - began);
    }
}

/// A token of an engine.
fn token_of(engine: u64, serial: u64) -> String {
    format!("{engine:012}{serial:08}")
}

#[test]
fn who_sees_one_engine_follow_itself_leaves_marks_at_intervals_that_double() {
    let mut rig = rig();
    let marks = rig.marks_within(Duration::from_secs(30), "+OK", |look| token_of(7, look));
    // A look comes each 25 to 100 ms, and the first one is not counted.
    let mut due = ms(62)..=ms(163);
    for (after, ..) in &marks {
        assert!(due.contains(after), "{after:?} and not {due:?}");
        due = *after * 2..=*after * 2 + ms(100);
    }
    assert_eq!(rig.redlock.counters().marked, marks.len() as u64);
    assert!(*due.end() > Duration::from_secs(30), "they go on to the end of the wait");
    let door = marks[0].1;
    for (number, (after, index, mark)) in marks.iter().enumerate() {
        let life = (*after * 2).max(Duration::from_secs(1)).as_millis();
        assert_eq!(mark, &format!("SET {MARK} wanted: wanted: want PX {life}"));
        assert_eq!(*index == door, number % 2 == 0, "where all look, and elsewhere in turn");
    }
    let others: std::collections::BTreeSet<_> = marks.iter().map(|(_, index, _)| index).collect();
    assert_eq!(others.len(), 5, "others may see other voters");
}

#[test]
fn who_sees_one_lock_or_several_engines_leaves_no_mark() {
    let wait = Duration::from_secs(30);
    assert_eq!(rig().marks_within(wait, "+OK", |_| token_of(7, 1)), []);
    assert_eq!(rig().marks_within(wait, "+OK", |look| token_of(look % 2, look)), []);
}

#[test]
fn who_sees_several_engines_one_after_the_other_leaves_marks_when_each_stays_for_long() {
    let wait = Duration::from_secs(30);
    let marks = rig().marks_within(wait, "+OK", |look| token_of(look / 2, look));
    assert!(marks.len() <= 1, "nothing is known of others beside the first engine: {marks:?}");
    let marks = rig().marks_within(wait, "+OK", |look| token_of(look / 50, look));
    assert!(marks.len() > 5, "each engine stays for seconds: {marks:?}");
}

/// A line has one token for a whole tenure. Who takes turns with that line waits for no more than
/// that, and who has never had a turn may as well wait for a single owner.
#[test]
fn who_takes_turns_with_one_engine_leaves_one_mark_for_each_of_its_tokens_that_stays() {
    let mut rig = rig();
    let lock = rig.refused(Duration::from_secs(600));
    let door = rig.look("r");
    rig.reply(door, &format!("$20\r\n{}", token_of(7, 0)));
    rig.has_for(lock, ms(5));
    rig.acquire("r", Duration::from_secs(600));
    let (mut marks, began) = (Vec::new(), rig.now);
    while rig.now - began < ms(2_900) {
        for (index, sent) in rig.next_sent() {
            if sent == "GETRANGE r 0 39" {
                let serial = (rig.now - began).as_millis() as u64 / 1_000;
                rig.reply(index, &format!("$20\r\n{}", token_of(7, 1 + serial)));
            } else {
                assert!(sent.starts_with(&format!("SET {MARK} ")), "{sent}");
                rig.reply(index, "+OK");
                marks.push((rig.now - began).as_millis());
            }
        }
    }
    // A look comes each 25 to 600 ms.
    let least = [62, 1_062, 2_062];
    assert_eq!(marks.len(), least.len(), "{marks:?}");
    assert!(marks.iter().zip(least).all(|(mark, least)| (least..least + 800).contains(mark)));
}

#[test]
fn a_short_wait_leaves_its_mark_sooner() {
    let mut rig = rig();
    rig.refused(ms(300));
    let mut looks = 0;
    loop {
        looks += 1;
        for (index, sent) in rig.next_sent() {
            if sent.starts_with(&format!("SET {MARK} ")) {
                return assert!(rig.events().is_empty(), "there is time left");
            }
            assert_eq!(sent, "GETRANGE r 0 39", "the wait ends without a mark");
            rig.reply(index, &format!("$20\r\n{}", token_of(7, looks)));
        }
    }
}

#[test]
fn an_engine_that_follows_itself_asks_now_and_then_and_goes_on_where_nobody_waits() {
    let mut rig = rig();
    rig.is_asked(":0");
    rig.is_asked(":0");
    rig.is_asked(":-1");
    // The next lock begins at once.
    assert!(!rig.has_lock_again(""));
}

#[test]
fn an_engine_leaves_the_resource_to_those_who_have_left_a_mark() {
    let mut rig = rig();
    rig.is_asked(":1");
    // The request under way was not told yet.
    assert!(!rig.has_lock_again(""));
    let released = rig.now;
    rig.acquire("r", WAIT);
    let sent = rig.next_sent();
    assert!(matches!(&sent[..], [(_, look)] if look == "GETRANGE r 0 39"), "{sent:?}");
    let pause = rig.now - released;
    assert!(pause >= ms(75) && pause <= ms(200), "after {pause:?}");
}

#[test]
fn a_lock_is_asked_about_on_its_own_only_if_it_follows_another() {
    let mut rig = rig();
    for pause in [0, 51, 51, 51] {
        rig.advance(ms(pause));
        let lock = rig.held_again();
        rig.advance(ms(600));
        rig.release_on_nodes(lock);
        let sent = rig.sent_to_any();
        assert!(sent.iter().all(|(_, sent)| !sent.contains(MARK)), "{sent:?}");
        (0..5).for_each(|index| rig.reply(index, ":1"));
        rig.events();
    }
}

#[test]
fn without_the_rights_for_marks_locks_are_what_they_were() {
    let answers = [
        "-NOPERM No permissions to access a key",
        "-NOPERM User x has no permissions to run the 'evalsha' command",
        "-NOSCRIPT No matching script",
        "-ERR what",
    ];
    for answer in answers {
        let mut rig = rig();
        rig.is_asked(answer);
        assert!(!rig.has_lock_again(""));
        assert!((0..5).all(|index| rig.state(index) == NodeState::Ready), "{answer}");
    }
}

#[test]
fn without_the_rights_for_marks_requests_wait_as_they_did() {
    let answers = [
        "-NOPERM No permissions to access a key",
        "-OOM command not allowed when used memory > 'maxmemory'.",
        "-ERR what",
    ];
    for answer in answers {
        let mut rig = rig();
        let marks = rig.marks_within(Duration::from_secs(5), answer, |look| token_of(7, look));
        assert!(marks.len() >= 4, "{answer}: {marks:?}");
        assert!(rig.events().is_empty(), "{answer}");
        assert!((0..5).all(|index| rig.state(index) == NodeState::Ready), "{answer}");
    }
}
