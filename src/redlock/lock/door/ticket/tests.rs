use core::time::Duration;

use super::*;

#[test]
fn who_has_drawn_the_ticket_goes_first_until_its_end() {
    let now = Instant::from_nanos(1_000);
    let [soon, late] = [1, 2].map(|after| now + Duration::from_nanos(after));
    let mut ticket = Ticket::default();
    assert!(!ticket.goes_first(now));
    ticket.answered(now, true, late);
    ticket.answered(soon, false, late + Duration::from_secs(1));
    assert!(ticket.goes_first(soon) && !ticket.goes_first(late));
    ticket.answered(late, false, late + Duration::from_secs(1));
    assert_eq!(ticket, Ticket::Gone);
}
