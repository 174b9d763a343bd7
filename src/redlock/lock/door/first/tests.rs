use super::super::tests::after;
use super::*;
use crate::redlock::node_set::NodeId;

#[test]
fn who_has_a_ticket_goes_first_or_second_until_its_end_and_others_behind() {
    let (ends, at) = (after(10), NodeId::new(0).expect("there is one"));
    let rows = [
        (Ticket::Unknown, [false; 4]),
        (Ticket::Free, [false; 4]),
        (Ticket::First { ends, at }, [true, false, true, true]),
        (Ticket::Second { ends, at }, [false, true, true, true]),
        (Ticket::Gone { ends, at }, [false, true, false, false]),
        (Ticket::Refused { ends }, [false, false, true, false]),
    ];
    for (ticket, expected) in rows {
        let found = |now| {
            [
                ticket.goes_first(now),
                ticket.goes_behind(now),
                ticket.hears_of_lock(now),
                ticket.is_drawn(now),
            ]
        };
        assert_eq!(found(after(9)), expected, "{ticket:?}");
        let is_known = !matches!(ticket, Ticket::Unknown | Ticket::Free);
        assert_eq!(ticket.is_known(after(9)), is_known, "{ticket:?}");
        assert_eq!(found(ends), [false; 4], "{ticket:?}");
        assert!(!ticket.is_known(ends), "{ticket:?}");
    }
}

/// A key of the dead at another node shows a token that nobody has the lock with.
#[test]
fn a_ticket_counts_behind_its_own_token_alone() {
    let (owner, other) = (b"a token of somebody else", b"another token");
    for is_usual in [true, false] {
        let mut door = Door::default();
        door.saw(after(0), owner);
        (1..4).for_each(|number| door.look(after(0), number, false, false));
        (1..4).for_each(|_| door.saw(after(0), owner));
        door.learn_ticket(Ticket::First {
            ends: after(9),
            at: NodeId::new(0).expect("there is one"),
        });
        let token = door.token();
        if is_usual {
            // Every fourth look goes to another node, and the next one does not.
            door.look(after(1), 4, false, false);
        }
        door.look(after(1), 5, false, false);
        door.saw(after(1), other);
        assert!(!door.ticket().is_known(after(2)));
        let old = door.take_old_ticket(after(2));
        assert_eq!(old.is_some(), is_usual);
        door.saw(after(2), owner);
        assert_eq!(door.token(), token);
        assert_eq!(door.ticket().goes_first(after(3)), !is_usual);
    }
}
