//! Listening: who waits for long is told when the resource may be free, and comes again without it.
//!
//! Here is who is told and who wakes. `knocks`, `calls` and `tickets` have what those do who are
//! told, and `peeks` what they do meanwhile; `silent` has nodes that do not do what they should,
//! `floods` those that do too much, `data` those whose key is no lock, and `far` nodes that are far
//! away.

mod calls;
mod data;
mod far;
mod floods;
mod knocks;
mod peeks;
mod silent;
mod tickets;

use super::*;

const LONG_WAIT: Duration = Duration::from_secs(600);

const FLUSHED: &str = ">2\r\n$10\r\ninvalidate\r\n_";

fn touched(key: &str) -> String {
    format!(">2\r\n$10\r\ninvalidate\r\n*1\r\n${}\r\n{key}", key.len())
}

/// Creates five nodes that tell what happens to keys, and whose doors the tests answer.
fn telling() -> Rig {
    telling_with(7)
}

fn telling_with(seed: u64) -> Rig {
    telling_as(5, seed, |_| ())
}

fn telling_as(count: usize, seed: u64, change: fn(&mut RedlockConfig)) -> Rig {
    let mut rig = Rig::unconnected_seeded(count, seed, change);
    rig.masters.iter_mut().for_each(|master| master.tracks = true);
    rig.connect_all(count);
    (rig.opens_doors, rig.ttl) = (false, None);
    rig
}

impl Rig {
    /// Lets time pass until the one request is about to ask or look, and lets its peeks find that
    /// the owner is there.
    fn peeks(&mut self) {
        loop {
            self.until(|rig| (0..5).any(|index| rig.has_output(index)));
            if !self.redlock.is_pausing() {
                return;
            }
            let index = (0..5).find(|index| self.has_output(*index)).expect("somebody is asked");
            assert_eq!(self.sent(index), ["GETRANGE r 0 39"]);
            self.reply(index, &token(0));
        }
    }

    /// Lets time pass until the one request looks at the door. Returns the node, and whether the
    /// look opts in. A look behind which a ticket is drawn shows what the one before has shown.
    fn long_look(&mut self) -> (usize, bool) {
        loop {
            let (door, [opts_in, asks_ttl]) = self.any_look();
            if opts_in || !asks_ttl || self.ticket.is_none() {
                return (door, opts_in);
            }
            let seen = self.seen.clone();
            self.reply(door, &seen);
            self.reply(door, ":60000");
        }
    }

    /// Lets time pass until the one request looks at the door. Returns the node, and whether the
    /// look opts in, and asks for the ttl.
    fn any_look(&mut self) -> (usize, [bool; 2]) {
        self.peeks();
        let sent: Vec<_> = (0..5).map(|index| self.sent(index)).collect();
        let door = sent.iter().position(|sent| !sent.is_empty()).expect("somebody is asked");
        let is_alone = |(index, sent): (usize, &Vec<String>)| index == door || sent.is_empty();
        assert!(sent.iter().enumerate().all(is_alone), "{sent:?}");
        assert_eq!(sent[door][0], "GETRANGE r 0 39", "{sent:?}");
        let asks_ttl = sent[door].get(1).is_some_and(|command| command == "PTTL r");
        (door, [self.opts_in[door][1], asks_ttl])
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

    /// Lets time pass until the one request asks one node for the lock. Returns that node and the
    /// request.
    fn knock(&mut self) -> (usize, String) {
        self.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let mut sent: Vec<_> = (0..5)
            .flat_map(|index| self.sent(index).into_iter().map(move |c| (index, c)))
            .collect();
        assert!(sent.len() == 1 && sent[0].1.starts_with("SET r "), "{sent:?}");
        sent.remove(0)
    }

    /// The same, and the node refuses.
    fn knocks_in_vain(&mut self) {
        let (door, _) = self.knock();
        self.reply(door, "$-1");
    }

    /// Lets the one request look, after a knock in vain where the key has ended.
    fn look_or_knock(&mut self) -> (usize, bool) {
        self.peeks();
        let is_knock = |sent: &Vec<String>| sent.iter().any(|c| c.starts_with("SET r "));
        if self.outputs.iter().any(is_knock) {
            self.knocks_in_vain();
        }
        self.long_look()
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
fn who_waits_for_a_long_holder_is_told_and_looks_at_the_door_no_more() {
    let mut rig = telling();
    let lock = rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    // Whoever extends the lock writes the key.
    let mut told = Duration::ZERO;
    while told < Duration::from_secs(5) {
        rig.advance(ms(100));
        told += ms(100);
        assert!(!rig.has_output(door));
        let peeks: Vec<_> = (0..5).filter(|index| rig.has_output(*index)).collect();
        for index in peeks {
            assert_eq!(rig.sent(index), ["GETRANGE r 0 39"]);
            rig.reply(index, &token(0));
        }
    }
    assert!(rig.looks_after(door, &touched("r")) <= ms(1));
    rig.knocks_in_vain();
    let (again, opts_in) = rig.long_look();
    assert!(opts_in, "one push is all that a node owes");
    rig.reply(again, &token(0));
    rig.reply(again, ":60000");
    assert!(rig.looks_after(again, &touched("r")) <= ms(1));
    let (door, _) = rig.knock();
    rig.reply(door, "+OK");
    (0..5).filter(|index| *index != door).for_each(|index| rig.reply(index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
}

/// Attempts in vain that wait for a slow node hold their keys meanwhile. If others listened there,
/// each end of one would let in the next, and the votes would be split for ever.
#[test]
fn a_token_that_can_be_of_an_attempt_in_vain_is_no_long_owner() {
    // The attempts are those of others, whatever times this request has itself.
    for (ttl, timeout) in [(TTL, None), (ms(100), None), (TTL, Some(ms(5))), (TTL, Some(ms(2_000)))]
    {
        let mut rig = telling_as(5, 7, |config| config.retry_max = ms(10));
        let mut options = AcquireOptions::new();
        options.node_timeout = timeout;
        let asked = rig.redlock.acquire_with(rig.now, &[b"r"], ttl, LONG_WAIT, &options);
        let lock = asked.expect("a request");
        for index in 0..5 {
            assert_eq!(rig.sent(index).len(), 1, "one SET");
            rig.reply(index, "$-1");
        }
        let attempt = ms(50);
        let first = rig.long_look().0;
        rig.reply(first, &token(0));
        let since = rig.now;
        loop {
            let (door, opts_in) = rig.long_look();
            let seen = rig.now - since;
            assert!(opts_in == (seen >= attempt * 2) && seen < attempt * 3, "{seen:?}: {opts_in}");
            if opts_in {
                break;
            }
            rig.reply(door, &token(0));
        }
        rig.redlock.cancel(rig.now, lock).expect("it waits");
    }
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
        rig.advance(ms(500));
        assert!((0..5).all(|index| !rig.has_output(index)), "{index}: {push}");
    }
}

#[test]
fn who_listens_knocks_when_the_key_should_have_ended_by_itself_and_then_looks() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    rig.listens(2_000);
    let asked = rig.now;
    rig.knocks_in_vain();
    let after = rig.now - asked;
    assert!(after >= ms(2_000) && after <= ms(2_010), "{after:?}");
    rig.long_look();
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
        assert!(
            sent.iter().any(|sent| sent.first().is_some_and(|c| c == "GETRANGE r 0 39")),
            "{sent:?}"
        );
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
                    Some("GETRANGE") => token(0),
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
