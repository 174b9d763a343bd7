//! The checker on logs with known findings. Times are milliseconds.

mod claims;
mod numbers;
mod others;
mod patience;
mod storage;
mod tokens;

use super::*;
use crate::log::{Record, Vote, What};

const R: &str = "r";

const NANOS_PER_MS: u64 = 1_000_000;

/// Without drift but for the precision of the servers: a ttl of 12 is a validity of 10.
const TERMS: Terms = Terms {
    nodes: 3,
    quorum: 2,
    rate: 0,
    step: 0,
    retry_max: 20 * NANOS_PER_MS,
    settles: 100 * NANOS_PER_MS,
    shuts_down: 50 * NANOS_PER_MS,
};
const PRECISION: u64 = 2;

/// A log, built with few words.
#[derive(Default)]
struct Story(Vec<Entry>);

impl Story {
    fn tell(mut self, at: u64, client: u32, request: u64, what: What) -> Self {
        let at = at * NANOS_PER_MS;
        self.0.push(Entry::Record(Record { at, client, request, what }));
        self
    }

    /// Writes that nodes keep a token for this ttl, as they were asked then.
    fn votes(mut self, nodes: &[usize], token: &str, ttl: u64, asked: u64) -> Self {
        let asked = asked * NANOS_PER_MS;
        for &node in nodes {
            let token = token.to_owned();
            self.0.push(Entry::Vote(Vote { at: asked, node, token, ttl, asked }));
        }
        self
    }

    /// Writes a lock that was wanted and is held, as the wire says too. The validity counts from
    /// the moment of the grant, or from before if the grant is late.
    fn held(self, client: u32, request: u64, resource: &str, from: u64, until: u64) -> Self {
        self.granted(client, request, &[resource], from, until)
    }

    fn granted(self, client: u32, request: u64, resources: &[&str], from: u64, until: u64) -> Self {
        let start = if until > from { from } else { until - 10 };
        let (token, ttl) = (format!("{client}.{request}"), until - start + PRECISION);
        self.tell(start, client, request, wanted(resources, ttl, 0, None))
            .votes(&[0, 1], &token, ttl, start)
            .tell(from, client, request, held(&token, until))
    }

    /// Writes that the lock is extended as asked, from then until then.
    fn extended(self, client: u32, from: u64, until: u64) -> Self {
        let ttl = until - from + PRECISION;
        self.tell(from, client, 1, What::Extending { ttl })
            .votes(&[0, 1], &format!("{client}.1"), ttl, from)
            .tell(from + 1, client, 1, What::Extended { until: until * NANOS_PER_MS })
    }

    fn releasing(self, at: u64, client: u32, seen: u64) -> Self {
        self.tell(at, client, 1, What::Releasing { seen: seen * NANOS_PER_MS })
    }

    fn lost(self, at: u64, client: u32, seen: u64) -> Self {
        let why = "expired".to_owned();
        self.tell(at, client, 1, What::Lost { why, seen: seen * NANOS_PER_MS })
    }

    fn verdict(&self) -> Verdict {
        let mut checker = Checker::new(TERMS);
        self.0.iter().for_each(|entry| checker.read(entry));
        checker.judge()
    }

    fn is_fine(&self) {
        let verdict = self.verdict();
        assert!(verdict.double_holds.is_empty() && verdict.faults.is_empty(), "{verdict:?}");
    }

    /// Checks that the log has this one double hold and nothing else.
    fn is_double(&self, first: u32, second: u32) {
        let verdict = self.verdict();
        assert!(verdict.faults.is_empty(), "{verdict:?}");
        let clients: Vec<_> =
            verdict.double_holds.iter().map(|d| (d.first.client, d.second.client)).collect();
        assert_eq!(clients, [(first, second)], "{verdict:?}");
    }

    /// Checks that the log has this one fault and nothing else.
    fn is_faulty(&self, words: &str) {
        let Verdict { double_holds, faults, .. } = self.verdict();
        assert!(double_holds.is_empty(), "{double_holds:?}");
        assert!(faults.len() == 1 && faults[0].contains(words), "{faults:?}");
    }
}

fn wanted(resources: &[&str], ttl: u64, keeps: u64, adopts: Option<&str>) -> What {
    let resources = resources.iter().map(|&name| name.to_owned()).collect();
    let adopts = adopts.map(str::to_owned);
    What::Wanted { resources, ttl, wait: 0, keeps, adopts, is_fenced: false }
}

fn held(token: &str, until: u64) -> What {
    What::Held { token: token.to_owned(), until: until * NANOS_PER_MS, fence: None }
}

#[test]
fn intervals_that_touch_are_no_overlap() {
    Story::default().held(1, 1, R, 10, 20).held(2, 1, R, 20, 30).is_fine();
    Story::default().held(2, 1, R, 20, 30).held(1, 1, R, 10, 20).is_fine();
}

#[test]
fn an_overlap_is_found_in_either_order() {
    Story::default().held(1, 1, R, 10, 21).held(2, 1, R, 20, 30).is_double(1, 2);
    Story::default().held(2, 1, R, 20, 30).held(1, 1, R, 10, 21).is_double(1, 2);
}

#[test]
fn a_single_nanosecond_is_an_overlap() {
    let belief = |client, from, until| {
        let resource = R.to_owned();
        Belief { client, request: 1, resource, from, until }
    };
    assert_eq!(double_holds(vec![belief(1, 10, 20), belief(2, 20, 30)]), []);
    assert_eq!(double_holds(vec![belief(1, 10, 21), belief(2, 20, 30)]).len(), 1);
}

#[test]
fn other_resources_do_not_matter() {
    Story::default().held(1, 1, "a", 10, 30).held(2, 1, "b", 20, 30).is_fine();
}

#[test]
fn a_client_must_not_hold_twice_either() {
    Story::default().held(1, 1, R, 10, 30).held(1, 2, R, 20, 40).is_double(1, 1);
}

#[test]
fn an_overlap_is_found_behind_shorter_beliefs() {
    let story = Story::default().held(1, 1, R, 10, 100).held(2, 1, R, 20, 30).held(3, 1, R, 40, 50);
    assert_eq!(story.verdict().double_holds.len(), 2);
}

#[test]
fn a_belief_ends_where_the_release_begins() {
    let story = Story::default().held(1, 1, R, 10, 100).releasing(50, 1, 49);
    story.held(2, 1, R, 50, 90).is_fine();
    let story = Story::default().held(1, 1, R, 10, 100).releasing(50, 1, 49);
    story.held(2, 1, R, 49, 90).is_double(1, 2);
}

#[test]
fn a_late_release_does_not_prolong_a_belief() {
    let story = Story::default().held(1, 1, R, 10, 100).releasing(150, 1, 99);
    story.held(2, 1, R, 100, 190).is_fine();
}

#[test]
fn a_belief_ends_with_the_news_of_its_loss_or_with_its_validity() {
    let story = Story::default().held(1, 1, R, 10, 100).lost(60, 1, 59);
    story.held(2, 1, R, 60, 90).is_fine();
    // A stopped client learns of the loss late, and has not believed in the lock meanwhile.
    let story = Story::default().held(1, 1, R, 10, 100).lost(500, 1, 99);
    story.held(2, 1, R, 100, 190).is_fine();
}

#[test]
fn an_extension_prolongs_a_belief() {
    let story = Story::default().held(1, 1, R, 10, 100).extended(1, 50, 150);
    assert_eq!(story.verdict().extensions, 1);
    story.held(2, 1, R, 149, 190).is_double(1, 2);
}

#[test]
fn a_lock_that_looks_held_after_its_validity_is_a_fault_and_a_belief() {
    Story::default().held(1, 1, R, 10, 100).lost(200, 1, 100).is_faulty("valid until 100000000");
    let story = Story::default().held(1, 1, R, 10, 100).lost(200, 1, 180).held(2, 1, R, 120, 190);
    assert_eq!(story.verdict().double_holds.len(), 1);
}

#[test]
fn a_belief_that_was_over_when_it_began_is_none() {
    Story::default().held(1, 1, R, 10, 100).held(2, 1, R, 50, 40).is_fine();
}

#[test]
fn a_request_ends_once() {
    let failed = || What::Failed { within: true, why: "held".to_owned() };
    let story = Story::default().tell(1, 1, 1, wanted(&[R], 10, 0, None));
    let story = story.tell(2, 1, 1, failed());
    story.is_fine();
    story.tell(3, 1, 1, failed()).is_faulty("Ended");
    Story::default().tell(3, 1, 1, failed()).is_faulty("nobody made");
    Story::default().held(1, 1, R, 10, 20).lost(20, 1, 19).lost(21, 1, 19).is_faulty("Ended");
}

#[test]
fn only_a_client_that_was_killed_may_leave_requests_open() {
    let story = Story::default().held(1, 1, R, 10, 20).held(2, 1, "s", 10, 20);
    story.is_fine();
    let story = story.releasing(11, 2, 10).tell(12, 2, 1, What::Released);
    let story = story.tell(13, 2, 0, What::Left);
    story.is_fine();
    story.tell(14, 1, 0, What::Left).is_faulty("open requests");
}

#[test]
fn extensions_are_asked_for_and_never_shorten() {
    let story = || Story::default().held(1, 1, R, 10, 100);
    story().tell(11, 1, 1, What::Extended { until: 120 * NANOS_PER_MS }).is_faulty("Held");
    story().extended(1, 11, 90).is_faulty("shortened");
    let asked = story().tell(11, 1, 1, What::Extending { ttl: 100 }).releasing(12, 1, 11);
    asked.tell(12, 1, 1, What::NotExtended { why: "released".to_owned() }).is_fine();
}

#[test]
fn a_set_is_a_belief_in_each_of_its_resources() {
    let story = || Story::default().granted(1, 1, &["a", "b"], 10, 100);
    story().held(2, 1, "c", 20, 30).is_fine();
    story().held(2, 1, "b", 20, 30).is_double(1, 2);
    story().granted(2, 1, &["b", "c"], 20, 30).is_double(1, 2);
}
