//! The register: who is let in, and when.

use super::*;
use crate::log::Deposit;

impl Story {
    /// Writes what the register did when this client came with a mark, or with a new value.
    fn comes(self, client: u32, fence: u64, read: Option<u64>, is_accepted: bool) -> Self {
        self.comes_for(R, client, fence, read, is_accepted)
    }

    fn comes_for(
        mut self,
        resource: &str,
        client: u32,
        fence: u64,
        read: Option<u64>,
        is_accepted: bool,
    ) -> Self {
        let (at, request, resource) = (0, 1, resource.to_owned());
        let deposit = Deposit { at, client, request, resource, fence, read, is_accepted };
        self.0.push(Entry::Deposit(deposit));
        self
    }
}

/// Two holders, one after the other, with these numbers, and the mark and the write of the first.
fn two(first: u64, second: u64) -> Story {
    let story = Story::default().fenced(1, [10, 11, 20], first).fenced(2, [20, 21, 30], second);
    story.comes(1, first, None, true).comes(1, first, Some(0), true)
}

#[test]
fn holders_that_come_in_their_order_are_fine() {
    let story = two(5, 6).comes(2, 6, None, true).comes(2, 6, Some(1), true);
    story.is_fine();
    assert_eq!((story.verdict().writes, story.verdict().late_writes), (4, 0));
}

#[test]
fn a_late_write_is_refused_behind_the_mark_of_a_newer_holder() {
    let story = two(5, 6).comes(2, 6, None, true).comes(1, 5, Some(1), false);
    story.is_fine();
    assert_eq!(story.verdict().late_writes, 1);
    // Where nobody has come since, it does no harm.
    two(5, 6)
        .comes(1, 5, Some(1), true)
        .comes(2, 6, None, true)
        .comes(2, 6, Some(2), true)
        .is_fine();
}

#[test]
fn a_late_write_that_is_accepted_is_found() {
    let late = two(5, 6).comes(2, 6, None, true).comes(1, 5, Some(1), true);
    late.is_faulty("the largest number was 6");
    // By numbers that are out of order the register is deceived, and by none else.
    let verdict = two(6, 5).comes(2, 5, None, false).verdict();
    assert_eq!((verdict.out_of_order, verdict.faults.len()), (1, 1), "{verdict:?}");
    let twice = two(5, 5).comes(2, 5, None, true).comes(1, 5, Some(1), true).verdict();
    let found = twice.faults.iter().filter(|fault| fault.contains("let in behind (2, 1)")).count();
    assert_eq!((twice.twice, found, twice.faults.len()), (1, 1, 2), "{twice:?}");
}

/// The number of a holder that nobody has seen in the order is not excused by its own late news.
#[test]
fn a_late_write_of_a_holder_whose_lock_was_over_when_it_knew_is_found() {
    let story = Story::default().fenced(1, [10, 25, 20], 6).fenced(2, [12, 20, 30], 6);
    let verdict = story.comes(2, 6, None, true).comes(1, 6, None, true).verdict();
    assert!(verdict.faults.iter().any(|fault| fault.contains("let in behind (2, 1)")));
}

#[test]
fn a_value_that_is_lost_is_found() {
    // The second holder has read before it left its mark, and a late write came in between.
    let lost = two(5, 6).comes(1, 5, Some(1), true).comes(2, 6, None, true);
    lost.comes(2, 6, Some(1), true).is_faulty("a value is lost: the version was 2");
}

#[test]
fn only_holders_come_with_the_numbers_that_they_were_told() {
    two(5, 6).comes(2, 7, None, true).is_faulty("nobody gave it");
    two(5, 6).comes(3, 6, None, true).is_faulty("nobody gave it");
    two(5, 6).comes(2, 6, None, false).is_faulty("the largest number was 5");
}

#[test]
fn the_holder_of_a_set_comes_once_for_each_resource() {
    let set = || {
        let story = Story::default().fenced(1, [10, 11, 20], 5);
        story.fenced_set(2, &[R, "other"], [20, 21, 30], 6).comes(1, 5, None, true)
    };
    let marks = || set().comes(2, 6, None, true).comes_for("other", 2, 6, None, true);
    marks().comes(2, 6, Some(0), true).comes_for("other", 2, 6, Some(0), true).is_fine();
    marks().comes(1, 5, Some(0), false).is_fine();
    marks().comes(1, 5, Some(0), true).is_faulty("the largest number was 6");
    set().comes_for("third", 2, 6, None, true).is_faulty("nobody gave it");
}
