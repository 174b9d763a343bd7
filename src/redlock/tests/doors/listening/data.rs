//! Data that are no lock: a node with such data never has the key of an owner.

use super::*;

impl Rig {
    /// Returns the node at which the one request looks now.
    fn looks_at_once(&mut self) -> usize {
        let asked: Vec<_> = (0..5).filter(|index| self.has_output(*index)).collect();
        assert_eq!(asked.len(), 1, "one node is asked at once");
        assert_eq!(self.sent(asked[0])[0], "GETRANGE r 0 39");
        asked[0]
    }
}

/// A lock always has an end.
#[test]
fn behind_a_key_without_an_end_another_node_is_looked_at_at_once_and_from_then_on() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let door = rig.listens(-1);
    let next = rig.looks_at_once();
    assert_ne!(next, door);
    rig.reply(next, &token(0));
    let (again, _) = rig.long_look();
    assert_eq!(again, next, "the usual node from now on");
    rig.reply(again, &token(0));
    let ear = loop {
        let (again, opts_in) = rig.long_look();
        assert_ne!(again, door);
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, ":60000");
            break again;
        }
    };
    rig.looks_after(ear, &touched("r"));
    let (knocked, _) = rig.knock();
    assert_ne!(knocked, door, "there is no room for a key");
}

#[test]
fn behind_data_that_are_no_string_another_node_is_looked_at_at_once() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let (door, _) = rig.long_look();
    rig.reply(door, NO_STRING);
    let next = rig.looks_at_once();
    assert_ne!(next, door);
    rig.reply(next, NO_STRING);
    let third = rig.looks_at_once();
    assert!(third != door && third != next);
    rig.reply(third, NOBODY);
    assert!(rig.all_asked());
}

/// Three of five nodes are a quorum. Where no more have room, nobody can have the lock, and looks
/// are cheaper than attempts.
#[test]
fn where_too_few_nodes_have_room_whoever_waits_looks_as_seldom_as_ever() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let (door, _) = rig.long_look();
    rig.reply(door, NO_STRING);
    for _ in 0..2 {
        let next = rig.looks_at_once();
        rig.reply(next, NO_STRING);
    }
    assert!((0..5).all(|index| !rig.has_output(index)), "a pause");
    for looks in 1..=16 {
        rig.until(|rig| (0..5).any(|index| rig.has_output(index)));
        if (0..5).all(|index| rig.has_output(index)) {
            assert!(rig.all_asked());
            return assert!(looks > 4, "{looks} looks");
        }
        let next = rig.looks_at_once();
        rig.reply(next, NO_STRING);
    }
    panic!("all are never asked");
}

/// Somebody may have removed them.
#[test]
fn data_that_were_seen_a_minute_ago_are_looked_for_again() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let (door, _) = rig.long_look();
    let since = rig.now;
    rig.reply(door, NO_STRING);
    let next = rig.looks_at_once();
    rig.reply(next, &token(0));
    loop {
        let (again, opts_in) = rig.long_look();
        let ago = rig.now - since;
        if again == door {
            return assert!(ago >= Duration::from_secs(60), "{ago:?}");
        }
        assert!(ago < Duration::from_secs(90), "never again");
        rig.reply(again, &token(0));
        if opts_in {
            rig.reply(again, ":600000");
        }
    }
}

/// Another node has shown the token of another owner meanwhile, so one of the two is none.
#[test]
fn a_token_that_comes_back_behind_another_one_is_asked_for_its_end() {
    let mut rig = telling();
    rig.refused(LONG_WAIT);
    let (door, _) = rig.long_look();
    rig.reply(door, &token(0));
    loop {
        let (next, asks) = rig.long_look();
        if asks {
            rig.reply(next, &token(0));
            rig.reply(next, ":-1");
            assert_ne!(rig.looks_at_once(), door);
            return assert_eq!(next, door);
        }
        rig.reply(next, &token(u8::from(next != door)));
        assert!(rig.now < Instant::ZERO + ms(5_000), "nobody asks");
    }
}
