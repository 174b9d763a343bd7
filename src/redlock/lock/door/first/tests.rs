use super::super::tests::after;
use super::*;

#[test]
fn who_has_drawn_the_ticket_goes_first_until_its_end_and_another_one_goes_behind() {
    let life = Duration::from_millis(10);
    let looked_at = |millis| {
        let mut door = Door::default();
        door.look(after(millis), 1, true, true);
        door
    };
    let mut door = looked_at(0);
    assert!(!door.ticket().goes_first(after(0)) && !door.ticket().goes_behind(after(0)));
    // The node can have begun to count when the request left.
    door.ticket_answered(after(2), true, life);
    assert!(door.ticket().goes_first(after(9)) && !door.ticket().goes_first(after(10)));
    let mut door = looked_at(10);
    door.ticket_answered(after(12), false, life);
    assert!(!door.ticket().goes_first(after(12)));
    assert!(door.ticket().goes_behind(after(21)) && !door.ticket().goes_behind(after(22)));
}

#[test]
fn a_ticket_behind_a_token_that_has_gone_is_forgotten() {
    let mut door = Door::default();
    door.look(after(0), 1, true, true);
    door.saw(after(1), b"a token of somebody else");
    door.ticket_answered(after(2), true, Duration::from_secs(7));
    assert!(!door.ticket().goes_first(after(3)));
}
