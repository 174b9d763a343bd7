//! Who has no ticket listens to that of another, and not to the lock.

use super::*;

/// Creates five nodes and a request that listens to the ticket of somebody else. Returns the node
/// of the ticket and its name, too.
fn apart() -> (Rig, usize, String) {
    let mut rig = answering(None);
    rig.refused(LONG_WAIT);
    let (door, command, _) = rig.until_ticket();
    let name = command.split(' ').nth(1).expect("a name").to_owned();
    rig.reply(door, "$-1");
    assert_eq!(rig.until_ticket().0, door);
    rig.shows_opt_ins = true;
    rig.reply(door, "$-1");
    assert_eq!(rig.all_sent(), [(door, format!("OPTIN PTTL {name}"))]);
    rig.shows_opt_ins = false;
    rig.reply(door, ":20000");
    (rig, door, name)
}

/// Of a hundred who were told at one moment, one would be served, and all would take its time.
#[test]
fn who_has_no_ticket_is_told_of_the_ticket_and_not_of_the_lock() {
    let (mut rig, door, ticket) = apart();
    let since = rig.now;
    let lag = rig.looks_after(door, &touched("r"));
    assert!(lag >= ms(2_000), "a peek comes next: {lag:?}");
    rig.all_sent().iter().for_each(|(index, _)| rig.reply(*index, &token(0)));
    assert!(rig.now - since <= ms(3_000));
    let lag = rig.looks_after(door, &touched(&ticket));
    assert!((ms(4)..=ms(9)).contains(&lag), "{lag:?}");
    // The next owner is no long one yet.
    assert_eq!(rig.all_sent(), [(door, "GETRANGE r 0 39".to_owned()), (door, "PTTL r".to_owned())]);
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
        let mut rig = answering(None);
        rig.refused(LONG_WAIT);
        let (at, _, _) = rig.until_ticket();
        rig.reply(at, "$-1");
        rig.until_ticket();
        rig.reply(at, "$-1");
        assert_eq!(rig.sent(at).len(), 1);
        let told = rig.now;
        rig.reply(at, ttl);
        let (_, [opts_in, _]) = rig.any_look();
        assert_eq!(opts_in, is_for_lock, "{ttl}");
        let least = if is_for_lock { ms(0) } else { ms(20) };
        assert!(rig.now - told >= least, "{ttl}: {:?}", rig.now - told);
    }
}
