//! Questions, shutdowns, and children.

use super::*;
use crate::log::{Empty, LINKS, Weather};

impl Story {
    /// Writes that nodes have said that there is nothing, as they were asked then.
    fn empty(mut self, nodes: &[usize], asked: u64, at: u64) -> Self {
        for &node in nodes {
            let (at, asked) = (at * NANOS_PER_MS, asked * NANOS_PER_MS);
            self.0.push(Entry::Empty(Empty { at, node, resource: R.to_owned(), asked }));
        }
        self
    }

    fn foul(mut self, nodes: &[usize], at: u64, is_foul: bool) -> Self {
        for &node in nodes {
            self.0.push(Entry::Weather(Weather { at: at * NANOS_PER_MS, node, is_foul }));
        }
        self
    }

    fn asks(self, at: u64) -> Self {
        self.tell(at, 9, 1, What::Asking { resource: R.to_owned() })
    }

    fn answered(self, at: u64, is_free: bool) -> Self {
        self.tell(at, 9, 1, What::Answered { is_free, answer: "words".to_owned() })
    }

    fn shuts_down(self, from: u64, until: u64, is_complete: bool) -> Self {
        self.tell(from, 1, 0, What::Closing).tell(until, 1, 0, What::Closed { is_complete })
    }
}

#[test]
fn nobody_holds_a_resource_only_if_a_quorum_has_said_so() {
    let story = |nodes: &[usize], asked, at| {
        Story::default().asks(50).empty(nodes, asked, at).answered(60, true)
    };
    story(&[0, 1], 51, 60).is_fine();
    story(&[0], 51, 60).is_faulty("have said that there is nothing");
    story(&[1, 1], 51, 60).is_faulty("have said that there is nothing");
    story(&[], 51, 60).is_faulty("have said that there is nothing");
    // To an older question.
    story(&[0, 1], 49, 60).is_faulty("have said that there is nothing");
    story(&[0, 1], 51, 61).is_faulty("have said that there is nothing");
    Story::default().asks(50).answered(60, false).is_fine();
    Story::default().answered(60, false).is_faulty("nobody asked");
}

#[test]
fn a_line_about_an_older_answer_that_comes_late_hides_nothing() {
    let story = Story::default().asks(50).empty(&[0, 1], 51, 59);
    story.empty(&[2], 40, 49).answered(60, true).is_fine();
}

#[test]
fn nobody_holds_a_resource_only_if_nobody_believes_all_the_time() {
    let story = |from, until| {
        let story = Story::default().held(1, 1, R, from, until);
        story.asks(50).empty(&[0, 1], 51, 59).answered(60, true)
    };
    story(50, 60).is_faulty("under (1, 1)");
    story(10, 100).is_faulty("under (1, 1)");
    story(51, 100).is_fine();
    story(10, 59).is_fine();
}

#[test]
fn a_shutdown_is_complete_and_fast_while_a_quorum_is_well() {
    let shuts_down = |long: u64, is_complete| {
        Story::default().foul(&[2], 10, true).shuts_down(500, 500 + long, is_complete)
    };
    shuts_down(50, true).is_fine();
    shuts_down(51, true).is_faulty("after 51 ms");
    shuts_down(50, false).is_faulty("after 50 ms");
    assert_eq!(shuts_down(50, true).verdict().shutdowns, [1, 1]);
    Story::default()
        .tell(5, 1, 0, What::Closed { is_complete: true })
        .is_faulty("nobody had begun");
    let held = Story::default().held(1, 1, R, 10, 100).shuts_down(20, 30, true);
    held.is_faulty("open requests");
}

#[test]
fn a_shutdown_is_excused_by_the_nemesis_and_by_the_machine() {
    let foul = |at, is_well: &[u64]| {
        let story = Story::default().foul(&[2], 10, true).foul(&[1], at, true);
        is_well.iter().fold(story, |story, &at| story.foul(&[1], at, false))
    };
    // A second node, which is not well for as long as it takes to settle, or becomes foul.
    foul(350, &[399]).shuts_down(500, 900, true).is_faulty("after 400 ms");
    foul(350, &[401]).shuts_down(500, 900, true).is_fine();
    foul(350, &[]).shuts_down(500, 900, false).is_fine();
    foul(600, &[601]).shuts_down(500, 900, false).is_fine();
    foul(901, &[]).shuts_down(500, 900, false).is_faulty("after 400 ms");
    let late = |client| {
        let closing = Story::default().tell(500, 1, 0, What::Closing);
        let late = closing.tell(860, client, 0, What::Late { since: 510 * NANOS_PER_MS });
        late.tell(900, 1, 0, What::Closed { is_complete: true })
    };
    late(1).is_fine();
    late(LINKS).is_fine();
    late(2).is_faulty("after 400 ms");
}

#[test]
fn what_two_processes_missed_at_the_same_time_excuses_once() {
    let story = |long: u64| {
        let late = |since| What::Late { since: since * NANOS_PER_MS };
        let closing = Story::default().tell(500, 1, 0, What::Closing);
        let late = closing.tell(530, 1, 0, late(510)).tell(540, LINKS, 0, late(515));
        late.tell(500 + long, 1, 0, What::Closed { is_complete: true })
    };
    story(80).is_fine();
    story(81).is_faulty("after 51 ms");
}

#[test]
fn a_watch_may_speak_after_the_shutdown_that_is_excused() {
    let closed = Story::default().shuts_down(500, 580, true);
    closed.tell(600, LINKS, 0, What::Late { since: 540 * NANOS_PER_MS }).is_fine();
}

#[test]
fn a_child_is_refused() {
    let forked = |is_refused| {
        let what = What::Forked { is_refused, deed: "to acquire a lock".to_owned() };
        Story::default().tell(5, 1, 0, what)
    };
    forked(true).is_fine();
    forked(false).is_faulty("by a child");
}
