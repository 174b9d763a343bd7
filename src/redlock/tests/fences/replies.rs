//! What each reply to a fenced request means, and which replies end a session.

use super::*;
use crate::redlock::node::error::NodeError;

/// S5: an error of a command behind the `SET` leaves the key there.
#[test]
fn an_error_behind_the_first_write_leaves_a_key_that_is_released() {
    let rows = [
        (NO_STRING, true),
        ("-ERR The user executing the script can't run this command or subcommand", true),
        ("-ERR Unknown command called from script", true),
        ("-ERR user_script:1: attempt to compare number with nil", true),
        ("-OOM command not allowed when used memory > 'maxmemory'.", false),
        ("-NOPERM No permissions to access a key", false),
    ];
    for (error, is_left) in rows {
        let mut rig = Rig::new(1);
        rig.fenced("r");
        rig.sent(0);
        rig.reply(0, error);
        rig.no_lock();
        let release = ["EVALSHA release 1 r #1"];
        assert_eq!(rig.sent(0) == release, is_left, "{error}");
        assert!(!rig.closed.contains(node(0)), "{error}: a lock without a number needs the node");
    }
}

#[test]
fn a_node_that_does_not_know_the_script_gets_its_text() {
    let mut rig = Rig::new(3);
    rig.fenced("r");
    rig.sent(0);
    rig.reply(0, "-NOSCRIPT No matching script. Please use EVAL.");
    let text = rig.call(1, 0).replace("EVALSHA acquire-fenced", "EVAL acquire-fenced-text");
    assert_eq!(rig.sent(0), [text]);
    rig.draw(0, 0);
    rig.draw(1, 7);
    rig.reply(0, "-NOSCRIPT No matching script. Please use EVAL.");
    let text = rig.raise(1, 8).replace("EVALSHA raise", "EVAL raise-text");
    assert_eq!(rig.sent(0).last(), Some(&text));
    rig.reply(0, ":1");
    rig.reply(1, ":1");
    assert_eq!(rig.fence(), 8);
}

/// S4: no other reply is a vote, so a reply that has slipped by one place shows.
#[test]
fn a_reply_that_no_script_has_ends_the_session() {
    for reply in ["+OK", ":1", ":0", ":-1", ":4294967295", "$2\r\nOK", "*0"] {
        let mut rig = Rig::new(3);
        rig.fenced("r");
        rig.sent(0);
        rig.reply(0, reply);
        assert!(rig.closed.contains(node(0)), "{reply}");
        let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
        assert_eq!(status.error, Some(NodeError::UnexpectedReply), "{reply}");
        rig.draw(1, 0);
        rig.draw(2, 0);
        assert_eq!(rig.fence(), 0, "{reply}");
    }
    for reply in ["+OK", "$-1", ":2", ":4294967296", ":-4294967295"] {
        let mut rig = Rig::new(3);
        rig.fenced("r");
        rig.draw(0, 0);
        rig.draw(1, 7);
        rig.sent(0);
        rig.reply(0, reply);
        assert!(rig.closed.contains(node(0)), "{reply} to a raise");
    }
}

#[test]
fn a_number_that_is_too_large_is_no_vote_but_leaves_a_key() {
    let mut rig = Rig::new(1);
    rig.fenced("r");
    rig.sent(0);
    rig.reply(0, ":9007199254740992");
    rig.no_lock();
    assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"]);
}

/// Proxies and other servers tell numbers in other types, of which none is exact enough or asked
/// for.
#[test]
fn a_number_of_another_type_is_no_number() {
    for form in [",", "(", "+", "$16\r\n", "*1\r\n:", "=20\r\ntxt:"] {
        let mut rig = Rig::new(3);
        rig.fenced("r");
        rig.sent(0);
        let number = micros(rig.now);
        let reply = format!("{form}{number}\r\n");
        rig.redlock.handle_received(rig.now, node(0), reply.as_bytes());
        rig.run_actions();
        assert!(rig.closed.contains(node(0)), "{reply:?}");
        rig.draw(1, 0);
        assert_eq!(rig.events(), [], "{reply:?}");
        rig.draw(2, 0);
        assert_eq!(rig.fence(), 0, "{reply:?}");
    }
}

/// What somebody else has written into a stripe must not take the node from all other locks. A
/// number of Lua that no integer holds comes as the least integer.
#[test]
fn a_number_that_nobody_can_have_drawn_is_no_vote_and_ends_no_session() {
    for number in [i64::MIN, i64::MAX, (1 << 53) - 1] {
        let mut rig = Rig::new(3);
        rig.fenced("r");
        rig.sent(0);
        rig.reply(0, &format!(":{number}"));
        rig.draw(1, 0);
        rig.draw(2, 7);
        assert_eq!(rig.sent(1), [rig.raise(1, 8)], "{number}: no node goes beyond it");
        assert_eq!(rig.sent(0), [""; 0], "{number}");
        rig.reply(1, ":1");
        rig.reply(2, ":1");
        assert_eq!((rig.fence(), rig.closed), (8, NodeSet::EMPTY), "{number}");
    }
}

#[test]
fn a_node_that_is_behind_no_clock_accepts_nothing_and_takes_no_other_along() {
    for number in [-i64::MAX, i64::MIN, -(1 << 53) + 1] {
        let mut rig = Rig::new(3);
        rig.fenced("r");
        rig.draw(0, 0);
        rig.draw(1, 7);
        rig.reply(2, "$-1");
        rig.sent(0);
        rig.sent(1);
        rig.reply(0, ":1");
        rig.reply(1, &format!(":{number}"));
        rig.no_lock();
        assert_eq!(rig.sent(0), ["EVALSHA release 1 r #1"], "{number}");
        assert!(rig.closed.is_empty(), "{number}");
    }
}

/// S11: what a node says behind a push that its keys are gone does not count.
#[test]
fn what_a_node_says_in_doubt_is_no_vote_and_no_acceptance() {
    let gone = ">2\r\n$10\r\ninvalidate\r\n_";
    let mut rig = Rig::unconnected(1, |_| ());
    rig.masters[0].tracks = true;
    rig.connect_all(1);
    rig.answers_looks = false;
    rig.fenced("r");
    rig.sent(0);
    rig.redlock.handle_received(rig.now, node(0), format!("{gone}\r\n").as_bytes());
    rig.draw(0, 0);
    rig.no_lock();
    assert!(rig.sent(0).contains(&"EVALSHA release 1 r #1".to_owned()));
}
