use super::super::tests::after;
use super::*;

#[test]
fn who_has_a_ticket_goes_first_or_second_until_its_end_and_others_behind() {
    let ends = after(10);
    let rows = [
        (Ticket::Unknown, [false; 4]),
        (Ticket::Free, [false; 4]),
        (Ticket::First { ends }, [true, false, true, true]),
        (Ticket::Second { ends }, [false, true, true, true]),
        (Ticket::Gone { ends }, [false, true, false, false]),
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

/// The node can have begun to count when the request left.
#[test]
fn the_life_of_a_ticket_counts_from_the_look_before() {
    let mut door = Door::default();
    door.look(after(2), 1, true, true);
    assert_eq!(door.drawn_until(Duration::from_millis(10)), after(12));
}

#[test]
fn a_ticket_behind_a_token_that_has_gone_is_forgotten() {
    let mut door = Door::default();
    door.look(after(0), 1, true, true);
    door.saw(after(1), b"a token of somebody else");
    let before = door.first_ticket();
    door.learn_ticket(Ticket::First { ends: after(9) });
    door.saw(after(2), b"another token");
    assert!(!door.ticket().is_known(after(3)));
    assert_ne!(door.first_ticket(), before);
}
