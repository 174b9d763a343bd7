use core::time::Duration;

use super::*;
use crate::redlock::millis::Millis;

const OWN: &[u8] = b"run:repl:0:0";

fn look() -> Look<'static> {
    Look {
        prefix: b"",
        name: b"",
        database: 0,
        wall: 900,
        max_ttl: Millis::of(Duration::from_millis(1)),
        nodes: 3,
        gap: Duration::from_millis(1),
        label: None,
    }
}

#[test]
fn the_keys_of_a_witness_tell_what_the_script_would() {
    let of = |found, born, wall, origin, constants: (u64, u64), unseen, count| Testimony {
        found,
        time: 10_000,
        born,
        wall,
        origin,
        constants: Constants::open(constants.0, constants.1),
        unseen,
        count,
    };
    let (same, other, nothing) = (Found::Same, Found::Other, Found::Nothing);
    let young = of(nothing, 10_000, 900, 10_000, (1, 3), (0, 0), 1);
    let rows = [
        // No witness: the stamp counts for nothing.
        ("", "", young),
        ("", "1 2 3 4", young),
        ("run:repl:0:0 5 6 7 1", "", young),
        ("run:repl:0:0 x 6 7 1 3", "", young),
        // The witness of this data, with a look just before, and with none for long.
        ("run:repl:0:0 5 6 7 1 3", "9900 0 0 8", of(same, 5, 6, 7, (1, 3), (0, 0), 9)),
        ("run:repl:0:0 5 6 7 1 3", "9900 1 2 8", of(same, 5, 6, 7, (1, 3), (1, 2), 9)),
        ("run:repl:0:0 5 6 7 1 3", "8900 1 2 8", of(same, 5, 6, 7, (1, 3), (8_900, 10_000), 9)),
        // A longer `max_ttl` of the deployment makes a longer gap.
        ("run:repl:0:0 5 6 7 2 3", "8900 1 2 8", of(same, 5, 6, 7, (2, 3), (1, 2), 9)),
        // No stamp.
        ("run:repl:0:0 5 6 7 1 3", "", of(same, 5, 6, 7, (1, 3), (0, 0), 1)),
        // A declaration.
        ("run:repl:0:0 0 0 0 1 3", "9900 0 0 1", of(same, 0, 0, 0, (1, 3), (0, 0), 2)),
        // The witness of other data, and of the future.
        ("old:repl:0:0 5 6 7 1 4", "9900 0 0 8", of(other, 10_000, 900, 7, (1, 4), (0, 0), 9)),
        ("run:repl:0:0 10001 6 7 1 3", "9900 0 0 8", of(other, 10_000, 900, 7, (1, 3), (0, 0), 9)),
    ];
    for (witness, stamp, expected) in rows {
        let found = testimony(witness.as_bytes(), stamp.as_bytes(), OWN, 10_000, &look());
        assert_eq!(found, expected, "{witness:?} {stamp:?}");
    }
}

#[test]
fn a_change_of_the_identity_has_its_reason() {
    use QuarantineReason::{EvictedKeys, NewReplicationId, Restarted};
    let rows = [
        ("run:repl:0:0", None),
        ("old:other:0:0", Some(Restarted)),
        ("run:other:0:0", Some(NewReplicationId)),
        ("run:repl:7:0", Some(EvictedKeys)),
    ];
    for (id, expected) in rows {
        assert_eq!(change(format!("{id} 5 6 7 1 3").as_bytes(), OWN), expected, "{id}");
    }
    assert_eq!(change(b"", OWN), None);
}

#[test]
fn an_error_that_all_replies_would_be_ends_the_audit() {
    let denied = NodeError::Server(ServerError::Denied);
    let rows = [
        (Question::Auth, "WRONGPASS invalid username-password pair", Some(NodeError::LoginRefused)),
        (Question::Select, "ERR DB index is out of range", Some(NodeError::LoginRefused)),
        (Question::Time, "NOAUTH Authentication required.", Some(denied)),
        (Question::Time, "DENIED Redis is running in protected mode", Some(denied)),
        (
            Question::Time,
            "ERR max number of clients reached",
            Some(NodeError::Server(ServerError::Overloaded)),
        ),
        (Question::Time, "NOPERM this user has no permissions to run the 'time' command", None),
        (Question::Read(WITNESS), "LOADING Redis is loading the dataset in memory", None),
    ];
    for (question, text, expected) in rows {
        assert_eq!(refusal(question, text.as_bytes()), expected, "{text}");
    }
}
