//! Tokens, which are used once, and locks that change hands.

use super::*;

/// Writes that client 1 has given its lock away at 50, or has not.
fn given(is_given: bool) -> Story {
    let story = Story::default().held(1, 1, R, 10, 100).releasing(50, 1, 49);
    story.tell(51, 1, 1, if is_given { What::Gave } else { What::Released })
}

/// Writes that client 2 adopts a token at 60.
fn adopted(story: Story, adopts: Option<&str>, token: &str) -> Story {
    adopted_with(story, adopts, token, None)
}

/// Writes that client 2 adopts a token at 60, and then has this number.
fn adopted_with(story: Story, adopts: Option<&str>, token: &str, fence: Option<u64>) -> Story {
    let story = story.tell(60, 2, 1, wanted(&[R], 102, 0, adopts)).votes(&[0, 1], token, 102, 60);
    let (token, until) = (token.to_owned(), 160 * NANOS_PER_MS);
    story.tell(61, 2, 1, What::Held { token, until, fence })
}

/// Writes that client 1 had a lock with this number, and client 2 adopts it with that one.
fn adopted_number(given: u64, brought: Option<u64>) -> Story {
    let story = Story::default().fenced(1, [10, 11, 100], given).releasing(50, 1, 49);
    let story = story.tell(51, 1, 1, What::Gave).accepts(&[0, 1], "1.1", brought.unwrap_or(given));
    adopted_with(story, Some("1.1"), "1.1", brought)
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

#[test]
fn a_lock_that_is_adopted_has_the_number_that_was_given() {
    let story = adopted_number(5, Some(5));
    story.is_fine();
    assert_eq!((story.verdict().numbers, story.verdict().brought), (1, 1));
    adopted_number(5, Some(6)).is_faulty("another number than was given: Some(5)");
    adopted_number(5, None).is_faulty("another number than was given: Some(5)");
    let unnumbered = adopted_with(given(true), Some("1.1"), "1.1", Some(5));
    let verdict = unnumbered.verdict();
    assert!(verdict.faults.iter().any(|fault| fault.contains("than was given: None")));
    // The last one that the former owner was told, and that of the last owner of several.
    let drawn = || {
        let story = Story::default().fenced(1, [10, 11, 100], 5).tell(12, 1, 1, What::Drawing);
        let story = story.accepts(&[0, 1], "1.1", 7).tell(14, 1, 1, What::Drawn { fence: 7 });
        story.releasing(50, 1, 49).tell(51, 1, 1, What::Gave)
    };
    adopted_with(drawn(), Some("1.1"), "1.1", Some(7)).is_fine();
    let verdict = adopted_with(drawn(), Some("1.1"), "1.1", Some(5)).verdict();
    assert!(verdict.faults.iter().any(|fault| fault.contains("than was given: Some(7)")));
}

#[test]
fn a_number_that_is_drawn_behind_an_adoption_is_larger_than_the_one_that_came_with_it() {
    let drawn = |fence| {
        let story = adopted_number(5, Some(5)).tell(70, 2, 1, What::Drawing);
        story.accepts(&[0, 1], "1.1", fence).tell(71, 2, 1, What::Drawn { fence })
    };
    drawn(6).has_numbers(0, 0, 0);
    drawn(5).has_numbers(1, 0, 0);
    drawn(4).has_numbers(0, 1, 0);
}

/// The adopted lock still has its number: others that hold later have larger ones, and none that
/// has held before.
#[test]
fn a_number_that_came_with_an_adoption_is_in_the_order_of_holding() {
    let behind = |fence| adopted_number(5, Some(5)).fenced(3, [155, 160, 200], fence);
    behind(6).has_numbers(0, 0, 0);
    behind(4).has_numbers(0, 1, 0);
    // Held between the giving and the adoption, which is too late then.
    let between = Story::default().fenced(3, [45, 51, 58], 6);
    let story = Story(between.0.into_iter().chain(adopted_number(5, Some(5)).0).collect());
    story.has_numbers(0, 1, 0);
}

#[test]
fn a_lock_is_passed_on_inside_one_client_as_it_was() {
    let passed = || {
        let story = Story::default().held(1, 1, R, 10, 100).releasing(50, 1, 49);
        story.tell(51, 1, 1, What::Passed)
    };
    let taken = |story: Story, client, resource: &str, until| {
        let story = story.tell(20, client, 2, wanted(&[resource], 100, 0, None));
        story.tell(51, client, 2, held("1.1", until))
    };
    let blames = |story: Story, words: &str| {
        let faults = story.verdict().faults;
        assert!(faults.iter().any(|fault| fault.contains(words)), "{faults:?}");
    };
    taken(passed(), 1, R, 100).is_fine();
    blames(taken(passed(), 2, R, 100), "with the token of (1, 1)");
    blames(taken(passed(), 1, "other", 100), "with the token of (1, 1)");
    blames(taken(passed(), 1, R, 101), "borne out by the wire only until");
    // Of a set, whoever wants the same resources by other words.
    let both = Story::default().granted(1, 1, &["a", "b"], 10, 100).releasing(50, 1, 49);
    let both = both.tell(51, 1, 1, What::Passed);
    let both = both.tell(20, 1, 2, wanted(&["b", "a"], 100, 0, None));
    both.tell(51, 1, 2, held("1.1", 100)).is_fine();
    // Whoever has passed a lock on does not have it to pass on again.
    let twice = taken(passed(), 1, R, 100).tell(52, 1, 3, wanted(&[R], 100, 0, None));
    blames(twice.tell(53, 1, 3, held("1.1", 100)), "with the token of (1, 2)");
}
