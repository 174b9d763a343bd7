//! Sets that take their resources one by one, because others keep them waiting.

use super::*;

/// A wait in which a set takes steps more than once.
const LONG: Duration = Duration::from_secs(30);

impl Rig {
    /// Requests a set that all nodes refuse until the set takes its first step, which has left for
    /// all nodes.
    fn stepping(&mut self, resources: &[&str], wait: Duration) -> LockId {
        let set = self.redlock.acquire_all(self.now, resources, TTL, wait);
        let set = set.expect("the request is in bounds");
        self.until_stepping();
        set
    }

    /// Lets all nodes refuse the set until it takes its first step.
    fn until_stepping(&mut self) {
        let stepped = self.redlock.counters().stepped;
        self.until(|rig| {
            if rig.redlock.counters().stepped > stepped {
                return true;
            }
            rig.refuse_all();
            false
        });
    }

    /// Lets all nodes refuse what has left for them.
    fn refuse_all(&mut self) {
        for index in 0..self.masters.len() {
            for command in self.sent(index) {
                let is_set = command.starts_with("EVALSHA acquire-set") || command.contains(" NX ");
                self.reply(index, if is_set { "$-1" } else { ":0" });
            }
        }
    }

    /// Lets all nodes grant what has left for them, which is one command at each. Returns the
    /// command.
    fn grant_all(&mut self) -> String {
        let mut sent = Vec::new();
        for index in 0..self.masters.len() {
            sent.push(self.sent(index).join(", "));
            self.reply(index, "+OK");
        }
        self.advance(Duration::ZERO);
        assert!(sent.iter().all(|command| *command == sent[0]), "{sent:?}");
        sent.swap_remove(0)
    }
}

/// Cuts the number of the token off a command that begins with a resource.
fn without_token(command: &str) -> String {
    command.split(' ').filter(|word| !word.starts_with('#')).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_set_that_others_keep_waiting_takes_its_resources_in_the_order_of_their_names() {
    let mut rig = Rig::new(3);
    let asked = rig.now;
    let set = rig.stepping(&["c", "a", "b"], LONG);
    let tenure = rig.redlock.config().tenure;
    assert!(rig.now - asked >= tenure, "after {:?}", rig.now - asked);
    for resource in ["a", "b", "c"] {
        assert!(rig.events().is_empty(), "a step is nobody's lock");
        let sent = rig.grant_all();
        assert_eq!(without_token(&sent), format!("SET {resource} NX PX 10000"));
    }
    for index in 0..3 {
        let sent = rig.sent(index);
        assert!(sent[0].starts_with("EVALSHA release"), "{sent:?}");
        let last = sent.last().map(|last| without_token(last));
        assert_eq!(last.as_deref(), Some("EVALSHA acquire-set 3 a b c 10000"));
        sent[1..].iter().for_each(|_| rig.reply(index, "*3\r\n:1\r\n:1\r\n:1"));
        rig.reply(index, "+OK");
    }
    assert!(matches!(rig.event(), Event::Acquired { lock, .. } if lock == set));
    assert_eq!(rig.redlock.in_use(), 1, "no step is left");
}

/// Else the step would lose to all who know their turn.
#[test]
fn a_step_that_is_refused_is_told_when_its_resource_is_free_and_asks_all_nodes() {
    let mut rig = Rig::unconnected(3, |_| ());
    rig.masters.iter_mut().for_each(|master| master.tracks = true);
    rig.connect_all(3);
    rig.stepping(&["a", "b"], LONG);
    rig.opens_doors = false;
    rig.refuse_all();
    rig.until(|rig| (0..3).any(|index| rig.has_output(index)));
    let door = (0..3).find(|index| rig.has_output(*index)).expect("one node is asked");
    assert_eq!(rig.sent(door), ["GETRANGE a 0 39"]);
    rig.reply(door, "$20\r\nabcdefghijklmnopqrst");
    let pushed = b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n";
    rig.redlock.handle_received(rig.now, node(door), pushed);
    assert_eq!(without_token(&rig.grant_all()), "SET a NX PX 10000");
    assert_eq!(without_token(&rig.grant_all()), "SET b NX PX 10000");
}

#[test]
fn whoever_stands_in_line_behind_a_step_comes_behind_the_set() {
    let mut rig = Rig::new(1);
    rig.stepping(&["a", "b"], LONG);
    rig.grant_all();
    let single = rig.acquire("a", LONG);
    rig.grant_all();
    let sent: Vec<_> = rig.sent(0).iter().map(|command| without_token(command)).collect();
    let expected = ["EVALSHA release-many 2 a b", "EVALSHA acquire-set 2 a b 10000"];
    assert_eq!(sent[..2], expected);
    assert!(sent[2..].iter().all(|command| command == "SET a NX PX 10000"), "{sent:?}");
    rig.reply(0, "*2\r\n:1\r\n:1");
    rig.reply(0, "+OK");
    assert!(matches!(rig.event(), Event::Acquired { lock, .. } if lock != single));
}

#[test]
fn steps_that_take_too_long_are_released_and_taken_again_later() {
    let mut rig = Rig::new(1);
    let set = rig.stepping(&["a", "b"], LONG);
    let mut times = Vec::new();
    for _ in 0..3 {
        let began = rig.now;
        rig.grant_all();
        let mut held = true;
        rig.until(|rig| {
            for command in rig.sent(0) {
                let is_release = command.starts_with("EVALSHA release 1 a ");
                held &= !is_release;
                let reply =
                    if is_release || command.starts_with("EVALSHA extend") { ":1" } else { "$-1" };
                rig.reply(0, reply);
            }
            !held
        });
        let ended = rig.now;
        rig.until_stepping();
        times.push((ended - began, rig.now - ended));
    }
    let tenure = rig.redlock.config().tenure;
    for (round, (steps, pause)) in (1..).zip(&times) {
        let patience = tenure * 2_u32.pow(round);
        assert!(*steps <= patience && *steps > patience * 9 / 10, "{times:?}");
        assert!(*pause >= *steps, "others have as long as the set: {times:?}");
    }
    assert!(rig.events().is_empty());
    assert!(rig.redlock.cancel(rig.now, set).is_ok());
}

#[test]
fn a_set_that_is_cancelled_releases_its_steps() {
    let mut rig = Rig::new(1);
    let set = rig.stepping(&["a", "b"], LONG);
    rig.grant_all();
    rig.sent(0);
    rig.redlock.cancel(rig.now, set).expect("it is wanted");
    let sent: Vec<_> = rig.sent(0).iter().map(|command| without_token(command)).collect();
    assert_eq!(sent, ["EVALSHA release-many 2 a b"]);
    assert!(matches!(
        rig.event(),
        Event::AcquireFailed { lock, error: AcquireError::Cancelled } if lock == set
    ));
    rig.reply(0, "$-1");
    rig.reply(0, "*2\r\n:1\r\n:0");
    assert!(rig.events().is_empty());
    assert_eq!(rig.redlock.in_use(), 0);
    assert!(rig.redlock.is_drained());
}

#[test]
fn a_set_whose_wait_ends_during_its_steps_was_held_by_others() {
    let mut rig = Rig::new(1);
    rig.stepping(&["a", "b"], ms(900));
    rig.grant_all();
    let mut events = Vec::new();
    rig.until(|rig| {
        rig.refuse_all();
        events.extend(rig.events());
        !events.is_empty()
    });
    let is_held = |event: &Event| {
        matches!(event, Event::AcquireFailed { error: AcquireError::Held { .. }, .. })
    };
    assert!(matches!(&events[..], [event] if is_held(event)), "{events:?}");
    rig.refuse_all();
    assert_eq!(rig.redlock.in_use(), 0);
}

#[test]
fn a_step_that_is_lost_ends_the_steps() {
    let mut rig = Rig::new(1);
    let set = rig.redlock.acquire_all(rig.now, &["a", "b"], ms(300), LONG);
    let set = set.expect("the request is in bounds");
    rig.until_stepping();
    let began = rig.now;
    rig.grant_all();
    // Whoever has `b` keeps it, and the key `a` is gone when its renewal comes.
    let mut is_asked_whole = false;
    rig.until(|rig| {
        for command in rig.sent(0) {
            is_asked_whole |= command.starts_with("EVALSHA acquire-set");
            let is_compared = command.starts_with("EVALSHA extend ");
            rig.reply(0, if is_compared { ":0" } else { "$-1" });
        }
        is_asked_whole
    });
    assert!(rig.now - began < rig.redlock.config().tenure, "after {:?}", rig.now - began);
    assert!(rig.events().is_empty(), "the set waits on");
    assert!(rig.redlock.cancel(rig.now, set).is_ok());
}

#[test]
fn a_request_with_tries_of_its_own_takes_no_steps() {
    let mut rig = Rig::new(1);
    let options = AcquireOptions::new().tries(1_000);
    let set = rig.redlock.acquire_with(rig.now, &["a", "b"], TTL, WAIT, &options);
    set.expect("the request is in bounds");
    rig.until(|rig| {
        rig.refuse_all();
        !rig.events().is_empty()
    });
    assert_eq!(rig.redlock.counters().stepped, 0);
}

#[test]
fn half_of_the_slots_are_left_to_others() {
    for (max_locks, steps) in [(5, false), (6, true)] {
        let mut rig = Rig::with(1, |config| config.max_locks = max_locks);
        let set = rig.redlock.acquire_all(rig.now, &["a", "b"], TTL, WAIT);
        set.expect("the request is in bounds");
        rig.until(|rig| {
            rig.refuse_all();
            !rig.events().is_empty()
        });
        assert_eq!(rig.redlock.counters().stepped > 0, steps, "{max_locks} slots");
    }
}

#[test]
fn an_adoption_of_the_same_set_ends_the_steps() {
    let mut rig = Rig::new(1);
    rig.stepping(&["a", "b"], LONG);
    rig.grant_all();
    rig.sent(0);
    let token = Token::from_bytes([7; 20]);
    rig.redlock.adopt(rig.now, &["a", "b"], token, TTL, WAIT).expect("the request is in bounds");
    let sent: Vec<_> = rig.sent(0).iter().map(|command| without_token(command)).collect();
    assert!(sent.iter().any(|command| command.starts_with("EVALSHA release")), "{sent:?}");
    assert!(sent.iter().any(|command| command.starts_with("EVALSHA extend-set")), "{sent:?}");
}

#[test]
fn a_step_that_is_lost_as_the_next_is_granted_ends_the_steps() {
    let mut rig = Rig::new(1);
    let set = rig.redlock.acquire_all(rig.now, &["a", "b", "c"], ms(600), LONG);
    let set = set.expect("the request is in bounds");
    rig.until_stepping();
    rig.grant_all();
    let is_renewal = |command: &String| command.starts_with("EVALSHA extend 1 a ");
    let mut renewals = 0;
    rig.until(|rig| {
        let sent = rig.sent(0);
        renewals += sent.iter().filter(|command| is_renewal(command)).count();
        if renewals == 0 {
            sent.iter().for_each(|_| rig.reply(0, "$-1"));
        }
        renewals > 0 && sent.iter().any(|command| command.starts_with("SET b "))
    });
    (0..renewals).for_each(|_| rig.reply(0, ":0"));
    rig.reply(0, "+OK");
    rig.advance(Duration::ZERO);
    let sent: Vec<_> = rig.sent(0).iter().map(|command| without_token(command)).collect();
    assert!(sent.iter().any(|command| command == "EVALSHA release 1 b"), "{sent:?}");
    assert!(rig.events().is_empty(), "the set waits on");
    assert!(rig.redlock.cancel(rig.now, set).is_ok());
}

#[test]
fn sets_that_take_steps_together_leave_half_of_the_slots_to_others() {
    let mut rig = Rig::with(1, |config| config.max_locks = 12);
    for resources in [["a", "b", "c", "d"], ["e", "f", "g", "h"]] {
        let set = rig.redlock.acquire_all(rig.now, &resources, TTL, WAIT);
        set.expect("the request is in bounds");
    }
    let mut most = 0;
    rig.until(|rig| {
        for command in rig.sent(0) {
            let is_refused = command.starts_with("EVALSHA acquire-set");
            let is_released = command.starts_with("EVALSHA release 1 ");
            rig.reply(
                0,
                if is_refused {
                    "$-1"
                } else if is_released {
                    ":1"
                } else {
                    "+OK"
                },
            );
        }
        most = most.max(rig.redlock.in_use());
        rig.redlock.counters().stepped > 3 || !rig.events().is_empty()
    });
    assert!(rig.redlock.counters().stepped >= 2 && most <= 6, "{most} of 12 slots");
}

#[test]
fn a_fenced_set_takes_steps_and_draws_one_number() {
    let mut rig = Rig::new(1);
    let options = AcquireOptions::new().fenced();
    let set = rig.redlock.acquire_with(rig.now, &["a", "b"], TTL, LONG, &options);
    let set = set.expect("the request is in bounds");
    let stepped = |rig: &mut Rig| rig.redlock.counters().stepped > 0;
    rig.until(|rig| {
        let is_stepping = stepped(rig);
        if !is_stepping {
            rig.sent(0).iter().for_each(|_| rig.reply(0, "$-1"));
        }
        is_stepping
    });
    assert_eq!(without_token(&rig.grant_all()), "SET a NX PX 10000");
    assert_eq!(without_token(&rig.grant_all()), "SET b NX PX 10000");
    let sent = rig.sent(0);
    let last = sent.last().expect("the set follows its steps");
    assert!(last.starts_with("EVALSHA acquire-fenced-set 3 a b redbolt:fence "), "{sent:?}");
    rig.reply(0, "*2\r\n:1\r\n:1");
    rig.reply(0, &format!(":{}", micros(rig.now)));
    let event = rig.event();
    assert!(
        matches!(event, Event::Acquired { lock, fence: Some(_), .. } if lock == set),
        "{event:?}"
    );
}

#[test]
fn a_step_has_a_short_ttl_and_the_options_of_its_set() {
    let mut rig = Rig::with(1, |config| config.max_ttl = Duration::from_secs(600));
    let options = AcquireOptions::new().node_timeout(ms(700));
    let ttl = Duration::from_secs(300);
    let set = rig.redlock.acquire_with(rig.now, &["a", "b"], ttl, LONG, &options);
    set.expect("the request is in bounds");
    rig.until_stepping();
    let asked = rig.now;
    let config = rig.redlock.config();
    let longest = TTL + config.drift.of(TTL);
    let expected = format!("SET a NX PX {}", longest.as_millis());
    assert_eq!(without_token(&rig.sent(0).join(", ")), expected);
    let failed = |rig: &mut Rig| !rig.sent(0).is_empty();
    rig.until(failed);
    assert_eq!(rig.now - asked, ms(700), "the node timeout of the set");
}

#[test]
fn a_set_with_all_steps_keeps_them_until_its_nodes_have_room() {
    let mut rig = Rig::with(1, |config| config.max_pipeline = 8);
    let set = rig.stepping(&["a", "b"], LONG);
    rig.grant_all();
    assert_eq!(rig.sent(0).len(), 1, "the second step");
    // Others fill the pipeline behind the request of the step.
    let others = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
    others.iter().for_each(|other| _ = rig.acquire(other, WAIT));
    rig.reply(0, "+OK");
    rig.advance(Duration::ZERO);
    let sent = rig.sent(0);
    assert!(sent.iter().all(|command| command.starts_with("SET ")), "no release: {sent:?}");
    let mut left = sent.len();
    rig.until(|rig| {
        (0..core::mem::take(&mut left)).for_each(|_| rig.reply(0, "+OK"));
        let sent = rig.sent(0);
        let place = sent.iter().position(|command| command.starts_with("EVALSHA acquire-set"));
        if let Some(place) = place {
            assert!(sent[place - 1].starts_with("EVALSHA release"), "{sent:?}");
        }
        left = sent.len();
        place.is_some()
    });
    assert!(rig.redlock.is_held(rig.now, set) || rig.redlock.cancel(rig.now, set).is_ok());
}

/// The slots of those that have ended are not free until the owner has heard of the end.
#[test]
fn a_set_gives_up_its_steps_where_most_of_a_full_table_has_just_ended() {
    const MOST: usize = 32;
    let mut rig = Rig::with(1, |config| config.max_locks = MOST);
    let set = rig.stepping(&["a", "b"], LONG);
    assert_eq!(without_token(&rig.sent(0).join(", ")), "SET a NX PX 10000");
    let others = MOST - rig.redlock.in_use();
    (0..others).for_each(|other| _ = rig.acquire(&format!("r{other}"), Duration::ZERO));
    assert_eq!(rig.sent(0).len(), others);
    // One read grants the step and refuses all others.
    rig.reply(0, &format!("+OK{}", "\r\n$-1".repeat(others)));
    rig.advance(Duration::ZERO);
    assert_eq!(rig.events().len(), others);
    assert!(rig.sent(0).iter().any(|command| command.starts_with("EVALSHA release 1 a ")));
    assert!(rig.redlock.in_use() <= MOST && rig.redlock.cancel(rig.now, set).is_ok());
}
