//! Servers that run no scripts for us, and have a native compare-and-delete: a single lock needs no
//! more than that.

use std::time::Duration;

use redbolt::redlock::NodeError;
use redbolt::{AcquireError, Config, ExtendError, NodeOutcome, NodeState};

use crate::owner::{Owner, TTL, config};
use crate::place::Place;
use crate::support::servers::Node;
use crate::support::wire::Reply;
use crate::{hold_all, names};

/// Gives the user `app` the right to these commands alone, on a node of this flavour.
fn allow(flavour: &Place, node: &Node, rules: &str) {
    let native = flavour.native.unwrap_or_default().to_lowercase();
    let rules = format!("on >pw ~* {}", rules.replace("NATIVE", &native));
    let mut set_user: Vec<&[u8]> = vec![b"ACL", b"SETUSER", b"app", b"reset"];
    set_user.extend(rules.split(' ').map(str::as_bytes));
    assert_eq!(node.command(&set_user), Reply::Simple("OK".to_owned()));
}

fn as_app(node: &Node) -> String {
    node.url_of("app:pw")
}

fn ready(config: Config) -> Owner {
    let mut owner = Owner::new(config);
    owner.all_ready();
    owner
}

/// What a lock of one resource needs without scripts.
const NEEDED: &str = "+info +command|info +set +NATIVE";

fn natives() -> impl Iterator<Item = Place> {
    Place::all().into_iter().filter(|flavour| flavour.native.is_some())
}

#[test]
fn single_locks_are_granted_and_given_back_without_a_script() {
    for flavour in natives() {
        let node = flavour.start();
        allow(&flavour, &node, NEEDED);
        let mut owner = ready(config([as_app(&node)]));
        assert_eq!(owner.status(0).missing.to_string(), "eval, evalsha");
        let tried = node.calls(&flavour.native.unwrap_or_default().to_lowercase());
        assert_eq!(tried, 1, "the right to it is tried once");
        for _ in 0..3 {
            let lock = owner.hold("resource");
            owner.attempt("resource");
            owner.not_acquired();
            let outcome = owner.let_go(lock);
            assert_eq!(outcome.released.len(), 1, "{outcome:?}");
        }
        // Many leave together, each by a command of its own.
        let locks = hold_all(&mut owner, &names(100));
        locks.iter().for_each(|lock| owner.release(*lock));
        locks.iter().for_each(|_| assert_eq!(owner.released().released.len(), 1));
        let status = owner.status(0);
        assert_eq!((status.state, status.counters.failures), (NodeState::Ready, 0));
        assert_eq!([node.calls("eval"), node.calls("evalsha")], [0; 2]);
        owner.finish([&node]);
    }
}

#[test]
fn what_needs_a_script_fails_with_the_reason_and_harms_nothing() {
    let is_told = |outcomes: &[NodeOutcome]| outcomes == [NodeOutcome::NoScripts];
    for flavour in natives() {
        let node = flavour.start();
        allow(&flavour, &node, NEEDED);
        let mut owner = ready(config([as_app(&node)]));
        let lock = owner.hold("resource");
        owner.extend(lock);
        let error = owner.not_extended();
        let ExtendError::NoQuorum(outcomes) = error else { panic!("{error}") };
        assert!(is_told(outcomes.as_slice()), "{outcomes}");
        assert!(owner.engine.remaining(lock) > Duration::ZERO, "the old validity stands");
        owner.attempt_all(&["a", "b"]);
        let error = owner.not_acquired();
        let AcquireError::NoQuorum(outcomes) = error else { panic!("{error}") };
        assert!(is_told(outcomes.as_slice()), "{outcomes}");
        owner.let_go(lock);
        assert_eq!(owner.status(0).counters.failures, 0);
        owner.finish([&node]);
    }
}

/// The others are a majority, and all of them run scripts.
#[test]
fn among_others_such_a_node_counts_where_it_can() {
    for flavour in natives() {
        let cluster = [(); 3].map(|()| flavour.start());
        allow(&flavour, &cluster[0], NEEDED);
        let [first, second, third] = &cluster;
        let mut owner = ready(config([as_app(first), second.url(), third.url()]));
        let lock = owner.hold("resource");
        owner.all_answered();
        let token = owner.engine.token(lock).expect("it is held");
        assert_eq!(first.get(b"resource").as_deref(), Some(token.as_ref()));
        owner.extend(lock);
        owner.extended();
        assert!(owner.let_go(lock).released.len() > 1);
        owner.attempt_all(&["a", "b"]);
        let lock = owner.acquired();
        assert_eq!(first.keys(), Vec::<Vec<u8>>::new());
        owner.let_go(lock);
        owner.finish(&cluster);
    }
}

/// Such a node keeps no witness, so each new client waits for the longest ttl.
#[test]
fn a_restart_is_waited_for_by_the_clock_of_the_client_alone() {
    for flavour in natives() {
        let node = flavour.start();
        allow(&flavour, &node, NEEDED);
        let mut config = config([as_app(&node)]);
        config.redlock.restart_guard = redbolt::RestartGuard::On;
        config.redlock.max_ttl = Duration::from_secs(1);
        let mut owner = Owner::new(config);
        owner.poll_until("a quarantine", |owner| {
            owner.status(0).state == NodeState::Quarantined && owner.status(0).lacks_witness
        });
        owner.all_ready();
        let lock = owner.acquire_for("resource", Duration::from_secs(1), TTL);
        assert_eq!(owner.acquired(), lock);
        owner.let_go(lock);
        owner.finish([&node]);
    }
}

#[test]
fn a_user_without_the_rest_is_told_what_is_missing() {
    for flavour in natives() {
        let rows = [
            // The server has the command, and keeps it from this user.
            ("+info +command|info +set", "eval, evalsha"),
            // Nothing tells that the server has it.
            ("+info +set +NATIVE", "eval, evalsha"),
            ("+info +command|info +NATIVE", "set"),
        ];
        for (rules, expected) in rows {
            let node = flavour.start();
            allow(&flavour, &node, rules);
            let mut owner = Owner::new(config([as_app(&node)]));
            owner.poll_until("an error", |owner| owner.status(0).error.is_some());
            let error = owner.status(0).error;
            let Some(NodeError::MissingRights(missing)) = error else { panic!("{error:?}") };
            assert_eq!(missing.to_string(), expected, "{rules} on {}", flavour.name);
        }
    }
}
