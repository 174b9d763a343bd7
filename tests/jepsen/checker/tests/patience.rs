//! Requests that end before their wait.

use super::*;

/// Writes a request with this ttl and wait, made at 1,000, that fails at this time.
fn failed(ttl: u64, wait: u64, at: u64, within: bool) -> Story {
    let resources = vec![R.to_owned()];
    let wanted = What::Wanted { resources, ttl, wait, keeps: 0, adopts: None, is_fenced: false };
    let failed = What::Failed { within, why: "held".to_owned() };
    Story::default().tell(1_000, 1, 1, wanted).tell(at, 1, 1, failed)
}

#[test]
fn what_is_left_over_of_a_wait_follows_from_the_configuration() {
    let rows = [
        // ttl, wait, left over
        // Half of the wait.
        (1_000, 1_000, 500),
        (1_000, 10, 250),
        (9_000, 9_000, 4_500),
        // Half of 16 round trips, each as long as the longest timeout of a node.
        (1_000, 9_000, 2_000),
        (200, 9_000, 400),
        (40, 9_000, 80),
        (10, 9_000, 40),
    ];
    for (ttl, wait, left_over) in rows {
        assert_eq!(TERMS.left_over(ttl, wait, false), left_over * NANOS_PER_MS, "{ttl} {wait}");
    }
    let slow = Terms { retry_max: 1_000 * NANOS_PER_MS, ..TERMS };
    assert_eq!(slow.left_over(10, 9_000, false), 500 * NANOS_PER_MS);
}

#[test]
fn a_request_that_nobody_ended_has_used_its_wait() {
    failed(40, 1_000, 1_920, true).is_fine();
    failed(40, 1_000, 1_919, true).is_faulty("given up 81 ms before the end");
    failed(40, 1_000, 1_004, true).is_faulty("given up 996 ms before the end");
    // One that was made without a wait, one that was ended, and one whose client is slow.
    failed(200, 0, 1_004, true).is_fine();
    failed(200, 1_000, 1_004, false).is_fine();
    failed(200, 1_000, 9_000, true).is_fine();
}

#[test]
fn a_request_may_have_its_last_try_early_behind_an_adoption() {
    let overtaken = |resource: &str, at| {
        let resources = vec![R.to_owned()];
        let first = What::Wanted {
            resources,
            ttl: 40,
            wait: 1_000,
            keeps: 0,
            adopts: None,
            is_fenced: false,
        };
        let second = wanted(&[resource], 200, 0, Some("1.1"));
        let failed = || What::Failed { within: true, why: "held".to_owned() };
        let story = Story::default().tell(1_000, 1, 1, first).tell(1_500, 1, 2, second);
        story.tell(1_600, 1, 2, failed()).tell(at, 1, 1, failed())
    };
    overtaken(R, 1_840).is_fine();
    overtaken(R, 1_839).is_faulty("given up 161 ms before the end");
    overtaken("other", 1_840).is_faulty("given up 160 ms before the end");
}
