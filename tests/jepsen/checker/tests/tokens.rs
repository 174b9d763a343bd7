//! Tokens, which are used once, and locks that change hands.

use super::*;

/// Writes that client 1 has given its lock away at 50, or has not.
fn given(is_given: bool) -> Story {
    let story = Story::default().held(1, 1, R, 10, 100).releasing(50, 1, 49);
    story.tell(51, 1, 1, if is_given { What::Gave } else { What::Released })
}

/// Writes that client 2 adopts a token at 60.
fn adopted(story: Story, adopts: Option<&str>, token: &str) -> Story {
    let story = story.tell(60, 2, 1, wanted(&[R], 102, 0, adopts)).votes(&[0, 1], token, 102, 60);
    let held = held(token, 160);
    story.tell(61, 2, 1, held)
}

#[test]
fn a_token_is_used_once() {
    let story = Story::default().held(1, 1, "a", 10, 20);
    adopted(story, None, "1.1").is_faulty("with the token of (1, 1)");
}

#[test]
fn a_lock_changes_hands_once_it_was_given() {
    let story = adopted(given(true), Some("1.1"), "1.1");
    assert_eq!(story.verdict().adoptions, 1);
    story.is_fine();
    adopted(given(false), Some("1.1"), "1.1").is_faulty("never gave");
    adopted(Story::default(), Some("9.9"), "9.9").is_faulty("nobody had");
    adopted(given(true), Some("1.1"), "2.2").is_faulty("another token");
    let twice = adopted(given(true), Some("1.1"), "1.1");
    let twice = twice.tell(70, 3, 1, wanted(&["other"], 102, 0, Some("1.1")));
    let twice = twice.votes(&[0, 1], "1.1", 102, 70);
    let held = held("1.1", 170);
    twice.tell(71, 3, 1, held).is_faulty("never gave");
}

#[test]
fn both_owners_of_a_token_are_never_owners_at_once() {
    let story = Story::default().held(1, 1, R, 10, 100);
    let story = adopted(story, Some("1.1"), "1.1");
    let verdict = story.verdict();
    assert_eq!((verdict.double_holds.len(), verdict.faults.len()), (1, 1), "{verdict:?}");
}

#[test]
fn a_client_that_leaves_may_have_given_its_lock_away() {
    given(true).tell(70, 1, 0, What::Left).is_fine();
}
