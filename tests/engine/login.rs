//! Nodes that somebody has configured so that they may not vote, or that we may not enter.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use redbolt::redlock::{NodeError, NodeOutcome, ServerError};
use redbolt::{AcquireError, Credentials, Event, Login, NodeState};

use crate::owner::{Owner, PATIENCE, config, node};
use crate::support::servers::{Cluster, Node};
use crate::support::wire::Reply;

const SHORT: Duration = Duration::from_millis(300);
const DENIED: NodeError = NodeError::Server(ServerError::Denied);

/// Polls for a while in which a node that is tried again quickly would be.
fn wait(owner: &mut Owner) {
    let start = owner.engine.now();
    owner.poll_until("the window to pass", |owner| owner.engine.now() >= start + SHORT);
}

fn ok(reply: Reply) {
    assert_eq!(reply, Reply::Simple("OK".to_owned()));
}

/// Makes a user with the password `pw`.
fn add_user(node: &Node, name: &str, rules: &[&str]) -> String {
    let mut parts: Vec<&[u8]> = vec![b"ACL", b"SETUSER", name.as_bytes(), b"on", b">pw"];
    parts.extend(rules.iter().map(|rule| rule.as_bytes()));
    ok(node.command(&parts));
    format!("redis://{name}:pw@{}", node.addr())
}

/// FAULTS 41: told once, tried again slowly, and no harm to the others.
#[test]
fn a_wrong_password_keeps_one_node_out_and_nobody_else() {
    let cluster = Cluster::start_with(3, &["--requirepass", "secret"]);
    for (third, error) in [
        (format!("redis://:wrong@{}", cluster[2].addr()), NodeError::LoginRefused),
        (cluster[2].addr(), DENIED),
    ] {
        let right = |node: &Node| format!("redis://:secret@{}", node.addr());
        let mut owner = Owner::of([right(&cluster[0]), right(&cluster[1]), third]);
        owner.failed_with(2, error);
        let lock = owner.hold("resource");
        owner.extend(lock);
        owner.extended();
        owner.let_go(lock);
        let told = owner.node_events;
        wait(&mut owner);
        assert_eq!((owner.status(2).counters.failures, owner.node_events), (1, told));
        assert!(!format!("{owner:?} {:?}", owner.engine).contains("secret"));
        owner.finish(cluster.iter());
    }
}

/// FAULTS 41: the session goes on, the next one is refused.
#[test]
fn a_password_that_is_changed_meanwhile_is_found_out_by_the_next_connection() {
    let cluster = Cluster::start(3);
    let mut owner = Owner::of(cluster.addrs());
    owner.all_ready();
    let mut admin = cluster[2].connect(PATIENCE).expect("the node accepts");
    let mut admin = |parts: &[&[u8]]| admin.command(parts).expect("a reply");
    ok(admin(&[b"CONFIG", b"SET", b"requirepass", b"new"]));
    let lock = owner.hold("resource");
    owner.poll_until("all votes", |owner| owner.status(2).counters.granted == 1);
    admin(&[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
    owner.failed_with(2, DENIED);
    owner.extend(lock);
    owner.extended();
    owner.let_go(lock);
    owner.all_answered();
    wait(&mut owner);
    assert_eq!(owner.status(2).counters.failures, 2, "the end, and one refusal");
    assert!(owner.status(2).lacks_login(), "{}", owner.status(2));
    let text = owner.engine.display(&Event::Node(node(2))).to_string();
    assert!(text.ends_with("; a login is needed, as in redis://USER:PASSWORD@HOST"), "{text}");
    assert!(owner.status(2).cleanup > 0, "it keeps the lock until its ttl, or until we are let in");
    ok(admin(&[b"CONFIG", b"SET", b"requirepass", b""]));
    owner.finish(&cluster[..2]);
}

/// FAULTS 41: the password is asked for at each connection, so that a rotation needs no restart.
#[test]
fn a_password_that_is_rotated_is_used_by_the_next_connection() {
    let cluster = Cluster::start(3);
    let connect = |node: &Node| node.connect(PATIENCE).expect("the node accepts");
    let mut admins: Vec<_> = cluster.iter().map(connect).collect();
    let mut admin = |index: usize, parts: &[&[u8]]| admins[index].command(parts).expect("a reply");
    let mut rotate = |password: &str| {
        for index in 0..3 {
            ok(admin(index, &[b"CONFIG", b"SET", b"requirepass", password.as_bytes()]));
            admin(index, &[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
        }
    };
    rotate("first");
    let password = Arc::new(Mutex::new("first"));
    // The logins of the addresses are not used.
    let urls = cluster.iter().map(|node| format!("redis://:wrong@{}", node.addr()));
    let mut config = config(urls);
    config.credentials = Some(Credentials::new({
        let password = Arc::clone(&password);
        move |_| Login::with_password(*password.lock().expect("nobody panics with it"))
    }));
    let mut owner = Owner::new(config);
    owner.all_ready();
    let lock = owner.hold("resource");
    *password.lock().expect("nobody panics with it") = "second";
    rotate("second");
    owner.poll_until("the nodes to be back", |owner| {
        owner
            .engine
            .nodes()
            .all(|(_, _, status)| status.state == NodeState::Ready && status.counters.connects == 2)
    });
    for (_, _, status) in owner.engine.nodes() {
        assert_eq!(status.counters.failures, 1, "the end of the connection");
    }
    owner.extend(lock);
    owner.extended();
    owner.let_go(lock);
    let shown = format!("{owner:?} {:?}", owner.engine);
    assert!(!shown.contains("first") && !shown.contains("second"), "{shown}");
    // A node that has not run the release yet could not be logged in to for the cleanup.
    owner.poll_until("the end of the release on every node", |owner| {
        owner.engine.nodes().all(|(_, _, status)| status.in_flight == 0 && status.cleanup == 0)
    });
    rotate("");
    owner.finish(cluster.iter());
}

/// FAULTS 41: who may not ask a node who it is does not let it vote.
#[test]
fn without_the_right_to_info_a_node_does_not_vote() {
    let cluster = Cluster::start(3);
    let blind = add_user(&cluster[2], "blind", &["~*", "+@all", "-info"]);
    let mut owner = Owner::of([cluster[0].addr(), cluster[1].addr(), blind]);
    owner.failed_with_text(2, "the user may not run: info (ACL, or a renamed command)");
    let lock = owner.hold("resource");
    owner.let_go(lock);
    assert_eq!(owner.status(2).counters.asked, 0);
    owner.finish(cluster.iter());
}

/// FAULTS 41, mid-connection.
#[test]
fn a_right_that_is_taken_away_is_found_out_by_the_next_connection() {
    let cluster = Cluster::start(3);
    let urls: Vec<_> = cluster.iter().map(|node| add_user(node, "app", &["~*", "+@all"])).collect();
    let mut owner = Owner::of(urls);
    owner.all_ready();
    ok(cluster[1].command(&[b"ACL", b"SETUSER", b"app", b"-info"]));
    cluster[1].command(&[b"CLIENT", b"KILL", b"USER", b"app"]);
    owner.failed_with_text(1, "the user may not run: info (ACL, or a renamed command)");
    let lock = owner.hold("resource");
    owner.let_go(lock);
    owner.finish(cluster.iter());
}

/// What SAFETY.md and the documentation name as the rights that are needed.
#[test]
fn few_rights_are_enough() {
    let cluster = Cluster::start(3);
    let rights = "~* +info +set +get +getrange +mget +del +exists +pttl +pexpire +evalsha +eval";
    let rights: Vec<_> = rights.split(' ').collect();
    let with_load = [&rights[..], &["+script|load"]].concat();
    for rights in [&rights[..], &with_load] {
        let urls: Vec<_> = cluster
            .iter()
            .map(|node| {
                ok(node.command(&[b"SCRIPT", b"FLUSH"]));
                add_user(node, "app", &[&["resetkeys", "-@all"], rights].concat())
            })
            .collect();
        let mut owner = Owner::of(urls);
        owner.all_ready();
        // Alone, then in a group, which is another script.
        for together in [1, 20_u8] {
            let locks: Vec<_> = (0..together).map(|number| owner.hold([number])).collect();
            locks.iter().for_each(|lock| owner.extend(*lock));
            locks.iter().for_each(|_| owner.extended());
            locks.iter().for_each(|lock| owner.release(*lock));
            for _ in &locks {
                let outcome = owner.released();
                assert!(!outcome.released.is_empty(), "{outcome:?}");
            }
            owner.all_answered();
        }
        for (_, _, status) in owner.engine.nodes() {
            assert!(status.counters.errors <= 1 + 4 + 4, "loading, asking, and each script once");
        }
        owner.finish(cluster.iter());
    }
}

/// FAULTS 42: a key that we may not touch is refused. All other keys are none of its business, and
/// whoever chooses the names of resources must not be able to shut the nodes out.
#[test]
fn a_key_without_permission_is_refused_and_harms_no_other_key() {
    let cluster = Cluster::start(3);
    let rules = ["~locks:*", "+@all"];
    let urls: Vec<_> = cluster.iter().map(|node| add_user(node, "app", &rules)).collect();
    let mut owner = Owner::of(urls);
    owner.all_ready();
    let held = owner.hold("locks:held");
    owner.attempt("data:42");
    let error = owner.not_acquired();
    let AcquireError::NoQuorum(outcomes) = error else { panic!("{error}") };
    assert!(outcomes.as_slice().contains(&NodeOutcome::Failed), "{error}");
    owner.all_answered();
    assert!(owner.status(0).message.starts_with("NOPERM"), "{}", owner.status(0));
    let ready = owner.engine.nodes().filter(|(_, _, status)| status.state == NodeState::Ready);
    assert_eq!(ready.count(), 3);
    owner.extend(held);
    owner.extended();
    let lock = owner.hold("locks:other");
    owner.let_go(lock);
    owner.let_go(held);
    for (_, _, status) in owner.engine.nodes() {
        assert_eq!((status.counters.connects, status.counters.failures), (1, 0));
    }
    owner.finish(cluster.iter());
}

/// FAULTS 46: a node that may throw keys away forgets locks.
#[test]
fn a_node_that_may_evict_keys_does_not_vote() {
    let limit = ["--maxmemory", "100mb", "--maxmemory-policy"];
    let fit = Node::start_with(&[&limit[..], &["noeviction"]].concat());
    let plain = Node::start();
    let evicting = Node::start_with(&[&limit[..], &["volatile-lru"]].concat());
    let mut owner = Owner::of([fit.addr(), plain.addr(), evicting.addr()]);
    owner.failed_with(2, NodeError::EvictsKeys);
    let lock = owner.hold("resource");
    assert_eq!(evicting.keys(), Vec::<Vec<u8>>::new());
    owner.let_go(lock);
    wait(&mut owner);
    assert_eq!(owner.status(2).counters.failures, 1, "it is tried again slowly");
    owner.finish([&fit, &plain, &evicting]);
}

/// FAULTS 50; PEERS 3.10: one process by two names has one vote.
#[test]
fn a_node_listed_twice_by_different_names_votes_once() {
    let cluster = Cluster::start(2);
    let other_name = cluster[0].addr().replace("127.0.0.1", "localhost");
    let mut config = config([cluster[0].addr(), other_name, cluster[1].addr()]);
    config.redlock.node_timeout = Some(SHORT);
    let mut owner = Owner::new(config);
    owner.poll_until("one of the two to be refused", |owner| {
        let error = |index| owner.status(index).error;
        error(0) == Some(NodeError::SameProcess(node(1)))
            || error(1) == Some(NodeError::SameProcess(node(0)))
    });
    let lock = owner.hold("resource");
    let token = owner.engine.token(lock).expect("it is held");
    assert_eq!(cluster.holding(b"resource", token.as_ref()), 2);
    owner.let_go(lock);

    // Without the other node its two names are one of three, not two.
    cluster[1].stop();
    owner.attempt("resource");
    let error = owner.not_acquired();
    assert!(matches!(error, AcquireError::NoQuorum(_)), "{error}");
    cluster[1].cont();
    owner.finish(cluster.iter());
}

/// The database is part of the address, and no key of another one is touched.
#[test]
fn a_database_of_its_own() {
    let cluster = Cluster::start(1);
    let mut owner = Owner::of([format!("redis://{}/3", cluster[0].addr())]);
    let lock = owner.hold("resource");
    assert_eq!(cluster[0].keys(), Vec::<Vec<u8>>::new());
    assert!(cluster[0].info("db3").is_some_and(|stats| stats.starts_with("keys=1,")));
    owner.let_go(lock);
    assert_eq!(cluster[0].info("db3"), None);
    owner.finish(cluster.iter());
}

/// FAULTS 41: the server has the new password before the process has it.
#[test]
fn a_refused_login_is_tried_again_as_soon_as_there_is_another() {
    let cluster = Cluster::start(3);
    let mut admin = cluster[2].connect(PATIENCE).expect("the node accepts");
    let password = Arc::new(Mutex::new("old"));
    let mut config = config(cluster.addrs());
    config.redlock.reconnect_max = SHORT;
    config.credentials = Some(Credentials::new({
        let password = Arc::clone(&password);
        let third = cluster[2].addr();
        move |address| match address.to_string() == third {
            true => Login::with_password(*password.lock().expect("nobody panics with it")),
            false => Login::default(),
        }
    }));
    let mut admin = |parts: &[&[u8]]| admin.command(parts).expect("a reply");
    ok(admin(&[b"CONFIG", b"SET", b"requirepass", b"old"]));
    let mut owner = Owner::new(config);
    owner.all_ready();
    ok(admin(&[b"CONFIG", b"SET", b"requirepass", b"new"]));
    admin(&[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
    owner.failed_with(2, NodeError::LoginRefused);
    wait(&mut owner);
    let status = owner.status(2);
    assert_eq!((status.counters.connects, status.counters.failures), (2, 2), "it is not tried");
    *password.lock().expect("nobody panics with it") = "new";
    let start = owner.engine.now();
    owner.poll_until("the node to be back", |owner| owner.status(2).state == NodeState::Ready);
    // A login that stays the same is tried again after at least 15 s.
    let waited = owner.engine.now() - start;
    assert!(waited < Duration::from_secs(10), "{waited:?}");
    assert_eq!(owner.status(2).counters.connects, 3);
    let lock = owner.hold("resource");
    owner.let_go(lock);
    ok(admin(&[b"CONFIG", b"SET", b"requirepass", b""]));
    owner.finish(cluster.iter());
}
