//! Peeks: who listens at one node reads the key at the others once in a while.

use super::*;

/// The longest time between two peeks.
const LONGEST: Duration = Duration::from_secs(3);

impl Rig {
    /// Lets time pass until the one request reads the key elsewhere. Returns the node.
    fn peek(&mut self) -> usize {
        self.until(|rig| (0..5).any(|index| rig.has_output(index)));
        assert!(self.redlock.is_pausing());
        let asked: Vec<_> = (0..5).filter(|index| self.has_output(*index)).collect();
        assert_eq!(asked.len(), 1, "one node at a time");
        assert_eq!(self.sent(asked[0]), ["GETRANGE r 0 39"]);
        asked[0]
    }

    /// Lets each node that is read say that the key is not there, until the request asks for the
    /// lock. Returns how many were read.
    fn finds_nothing(&mut self) -> usize {
        let mut seen = Vec::new();
        loop {
            self.until(|rig| (0..5).any(|index| rig.has_output(index)));
            if !self.redlock.is_pausing() {
                return seen.len();
            }
            let next = self.peek();
            assert!(!seen.contains(&next), "{next} after {seen:?}");
            seen.push(next);
            self.reply(next, NOBODY);
        }
    }
}

#[test]
fn who_listens_reads_the_key_at_the_other_nodes_in_turn() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let (mut last, mut peeks) = (rig.now, Vec::new());
    while peeks.len() < 2 {
        let next = rig.peek();
        let pause = rig.now - last;
        assert!(pause >= LONGEST / 4 * 3 && pause <= LONGEST, "{pause:?}");
        (last, _) = (rig.now, peeks.push(next));
        rig.reply(next, &token(0));
    }
    assert!(!peeks.contains(&door) && peeks[0] != peeks[1], "{peeks:?}");
    let (again, opts_in) = rig.long_look();
    assert!(again == door && opts_in, "the pause is as long as ever");
}

/// The owner has lost the node that tells and no other, or that node stands still.
#[test]
fn a_lock_that_is_free_but_for_the_node_that_tells_is_found_soon() {
    for lost in 0..2 {
        let mut rig = telling();
        let lock = rig.refused(LONG_WAIT);
        let door = rig.listens(60_000);
        (0..5).filter(|index| *index != door).take(lost).for_each(|index| rig.close(index));
        let since = rig.now;
        assert_eq!(rig.finds_nothing(), 3, "two are left, and those are no quorum");
        assert!(rig.now - since <= LONGEST);
        let asked: Vec<_> = (0..5).filter(|index| !rig.sent(*index).is_empty()).collect();
        assert_eq!(asked.len(), 5 - lost);
        asked.iter().filter(|index| **index != door).for_each(|index| rig.reply(*index, "+OK"));
        assert!(matches!(rig.event(), Event::Acquired { lock: held, .. } if held == lock));
    }
}

/// The owner can have the three nodes that were not read.
#[test]
fn who_can_read_too_few_nodes_goes_on_to_listen() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    (0..5).filter(|index| *index != door).take(2).for_each(|index| rig.close(index));
    for _ in 0..2 {
        let next = rig.peek();
        rig.reply(next, NOBODY);
    }
    rig.advance(LONGEST / 2);
    assert!(rig.redlock.is_pausing() && (0..5).all(|index| !rig.has_output(index)));
}

/// The answer belongs to a time before the look.
#[test]
fn a_peek_that_is_answered_behind_a_look_is_old_news() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    for _ in 0..2 {
        let next = rig.peek();
        rig.reply(next, NOBODY);
    }
    let late = rig.peek();
    assert!(rig.looks_after(door, &touched("r")) <= ms(10));
    rig.knocks_in_vain();
    let (again, _) = rig.long_look();
    rig.reply(again, &token(1));
    rig.reply(again, ":60000");
    rig.reply(late, NOBODY);
    assert!(rig.redlock.is_pausing() && (0..5).all(|index| !rig.has_output(index)));
}

#[test]
fn an_owner_without_a_key_at_two_nodes_is_left_alone() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    rig.listens(60_000);
    for answer in [NOBODY, NOBODY, &token(0), &token(0)] {
        let next = rig.peek();
        rig.reply(next, answer);
    }
    rig.advance(LONGEST / 2);
    assert!(rig.redlock.is_pausing() && (0..5).all(|index| !rig.has_output(index)));
}

#[test]
fn a_node_that_does_not_say_whether_the_key_is_there_is_no_news() {
    for answer in ["-ERR anything", "-LOADING Redis is loading the dataset in memory", ""] {
        let mut rig = telling();
        rig.refused(LONG_WAIT);
        rig.listens(60_000);
        let next = rig.peek();
        if answer.is_empty() {
            rig.close(next);
        } else {
            rig.reply(next, answer);
        }
        rig.advance(ms(1_000));
        assert!(rig.redlock.is_pausing(), "{answer}");
    }
}

/// The request has been told, and the rest of what it has read is old news.
#[test]
fn who_is_told_while_a_peek_is_under_way_knocks() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let next = rig.peek();
    let push = format!("{}\r\n", touched("r"));
    rig.redlock.handle_received(rig.now, node(door), push.as_bytes());
    rig.reply(next, NOBODY);
    assert!((0..5).all(|index| index == door || !rig.has_output(index)), "nothing more is read");
    let (knocked, _) = rig.knock();
    assert_eq!(knocked, door);
}

#[test]
fn a_key_that_ends_during_the_pause_ends_the_pause() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    rig.listens(5_000);
    let since = rig.now;
    rig.peeks();
    rig.knocks_in_vain();
    let waited = rig.now - since;
    assert!(waited >= ms(5_000) && waited <= ms(5_010), "{waited:?}");
}

#[test]
fn peeks_go_on_as_long_as_the_owner_may_be_nowhere() {
    let (owner, other) = (token(0), token(7));
    let rows: [(&[&str], usize, &str); 3] = [
        (&[NO_STRING], 2, "data have no room for the key of an owner"),
        (&[&other], 3, "another token is not the one at the door"),
        (&[NOBODY, &owner], 2, "one key is missing, so the owner may have too few"),
    ];
    for (answers, missing, why) in rows {
        let mut rig = telling();
        rig.refused(LONG_WAIT);
        rig.listens(60_000);
        for answer in answers {
            let next = rig.peek();
            rig.reply(next, answer);
            assert!((0..5).any(|index| rig.has_output(index)), "at once: {why}");
        }
        assert_eq!(rig.finds_nothing(), missing, "{why}");
        assert!(rig.all_asked());
    }
}

/// The owner lacks the key at one node, so that rounds which begin there read all others.
#[test]
fn each_round_of_peeks_begins_at_another_node() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(60_000);
    let without = (door + 1) % 5;
    let mut firsts = Vec::new();
    while firsts.len() < 3 {
        let since = rig.now;
        let next = rig.peek();
        if rig.now > since {
            firsts.push(next);
        }
        let answer = if next == without { NOBODY.to_owned() } else { token(0) };
        rig.reply(next, &answer);
    }
    firsts.dedup();
    assert_eq!(firsts.len(), 3, "{firsts:?}");
}
