//! Table tests of what an answer, a refusal and a lost connection do to a lock.
//!
//! A set of nodes is written as a word: nodes 0, 1 and 2 from left to right, `x` for a member.

use super::presence::Presence;
use super::round::{Origin, Round};
use super::votes::Votes;
use super::{Lock, Phase};
use crate::redlock::millis::Millis;
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::quorum::{Quorum, Verdict};
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
    let mut lock = Lock::free();
    lock.begin_attempt(1, NOW, LATER, set("xxx"));
    lock
}

/// Returns a lock that all three nodes granted, with an extension under way.
fn held(keys: u8) -> Lock {
    let mut lock = attempt();
    lock.keys = keys;
    lock.phase = Phase::Held;
    for index in 0..3 {
        lock.voted(node(index), Vote::Granted);
    }
    lock.round = Round::extension(7, Origin::Owner, NOW, Millis::ZERO, set("xxx"));
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
        lock.voted(node(1), vote);
        let votes = lock.votes;
        assert_eq!(votes.open(), set("x.x"), "{vote:?}");
        assert_eq!(votes.agreed(), set(agreed), "{vote:?}");
        assert_eq!(votes.refused(), set(refused), "{vote:?}");
        assert_eq!(votes.failed(), set(failed), "{vote:?}");
        assert_eq!(lock.presence.anywhere(), set(anywhere), "{vote:?}");
    }
}

/// S4, S6: nobody knows whether the `SET` was executed, so no release can run behind it.
#[test]
fn a_lost_connection_is_no_vote_and_leaves_the_token_unresolved() {
    let mut lock = attempt();
    lock.voted(node(0), Vote::Granted);
    lock.connection_lost(node(1));
    assert_eq!(lock.votes, {
        let mut votes = Votes::ask(set("xxx"));
        votes.agree(node(0));
        votes.lose(node(1));
        votes
    });
    assert_eq!(lock.votes.unconfirmed(), set(".xx"));
    assert_eq!(lock.give_up(), (set("x.x"), set(".x.")), "may hold, unresolved");
    assert_eq!(lock.presence, Presence::default(), "a lock that was given up is nowhere");
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
            lock.connection_lost(id);
        }
        lock.extension_answered(node(1), 7, answer, false);
        let row = format!("{keys} keys, unresolved {unresolved}, {answer:?}");
        assert_eq!(lock.give_up(), (set(may_hold), set(still_unresolved)), "{row}");
    }
}

#[test]
fn only_an_answer_of_the_round_under_way_counts() {
    // round, quarantined, answer, agreed, absent, foreign
    let rows = [
        (7, false, Ours, ".x.", "...", "..."),
        (7, false, Absent, "...", ".x.", "..."),
        (7, false, Foreign, "...", "...", ".x."),
        (7, false, Failed, "...", "...", "..."),
        // S11: the node may have forgotten once what it has now.
        (7, true, Ours, "...", "...", "..."),
        (7, true, Absent, "...", ".x.", "..."),
        (6, false, Ours, "...", "...", "..."),
        (6, false, Absent, "...", "...", "..."),
    ];
    for (number, is_quarantined, answer, agreed, absent, foreign) in rows {
        let mut lock = held(1);
        lock.extension_answered(node(1), number, answer, is_quarantined);
        let row = format!("round {number}, {answer:?}");
        assert_eq!(lock.round.votes.agreed(), set(agreed), "{row}");
        assert_eq!(lock.round.absent(), set(absent), "{row}");
        assert_eq!(lock.round.foreign(), set(foreign), "{row}");
        let open = if number == 7 { "x.x" } else { "xxx" };
        assert_eq!(lock.round.votes.open(), set(open), "{row}");
    }
}

/// The node was asked before the repair gave it the key: "absent" is an old answer.
#[test]
fn an_older_answer_does_not_take_away_what_a_repair_gave() {
    let mut lock = held(1);
    lock.extension_answered(node(2), 7, Absent, false);
    assert_eq!(lock.presence.anywhere(), set("xx."));
    lock.presence.repair_sent(set("..x"));
    assert_eq!(lock.presence.anywhere(), set("xxx"), "a release goes there as well (S5)");
    lock.extension_answered(node(2), 6, Absent, false);
    assert_eq!(lock.presence.anywhere(), set("xxx"));
    lock.repaired(node(2), Vote::Granted);
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
        lock.presence.repair_sent(set("..x"));
        lock.repaired(node(2), vote);
        assert_eq!(lock.presence.anywhere(), set(anywhere), "{vote:?}");
    }
}

/// A node that has only a part of a set, or nothing of it, cannot be one of its quorum.
#[test]
fn a_set_is_held_up_only_by_nodes_that_may_have_all_of_it() {
    // keys, answer of node 1, nodes that may be in the quorum
    let rows = [
        (1, Foreign, "x.x"),
        (1, Absent, "x.x"),
        (1, Ours, "xxx"),
        (2, Foreign, "x.x"),
        (2, Ours, "xxx"),
    ];
    for (keys, answer, expected) in rows {
        let mut lock = held(keys);
        lock.extension_answered(node(1), 7, answer, false);
        assert_eq!(lock.may_be_held_by(), set(expected), "{keys} keys, {answer:?}");
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
        let mut lock = Lock::free();
        lock.begin_adoption(1, NOW, LATER, set("xx."), set("xxx"));
        lock.adoption_answered(node(1), answer, is_quarantined);
        assert_eq!(lock.votes.agreed(), set(agreed), "{answer:?}");
        assert_eq!(lock.votes.refused(), set(refused), "{answer:?}");
        assert_eq!(lock.votes.failed(), set(failed), "{answer:?}");
        assert_eq!(lock.give_up(), (set(may_hold), set(unresolved)), "{answer:?}");
    }
}

#[test]
fn a_release_waits_for_those_that_it_was_sent_to() {
    let mut round = Round::release(3, NOW, set("xx."), set("..x"));
    let quorum = Quorum::majority(3).expect("three nodes have a majority");
    assert_eq!(round.votes.open(), set("xx."));
    assert_eq!(round.votes.unconfirmed(), set("xxx"));
    round.answered(node(0), Ours);
    round.answered(node(1), Foreign);
    assert_eq!(round.votes.open(), NodeSet::EMPTY);
    assert_eq!((round.absent(), round.foreign()), (NodeSet::EMPTY, set(".x.")));
    assert_eq!(round.votes.unconfirmed(), set("..x"), "its release is on the cleanup list");
    assert_eq!(round.votes.verdict(quorum), Verdict::Impossible);
}

#[test]
fn a_lock_fits_into_five_cache_lines() {
    assert!(size_of::<Lock>() <= 320, "{} bytes", size_of::<Lock>());
}
