//! The scripts that close a node and open it again, on a real server.

use std::time::Duration;

use redbolt::redlock::{CLOSE, LOOK, REOPEN, Script};

use crate::support::servers::Node;
use crate::support::wire::Reply;

/// Longer than a test may take, and shorter than a server runs, in microseconds.
pub(crate) const HOUR: u64 = 3_600_000_000;

/// Calls a script of the witness for a deployment with this longest ttl and number of nodes.
/// `micros` is the longest time without a look, or the time that is asked for.
fn call(node: &Node, script: Script, max_ttl: u64, nodes: u64, micros: u64, change: &str) -> Reply {
    let [max_ttl, nodes, micros] = [max_ttl, nodes, micros].map(|number| number.to_string());
    let words: [&[u8]; 11] = [
        b"EVAL",
        script.text.as_bytes(),
        b"2",
        b"redbolt:witness",
        b"redbolt:seen",
        b"0",
        b"5",
        max_ttl.as_bytes(),
        nodes.as_bytes(),
        micros.as_bytes(),
        change.as_bytes(),
    ];
    node.command(&words)
}

pub(crate) fn look(node: &Node, nodes: u64) -> Reply {
    call(node, LOOK, 1_000, nodes, HOUR, "")
}

/// Closes a node that nobody has looked at for this long.
pub(crate) fn close(node: &Node, quiet: u64, change: &str) -> Reply {
    call(node, CLOSE, 1_000, 1_000, quiet, change)
}

pub(crate) fn open(node: &Node, nodes: u64, change: &str) -> Reply {
    call(node, REOPEN, 1_000, nodes, HOUR, change)
}

fn closed() -> Reply {
    Reply::Array(vec![Reply::Integer(0), Reply::Integer(0)])
}

fn text(node: &Node, key: &str) -> String {
    let value = node.get(key.as_bytes()).expect("a value");
    String::from_utf8(value).expect("a text")
}

/// The numbers of the witness behind the identity.
fn numbers(node: &Node) -> Vec<String> {
    text(node, "redbolt:witness").split(' ').skip(1).map(str::to_owned).collect()
}

fn set(node: &Node, key: &str, value: &str) {
    node.command(&[b"SET", key.as_bytes(), value.as_bytes()]);
}

/// Both keys.
fn written(node: &Node) -> [String; 2] {
    ["redbolt:witness", "redbolt:seen"].map(|key| text(node, key))
}

#[test]
fn a_node_at_which_a_client_has_looked_is_not_closed_and_not_changed() {
    let node = Node::start();
    look(&node, 3);
    let before = written(&node);
    for _ in 0..2 {
        let Reply::Array(parts) = close(&node, HOUR, "7") else { panic!("two numbers") };
        let [Reply::Integer(left), Reply::Integer(ago)] = parts[..] else { panic!("{parts:?}") };
        let hour = i64::try_from(HOUR).expect("a small number");
        assert!(left > 0 && ago >= 0 && left + ago == hour, "{left} + {ago}");
        assert_eq!(written(&node), before);
    }
    // The young data would be enough: stamps before it may be lost.
    set(&node, "redbolt:seen", "5 0 0 1");
    assert_ne!(close(&node, HOUR, "7"), closed());
    assert_eq!(close(&node, 0, "7"), closed());
}

#[test]
fn a_closed_node_agrees_with_nobody_whoever_looks_and_keeps_its_birth() {
    let node = Node::start();
    look(&node, 3);
    let [birth, wall, origin, ..] = &numbers(&node)[..] else { panic!("numbers") };
    let expected = |nodes: &str, change: &str| {
        [birth, wall, origin, "1000", nodes, change].map(str::to_owned).to_vec()
    };
    assert_eq!(close(&node, 0, "7"), closed());
    assert_eq!(numbers(&node), expected("1003", "7"));
    look(&node, 3);
    look(&node, 5);
    assert_eq!(numbers(&node), expected("1003", "7"));
    // A second change goes on with the node, however lately somebody has looked.
    assert_eq!(close(&node, HOUR, "8"), closed());
    assert_eq!(numbers(&node), expected("1003", "8"));
    assert_eq!(open(&node, 5, "7"), Reply::Array([-1, 1_003].map(Reply::Integer).to_vec()));
    assert_eq!(numbers(&node), expected("1003", "8"));
    assert!(matches!(open(&node, 5, "8"), Reply::Array(parts) if parts.len() == 12));
    assert_eq!(numbers(&node), expected("5", "8"));
}

#[test]
fn evidence_that_proves_nothing_begins_anew() {
    let spoil: [fn(&Node); 4] = [
        |node| set(node, "redbolt:witness", "another 5 6 7 1000 3"),
        |node| set(node, "redbolt:seen", "9000000000000000 0 0 1"),
        |node| {
            node.command(&[b"DEL", b"redbolt:seen"]);
        },
        |node| {
            let [witness, _] = written(node);
            let (identity, _) = witness.split_once(' ').expect("a witness");
            set(node, "redbolt:witness", &format!("{identity} 9000000000000000 6 7 1000 3"));
        },
    ];
    let begun = Reply::Array([HOUR, 0].map(|number| Reply::Integer(number as i64)).to_vec());
    for (place, spoil) in spoil.into_iter().enumerate() {
        let node = Node::start();
        look(&node, 3);
        spoil(&node);
        assert_eq!(close(&node, HOUR, "7"), begun, "{place}");
        let [witness, seen] = written(&node);
        // From now on the node measures.
        assert_ne!(close(&node, HOUR, "7"), begun, "{place}");
        assert_eq!(written(&node), [witness, seen], "{place}");
        assert_eq!(numbers(&node)[3..], ["1000", "3"], "{place}");
    }
}

#[test]
fn a_node_without_a_witness_gets_a_closed_one() {
    let node = Node::start();
    node.set_px(b"lock", b"token", Duration::from_secs(60));
    assert_eq!(close(&node, HOUR, "7"), closed());
    assert_eq!(numbers(&node)[3..], ["1000", "1000", "7"]);
    look(&node, 5);
    assert_eq!(numbers(&node)[3..], ["1000", "1000", "7"]);
    open(&node, 5, "7");
    assert_eq!(numbers(&node)[3..], ["1000", "5", "7"]);
    // A node that has lost its data since is opened like a new one.
    node.command(&[b"FLUSHALL"]);
    open(&node, 5, "7");
    assert_eq!(numbers(&node)[3..], ["1000", "5", "7"]);
}

#[test]
fn a_closed_node_that_a_look_has_written_anew_is_opened_all_the_same() {
    let mut node = Node::start_with(&["--appendonly", "yes", "--appendfsync", "always"]);
    look(&node, 3);
    close(&node, 0, "7");
    node.restart();
    look(&node, 3);
    assert_eq!(numbers(&node)[3..], ["1000", "1003"]);
    open(&node, 5, "7");
    assert_eq!(numbers(&node)[3..], ["1000", "5", "7"]);
    // An open node is opened by nothing but its own change.
    look(&node, 5);
    node.restart();
    look(&node, 5);
    assert_eq!(open(&node, 4, "7"), Reply::Array([-1, 5].map(Reply::Integer).to_vec()));
}
