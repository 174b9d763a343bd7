//! Tickets that nobody has any use for go back, and those who listen to one are told.

use super::{apart, *};

/// What gives the ticket with this number back.
pub(super) fn back(number: u64) -> String {
    format!("EVALSHA release 1 redbolt:next:{number:016x}:r ticket: ticket: tick")
}

/// Whoever listens apart would not be told, and would wait for one who is gone.
#[test]
fn a_request_that_has_the_lock_or_sees_another_owner_takes_the_first_ticket_away() {
    for ticket in [FIRST, SECOND] {
        for is_granted in [true, false] {
            let mut rig = answering(ticket);
            rig.refused(LONG_WAIT);
            let door = rig.listens(60_000);
            let number = rig.ticket_number;
            rig.ticket = None;
            rig.looks_after(door, &touched("r"));
            let mut sent = Vec::new();
            while (0..5).any(|index| rig.has_output(index)) {
                for (index, command) in rig.all_sent() {
                    if command.starts_with("SET r ") {
                        rig.reply(index, if is_granted { "+OK" } else { "$-1" });
                    }
                    sent.push(command);
                }
            }
            if !is_granted {
                let (door, _) = rig.long_look();
                rig.reply(door, &token(1));
                sent.extend(rig.all_sent().into_iter().map(|(_, command)| command));
            }
            let given = sent.iter().filter(|sent| **sent == back(number)).count();
            assert_eq!(given, 1, "{ticket:?} {is_granted}: {sent:?}");
        }
    }
}

/// Those who listen apart do so at the node that gave the ticket, and would wait for a peek.
#[test]
fn a_ticket_goes_back_to_its_node_which_may_have_no_vote_any_more() {
    let mut rig = answering(None);
    rig.refused(LONG_WAIT);
    let (at, command, _) = rig.until_ticket();
    rig.reply(at, "+OK");
    let door = rig.listens_at_once();
    rig.looks_after(door, &touched("r"));
    assert_eq!(rig.asked(), 5);
    rig.reply(at, "-OOM command not allowed");
    (0..5).filter(|index| *index != at).for_each(|index| rig.reply(index, "+OK"));
    assert!(matches!(rig.event(), Event::Acquired { .. }));
    let sent = rig.all_sent();
    let name = command.split(' ').nth(1).expect("a name");
    let expected = (at, format!("EVALSHA release 1 {name} ticket: ticket: tick"));
    assert_eq!(sent.iter().filter(|sent| **sent == expected).count(), 1, "{sent:?}");
}

/// A node can be late with its answer, and another one gives the tickets meanwhile.
#[test]
fn who_has_drawn_tickets_at_two_nodes_gives_one_of_them_back() {
    let mut rig = answering(None);
    rig.refused(LONG_WAIT);
    let (first, _, _) = rig.until_ticket();
    let (second, command, _) = rig.until_ticket();
    assert_ne!(first, second);
    rig.reply(second, "+OK");
    rig.reply(first, "+OK");
    let name = command.split(' ').nth(1).expect("a name");
    let expected = (second, format!("EVALSHA release 1 {name} ticket: ticket: tick"));
    let sent = rig.all_sent();
    assert_eq!(sent.iter().filter(|sent| **sent == expected).count(), 1, "{sent:?}");
}

/// Its owner is gone, or would have had the lock: the others would listen to it for half a minute.
#[test]
fn who_has_the_lock_takes_the_ticket_of_somebody_else_away_too() {
    let (mut rig, door, name) = apart::apart();
    let mut given = Vec::new();
    while rig.redlock.counters().acquired == 0 {
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        for (index, command) in rig.all_sent() {
            rig.reply(index, if command.starts_with("SET r ") { "+OK" } else { "$0\r\n" });
            given.extend(command.contains("next:").then_some((index, command)));
        }
    }
    for (index, command) in rig.all_sent() {
        given.extend(command.contains("next:").then_some((index, command)));
    }
    let expected = format!("EVALSHA release 1 {name} ticket: ticket: tick");
    assert_eq!(given, [(door, expected)]);
}

/// The other one is still there, and would go first as well as the next one.
#[test]
fn a_request_that_gives_up_or_steps_back_takes_its_own_ticket_away() {
    for (ticket, nth) in [(FIRST, 0), (SECOND, 1)] {
        for steps_back in [false, true] {
            let mut rig = answering(ticket);
            let lock = rig.refused(LONG_WAIT);
            rig.listens(60_000);
            let number = rig.ticket_number.wrapping_add(nth);
            rig.ticket = None;
            match steps_back {
                true => {
                    let token = Token::from_bytes([7; 20]);
                    let adopted = rig.redlock.adopt(rig.now, &["r"], token, TTL, WAIT);
                    adopted.expect("it is in bounds");
                }
                false => rig.redlock.cancel(rig.now, lock).expect("it waits"),
            }
            let sent = rig.all_sent();
            let given: Vec<_> = sent.iter().filter(|(_, sent)| sent.contains("next:")).collect();
            assert!(given.len() == 1 && given[0].1 == back(number), "{ticket:?}: {sent:?}");
        }
    }
}

/// Many ask at one moment when a ticket ends, and pauses can be shorter than their answers.
#[test]
fn a_ticket_that_is_drawn_late_is_used_or_given_back() {
    for end in 0..3 {
        let mut rig = answering(None);
        let lock = rig.refused(LONG_WAIT);
        let (at, command, _) = rig.until_ticket();
        let number = command.split(':').nth(2).expect("a number").to_owned();
        let number = u64::from_str_radix(&number, 16).expect("a number");
        if end == 0 {
            rig.redlock.cancel(rig.now, lock).expect("it waits");
            rig.reply(at, "+OK");
        } else {
            // Another look leaves before the answer comes.
            let (door, _) = rig.any_look();
            rig.reply(at, "+OK");
            rig.reply(door, &token(end - 1));
            rig.reply(door, ":60000");
        }
        let sent = rig.all_sent();
        let is_back = sent.iter().any(|(_, sent)| *sent == back(number));
        assert_eq!(is_back, end != 1, "{end}: {sent:?}");
        if end == 1 {
            rig.listens_at_once();
        }
    }
}

#[test]
fn who_gives_up_with_a_ticket_on_its_way_leaves_nothing_behind() {
    let mut rig = answering(None);
    let lock = rig.refused(LONG_WAIT);
    let (at, _, _) = rig.until_ticket();
    rig.redlock.cancel(rig.now, lock).expect("it waits");
    rig.events();
    assert_eq!(rig.redlock.in_use(), 1);
    rig.close(at);
    assert_eq!(rig.redlock.in_use(), 0);
}
