//! Table tests of what an answer, a refusal and a lost connection do to a lock.
//!
//! A set of nodes is written as a word: nodes 0, 1 and 2 from left to right, `x` for a member.

use super::presence::Presence;
use super::round::Origin;
use super::votes::Votes;
use super::{Lock, Phase, Way};
use crate::redlock::millis::Millis;
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::wire::answer::Compared::{self, Absent, Failed, Foreign, Ours};
use crate::redlock::wire::answer::Vote;
use crate::time::Instant;

const NOW: Instant = Instant::from_nanos(1_000_000_000);
const LATER: Instant = Instant::from_nanos(9_000_000_000);

fn node(index: usize) -> NodeId {
    NodeId::new(index).expect("the rows have three nodes")
}

fn set(bits: &str) -> NodeSet {
    let members = bits.bytes().enumerate().filter(|(_, bit)| *bit == b'x');
    members.map(|(index, _)| node(index)).collect()
}

/// Returns a lock whose `SET` is on its way to three nodes.
fn attempt() -> Lock {
    let mut lock = Lock::free(0);
    lock.begin_attempt(1, NOW, LATER, set("xxx"));
    lock
}

/// Returns a lock that all three nodes granted, with an extension under way.
fn held(keys: u8) -> Lock {
    let mut lock = attempt();
    lock.keys = keys;
    lock.phase = Phase::Held;
    for index in 0..3 {
        lock.voted(node(index), 1, Vote::Granted);
    }
    lock.begin_extension(7, Origin::Owner, NOW, Millis::ZERO, set("xxx"));
    // A story may have answers of older rounds as well.
    lock.owed += 9;
    lock
}

#[test]
fn a_vote_says_who_agreed_and_where_the_token_may_be() {
    // vote, agreed, refused, failed, where the token may be
    let rows = [
        (Vote::Granted, ".x.", "...", "...", "xxx"),
        (Vote::Refused, "...", ".x.", "...", "x.x"),
        (Vote::Failed, "...", "...", ".x.", "x.x"),
        // An error that does not rule out the execution leaves the question open.
        (Vote::Unclear, "...", "...", ".x.", "xxx"),
    ];
    for (vote, agreed, refused, failed, anywhere) in rows {
        let mut lock = attempt();
        assert!(lock.voted(node(1), 1, vote));
        let votes = lock.votes;
        assert_eq!(votes.open(), set("x.x"), "{vote:?}");
        assert_eq!(votes.agreed(), set(agreed), "{vote:?}");
        assert_eq!(votes.refused(), set(refused), "{vote:?}");
        assert_eq!(votes.failed(), set(failed), "{vote:?}");
        assert_eq!(lock.presence.anywhere(), set(anywhere), "{vote:?}");
    }
}

/// S4, S6: nobody knows whether the `SET` was executed, so that no release can run behind it.
#[test]
fn a_lost_connection_is_no_vote_and_leaves_the_token_unresolved() {
    let mut lock = attempt();
    lock.voted(node(0), 1, Vote::Granted);
    assert!(lock.connection_lost(node(1), 1));
    let votes = lock.votes;
    assert_eq!((votes.open(), votes.agreed()), (set("..x"), set("x..")));
    assert_eq!((votes.refused(), votes.failed()), (set("..."), set("...")));
    assert_eq!(votes.unconfirmed(), set(".xx"));
    let (behind, unresolved) = lock.begin_release(NOW, |_| true);
    assert_eq!((behind, unresolved), (set("x.x"), set(".x.")));
    assert_eq!(lock.presence, Presence::default(), "a lock that was given up is nowhere");
}

/// S4: whatever belongs to another attempt, or to a lock that nobody believes in, changes nothing
/// but the number of replies that are owed.
#[test]
fn only_what_belongs_to_the_current_attempt_of_a_live_lock_counts() {
    type Change = fn(&mut Lock, u64) -> bool;
    let changes: [(&str, Change, &[Phase]); 3] = [
        (
            "vote",
            |lock, serial| lock.voted(node(1), serial, Vote::Refused),
            &[Phase::Attempt, Phase::Held],
        ),
        ("repair", |lock, serial| lock.repaired(node(1), serial, Vote::Refused), &[Phase::Held]),
        (
            "loss",
            |lock, serial| lock.connection_lost(node(1), serial),
            &[Phase::Attempt, Phase::Held, Phase::Lapsing],
        ),
    ];
    let phases = [
        Phase::InLine,
        Phase::Ready,
        Phase::Attempt,
        Phase::Backoff,
        Phase::AtDoor,
        Phase::Stepping,
        Phase::Adoption,
        Phase::Held,
        Phase::Lapsing,
        Phase::Releasing,
        Phase::Draining,
    ];
    for (what, change, expected) in changes {
        for phase in phases {
            for serial in [0, 1, 2] {
                let mut lock = attempt();
                lock.phase = phase;
                let (votes, presence, owed) = (lock.votes, lock.presence, lock.owed);
                let counts = change(&mut lock, serial);
                assert_eq!(counts, serial == 1 && expected.contains(&phase), "{what}, {phase:?}");
                assert_eq!(lock.owed, owed - 1, "{what}, {phase:?}");
                let is_same = lock.votes == votes && lock.presence == presence;
                assert_eq!(is_same, !counts, "{what}, {phase:?}, serial {serial}");
            }
        }
    }
}

#[test]
fn an_answer_to_an_extension_says_what_the_node_has() {
    // keys, unresolved before, answer, may hold, unresolved
    let rows: [(u8, &str, Compared, &str, &str); 10] = [
        (1, "...", Ours, "xxx", "..."),
        (1, "...", Absent, "x.x", "..."),
        (1, "...", Foreign, "x.x", "..."),
        (1, "...", Failed, "xxx", "..."),
        // The `SET` was executed, and cannot be executed once more.
        (1, ".x.", Ours, "xxx", "..."),
        (1, ".x.", Absent, "x.x", ".x."),
        (1, ".x.", Failed, "x.x", ".x."),
        // Some keys of a set may be left where others are gone.
        (2, "...", Foreign, "x.x", ".x."),
        (2, "...", Absent, "x.x", "..."),
        (2, ".x.", Ours, "xxx", "..."),
    ];
    for (keys, unresolved, answer, may_hold, still_unresolved) in rows {
        let mut lock = held(keys);
        for id in set(unresolved) {
            lock.connection_lost(id, 1);
        }
        lock.extension_answered(node(1), 7, answer, false);
        let row = format!("{keys} keys, unresolved {unresolved}, {answer:?}");
        assert_eq!(
            lock.begin_release(NOW, |_| true),
            (set(may_hold), set(still_unresolved)),
            "{row}"
        );
    }
}

#[test]
fn only_an_answer_of_the_round_under_way_counts() {
    // round, under way, quarantined, answer, agreed, absent, foreign, failed
    let rows = [
        (7, true, false, Ours, ".x.", "...", "...", "..."),
        (7, true, false, Absent, "...", ".x.", "...", "..."),
        (7, true, false, Foreign, "...", "...", ".x.", "..."),
        (7, true, false, Failed, "...", "...", "...", ".x."),
        // S11: the node may have forgotten once what it has now.
        (7, true, true, Ours, "...", "...", "...", ".x."),
        (7, true, true, Absent, "...", ".x.", "...", "..."),
        (6, true, false, Ours, "...", "...", "...", "..."),
        (6, true, false, Absent, "...", "...", "...", "..."),
        (7, false, false, Ours, "...", "...", "...", "..."),
        (7, false, false, Foreign, "...", "...", "...", "..."),
    ];
    for (number, is_pending, is_quarantined, answer, agreed, absent, foreign, failed) in rows {
        let mut lock = held(1);
        if !is_pending {
            lock.round.end();
        }
        assert!(lock.extension_answered(node(1), number, answer, is_quarantined));
        let row = format!("round {number}, under way {is_pending}, {answer:?}");
        assert_eq!(lock.round.votes.agreed(), set(agreed), "{row}");
        assert_eq!(lock.round.absent(), set(absent), "{row}");
        assert_eq!(lock.round.foreign(), set(foreign), "{row}");
        assert_eq!(lock.round.votes.failed(), set(failed), "{row}");
        let open = if number == 7 && is_pending { "x.x" } else { "xxx" };
        assert_eq!(lock.round.votes.open(), set(open), "{row}");
    }
}

/// The `SET` of the node is still to be answered: it was asked before a script that it did not know
/// was sent again as text.
#[test]
fn an_answer_from_before_the_vote_takes_no_node_out() {
    for answer in [Absent, Foreign] {
        let mut lock = attempt();
        lock.voted(node(0), 1, Vote::Granted);
        lock.voted(node(2), 1, Vote::Granted);
        lock.phase = Phase::Held;
        lock.begin_extension(7, Origin::Owner, NOW, Millis::ZERO, set("xxx"));
        assert!(lock.extension_answered(node(1), 7, answer, false));
        assert_eq!(lock.presence.anywhere(), set("xxx"), "{answer:?}");
    }
}

/// The repair died with its connection: nothing is awaited from that node any more.
#[test]
fn a_repair_that_died_with_its_connection_awaits_nothing() {
    let mut lock = held(1);
    lock.extension_answered(node(2), 7, Absent, false);
    lock.begin_repair(set("..x"));
    assert!(lock.connection_lost(node(2), 1));
    lock.extension_answered(node(2), 7, Ours, false);
    lock.extension_answered(node(2), 7, Absent, false);
    assert_eq!(lock.presence.anywhere(), set("xx."));
}

/// The node was asked before the repair gave it the key: "absent" is an old answer.
#[test]
fn an_older_answer_does_not_take_away_what_a_repair_gave() {
    let mut lock = held(1);
    lock.extension_answered(node(2), 7, Absent, false);
    assert_eq!(lock.presence.anywhere(), set("xx."));
    lock.begin_repair(set("..x"));
    assert_eq!(lock.presence.anywhere(), set("xxx"), "a release goes there as well (S5)");
    lock.extension_answered(node(2), 6, Absent, false);
    assert_eq!(lock.presence.anywhere(), set("xxx"));
    assert!(lock.repaired(node(2), 1, Vote::Granted));
    assert_eq!(lock.votes.agreed(), set("xxx"), "a repair is no vote, nor takes one away");
    lock.extension_answered(node(2), 6, Absent, false);
    assert_eq!(lock.presence.anywhere(), set("xx."), "now the answer is about the repaired key");
}

#[test]
fn a_repair_leaves_the_token_where_it_was_not_refused() {
    let rows = [
        (Vote::Granted, "xxx"),
        (Vote::Unclear, "xxx"),
        (Vote::Refused, "xx."),
        (Vote::Failed, "xx."),
    ];
    for (vote, anywhere) in rows {
        let mut lock = held(1);
        lock.extension_answered(node(2), 7, Absent, false);
        lock.begin_repair(set("..x"));
        assert!(lock.repaired(node(2), 1, vote));
        assert_eq!(lock.presence.anywhere(), set(anywhere), "{vote:?}");
    }
}

/// Nodes that said that they have only a part of a set, or none of it, cannot hold the set up.
#[test]
fn a_set_is_held_up_only_by_nodes_that_may_have_all_of_it() {
    // keys, unresolved before, answer of node 1, the nodes that may hold the lock up
    let rows = [
        (1, "...", Foreign, "x.x"),
        (1, "...", Absent, "x.x"),
        (1, "...", Ours, "xxx"),
        (2, "...", Foreign, "x.x"),
        (2, "...", Absent, "x.x"),
        (2, "...", Ours, "xxx"),
        // The `SET` of a single key may still be executed; a set that has lost a part cannot.
        (1, ".x.", Absent, "xxx"),
        (2, ".x.", Absent, "x.x"),
    ];
    for (keys, unresolved, answer, expected) in rows {
        let mut lock = held(keys);
        for id in set(unresolved) {
            lock.connection_lost(id, 1);
        }
        lock.extension_answered(node(1), 7, answer, false);
        let row = format!("{keys} keys, unresolved {unresolved}, {answer:?}");
        assert_eq!(lock.may_be_held_by(), set(expected), "{row}");
    }
}

#[test]
fn an_adoption_believes_those_that_have_the_token_and_are_not_in_quarantine() {
    // answer, quarantined, agreed, refused, failed, may hold, unresolved
    let rows = [
        (Ours, false, ".x.", "...", "...", ".x.", "x.x"),
        (Ours, true, "...", "...", ".x.", ".x.", "x.x"),
        (Absent, false, "...", ".x.", "...", "...", "xxx"),
        (Foreign, false, "...", ".x.", "...", "...", "xxx"),
        (Failed, false, "...", "...", ".x.", "...", "xxx"),
    ];
    for (answer, is_quarantined, agreed, refused, failed, may_hold, unresolved) in rows {
        let mut lock = Lock::free(0);
        lock.begin_adoption(1, 5, NOW, LATER, set("xx."), set("xxx"));
        assert!(lock.adoption_answered(node(1), 5, answer, is_quarantined));
        assert_eq!(lock.votes.agreed(), set(agreed), "{answer:?}");
        assert_eq!(lock.votes.refused(), set(refused), "{answer:?}");
        assert_eq!(lock.votes.failed(), set(failed), "{answer:?}");
        assert_eq!(
            lock.begin_release(NOW, |_| true),
            (set(may_hold), set(unresolved)),
            "{answer:?}"
        );
    }
}

#[test]
fn an_adoption_that_succeeded_waits_for_nobody() {
    let mut lock = Lock::free(0);
    lock.begin_adoption(1, 5, NOW, LATER, set("xxx"), set("xxx"));
    assert!(!lock.is_asked_to_extend(), "no owner waits for an extension");
    assert!(!lock.adoption_answered(node(0), 4, Ours, false), "an older round");
    lock.adopted();
    assert_eq!(lock.votes.open(), NodeSet::EMPTY);
    assert!(!lock.round.pending);
}

#[test]
fn a_release_is_confirmed_by_every_answer_but_an_error() {
    // answer, released, absent, foreign, unconfirmed
    let rows = [
        (Ours, ".x.", "...", "...", "x.x"),
        (Absent, "...", ".x.", "...", "x.x"),
        (Foreign, "...", "...", ".x.", "x.x"),
        (Failed, "...", "...", "...", "xxx"),
    ];
    for (answer, released, absent, foreign, unconfirmed) in rows {
        let mut lock = held(1);
        lock.phase = Phase::Releasing;
        // Node 2 is not connected: the cleanup list has its release.
        let sent = lock.begin_release(NOW, |id| id != node(2));
        assert_eq!(sent, (set("xx."), set("..x")));
        assert_eq!(lock.round.votes.open(), set("xx."));
        assert!(!lock.release_answered(node(1), 2, answer), "of an older attempt");
        assert!(lock.release_answered(node(1), 1, answer));
        assert_eq!(lock.round.votes.open(), set("x.."), "{answer:?}");
        assert_eq!(lock.round.votes.agreed(), set(released), "{answer:?}");
        assert_eq!((lock.round.absent(), lock.round.foreign()), (set(absent), set(foreign)));
        assert_eq!(lock.round.votes.unconfirmed(), set(unconfirmed), "{answer:?}");
    }
}

#[test]
fn a_new_request_inherits_nothing_from_the_lock_before() {
    let mut lock = held(2);
    lock.retries = 3;
    lock.last_try = true;
    lock.way = Way::Adopted;
    lock.tenure = NOW;
    lock.renewal.ttl = Millis::of(core::time::Duration::from_secs(1));
    lock.request(Millis::ZERO, LATER, LATER);
    assert_eq!((lock.keys, lock.retries, lock.tenure), (1, 0, Instant::ZERO));
    assert!(!lock.last_try && !lock.is_adopted() && !lock.round.pending);
    assert_eq!((lock.votes, lock.presence), (Votes::default(), Presence::default()));
    assert!(lock.renewal.ttl.is_zero());
}

#[test]
fn a_lock_fits_into_four_cache_lines() {
    assert!(size_of::<Lock>() <= 256, "{} bytes", size_of::<Lock>());
}
