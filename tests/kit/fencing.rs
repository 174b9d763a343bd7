//! The scripts about fencing numbers: an embedded master answers as a server with Lua does.

use redbolt::embedded::Cluster;
use redbolt::redlock::{
    ACQUIRE_FENCED, ACQUIRE_FENCED_MANY, ACQUIRE_FENCED_SET, DRAW, DRAW_SET, RAISE, RAISE_SET,
    RELEASE, Script,
};

use crate::PATIENCE;
use crate::support::servers;
use crate::support::wire::{Connection, Reply};

/// What a script is asked, and the answer. The numbers lie so far ahead that the clocks of the
/// servers do not matter, and a proposal of 0 is below all of them.
const ROWS: &[(&str, Script, &str, &str, i64)] = &[
    ("a new key: the stripe has no number yet", RAISE, "a F", "t 7 9000000000000000", 0),
    ("the key of another", RAISE, "z F", "t 7 9000000000000000", -1),
    ("accepted", RAISE, "k F", "t 7 9000000000000000", 1),
    ("equal is not larger", RAISE, "k F", "t 7 9000000000000000", -9_000_000_000_000_000),
    ("smaller", RAISE, "k F", "t 7 5000000000", -9_000_000_000_000_000),
    ("behind the stored number", DRAW, "k F", "t 7 0", 9_000_000_000_000_001),
    ("no key", DRAW, "a F", "t 7 0", 0),
    ("the key of another", DRAW, "z F", "t 7 0", -1),
    ("behind the stored number", ACQUIRE_FENCED, "a F", "t 7 0 60000", 9_000_000_000_000_002),
    ("the key is taken", ACQUIRE_FENCED, "a F", "u 7 0 60000", NIL),
    // Sets: of stripe 7, whose number is known, and of stripe 9, which has none.
    ("one is taken", ACQUIRE_FENCED_SET, "b a F", "u 9 7 0 60000", NIL),
    ("above both", ACQUIRE_FENCED_SET, "b c F", "u 9 7 0 60000", 9_000_000_000_000_003),
    ("both have it", RAISE, "k F", "t 9 9000000000000003", -9_000_000_000_000_003),
    ("both have it", RAISE, "k F", "t 7 9000000000000003", -9_000_000_000_000_003),
    ("above both", DRAW_SET, "b c F", "u 9 7 0", 9_000_000_000_000_004),
    ("equal in both", RAISE_SET, "b c F", "u 9 7 9000000000000004", -9_000_000_000_000_004),
    ("raises one of them", RAISE, "k F", "t 9 9000000000000010", 1),
    ("smaller than one", RAISE_SET, "b c F", "u 9 7 9000000000000010", -9_000_000_000_000_010),
    ("larger than both", RAISE_SET, "b c F", "u 9 7 9000000000000011", 1),
    ("both have it", DRAW, "k F", "t 7 0", 9_000_000_000_000_012),
    ("another token", RAISE_SET, "b c F", "t 9 7 9000000000000020", -1),
    ("only one key is ours", DRAW_SET, "b k F", "t 9 7 0", -1),
    ("no keys", DRAW_SET, "x y F", "t 9 7 0", 0),
    ("gives one key back", RELEASE, "c", "u", 1),
    ("one key is left", RAISE_SET, "b c F", "u 9 7 9000000000000020", -1),
    (
        "a stripe that twice stands for a key",
        ACQUIRE_FENCED_SET,
        "d e F",
        "w 7 7 0 60000",
        9_000_000_000_000_013,
    ),
];

/// Stands for nil.
const NIL: i64 = i64::MIN;

/// Calls for several locks, and the answer to each lock. Their stripes have the numbers that the
/// rows above leave.
const CALLS: &[(&str, &str, &str, &[i64])] = &[
    (
        "each stripe counts for itself",
        "m n F",
        "x 7 0 60000 y 9 0 60000",
        &[9_000_000_000_000_014, 9_000_000_000_000_012],
    ),
    (
        "one is taken, and its stripe stays",
        "o m p F",
        "x 9 0 60000 y 7 0 60000 z 7 0 60000",
        &[9_000_000_000_000_013, NIL, 9_000_000_000_000_015],
    ),
    (
        "three in one stripe",
        "q r s F",
        "x 7 0 60000 y 7 0 60000 z 7 0 60000",
        &[9_000_000_000_000_016, 9_000_000_000_000_017, 9_000_000_000_000_018],
    ),
    ("one alone", "t F", "x 7 0 60000", &[9_000_000_000_000_019]),
    ("the same key twice", "u u F", "x 7 0 60000 y 7 0 60000", &[9_000_000_000_000_020, NIL]),
    ("all are taken", "q r F", "x 7 0 60000 y 7 0 60000", &[NIL, NIL]),
];

/// Returns the answers to all rows and then to all calls, those of a call one behind another.
fn answers(addr: &str) -> Vec<Vec<i64>> {
    let mut connection = Connection::open(addr, PATIENCE).expect("the server listens");
    for (key, token) in [(&b"k"[..], &b"t"[..]), (b"z", b"somebody")] {
        let set = connection.command(&[b"SET", key, token]).expect("a reply");
        assert_eq!(set, Reply::Simple("OK".to_owned()));
    }
    let rows = ROWS.iter().map(|(_, script, keys, arguments, _)| (*script, *keys, *arguments));
    let calls =
        CALLS.iter().map(|(_, keys, arguments, _)| (ACQUIRE_FENCED_MANY, *keys, *arguments));
    let answers = rows.chain(calls).map(|(script, keys, arguments)| {
        match ask(&mut connection, script, keys, arguments) {
            Reply::Array(answers) => answers.iter().map(number).collect(),
            answer => vec![number(&answer)],
        }
    });
    answers.collect()
}

fn ask(connection: &mut Connection, script: Script, keys: &str, arguments: &str) -> Reply {
    let keys: Vec<_> = keys.split(' ').map(|key| key.replace('F', "redbolt:fence")).collect();
    let count = keys.len().to_string();
    let mut parts = vec![&b"EVAL"[..], script.text.as_bytes(), count.as_bytes()];
    parts.extend(keys.iter().map(String::as_bytes));
    parts.extend(arguments.split(' ').map(str::as_bytes));
    connection.command(&parts).expect("a reply")
}

fn number(answer: &Reply) -> i64 {
    match answer {
        Reply::Integer(number) => *number,
        Reply::Null => NIL,
        other => panic!("no answer about a number: {other:?}"),
    }
}

#[test]
fn an_embedded_master_and_a_server_give_the_same_answers() {
    let servers = servers::Cluster::start(1);
    let embedded = Cluster::start(1).expect("the system gives sockets and threads");
    let found = [answers(&servers[0].addr()), answers(&embedded.nodes()[0].addr().to_string())];
    let rows = ROWS.iter().map(|(what, .., expected)| (*what, core::slice::from_ref(expected)));
    let calls = CALLS.iter().map(|(what, .., expected)| (*what, *expected));
    for (index, (what, expected)) in rows.chain(calls).enumerate() {
        let [server, embedded] = [&found[0][index][..], &found[1][index][..]];
        assert_eq!((server, embedded), (expected, expected), "{what}, row {index}");
    }
}
