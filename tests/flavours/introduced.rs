//! What the operators of a server see of a connection: its name, and the library.

use redbolt::NodeState;

use crate::owner::{Owner, PATIENCE, config};
use crate::place::Place;
use crate::support::servers::Node;
use crate::support::wire::Reply;

/// The facts of all connections with this name, each with a space before it.
fn connections(node: &Node, name: &str) -> Vec<String> {
    let Reply::Bulk(list) = node.command(&[b"CLIENT", b"LIST"]) else { panic!("not a text") };
    let list = String::from_utf8_lossy(&list).into_owned();
    let is_named = |line: &&str| line.contains(&format!(" name={name} "));
    list.lines().filter(is_named).map(str::to_owned).collect()
}

fn ready(change: impl FnOnce(&mut redbolt::Config), node: &Node) -> Owner {
    let mut config = config([node.url()]);
    change(&mut config);
    let mut owner = Owner::new(config);
    owner.all_ready();
    owner
}

#[test]
fn a_connection_says_whose_it_is_and_which_library_has_made_it() {
    let version = env!("CARGO_PKG_VERSION");
    for flavour in Place::all() {
        let node = flavour.start();
        let mut owner = ready(|_| (), &node);
        let found = connections(&node, "redbolt");
        assert_eq!(found.len(), 1, "{found:?}");
        // Redis knows the library of a connection from 7.2 on.
        let mut admin = node.connect(PATIENCE).expect("it listens");
        let set = admin.command(&[b"CLIENT", b"SETINFO", b"LIB-NAME", b"test"]);
        if set.expect("an answer") == Reply::Simple("OK".to_owned()) {
            assert!(found[0].contains(" lib-name=redbolt "), "{found:?}");
            assert!(found[0].contains(&format!(" lib-ver={version}")), "{found:?}");
        } else {
            assert_eq!(flavour.name, "redis-7");
        }
        let lock = owner.hold("resource");
        owner.let_go(lock);
        owner.finish([&node]);
    }
}

/// The label is for those who may read the keys.
#[test]
fn a_connection_does_not_tell_the_label() {
    let node = Node::start();
    let owner = ready(|config| config.redlock.label = b"secret".to_vec(), &node);
    let found = connections(&node, "redbolt");
    assert!(found.len() == 1 && !found[0].contains("secret"), "{found:?}");
    drop(owner);
}

#[test]
fn a_name_is_that_of_the_configuration_or_none_at_all() {
    let node = Node::start();
    let named = |name: &[u8]| {
        let name = name.to_vec();
        ready(|config| config.redlock.connection_name = name, &node)
    };
    let owner = named(b"billing:web-3");
    assert_eq!(connections(&node, "billing:web-3").len(), 1);
    owner.finish([&node]);
    let before = node.calls("client|setname");
    let owner = named(b"");
    assert_eq!(node.calls("client|setname"), before);
    owner.finish([&node]);
}

/// An old server, or one whose operator has taken the command away.
#[test]
fn a_server_that_takes_no_names_votes_all_the_same() {
    let node = Node::start_with(&["--rename-command", "CLIENT", ""]);
    let mut owner = ready(|_| (), &node);
    let lock = owner.hold("resource");
    let outcome = owner.let_go(lock);
    assert_eq!(outcome.released.len(), 1, "{outcome:?}");
    let status = owner.status(0);
    assert_eq!((status.state, status.error, status.message), (NodeState::Ready, None, ""));
    assert!(status.missing.is_empty(), "{}", status.missing);
    assert_eq!((status.counters.errors, status.counters.failures), (0, 0));
    owner.finish([&node]);
}
