//! Tickets: of all who are told that a long owner may be gone, one asks all nodes at once.

mod apart;
mod back;

use core::mem;

use super::*;

const FIRST: Option<[&str; 2]> = Some(["+OK"; 2]);
const SECOND: Option<[&str; 2]> = Some(["$-1", "+OK"]);
const GONE: Option<[&str; 2]> = Some(["$-1"; 2]);

/// Creates five nodes that answer all who draw a ticket like this.
fn answering(ticket: Option<[&'static str; 2]>) -> Rig {
    let mut rig = telling();
    rig.ticket = ticket;
    rig
}

/// What a node answers at `now` that has the key of the owner for an hour.
fn of_owner(now: Instant, command: &str) -> String {
    match command.split(' ').next() {
        Some("SET" | "EVALSHA") => "$-1".to_owned(),
        Some("PTTL") => {
            let left = Instant::ZERO + Duration::from_secs(3_600) - now;
            format!(":{}", left.as_millis())
        }
        _ => token(0),
    }
}

impl Rig {
    /// Lets a request listen on, and its peeks find that the owner is there.
    fn listens_on(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until {
            self.advance(ms(10).min(until - self.now));
            for index in (0..5).filter(|index| self.has_output(*index)).collect::<Vec<_>>() {
                assert_eq!(self.sent(index), ["GETRANGE r 0 39"]);
                self.reply(index, &token(0));
            }
        }
    }

    /// Lets the one request look, and listen anew.
    fn listens_at_once(&mut self) -> usize {
        let (door, opts_in) = self.long_look();
        assert!(opts_in);
        self.reply(door, &token(0));
        self.reply(door, ":60000");
        door
    }

    /// Lets time pass until a ticket is wanted, while the owner stays. Returns where it is wanted,
    /// the command, and the nodes at which the request has looked for long.
    fn until_ticket(&mut self) -> (usize, String, NodeSet) {
        let mut doors = NodeSet::EMPTY;
        loop {
            self.until(|rig| (0..5).any(|index| rig.has_output(index)));
            let mut sent = self.all_sent();
            if let Some(at) = sent.iter().position(|(_, c)| c.starts_with("SET redbolt:next:")) {
                assert_eq!(sent.len(), 1, "{sent:?}");
                let (index, command) = sent.remove(at);
                return (index, command, doors);
            }
            for (index, command) in sent {
                if command == "PTTL r" {
                    doors.insert(node(index));
                }
                self.reply(index, &of_owner(self.now, &command));
            }
        }
    }

    /// Returns what was sent, and where.
    fn all_sent(&mut self) -> Vec<(usize, String)> {
        (0..5).flat_map(|index| self.sent(index).into_iter().map(move |c| (index, c))).collect()
    }

    /// Returns how many nodes were asked for the lock.
    fn asked(&mut self) -> usize {
        let is_asked = |sent: &String| sent.starts_with("SET r ");
        (0..5).filter(|index| self.sent(*index).iter().any(is_asked)).count()
    }
}

#[test]
fn who_has_the_ticket_asks_all_nodes_as_soon_as_it_is_told() {
    let mut rig = answering(FIRST);
    let lock = rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    assert!(rig.looks_after(door, &touched("r")) <= ms(1));
    assert_eq!(rig.asked(), 5);
    (0..5).for_each(|index| rig.reply(index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
}

#[test]
fn who_goes_first_in_vain_looks_again_and_goes_first_again() {
    let mut rig = answering(FIRST);
    let lock = rig.refused(LONG_WAIT);
    let mut door = rig.listens(60_000);
    // Whoever extends the lock writes the key. The node has the ticket already.
    rig.ticket = GONE;
    for _ in 0..2 {
        assert!(rig.looks_after(door, &touched("r")) <= ms(1));
        assert_eq!(rig.asked(), 5);
        (0..5).for_each(|index| rig.reply(index, "$-1"));
        door = rig.listens_at_once();
        rig.listens_on(ms(1_000));
    }
    rig.redlock.cancel(rig.now, lock).expect("it waits");
}

/// A node can say so to all who wait, and tell them again and again.
#[test]
fn who_is_told_again_and_again_goes_first_now_and_then() {
    let mut rig = answering(FIRST);
    let lock = rig.refused(LONG_WAIT);
    let mut door = rig.listens(60_000);
    let (since, mut tries) = (rig.now, 0);
    while rig.now - since < ms(2_000) {
        rig.looks_after(door, &touched("r"));
        let asked: Vec<_> = (0..5).filter(|index| !rig.sent(*index).is_empty()).collect();
        tries += usize::from(asked.len() == 5);
        asked.iter().for_each(|index| rig.reply(*index, "$-1"));
        door = rig.listens_at_once();
    }
    assert!((2..=5).contains(&tries), "{tries} in two seconds");
    rig.redlock.cancel(rig.now, lock).expect("it waits");
}

/// The one who goes first can be gone.
#[test]
fn who_has_the_second_ticket_knocks_a_little_later() {
    let mut rig = answering(SECOND);
    let lock = rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let lag = rig.looks_after(door, &touched("r"));
    assert!((ms(4)..=ms(9)).contains(&lag), "{lag:?}");
    let (door, _) = rig.knock();
    rig.reply(door, "+OK");
    (0..5).filter(|index| *index != door).for_each(|index| rig.reply(index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
}

/// Whoever dies leaves keys that end by themselves.
#[test]
fn who_has_the_ticket_goes_first_when_the_key_has_ended_by_itself_too() {
    for (ticket, expected) in [(FIRST, 0..=2), (SECOND, 4..=10)] {
        let mut rig = answering(ticket);
        rig.refused(LONG_WAIT);
        rig.listens(2_000);
        let ends = rig.now + ms(2_000);
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let late = (rig.now - ends).as_millis();
        assert!(expected.contains(&late), "{late} ms late");
        assert_eq!(rig.asked(), if ticket == FIRST { 5 } else { 1 });
    }
}

/// The right to write one can be missing.
#[test]
fn who_is_given_no_ticket_listens_for_the_lock_and_does_not_ask_again_and_again() {
    let mut rig = answering(None);
    let lock = rig.refused(LONG_WAIT);
    let (at, _, _) = rig.until_ticket();
    rig.reply(at, "-NOPERM no right to set");
    let refused = rig.now;
    let door = rig.listens_at_once();
    assert!(rig.now - refused <= ms(1));
    assert!(rig.looks_after(door, &touched("r")) <= ms(1));
    rig.knocks_in_vain();
    let (at, _, _) = rig.until_ticket();
    assert!(rig.now - refused >= ms(29_000), "{:?}", rig.now - refused);
    rig.reply(at, "+OK");
    rig.redlock.cancel(rig.now, lock).expect("it waits");
}

/// Whoever listens for the lock is told of each extension.
#[test]
fn who_knows_of_tickets_wants_none_until_they_have_ended() {
    for answers in [&["+OK"][..], &["$-1", "+OK"], &["$-1", "$-1"]] {
        let mut rig = answering(None);
        let lock = rig.refused(LONG_WAIT);
        for answer in answers {
            let (at, _, _) = rig.until_ticket();
            rig.reply(at, answer);
        }
        let drawn = rig.now;
        loop {
            for index in 0..5 {
                let push = format!("{}\r\n", touched("r"));
                rig.redlock.handle_received(rig.now, node(index), push.as_bytes());
            }
            rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
            let sent = rig.all_sent();
            if sent.iter().any(|(_, command)| command.starts_with("SET redbolt:next:")) {
                break;
            }
            for (index, command) in sent {
                rig.reply(index, &of_owner(rig.now, &command));
            }
        }
        assert!(rig.now - drawn >= ms(29_000), "{answers:?}: {:?}", rig.now - drawn);
        rig.redlock.cancel(rig.now, lock).expect("it waits");
    }
}

/// Whoever comes again soon, with another request, would be late behind its own ticket.
#[test]
fn a_ticket_ends_with_the_wait_of_its_owner() {
    for ticket in ["+OK", "$-1"] {
        let mut drawn = 0;
        for wait in (400..700).chain([5_000]).map(ms) {
            let mut rig = answering(None);
            let ends = rig.now + wait;
            rig.refused(wait);
            while rig.events().is_empty() {
                rig.until(|rig| rig.redlock.in_use() == 0 || (0..5).any(|i| rig.has_output(i)));
                for (index, command) in rig.all_sent() {
                    let Some((_, life)) = command.rsplit_once("tick NX PX ") else {
                        rig.reply(index, &of_owner(rig.now, &command));
                        continue;
                    };
                    let (life, left) = (ms(life.parse().expect("a number")), ends - rig.now);
                    assert!(life >= ms(100) && life <= left && left < life + ms(1), "{command}");
                    drawn += 1;
                    rig.reply(index, ticket);
                }
            }
        }
        assert!(drawn > 100, "{drawn} tickets");
    }
}

/// The next in line goes on with what the one before has learned, and their waits differ.
#[test]
fn the_next_in_line_has_no_ticket_behind_the_end_of_the_wait_before() {
    let mut rig = answering(FIRST);
    rig.refused(ms(700));
    let ends = rig.now + ms(700);
    let next = rig.acquire("r", LONG_WAIT);
    rig.listens(3_600_000);
    // What the next one draws itself.
    rig.ticket = SECOND;
    while rig.now < ends + ms(100) {
        rig.advance(ms(10));
        for (index, command) in rig.all_sent() {
            rig.reply(index, &of_owner(rig.now, &command));
        }
    }
    assert!(matches!(rig.event(), Event::AcquireFailed { .. }));
    for index in 0..5 {
        let push = format!("{}\r\n", touched("r"));
        rig.redlock.handle_received(rig.now, node(index), push.as_bytes());
    }
    rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
    assert_eq!(rig.asked(), 1);
    rig.redlock.cancel(rig.now, next).expect("it waits");
}

/// A knock is a plain attempt, and would get a lock without a number.
#[test]
fn a_fenced_request_does_not_knock_with_the_ticket_of_the_one_before_in_its_line() {
    let mut rig = answering(FIRST);
    let lock = rig.refused(LONG_WAIT);
    let options = AcquireOptions::new().fenced();
    let next = rig.redlock.acquire_with(rig.now, &[b"r"], TTL, LONG_WAIT, &options);
    let next = next.expect("it is in bounds");
    rig.listens(3_600_000);
    let number = rig.ticket_number;
    rig.ticket = None;
    rig.redlock.cancel(rig.now, lock).expect("it waits");
    let sent = rig.all_sent();
    assert!(sent.iter().any(|(_, sent)| *sent == back::back(number)), "{sent:?}");
    let (since, mut attempts, mut next_sent) = (rig.now, 0, sent);
    while rig.now - since < ms(6_000) {
        for (index, command) in mem::take(&mut next_sent) {
            assert!(!command.starts_with("SET r "), "{command}");
            attempts += usize::from(command.starts_with("EVALSHA acquire-fenced "));
            rig.reply(index, &of_owner(rig.now, &command));
        }
        for index in 0..5 {
            let push = format!("{}\r\n", touched("r"));
            rig.redlock.handle_received(rig.now, node(index), push.as_bytes());
        }
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        next_sent = rig.all_sent();
    }
    assert_eq!(attempts, 5, "it asks once, and is told of one owner");
    rig.redlock.cancel(rig.now, next).expect("it waits");
}

#[test]
fn all_tickets_lie_at_one_node_wherever_their_owners_look() {
    let mut rig = answering(None);
    rig.refused(LONG_WAIT);
    let (mut doors, mut drawn_at) = (NodeSet::EMPTY, NodeSet::EMPTY);
    for _ in 0..10 {
        let (at, command, seen) = rig.until_ticket();
        assert!(command.ends_with(":r ticket: ticket: tick NX PX 30000"), "{command}");
        drawn_at.insert(node(at));
        doors = doors.union(seen);
        rig.reply(at, "$-1");
    }
    assert!(doors.len() > 1 && drawn_at.len() == 1, "{doors:?} {drawn_at:?}");
}

/// The turn of the engine was expected when the owner would let go, who does so earlier, or dies.
#[test]
fn who_has_the_second_ticket_comes_later_before_its_turn_too() {
    for dies in [false, true] {
        let (mut rig, door) = before_its_turn(if dies { 1_000 } else { 3_600_000 });
        rig.listens_on(ms(20));
        let lag = match dies {
            false => rig.looks_after(door, &touched("r")),
            true => {
                let ends = rig.now + ms(980);
                rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
                rig.now - ends
            }
        };
        assert!((ms(4)..=ms(10)).contains(&lag), "{lag:?}");
        assert_eq!(rig.asked(), 1);
    }
}

/// Creates five nodes and a request with the second ticket whose turn will come later. Returns the
/// node where the request listens for the lock, whose key lives for `ttl`.
fn before_its_turn(ttl: u64) -> (Rig, usize) {
    let mut rig = answering(SECOND);
    let lock = rig.refused(LONG_WAIT);
    let door = rig.look("r");
    rig.reply(door, &token(0));
    rig.has_for(lock, ms(5_000));
    rig.acquire("r", LONG_WAIT);
    let mut door = None;
    while door.is_none() {
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        for (index, command) in rig.all_sent() {
            let is_mark = command.starts_with("SET redbolt:wanted:");
            let is_last = command == "PTTL r" && rig.opts_in[index][1];
            let answer = match is_mark {
                true => "+OK".to_owned(),
                false if is_last => format!(":{ttl}"),
                false => of_owner(rig.now, &command),
            };
            rig.reply(index, &answer);
            if is_last {
                door = Some(index);
            }
        }
    }
    (rig, door.expect("it listens"))
}
