//! Who has no ticket listens to that of another, and not to the lock.

use super::*;

/// Creates five nodes and a request that listens to the ticket of somebody else. Returns the node
/// of the ticket and its name, too.
pub(super) fn apart() -> (Rig, usize, String) {
    let mut rig = answering(None);
    rig.refused(LONG_WAIT);
    let (door, name) = rig.listens_apart();
    (rig, door, name)
}

/// Creates five nodes and a request that asks for the end of a ticket. Returns the node, too.
fn asking() -> (Rig, usize) {
    let mut rig = answering(None);
    rig.refused(LONG_WAIT);
    for _ in 0..2 {
        let (at, _, _) = rig.until_ticket();
        rig.reply(at, "$-1");
    }
    let sent = rig.all_sent();
    assert!(sent.len() == 1 && sent[0].1.starts_with("PTTL redbolt:next:"), "{sent:?}");
    (rig, sent[0].0)
}

impl Rig {
    /// Lets the one request want tickets in vain. Returns the node, and the ticket to which the
    /// request listens then.
    fn listens_apart(&mut self) -> (usize, String) {
        let (door, command, _) = self.until_ticket();
        let name = command.split(' ').nth(1).expect("a name").to_owned();
        self.reply(door, "$-1");
        assert_eq!(self.until_ticket().0, door);
        self.shows_opt_ins = true;
        self.reply(door, "$-1");
        assert_eq!(self.all_sent(), [(door, format!("OPTIN PTTL {name}"))]);
        self.shows_opt_ins = false;
        self.reply(door, ":20000");
        (door, name)
    }
}

/// Of a hundred who were told at one moment, one would be served, and all would take its time.
#[test]
fn who_has_no_ticket_is_told_of_the_ticket_and_not_of_the_lock() {
    let (mut rig, door, ticket) = apart();
    let since = rig.now;
    let lag = rig.looks_after(door, &touched("r"));
    assert!(lag >= ms(100) && rig.redlock.is_pausing(), "a peek comes next: {lag:?}");
    rig.all_sent().iter().for_each(|(index, _)| rig.reply(*index, &token(0)));
    assert!(rig.now - since <= ms(3_000));
    let lag = rig.looks_after(door, &touched(&ticket));
    assert!((ms(4)..=ms(9)).contains(&lag), "{lag:?}");
    // The next owner is no long one yet.
    assert_eq!(rig.all_sent(), [(door, "GETRANGE r 0 39".to_owned()), (door, "PTTL r".to_owned())]);
}

/// Those who began together would read the nodes at one moment, and nobody for seconds after that.
#[test]
fn the_first_peeks_of_those_who_listen_to_a_ticket_come_at_any_time() {
    let first_peek = |seed| {
        let mut rig = telling_with(seed);
        rig.ticket = None;
        rig.refused(LONG_WAIT);
        rig.listens_apart();
        let since = rig.now;
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        rig.now - since
    };
    let mut peeks: Vec<_> = (0..40).map(first_peek).collect();
    peeks.sort_unstable();
    assert!(peeks[4] <= ms(1_000) && peeks[35] >= ms(2_000), "{peeks:?}");
    assert!(peeks[39] <= ms(3_000), "{peeks:?}");
}

/// Others ask a node that has room, and find no tickets elsewhere.
#[test]
fn all_about_tickets_goes_to_one_node_whatever_room_there_is() {
    let mut rig = telling_as(5, 7, |config| config.max_pipeline = 1);
    rig.ticket = None;
    let lock = rig.refused(LONG_WAIT);
    rig.listens_apart();
    rig.redlock.cancel(rig.now, lock).expect("it waits");
    rig.events();
    assert_eq!(rig.redlock.in_use(), 0);
}

/// All who listen to one ticket would listen for the lock for half a minute.
#[test]
fn who_listens_to_a_ticket_where_a_session_or_all_keys_end_wants_a_ticket_elsewhere() {
    for is_flush in [false, true] {
        let (mut rig, door, _) = apart();
        match is_flush {
            true => {
                let bytes = format!("{FLUSHED}\r\n");
                rig.redlock.handle_received(rig.now, node(door), bytes.as_bytes());
                rig.run_actions();
            }
            false => rig.close(door),
        }
        let ended = rig.now;
        let (at, [opts_in, _]) = rig.any_look();
        let lag = rig.now - ended;
        assert!(!opts_in && (ms(4)..=ms(9)).contains(&lag), "{lag:?}");
        rig.reply(at, &token(0));
        rig.reply(at, ":60000");
        rig.until_ticket();
    }
}

/// A node can be late with its answer, and another one gives the tickets meanwhile.
#[test]
fn who_listens_to_a_ticket_and_has_drawn_one_elsewhere_listens_for_the_lock() {
    for (late, is_drawn) in [("+OK", true), ("$-1", false), ("-NOPERM no right to set", false)] {
        let mut rig = answering(None);
        rig.refused(LONG_WAIT);
        let (first, _, _) = rig.until_ticket();
        let (second, _) = rig.listens_apart();
        assert_ne!(first, second);
        rig.reply(first, late);
        rig.advance(ms(1));
        assert_eq!((0..5).any(|index| rig.has_output(index)), is_drawn, "{late}");
        if is_drawn {
            rig.listens_at_once();
        }
    }
}

/// The tickets of one node say nothing of those of another.
#[test]
fn who_finds_no_ticket_where_none_was_refused_draws_one() {
    for is_lost in [true, false] {
        let (mut rig, at) = asking();
        if is_lost {
            // No answer comes, and another node gives the tickets from here on.
            rig.close(at);
            let at = loop {
                let (door, [opts_in, _]) = rig.any_look();
                assert!(!opts_in);
                rig.reply(door, &token(0));
                rig.reply(door, ":60000");
                let is_asked = |sent: &(usize, String)| sent.1.starts_with("PTTL redbolt:next:");
                if let Some((at, _)) = rig.all_sent().into_iter().find(is_asked) {
                    break at;
                }
            };
            let since = rig.now;
            rig.reply(at, ":-2");
            rig.until_ticket();
            assert!(rig.now - since <= ms(1_000), "{:?}", rig.now - since);
        } else {
            rig.reply(at, ":-2");
            let (_, [opts_in, _]) = rig.any_look();
            assert!(opts_in);
        }
    }
}

/// Another request can have found that out while this one asks.
#[test]
fn nobody_listens_to_a_ticket_where_the_node_has_said_that_it_does_not_tell() {
    let (mut rig, at) = asking();
    rig.redlock.listen_no_more(rig.now, node(at));
    rig.reply(at, ":20000");
    let since = rig.now;
    rig.any_look();
    assert!(rig.now - since <= ms(1_000), "{:?}", rig.now - since);
}

/// Somebody else has the lock: whoever had the tickets is gone, or had no time to say so.
#[test]
fn who_listens_to_a_ticket_looks_soon_when_another_token_is_read_elsewhere() {
    for is_another in [false, true] {
        let (mut rig, door, _) = apart();
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        let peeked = rig.now;
        for (index, _) in rig.all_sent() {
            rig.reply(index, &token(u8::from(is_another)));
        }
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        assert_eq!(rig.now - peeked <= ms(1), is_another, "{:?}", rig.now - peeked);
        assert_eq!(rig.has_output(door), is_another);
    }
}

/// Another node than that of the tickets can tell, and is listened to then.
#[test]
fn where_the_node_of_the_tickets_tells_nothing_all_listen_for_the_lock() {
    let is_silent_door = |silent: usize| {
        let mut rig = Rig::unconnected_seeded(5, 7, |_| ());
        let masters = rig.masters.iter_mut().enumerate();
        masters.for_each(|(index, master)| master.tracks = index != silent);
        rig.connect_all(5);
        (rig.opens_doors, rig.ticket, rig.ttl) = (false, None, None);
        rig.refused(LONG_WAIT);
        let (at, _, _) = rig.until_ticket();
        rig.reply(at, "$-1");
        assert_eq!(rig.until_ticket().0, at);
        rig.reply(at, "$-1");
        let sent = rig.all_sent();
        let listens = !sent.iter().any(|(_, sent)| sent.starts_with("PTTL redbolt"));
        assert_eq!(listens, at == silent, "{sent:?}");
        if listens {
            rig.seen = token(0);
            rig.listens_at_once();
        }
        listens
    };
    assert_eq!((0..5).filter(|silent| is_silent_door(*silent)).count(), 1);
}

/// A node can lie, or forbid to ask, and its clock can be wrong.
#[test]
fn who_is_not_told_the_end_of_a_ticket_listens_for_the_lock_or_looks_as_ever() {
    for (ttl, is_for_lock) in [("-ERR what", true), (":-1", true), (":-2", true), (":1", false)] {
        let (mut rig, at) = asking();
        let told = rig.now;
        rig.reply(at, ttl);
        let (_, [opts_in, _]) = rig.any_look();
        assert_eq!(opts_in, is_for_lock, "{ttl}");
        let lag = rig.now - told;
        assert!(if is_for_lock { lag <= ms(1) } else { lag >= ms(20) }, "{ttl}: {lag:?}");
    }
}
