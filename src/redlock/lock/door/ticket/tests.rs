use super::*;

#[test]
fn who_has_drawn_the_ticket_goes_first_until_its_end_and_another_one_goes_behind() {
    let at = |millis| Instant::ZERO + Duration::from_millis(millis);
    let life = Duration::from_millis(10);
    let mut ticket = Ticket::default();
    assert!(!ticket.goes_first(at(0)) && !ticket.goes_behind(at(0)));
    ticket.answered(at(0), at(2), true, life);
    // The node has it still.
    ticket.answered(at(5), at(7), false, life);
    assert!(ticket.goes_first(at(9)) && !ticket.goes_first(at(10)));
    ticket.answered(at(10), at(12), false, life);
    assert!(!ticket.goes_first(at(12)));
    assert!(ticket.goes_behind(at(21)) && !ticket.goes_behind(at(22)));
}
