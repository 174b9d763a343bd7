//! Fencing numbers: who has accepted them, how often they come, and in which order.

use super::*;
use crate::log::Accepted;

impl Story {
    /// Writes that nodes have accepted a number with this token.
    pub(super) fn accepts(mut self, nodes: &[usize], token: &str, fence: u64) -> Self {
        for &node in nodes {
            let (at, token, is_raised) = (0, token.to_owned(), false);
            self.0.push(Entry::Accepted(Accepted { at, node, token, fence, is_raised }));
        }
        self
    }

    /// Writes a lock with a number that a majority has accepted. Its attempt began at `since`, and
    /// its client knew at `from`.
    pub(super) fn fenced(self, client: u32, times: [u64; 3], fence: u64) -> Self {
        self.fenced_set(client, &[R], times, fence)
    }

    pub(super) fn fenced_set(
        self,
        client: u32,
        resources: &[&str],
        times: [u64; 3],
        fence: u64,
    ) -> Self {
        let [since, from, until] = times;
        let (token, ttl) = (format!("{client}.1"), until - since + PRECISION);
        let story = self.tell(since, client, 1, numbered(resources, ttl));
        let story = story.accepts(&[0, 1], &token, fence);
        let held = What::Held { token, until: until * NANOS_PER_MS, fence: Some(fence) };
        story.votes(&[0, 1], &format!("{client}.1"), ttl, since).tell(from, client, 1, held)
    }

    /// Writes that client 1 draws a new number between these times, which these nodes accept.
    fn draws(self, asked: u64, told: u64, nodes: &[usize], fence: u64) -> Self {
        let story = self.tell(asked, 1, 1, What::Drawing).accepts(nodes, "1.1", fence);
        story.tell(told, 1, 1, What::Drawn { fence })
    }

    /// Checks that these are the counts of numbers that came twice, that are out of order, and that
    /// no majority has accepted.
    pub(super) fn has_numbers(&self, twice: usize, out_of_order: usize, unaccepted: usize) {
        let verdict = self.verdict();
        let found = (verdict.twice, verdict.out_of_order, verdict.unaccepted);
        assert_eq!(found, (twice, out_of_order, unaccepted), "{verdict:#?}");
        assert_eq!(verdict.faults.len(), twice + out_of_order + unaccepted, "{verdict:#?}");
    }
}

fn numbered(resources: &[&str], ttl: u64) -> What {
    let resources = resources.iter().map(|&name| name.to_owned()).collect();
    What::Wanted { resources, ttl, wait: 0, keeps: 0, adopts: None, is_fenced: true }
}

#[test]
fn numbers_that_grow_are_fine() {
    let story = Story::default().fenced(1, [10, 11, 20], 5).fenced(2, [20, 21, 30], 6);
    story.has_numbers(0, 0, 0);
    assert_eq!(story.verdict().numbers, 2);
    story.fenced(3, [40, 41, 50], 9).has_numbers(0, 0, 0);
}

#[test]
fn a_number_that_comes_twice_is_found() {
    let first = || Story::default().fenced(1, [10, 11, 20], 5);
    first().fenced(2, [20, 21, 30], 5).has_numbers(1, 0, 0);
    // Also by a client that does not believe in the lock any more.
    first().fenced(2, [8, 21, 15], 5).has_numbers(1, 0, 0);
    // For another resource it is another number.
    first().fenced_set(2, &["other"], [20, 21, 30], 5).has_numbers(0, 0, 0);
}

#[test]
fn a_smaller_number_behind_a_larger_one_is_found() {
    Story::default().fenced(1, [10, 11, 20], 6).fenced(2, [20, 21, 30], 5).has_numbers(0, 1, 0);
    // Whoever wrote first.
    Story::default().fenced(2, [20, 21, 30], 5).fenced(1, [10, 11, 20], 6).has_numbers(0, 1, 0);
    // Behind others that are in order.
    let story = Story::default().fenced(1, [10, 11, 20], 6).fenced(2, [20, 21, 30], 7);
    story.fenced(3, [31, 32, 40], 6).has_numbers(1, 1, 0);
}

/// P1: the order needs no belief, where one was known before the other began.
#[test]
fn a_number_that_was_known_before_an_attempt_began_is_smaller() {
    // Its lock was over before its client knew.
    let late = || Story::default().fenced(1, [10, 25, 20], 6);
    late().fenced(2, [26, 27, 40], 5).has_numbers(0, 1, 0);
    // The attempt of client 2 has begun before, and client 2 is also too late to believe.
    late().fenced(2, [18, 50, 19], 5).has_numbers(0, 0, 0);
}

/// P2: the order of holding counts also where the attempts overlapped.
#[test]
fn a_lock_that_is_over_before_the_next_is_believed_in_has_a_smaller_number() {
    let overlapping = |until| Story::default().fenced(1, [10, 22, until], 6);
    overlapping(23).fenced(2, [12, 23, 30], 5).has_numbers(0, 1, 0);
    overlapping(23).fenced(2, [12, 23, 30], 7).has_numbers(0, 0, 0);
    // The first client learned too late that it has held the lock until 20.
    overlapping(20).fenced(2, [12, 20, 30], 5).has_numbers(0, 1, 0);
    // Released at 14, and held by another one before its client knew of its number at 22.
    let released = Story::default().fenced(1, [10, 11, 60], 6).releasing(14, 1, 13);
    released.fenced(2, [12, 14, 30], 5).has_numbers(0, 1, 0);
}

#[test]
fn a_number_needs_a_majority_that_has_accepted_exactly_that_with_its_token() {
    let held = |story: Story| {
        let token = "1.1".to_owned();
        let held = What::Held { token, until: 20 * NANOS_PER_MS, fence: Some(5) };
        let story = story.tell(10, 1, 1, numbered(&[R], 10 + PRECISION));
        story.votes(&[0, 1], "1.1", 10 + PRECISION, 10).tell(11, 1, 1, held)
    };
    let story = Story::default;
    held(story().accepts(&[0, 2], "1.1", 5)).has_numbers(0, 0, 0);
    held(story().accepts(&[0], "1.1", 5)).has_numbers(0, 0, 1);
    held(story().accepts(&[1, 1], "1.1", 5)).has_numbers(0, 0, 1);
    held(story().accepts(&[0], "1.1", 5).accepts(&[1], "1.1", 4)).has_numbers(0, 0, 1);
    held(story().accepts(&[0], "1.1", 5).accepts(&[1], "2.1", 5)).has_numbers(0, 0, 1);
    held(story().accepts(&[0], "1.1", 5)).accepts(&[1], "1.1", 5).has_numbers(0, 0, 1);
}

#[test]
fn a_new_number_is_larger_than_the_old_one_and_smaller_than_the_next() {
    let story = || Story::default().fenced(1, [10, 11, 30], 5);
    story().draws(12, 14, &[0, 1], 7).fenced(2, [30, 31, 40], 8).has_numbers(0, 0, 0);
    assert_eq!(story().draws(12, 14, &[0, 1], 7).verdict().draws, 1);
    story().draws(12, 14, &[0, 1], 4).has_numbers(0, 1, 0);
    story().draws(12, 14, &[0, 1], 5).has_numbers(1, 0, 0);
    story().draws(12, 14, &[1], 7).has_numbers(0, 0, 1);
    story().draws(12, 14, &[0, 1], 7).fenced(2, [30, 31, 40], 6).has_numbers(0, 1, 0);
    // Drawn in time, and read when the client had begun to release.
    let late = story().tell(12, 1, 1, What::Drawing).accepts(&[0, 1], "1.1", 7);
    let late = late.releasing(20, 1, 19).tell(21, 1, 1, What::Drawn { fence: 7 });
    late.fenced(2, [15, 25, 40], 6).has_numbers(0, 1, 0);
}

#[test]
fn the_number_of_a_set_is_in_order_in_each_of_its_resources() {
    let set = |story: Story, fence| story.fenced_set(3, &["a", "b"], [30, 31, 40], fence);
    let before = || {
        let story = Story::default().fenced_set(1, &["a"], [10, 11, 20], 5);
        story.fenced_set(2, &["b"], [10, 11, 20], 7)
    };
    let story = set(before(), 8);
    story.has_numbers(0, 0, 0);
    assert_eq!((story.verdict().numbers, story.verdict().set_numbers), (3, 1));
    // Above one of the two, or above none.
    set(before(), 6).has_numbers(0, 1, 0);
    set(before(), 7).has_numbers(1, 0, 0);
    set(before(), 4).has_numbers(0, 2, 0);
    let behind = |resource: &str, fence| {
        set(Story::default(), 8).fenced_set(4, &[resource, "c"], [40, 41, 50], fence)
    };
    behind("a", 9).has_numbers(0, 0, 0);
    behind("b", 7).has_numbers(0, 1, 0);
    behind("d", 7).has_numbers(0, 0, 0);
}

#[test]
fn numbers_are_asked_for_and_each_draw_ends_once() {
    let story = || Story::default().held(1, 1, R, 10, 100);
    let why = || "no quorum".to_owned();
    story().tell(11, 1, 1, What::Drawn { fence: 5 }).is_faulty("nobody has asked");
    story().tell(11, 1, 1, What::NotDrawn { why: why() }).is_faulty("nobody has asked");
    let drawing = || story().tell(11, 1, 1, What::Drawing);
    drawing().tell(12, 1, 1, What::NotDrawn { why: why() }).is_fine();
    drawing().tell(12, 1, 1, What::Drawing).is_faulty("Held");
    // It ends with the lock.
    drawing().lost(12, 1, 11).is_fine();
    let token = "1.1".to_owned();
    let held = What::Held { token, until: 20 * NANOS_PER_MS, fence: Some(5) };
    let story = Story::default().tell(10, 1, 1, wanted(&[R], 10 + PRECISION, 0, None));
    let story = story.votes(&[0, 1], "1.1", 10 + PRECISION, 10).accepts(&[0, 1], "1.1", 5);
    story.tell(11, 1, 1, held).is_faulty("not asked for");
    let without = Story::default().tell(10, 1, 1, numbered(&[R], 10 + PRECISION));
    let without = without.votes(&[0, 1], "1.1", 10 + PRECISION, 10);
    without.tell(11, 1, 1, super::held("1.1", 20)).is_faulty("or without");
}
