//! What clients say of their validity, and what the wire says of that.

use super::*;

/// Writes a lock that is wanted with a ttl of 102, asked for on the wire at 10, and granted at 20.
fn granted(nodes: &[usize], until: u64) -> Story {
    let story = Story::default().tell(9, 1, 1, wanted(&[R], 102, 300, None));
    let held = held("1.1", until);
    story.votes(nodes, "1.1", 102, 10).tell(20, 1, 1, held)
}

fn renewed(story: Story, at: u64, until: u64) -> Story {
    story.tell(at, 1, 1, What::Renewed { until: until * NANOS_PER_MS })
}

#[test]
fn the_terms_are_those_of_the_safety_argument() {
    let terms = Terms { quorum: 3, rate: 5_000, step: 100 * NANOS_PER_MS, ..TERMS };
    assert_eq!(terms.validity(1_000), (1_000 - 10 - 100 - 2) * NANOS_PER_MS);
    assert_eq!(terms.validity(100), 0, "nothing is left");
}

#[test]
fn a_validity_counts_from_before_the_first_byte() {
    granted(&[0, 1], 110).is_fine();
    // Counted from the votes, and not from the request.
    granted(&[0, 1], 111).is_faulty("only until 110000000");
    // Counted from before the client asked.
    granted(&[0, 1], 108).is_faulty("less than a ttl");
}

#[test]
fn a_ttl_is_not_believed_in_full() {
    let granted = |until: u64| {
        let story = Story::default().tell(20, 1, 1, wanted(&[R], 102, 0, None));
        // The nodes keep the key for longer than was asked for.
        story.votes(&[0, 1], "1.1", 200, 20).tell(20, 1, 1, held("1.1", until))
    };
    granted(120).is_fine();
    granted(122).is_faulty("more than a ttl");
}

#[test]
fn a_grant_needs_votes_of_a_majority_for_its_own_token() {
    granted(&[0], 110).is_faulty("only until 0");
    granted(&[1, 1], 110).is_faulty("only until 0");
    let story = Story::default().tell(9, 1, 1, wanted(&[R], 102, 0, None));
    let story = story.votes(&[0, 1], "other", 102, 10).votes(&[2], "1.1", 102, 10);
    let held = held("1.1", 110);
    story.tell(20, 1, 1, held).is_faulty("only until 0");
}

#[test]
fn a_vote_counts_only_before_the_grant() {
    let story = granted(&[0], 110).votes(&[1], "1.1", 102, 10);
    story.is_faulty("only until 0");
}

#[test]
fn an_extension_needs_a_majority_of_its_own() {
    let story = |nodes: &[usize]| {
        let story = granted(&[0, 1], 110).tell(50, 1, 1, What::Extending { ttl: 102 });
        let story = story.votes(nodes, "1.1", 102, 50);
        story.tell(60, 1, 1, What::Extended { until: 150 * NANOS_PER_MS })
    };
    story(&[0, 2]).is_fine();
    story(&[0]).is_faulty("only until 110000000");
}

#[test]
fn a_lock_that_is_kept_alive_has_a_majority_and_an_end() {
    let story = || granted(&[0, 1], 110).votes(&[1, 2], "1.1", 102, 50);
    renewed(story(), 60, 150).is_fine();
    renewed(story(), 60, 151).is_faulty("only until 150000000");
    renewed(granted(&[0, 1], 110), 60, 150).is_faulty("only until 110000000");
    let story = story().votes(&[1, 2], "1.1", 102, 230);
    // 300 after the grant, which came at 20.
    renewed(story, 240, 321).is_faulty("not to be kept");
    let story = Story::default().held(1, 1, R, 10, 100).votes(&[0, 1], "1.1", 92, 30);
    renewed(story, 40, 120).is_faulty("not to be kept");
}

#[test]
fn a_lock_that_was_over_when_its_client_looked_claims_nothing() {
    granted(&[], 0).lost(500, 1, 0).is_fine();
}
