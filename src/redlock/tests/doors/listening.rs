//! Listening: who waits for long is told when the resource may be free, and comes again without it.

use super::*;

const LONG_WAIT: Duration = Duration::from_secs(600);

/// A node tells nothing for this long at the most before a request looks again.
const LONGEST: Duration = Duration::from_secs(10);

const FLUSHED: &str = ">2\r\n$10\r\ninvalidate\r\n_";

fn touched(key: &str) -> String {
    format!(">2\r\n$10\r\ninvalidate\r\n*1\r\n${}\r\n{key}", key.len())
}

/// Creates five nodes that tell what happens to keys, and whose doors the tests answer.
fn telling() -> Rig {
    let mut rig = Rig::unconnected(5, |_| ());
    rig.masters.iter_mut().for_each(|master| master.tracks = true);
    rig.connect_all(5);
    rig.opens_doors = false;
    rig
}

impl Rig {
    /// Lets time pass until the one request looks at the door. Returns the node, and whether the
    /// look asks for the ttl, as those do that opt in.
    fn long_look(&mut self) -> (usize, bool) {
        self.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let sent: Vec<_> = (0..5).map(|index| self.sent(index)).collect();
        let door = sent.iter().position(|sent| !sent.is_empty()).expect("somebody is asked");
        let is_alone = |(index, sent): (usize, &Vec<String>)| index == door || sent.is_empty();
        assert!(sent.iter().enumerate().all(is_alone), "{sent:?}");
        assert_eq!(sent[door][0], "GET r", "{sent:?}");
        (door, sent[door].get(1).is_some_and(|command| command == "PTTL r"))
    }

    /// Lets the one request look until it listens. Returns the node. The key lives for `ttl`.
    fn listens(&mut self, ttl: i64) -> usize {
        let since = self.now;
        loop {
            let (door, opts_in) = self.long_look();
            self.reply(door, &token(0));
            if opts_in {
                self.reply(door, &format!(":{ttl}"));
                assert!(self.now - since >= ms(400), "those who wait for a short holder look");
                return door;
            }
            assert!(self.now - since < ms(1_000), "nobody listens");
        }
    }

    /// Lets a node push, and returns for how long nobody looks after that.
    fn looks_after(&mut self, index: usize, push: &str) -> Duration {
        let bytes = format!("{push}\r\n");
        let pushed = self.now;
        self.redlock.handle_received(self.now, node(index), bytes.as_bytes());
        self.run_actions();
        self.until(|rig| (0..5).any(|index| rig.has_output(index)));
        self.now - pushed
    }

    fn tells(&self, index: usize) -> bool {
        self.redlock.tells(node(index))
    }
}

#[test]
fn who_waits_for_a_long_holder_is_told_and_looks_no_more() {
    let mut rig = telling();
    let lock = rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    // Whoever extends the lock writes the key.
    let (mut told, mut looks) = (Duration::ZERO, 0);
    while told < Duration::from_secs(5) {
        rig.advance(ms(100));
        told += ms(100);
        looks += (0..5).filter(|index| rig.has_output(*index)).count();
    }
    assert_eq!(looks, 0);
    assert!(rig.looks_after(door, &touched("r")) <= ms(1));
    let (again, opts_in) = rig.long_look();
    assert!(opts_in, "one push is all that a node owes");
    rig.reply(again, &token(0));
    rig.reply(again, ":60000");
    assert!(rig.looks_after(again, &touched("r")) <= ms(1));
    let (door, _) = rig.long_look();
    rig.reply(door, "$-1");
    rig.reply(door, ":-2");
    assert!(rig.all_asked());
    (0..3).for_each(|index| rig.reply(index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
}

#[test]
fn a_push_about_another_key_or_of_another_node_wakes_nobody() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let other = (door + 1) % 5;
    for (index, push) in [(door, touched("s")), (door, touched("")), (other, touched("r"))] {
        let bytes = format!("{push}\r\n");
        rig.redlock.handle_received(rig.now, node(index), bytes.as_bytes());
        rig.advance(ms(1_000));
        assert!((0..5).all(|index| !rig.has_output(index)), "{index}: {push}");
    }
}

#[test]
fn who_listens_looks_when_the_key_should_have_ended_by_itself() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    rig.listens(2_000);
    let asked = rig.now;
    rig.long_look();
    let after = rig.now - asked;
    assert!(after >= ms(2_000) && after <= ms(2_010), "{after:?}");
}

#[test]
fn a_node_that_never_pushes_delays_nobody_for_longer_than_the_longest_pause() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let asked = rig.now;
    let (again, opts_in) = rig.long_look();
    assert!(rig.now - asked <= LONGEST && again == door && opts_in);
    // Somebody else has the lock now, and the node has not said so.
    assert!(rig.tells(door));
    rig.reply(door, &token(1));
    rig.reply(door, ":60000");
    assert!(!rig.tells(door), "in this session nobody listens there any more");
    for _ in 0..10 {
        let (next, opts_in) = rig.long_look();
        rig.reply(next, &token(1));
        assert!(next != door || !opts_in);
        if opts_in {
            rig.reply(next, ":60000");
        }
    }
}

#[test]
fn the_end_of_a_session_or_of_all_keys_wakes_those_who_listen_there() {
    for is_flush in [false, true] {
        let mut rig = telling();
        rig.refused(LONG_WAIT);
        let door = rig.listens(60_000);
        let before = rig.now;
        if is_flush {
            rig.answers_looks = false;
            let bytes = format!("{FLUSHED}\r\n");
            rig.redlock.handle_received(rig.now, node(door), bytes.as_bytes());
        } else {
            rig.close(door);
        }
        rig.until(|rig| (0..5).any(|index| index != door && rig.has_output(index)));
        assert!(rig.now - before <= ms(1), "{:?}", rig.now - before);
        let sent: Vec<_> = (0..5).filter(|index| *index != door).map(|i| rig.sent(i)).collect();
        assert!(sent.iter().any(|sent| sent.first().is_some_and(|c| c == "GET r")), "{sent:?}");
    }
}

#[test]
fn a_node_that_refuses_to_tell_is_looked_at_as_ever() {
    let mut rig = telling();
    rig.masters.iter_mut().for_each(|master| {
        master.mute =
            Some(("CLIENT", "-NOPERM no permissions to run the 'client|caching' command"));
    });
    rig.refused(LONG_WAIT);
    let waited = rig.now;
    for _ in 0..30 {
        let (door, _) = rig.long_look();
        rig.reply(door, &token(0));
        if rig.has_output(door) || !rig.owed[door].is_empty() {
            rig.reply(door, ":60000");
        }
        assert!(rig.state(door) == NodeState::Ready, "no session is worth a look");
    }
    assert!(rig.now - waited < Duration::from_secs(6), "{:?}", rig.now - waited);
}

#[test]
fn as_many_pushes_are_no_flood_as_were_asked_for() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    for _ in 0..3 {
        let (again, now) = (door, rig.now);
        let flood = format!("{}\r\n", touched("s")).repeat(1_000);
        rig.redlock.handle_received(now, node(again), flood.as_bytes());
        assert_eq!(rig.state(again), NodeState::Ready);
        rig.advance(ms(1_001));
    }
}

#[test]
fn who_gives_up_is_not_woken() {
    let mut rig = telling();
    let lock = rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    rig.redlock.cancel(rig.now, lock).expect("it waits");
    rig.events();
    let bytes = format!("{}\r\n", touched("r"));
    rig.redlock.handle_received(rig.now, node(door), bytes.as_bytes());
    rig.advance(ms(1_000));
    assert!((0..5).all(|index| !rig.has_output(index)));
    assert_eq!(rig.redlock.in_use(), 0);
}

/// The end of a short wait is not missed for the sake of a push.
#[test]
fn a_wait_that_ends_while_nobody_pushes_ends_in_time_with_a_last_attempt() {
    let mut rig = telling();
    let lock = rig.refused(ms(3_000));
    let until = rig.now + ms(3_000);
    let mut has_asked_all = false;
    while rig.redlock.in_use() > 0 {
        rig.until(|rig| rig.redlock.in_use() == 0 || (0..5).any(|index| rig.has_output(index)));
        for index in 0..5 {
            for command in rig.sent(index) {
                has_asked_all |= command.starts_with("SET");
                let reply = match command.split(' ').next() {
                    Some("GET") => token(0),
                    Some("PTTL") => ":60000".to_owned(),
                    _ => "$-1".to_owned(),
                };
                rig.reply(index, &reply);
            }
        }
    }
    assert!(has_asked_all && rig.now <= until + ms(100), "{:?}", until - rig.now);
    assert!(rig.events().iter().any(|event| event.ended() == Some(lock)));
}

fn owner(number: usize) -> String {
    format!("$20\r\n{number:020}")
}

/// Creates five nodes that tell what happens to keys, 100 ms away.
fn far(seed: u64) -> Rig {
    let mut rig = Rig::unconnected_seeded(5, seed, |_| ());
    rig.masters.iter_mut().for_each(|master| master.tracks = true);
    for index in 0..5 {
        rig.open(index);
        rig.transmit(index);
        rig.now = rig.now + ms(100);
        rig.shake_hands(index);
    }
    rig.events();
    rig.opens_doors = false;
    rig.acquire("r", LONG_WAIT);
    (0..5).for_each(|index| _ = rig.sent(index));
    rig.advance(ms(100));
    (0..5).for_each(|index| rig.reply(index, "$-1"));
    rig
}

#[test]
fn a_ttl_of_zero_makes_no_hot_loop() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(0);
    let (since, mut looks) = (rig.now, 0);
    let mut asked = [0; 5];
    while rig.now - since < ms(1_000) {
        let (again, opts_in) = rig.long_look();
        looks += 1;
        asked[again] += 1;
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, ":0");
        }
    }
    assert!(
        looks <= 60,
        "{looks} looks a second, at {asked:?}, door {door}, tells {}",
        rig.tells(door)
    );
}

#[test]
fn pushes_without_end_make_no_hot_loop() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let mut door = rig.listens(600_000);
    let (since, mut looks) = (rig.now, 0);
    while rig.now - since < ms(1_000) && looks < 5_000 {
        let bytes = format!("{}\r\n", touched("r"));
        rig.redlock.handle_received(rig.now, node(door), bytes.as_bytes());
        rig.run_actions();
        let (again, opts_in) = rig.long_look();
        looks += 1;
        // The round trip.
        rig.advance(Duration::from_micros(100));
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, ":600000");
        }
        door = again;
    }
    assert!(looks <= 60, "{looks} looks in {:?}, {:?}", rig.now - since, rig.state(door));
}

#[test]
fn who_listens_looks_at_two_nodes_in_turn() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let first = rig.listens(600_000);
    let (since, mut doors) = (rig.now, vec![first]);
    while rig.now - since < Duration::from_secs(400) {
        let (again, opts_in) = rig.long_look();
        doors.push(again);
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, ":600000");
        }
    }
    let last = &doors[doors.len() / 2..];
    assert!(last.iter().any(|door| *door != last[0]), "{doors:?}");
}

#[test]
fn a_token_left_at_the_node_that_tells_keeps_nobody_out_for_long() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let first = rig.listens(600_000);
    let second = loop {
        let (again, opts_in) = rig.long_look();
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, ":600000");
        }
        if again != first {
            break again;
        }
    };
    // The owner releases everywhere but at the second node.
    let since = rig.now;
    let bytes = format!("{}\r\n", touched("r"));
    rig.redlock.handle_received(rig.now, node(first), bytes.as_bytes());
    while rig.now - since < Duration::from_secs(300) {
        let (again, opts_in) = rig.long_look();
        if again == first {
            return assert!(rig.now - since < Duration::from_secs(50), "{:?}", rig.now - since);
        }
        assert_eq!(again, second);
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, &format!(":{}", 600_000 - (rig.now - since).as_millis()));
        }
    }
    panic!("free at four of five nodes for five minutes, and nobody asked");
}

#[test]
fn looks_behind_a_push_spread_over_no_more_than_a_usual_pause() {
    let after = (1..6).map(far_spread).collect::<Vec<_>>();
    assert!(after.iter().all(|after| *after <= ms(1_600)), "{after:?} after the push");
}

fn far_spread(seed: u64) -> Duration {
    let mut rig = far(seed);
    let mut listens = None;
    for number in 0..200 {
        let (door, opts_in) = rig.long_look();
        rig.now = rig.now + ms(100);
        rig.reply(door, &owner(number.min(70)));
        if opts_in {
            rig.reply(door, ":600000");
        }
        if opts_in && number > 72 {
            listens = Some(door);
            break;
        }
    }
    let door = listens.expect("somebody listens");
    rig.looks_after(door, &touched("r"))
}

#[test]
fn the_witness_is_tracked_although_a_key_was_not_told() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let (again, _) = rig.long_look();
    assert_eq!(again, door);
    rig.reply(door, &token(1));
    while !rig.owed[door].is_empty() {
        rig.reply(door, ":60000");
    }
    rig.answers_looks = false;
    let pushed = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nredbolt:witness\r\n";
    rig.redlock.handle_received(rig.now, node(door), pushed.as_bytes());
    rig.run_actions();
    rig.transmit(door);
    let owed = format!("{:?} {:?}", rig.outputs[door], rig.owed[door]);
    assert!(owed.contains("CACHING"), "{owed}");
}

#[test]
fn who_opts_in_for_one_key_again_and_again_allows_no_flood() {
    let mut rig = telling();
    rig.refused(Duration::from_secs(36_000));
    rig.listens(36_000_000);
    let since = rig.now;
    let mut opted = 0;
    while rig.now - since < Duration::from_secs(20_000) {
        let (again, opts_in) = rig.long_look();
        rig.reply(again, &token(0));
        if opts_in {
            opted += 1;
            rig.reply(again, ":36000000");
        }
    }
    let flood = format!("{}\r\n", touched("s")).repeat(1_500);
    for index in 0..5 {
        rig.redlock.handle_received(rig.now, node(index), flood.as_bytes());
        rig.run_actions();
    }
    let open: Vec<_> = (0..5).filter(|index| !rig.closed.contains(node(*index))).collect();
    assert_eq!(open, [0usize; 0], "{opted} times opted in for one key");
}

#[test]
fn far_away_too_only_a_token_that_stays_is_listened_for() {
    let mut rig = far(7);
    for number in 0..60 {
        let (door, opts_in) = rig.long_look();
        assert!(!opts_in, "each look has shown another owner, look {number}");
        rig.now = rig.now + ms(100);
        rig.reply(door, &owner(number));
    }
}

#[test]
fn a_renewal_that_a_node_did_not_tell_shows_that_it_never_tells() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    rig.listens(5_000);
    let (since, mut looks) = (rig.now, 0);
    while rig.now - since < Duration::from_secs(300) {
        let (again, opts_in) = rig.long_look();
        if !opts_in && (0..5).any(|index| !rig.tells(index)) {
            return;
        }
        looks += 1;
        rig.reply(again, &token(0));
        while !rig.owed[again].is_empty() {
            rig.reply(again, ":5000");
        }
    }
    panic!("{looks} looks without a push in five minutes");
}

#[test]
fn a_key_without_a_ttl_that_is_gone_without_a_word_shows_that_a_node_never_tells() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(-1);
    let (again, _) = rig.long_look();
    assert_eq!(again, door);
    rig.reply(door, "$-1");
    assert!(!rig.tells(door));
}

#[test]
fn a_busy_moment_of_a_look_ends_no_listening() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = loop {
        let (door, opts_in) = rig.long_look();
        if !opts_in {
            rig.reply(door, &token(0));
            continue;
        }
        break door;
    };
    // long_look has dealt with +OK of the opt-in already; make a look of the node fail instead.
    rig.reply(door, &token(0));
    rig.reply(door, ":60000");
    rig.answers_looks = false;
    let pushed = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nredbolt:witness\r\n";
    rig.redlock.handle_received(rig.now, node(door), pushed.as_bytes());
    rig.run_actions();
    let sent = rig.sent(door);
    let owed = rig.owed[door].len();
    for _ in 0..owed {
        rig.receive(door, "-BUSY Redis is busy running a script.");
    }
    assert!(rig.tells(door), "sent {sent:?}, owed {owed}: tracking is over for the session");
}

#[test]
fn a_busy_moment_at_the_door_ends_no_listening() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let busy = "-BUSY Redis is busy running a script.";
    let mut last = 0;
    for _ in 0..60 {
        rig.masters.iter_mut().for_each(|master| master.mute = Some(("CLIENT", busy)));
        let (door, opts_in) = rig.long_look();
        last = door;
        if opts_in {
            rig.reply(door, busy);
            rig.masters.iter_mut().for_each(|master| master.mute = None);
            while rig.owed[door].iter().any(Option::is_none) {
                rig.reply(door, busy);
            }
            break;
        }
        rig.reply(door, &token(0));
    }
    rig.advance(ms(300));
    assert!(rig.tells(last), "{:?}", rig.state(last));
}
