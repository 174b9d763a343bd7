//! A check writes nothing on any node.

use crate::support::fake::{Action, Fake};
use crate::support::master::Master;
use crate::support::servers::Node;
use crate::support::wire::Reply;
use crate::{check, declared, seen};

/// Everything on a node that a write would change, in the words of the server.
fn state(node: &Node) -> Vec<String> {
    let mut keys: Vec<_> = match node.command(&[b"KEYS", b"*"]) {
        Reply::Array(keys) => keys.iter().map(|key| format!("{key:?}")).collect(),
        other => panic!("KEYS answers {other:?}"),
    };
    keys.sort();
    let names = [
        "rdb_changes_since_last_save",
        "number_of_cached_scripts",
        "expired_keys",
        "expires",
        "master_replid",
    ];
    let facts = names.map(|name| format!("{name} {:?}", node.info(name)));
    let witness = [&b"redbolt:witness"[..], b"redbolt:seen", b"lock"].map(|key| node.get(key));
    keys.into_iter().chain(facts).chain([format!("{witness:?}")]).collect()
}

/// The writing commands, each with how often it was called and how often it failed.
fn calls(node: &Node, command: &str) -> (u64, u64) {
    let Reply::Bulk(stats) = node.command(&[b"INFO", b"commandstats"]) else { panic!("no text") };
    let stats = String::from_utf8_lossy(&stats).into_owned();
    let start = format!("cmdstat_{command}:");
    let Some(line) = stats.lines().find(|line| line.starts_with(&start)) else { return (0, 0) };
    let field = |name: &str| {
        let value = line[start.len()..].split(',').find_map(|field| field.strip_prefix(name));
        value.map_or(0, |value| value.trim().parse().expect("a count"))
    };
    (field("calls="), field("failed_calls="))
}

#[test]
fn nothing_changes_on_a_node_with_a_witness_and_on_one_without() {
    let with = declared(1);
    with[0].command(&[b"SET", b"lock", b"token"]);
    let without = Node::start();
    without.command(&[b"SET", b"lock", b"token"]);
    for node in [&with[0], &without] {
        let nodes = [node.addr()];
        let before = state(node);
        let commands = ["set", "pexpire", "eval", "evalsha"];
        let counted = commands.map(|command| calls(node, command));
        let loaded = calls(node, "script|load");
        let found = seen(&nodes, &[]);
        assert!(!found.text.contains("NO RIGHTS"), "{}", found.text);
        assert_eq!(state(node), before);
        // Two runs tried the commands that write, and every try was a mistake.
        for (command, before) in commands.iter().zip(counted) {
            let after = calls(node, command);
            assert!(after.0 > before.0, "{command} was not tried");
            assert_eq!(after.0 - before.0, after.1 - before.1, "{command} did something");
        }
        assert_eq!(calls(node, "script|load"), loaded);
    }
}

#[test]
fn nothing_changes_where_a_stranger_has_made_the_keys_that_are_tried() {
    let node = Node::start();
    for key in ["redbolt:witness", "redbolt:seen"] {
        node.command(&[b"RPUSH", key.as_bytes(), b"x"]);
    }
    // Locks of clients with other prefixes, which have names that are ours.
    for key in ["redbolt:check", "redbolt:check:", "redbolt:probe"] {
        node.command(&[b"SET", key.as_bytes(), b"token"]);
    }
    let keys = || node.keys();
    let (before, changes) = (keys(), node.info("rdb_changes_since_last_save"));
    let outcome = check(&[node.addr()], &[]);
    assert_eq!(outcome.code, Some(69), "{}", outcome.out);
    assert_eq!((keys(), node.info("rdb_changes_since_last_save")), (before, changes));
}

/// `DEL` is tried: whatever has a name that can be known may be there.
#[test]
fn the_keys_that_are_tried_have_another_name_each_time() {
    let server = Fake::scripted({
        let master = Master::new();
        move |request| {
            Action::Reply(
                master.answer(request).unwrap_or_else(|| b"-ERR syntax error\r\n".to_vec()),
            )
        }
    });
    let mut keys: Vec<_> = Vec::new();
    for run in 1..=3 {
        check(&[server.addr()], &[]);
        let tried = server.requests().into_iter().filter(|request| request.name() == "DEL");
        keys = tried.map(|request| request.part(1).to_vec()).collect();
        assert_eq!(keys.len(), run);
    }
    for (place, key) in keys.iter().enumerate() {
        let random = key.strip_prefix(b"redbolt:check:").expect("a reserved name");
        assert!(random.len() == 32 && random.iter().all(u8::is_ascii_hexdigit));
        assert!(!keys[..place].contains(key), "{}", key.escape_ascii());
    }
}
