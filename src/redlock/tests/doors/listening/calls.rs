//! Calls: who is next among few is told when the resource is free, and asks all nodes at once.

use super::*;

/// For how long the engine of the tests has had the lock, and so for how long a turn lasts.
const TURN: Duration = Duration::from_millis(40);

/// What follows when a node tells that a key was touched.
#[derive(PartialEq, Eq, Debug)]
enum Then {
    /// All nodes are asked, at once.
    Asked,
    /// One node is asked for the lock.
    Knocked,
    /// A look follows.
    Looked,
    /// Nobody listens.
    Nothing,
}

/// A token of one of forty engines.
fn token_of(serial: u64) -> String {
    format!("$20\r\n{:012}{serial:08}", serial % 40)
}

/// Creates five nodes that tell, and a client that leaves no mark behind a lock that stays.
fn unmarked() -> Rig {
    telling_as(5, 7, |config| config.tenure = Duration::MAX)
}

/// Lets the engine have the lock for a turn after the owners of these tokens, release it, and ask
/// for it again. Returns the time of the release.
fn has_had_its_turn(rig: &mut Rig, others: impl IntoIterator<Item = String>) -> Instant {
    let lock = rig.refused(LONG_WAIT);
    for owner in others {
        let door = rig.look("r");
        rig.reply(door, &owner);
    }
    rig.has_for(lock, TURN);
    let released = rig.now;
    rig.acquire("r", LONG_WAIT);
    released
}

impl Rig {
    /// Lets the doors show until the given time that so many others have the lock one after the
    /// other, each for a turn. Returns the node that was looked at last.
    fn looks_until(&mut self, until: Instant, released: Instant, others: u8) -> usize {
        let mut last = None;
        while self.redlock.poll_timeout().is_some_and(|(due, _)| due <= until) {
            let (due, _) = self.redlock.poll_timeout().expect("there is one");
            self.advance(due - self.now);
            for index in 0..5 {
                for command in self.sent(index) {
                    assert_eq!(
                        command, "GETRANGE r 0 39",
                        "nobody who waits for its turn asks for more"
                    );
                    let turns = (self.now - released).as_millis() / TURN.as_millis();
                    self.reply(index, &token(turns as u8 % others));
                    last = Some(index);
                }
            }
        }
        self.advance(until - self.now);
        last.expect("somebody has looked")
    }

    /// Lets a node tell that the key was touched.
    fn told(&mut self, index: usize) -> Then {
        let bytes = format!("{}\r\n", touched("r"));
        let before = self.redlock.poll_timeout();
        self.redlock.handle_received(self.now, node(index), bytes.as_bytes());
        let has_left = (0..5).any(|index| self.has_output(index));
        if !has_left && self.redlock.poll_timeout() == before {
            return Then::Nothing;
        }
        self.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let sent: Vec<_> = (0..5).flat_map(|index| self.sent(index)).collect();
        match sent.iter().filter(|command| command.starts_with("SET r ")).count() {
            5 => Then::Asked,
            1 => Then::Knocked,
            _ => Then::Looked,
        }
    }
}

#[test]
fn who_is_next_goes_in_when_it_is_told() {
    // Others, the time since the release in parts of 40 of a turn, what follows.
    let rows = [
        (1, 24, Then::Looked),
        (1, 85, Then::Asked),
        (4, 100, Then::Nothing),
        (4, 145, Then::Looked),
    ];
    for (others, parts, expected) in rows {
        let mut rig = telling();
        let released = has_had_its_turn(&mut rig, (0..others).map(token));
        let door = rig.looks_until(released + TURN / 40 * parts, released, others);
        assert_eq!(rig.told(door), expected, "{others} others, after {parts}");
    }
}

/// One whose turn is overdue can be told a little later than all others.
#[test]
fn who_is_next_in_time_gives_way_now_and_then_to_one_whose_turn_is_overdue() {
    for (others, parts) in [(1, 32), (1, 60), (4, 156), (4, 159)] {
        let told = (0..60).map(|seed| {
            let mut rig = telling_with(seed);
            let released = has_had_its_turn(&mut rig, (0..others).map(token));
            let door = rig.looks_until(released + TURN / 40 * parts, released, others);
            rig.told(door)
        });
        let told: Vec<_> = told.collect();
        let count = |then| told.iter().filter(|told| **told == then).count();
        let (asked, knocked) = (count(Then::Asked), count(Then::Knocked));
        assert_eq!(asked + knocked, told.len(), "{others} others, after {parts}");
        assert!(knocked >= 8 && asked >= 30, "{asked} asked, {knocked} knocked");
    }
}

/// An empty door lets a request in that comes long before its turn, and the nodes refuse it.
#[test]
fn who_was_refused_before_its_turn_is_back_before_the_one_ahead_lets_go() {
    for seed in 0..40 {
        let mut rig = telling_with(seed);
        let released = has_had_its_turn(&mut rig, (0..4).map(token));
        let door = rig.look("r");
        rig.reply(door, NOBODY);
        let asked: Vec<_> = (0..5).filter(|index| !rig.sent(*index).is_empty()).collect();
        assert_eq!(asked.len(), 5);
        asked.iter().for_each(|index| rig.reply(*index, "$-1"));
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let back = rig.now - released;
        assert!(back <= TURN / 2 * 7, "{back:?} with seed {seed}");
    }
}

/// Turns are as long as that of the owner, so nobody knows who is next.
#[test]
fn who_is_told_of_the_end_of_a_long_owner_looks() {
    let mut rig = unmarked();
    has_had_its_turn(&mut rig, [token(0)]);
    let mut door = rig.look("r");
    let since = rig.now;
    rig.reply(door, &token(1));
    // Long enough to listen for long, and to be told then.
    while rig.now - since < Duration::from_secs(3) {
        let (node, asks_ttl) = rig.long_look();
        door = node;
        rig.reply(door, &token(1));
        if asks_ttl {
            rig.reply(door, ":60000");
            rig.advance(Duration::from_secs(3));
        }
    }
    assert_eq!(rig.told(door), Then::Looked);
}

/// Those who split the votes would come back together, and split them again.
#[test]
fn who_is_refused_again_and_again_comes_back_at_random_where_turns_are_short() {
    let pauses = (0..40).map(|seed| {
        let mut rig = telling_with(seed);
        let lock = rig.refused(LONG_WAIT);
        let door = rig.look("r");
        rig.reply(door, &token(0));
        rig.has_for(lock, ms(4));
        rig.acquire("r", LONG_WAIT);
        // The turn has come long ago, and nobody is at the door.
        rig.now = rig.now + ms(100);
        let door = rig.look("r");
        rig.reply(door, NOBODY);
        let refused = rig.now;
        for index in 0..5 {
            assert_eq!(rig.sent(index).len(), 1);
            rig.reply(index, "$-1");
        }
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        rig.now - refused
    });
    let pauses: Vec<_> = pauses.collect();
    let (least, most) = (pauses.iter().min().copied(), pauses.iter().max().copied());
    assert!(most > least.map(|least| least + ms(2)), "{least:?} to {most:?}");
}

/// A node that tells all the time makes nobody ask all nodes all the time.
#[test]
fn nobody_is_called_twice_about_one_token() {
    let mut rig = unmarked();
    let released = has_had_its_turn(&mut rig, [token(0)]);
    let door = rig.looks_until(released + TURN / 40 * 85, released, 1);
    assert_eq!(rig.told(door), Then::Asked);
    (0..5).for_each(|index| rig.reply(index, "$-1"));
    let until = rig.now + TURN * 4;
    let door = rig.looks_until(until, released, 1);
    assert_eq!(rig.told(door), Then::Looked);
}

/// Too many to know who is next: all would go in at once, and each would have a few votes.
#[test]
fn among_many_nobody_is_called() {
    let mut rig = telling();
    let until = has_had_its_turn(&mut rig, (0..40).map(token_of)) + TURN * 50;
    // A new owner each time, so that nobody has had the lock for long.
    let mut serial = 0;
    while rig.now < until {
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let door = (0..5).find(|index| !rig.sent(*index).is_empty()).expect("somebody is asked");
        serial += 1;
        rig.reply(door, &token_of(serial));
        assert_eq!(rig.told(door), Then::Nothing);
    }
}

/// Whoever has seen an engine have the lock twice has waited for a round. Of the others, it knows
/// those who have had the lock, and they can be few of many.
#[test]
fn who_was_passed_over_knocks() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    for owner in [0, 1, 2] {
        let door = rig.look("r");
        rig.reply(door, &token(owner));
        assert_eq!(rig.told(door), Then::Nothing, "{owner}");
    }
    // The next look is the first of one who was passed over, and the one behind it listens.
    let door = rig.look("r");
    rig.reply(door, &token(0));
    assert_eq!(rig.told(door), Then::Nothing);
    let door = rig.look("r");
    rig.reply(door, &token(0));
    assert_eq!(rig.told(door), Then::Knocked);
}

/// Without a word from the nodes, to come early would only mean to look more often.
#[test]
fn where_no_node_tells_pauses_are_what_they_were() {
    for seed in 0..20 {
        let mut rig = Rig::seeded(5, seed);
        rig.opens_doors = false;
        let released = has_had_its_turn(&mut rig, [token(0)]);
        rig.look("r");
        let pause = rig.now - released;
        assert!(pause >= TURN / 2 && pause <= TURN * 2, "{pause:?}");
    }
}

/// Each look shows somebody else, and the node tells at once that the resource is free.
#[test]
fn a_door_that_lies_all_the_time_makes_a_request_ask_all_nodes_less_and_less() {
    let mut rig = telling();
    let start = has_had_its_turn(&mut rig, [token(0)]);
    let (mut attempts, mut looks) = (0_u64, 0_u64);
    while rig.now - start < Duration::from_secs(10) {
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        for index in 0..5 {
            for command in rig.sent(index) {
                if command.starts_with("SET ") {
                    attempts += 1;
                    rig.reply(index, "$-1");
                } else if command == "GETRANGE r 0 39" {
                    looks += 1;
                    rig.reply(index, &format!("$20\r\n{:012}{looks:08}", looks % 3));
                    let bytes = format!("{}\r\n", touched("r"));
                    rig.redlock.handle_received(rig.now, node(index), bytes.as_bytes());
                } else {
                    rig.reply(index, ":-2");
                }
            }
        }
    }
    let attempts = attempts / 5;
    assert!((20..=140).contains(&attempts), "{attempts} attempts, {looks} looks in ten seconds");
}

/// Neither says that the resource is free.
#[test]
fn the_end_of_a_session_or_of_all_keys_calls_nobody() {
    for is_flush in [false, true] {
        let mut rig = telling();
        rig.answers_looks = !is_flush;
        let released = has_had_its_turn(&mut rig, [token(0)]);
        let door = rig.looks_until(released + TURN, released, 1);
        if is_flush {
            let bytes = format!("{FLUSHED}\r\n");
            rig.redlock.handle_received(rig.now, node(door), bytes.as_bytes());
        } else {
            rig.close(door);
        }
        rig.advance(ms(1));
        let sent: Vec<_> = (0..5).flat_map(|index| rig.sent(index)).collect();
        let is_attempt = |command: &String| command.starts_with("SET ");
        assert!(sent.iter().any(|command| command == "GETRANGE r 0 39"), "{sent:?}");
        assert!(!sent.iter().any(is_attempt), "{sent:?}");
    }
}

/// A key that ends by itself may be told late, or never.
#[test]
fn who_is_next_pauses_for_long_only_if_it_has_asked_when_the_key_ends() {
    let mut rig = unmarked();
    has_had_its_turn(&mut rig, [token(0)]);
    for look in 1..=4 {
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        // The last answer comes so late that the token is old by then.
        if look == 4 {
            rig.now = rig.now + ms(500);
        }
        for index in 0..5 {
            for command in rig.sent(index) {
                assert_eq!(command, "GETRANGE r 0 39", "look {look}");
                rig.reply(index, &token(0));
            }
        }
    }
    let answered = rig.now;
    rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
    assert!(rig.now - answered < Duration::from_secs(1), "{:?}", rig.now - answered);
}

/// The ticket belongs to one whose turn comes when the owner lets go.
#[test]
fn who_is_not_next_behind_a_long_owner_wants_no_ticket() {
    for (others, is_next) in [(1, true), (4, false)] {
        let mut rig = telling();
        rig.ticket = None;
        has_had_its_turn(&mut rig, (0..others).map(token));
        let (since, mut is_wanted) = (rig.now, false);
        while rig.now - since < ms(5_000) {
            rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
            for index in 0..5 {
                for command in rig.sent(index) {
                    is_wanted |= command.starts_with("SET redbolt:next:");
                    let reply = match command.split(' ').next() {
                        Some("SET") => "+OK".to_owned(),
                        Some("PTTL") => ":60000".to_owned(),
                        _ => token(0),
                    };
                    rig.reply(index, &reply);
                }
            }
        }
        assert_eq!(is_wanted, is_next, "{others} others");
    }
}
