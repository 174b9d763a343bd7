//! `init --fresh`: the oath that no client can believe in a lock.

use std::time::Duration;

use crate::support::rights::RIGHTS;
use crate::support::servers::{Cluster, Node};
use crate::support::wire::Reply;
use crate::{SHORT, all, exec_at_once, init, redbolt, written};

#[test]
fn a_declared_cluster_works_at_once_and_after_the_restart_of_a_minority() {
    let mut cluster = Cluster::start(3);
    let [declared, votes] = [": empty: declared fresh", "a quorum of the nodes votes"];
    let outcome = init(&cluster.addrs(), &["--fresh"]);
    outcome.assert(0, &[declared, votes]);
    assert_eq!(outcome.out.matches(declared).count(), 3, "{}", outcome.out);
    exec_at_once(&cluster.addrs(), "60s").assert(0, &[]);
    for index in 0..3 {
        cluster[index].restart();
        exec_at_once(&cluster.addrs(), "60s").assert(if index == 0 { 0 } else { 69 }, &[]);
    }
}

#[test]
fn a_refusal_writes_nothing_on_any_node() {
    // What is wrong with the last of three nodes, and what is said about it.
    type Row = (fn(&Cluster) -> Option<Node>, &'static str);
    let rows: [Row; 4] = [
        (
            |cluster| {
                cluster[2].set_px(b"lock", b"token", Duration::from_secs(60));
                None
            },
            "not new, it has 1 key: use init without --fresh",
        ),
        (
            |cluster| {
                let prefixed = ["--prefix", "p:", "--no-wait"];
                init(&[cluster[2].addr()], &prefixed).assert(0, &[]);
                None
            },
            "not new, it has 2 keys: use init without --fresh",
        ),
        (
            |cluster| {
                let alone = [cluster[2].addr()];
                init(&alone, &["--no-wait"]).assert(0, &["empty: a witness written"]);
                None
            },
            ": use init without --fresh",
        ),
        (
            |cluster| {
                let master = Node::start();
                let addr = master.addr();
                let (host, port) = addr.split_once(':').expect("an address");
                cluster[2].command(&[b"REPLICAOF", host.as_bytes(), port.as_bytes()]);
                Some(master)
            },
            ": a replica of 127.0.0.1:",
        ),
    ];
    for (spoil, expected) in rows {
        let cluster = Cluster::start(3);
        let _master = spoil(&cluster);
        let before = written(&all(&cluster));
        let outcome = init(&cluster.addrs(), &["--fresh"]);
        outcome.assert(69, &["nothing was written on any node", expected]);
        assert_eq!(outcome.err.matches("fit, nothing written").count(), 2, "{}", outcome.err);
        assert_eq!(written(&all(&cluster)), before, "{expected}");
    }
}

#[test]
fn a_node_that_is_down_or_given_twice_keeps_the_others_as_they_are() {
    let mut cluster = Cluster::start(3);
    let twice = [cluster.addrs(), vec![cluster[0].addr().replace("127.0.0.1", "localhost")]];
    init(&twice.concat(), &["--fresh"]).assert(69, &["the same server process as 127.0.0.1"]);
    cluster[2].kill();
    init(&cluster.addrs(), &["--fresh"]).assert(69, &["connecting failed"]);
    assert_eq!(written(&[&cluster[0], &cluster[1]]), [None, None, None, None]);
}

#[test]
fn a_declaration_that_was_cut_short_is_finished_by_another() {
    let mut cluster = Cluster::start(3);
    let fresh = [&["--fresh"][..], &SHORT].concat();
    init(&cluster.addrs(), &fresh).assert(0, &[]);
    // The same as if this node had failed before its declaration, and somebody came back much
    // later than a span.
    cluster[2].restart();
    for node in [&cluster[0], &cluster[1]] {
        let seen = node.get(b"redbolt:seen").expect("a stamp");
        let seen = String::from_utf8(seen).expect("digits");
        let (at, _) = seen.split_once(' ').expect("four numbers");
        let long_ago = at.parse::<u64>().expect("digits") - 3_600_000_000;
        node.command(&[b"SET", b"redbolt:seen", format!("{long_ago} 0 0 1").as_bytes()]);
    }
    let again = [&["--no-wait"][..], &fresh].concat();
    init(&cluster.addrs(), &again).assert(0, &["declared fresh before", "empty: declared fresh"]);
    exec_at_once(&cluster.addrs(), "2s").assert(0, &[]);
    cluster[2].kill();
    exec_at_once(&cluster.addrs(), "2s").assert(0, &[]);
}

const USED: &str = "declared fresh before, and looked at since";

/// Two nodes of three have lost their locks, and the third one was away when one was granted. All
/// look new but for the clients that the third one has seen.
#[test]
fn a_deployment_that_has_clients_is_not_declared_again() {
    let mut cluster = Cluster::start(3);
    init(&cluster.addrs(), &["--fresh"]).assert(0, &[]);
    exec_at_once(&cluster.addrs(), "2s").assert(0, &[]);
    cluster[0].restart();
    cluster[1].restart();
    let before = written(&all(&cluster));
    let refused = format!("{USED}: use init without --fresh");
    let expected = ["nothing was written on any node", &refused, "empty: fit, nothing written"];
    init(&cluster.addrs(), &["--fresh"]).assert(69, &expected);
    // Nor is one node of them made a deployment of its own.
    init(&[cluster[2].addr()], &["--fresh"]).assert(69, &[&refused]);
    assert_eq!(written(&all(&cluster)), before);
}

/// The script that sets a deployment up may run again.
#[test]
fn a_deployment_that_was_declared_and_is_in_use_is_kept_as_it_is() {
    let cluster = Cluster::start(3);
    init(&cluster.addrs(), &["--fresh"]).assert(0, &[]);
    exec_at_once(&cluster.addrs(), "2s").assert(0, &[]);
    // Keys of locks do not matter.
    cluster[0].set_px(b"lock", b"token", Duration::from_secs(60));
    let witnesses = || cluster.iter().map(|node| node.get(b"redbolt:witness")).collect::<Vec<_>>();
    let before = witnesses();
    let kept = format!("{USED}: kept");
    let outcome = init(&cluster.addrs(), &["--fresh"]);
    outcome.assert(0, &[&kept, "a quorum of the nodes votes"]);
    assert_eq!(outcome.out.matches(&kept).count(), 3, "{}", outcome.out);
    let longer = ["--fresh", "--max-ttl", "90s"];
    init(&cluster.addrs(), &longer).assert(69, &["use init without --fresh"]);
    assert_eq!(witnesses(), before);
}

#[test]
fn a_power_cut_that_kept_the_witnesses_is_refused() {
    let mut cluster = Cluster::start_with(3, &["--appendonly", "yes", "--appendfsync", "always"]);
    init(&cluster.addrs(), &["--fresh"]).assert(0, &[]);
    for index in 0..3 {
        cluster[index].restart();
    }
    let refused = "the witness of an earlier process or other data: use init without --fresh";
    init(&cluster.addrs(), &["--fresh"]).assert(69, &[refused]);
}

/// The label of a client stays for two spans, and is neither a lock nor data.
#[test]
fn labels_of_clients_do_not_stop_a_declaration() {
    let cluster = Cluster::start(3);
    let addrs = cluster.addrs();
    let fresh = ["--fresh", "--prefix", "p*:"];
    init(&addrs, &fresh).assert(0, &[": empty: declared fresh"]);
    let labelled = ["--no-wait", "--prefix", "p*:", "--label", "billing", "r", "--", "true"];
    redbolt("exec", &addrs, &labelled).assert(0, &[]);
    let labels: usize = cluster.iter().map(|node| count(node) - 2).sum();
    assert!(labels >= 2, "{labels} labels");
    init(&addrs, &fresh).assert(0, &["and looked at since: kept"]);
    let forget = || {
        for node in cluster.iter() {
            node.command(&[b"DEL", b"p*:redbolt:witness", b"p*:redbolt:seen"]);
        }
    };
    forget();
    init(&addrs, &fresh).assert(0, &[": empty: declared fresh"]);
    forget();
    // What begins otherwise is data, and so are labels of a deployment with another prefix.
    cluster[0].command(&[b"SET", b"redbolt:label:x", b"y"]);
    init(&addrs, &fresh).assert(69, &["not new, it has 1 key: use init without --fresh"]);
    cluster[0].command(&[b"DEL", b"redbolt:label:x"]);
    // Nobody looks through a large database.
    let many: Vec<_> = (0..1_000).map(|key| format!("p*:redbolt:label:{key}")).collect();
    for key in &many {
        cluster[0].command(&[b"SET", key.as_bytes(), b"x"]);
    }
    let refused = "keys: use init without --fresh";
    init(&addrs, &fresh).assert(69, &["not new, it has 100", refused]);
}

fn count(node: &Node) -> usize {
    match node.command(&[b"DBSIZE"]) {
        Reply::Integer(count) => usize::try_from(count).expect("a count"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_rights_of_locks_suffice_but_for_a_declaration() {
    let cluster = Cluster::start(1);
    let addr = cluster[0].addr();
    let url = [format!("redis://app:pw@{addr}")];
    // Without `+time`, which no lock needs.
    let of_locks: Vec<_> = RIGHTS.into_iter().filter(|right| *right != "+time").collect();
    let allow = |rules: &[&str]| {
        let user = ["ACL", "SETUSER", "app", "on", ">pw", "~redbolt:*", "~locks:*"];
        let words = [&user[..], &of_locks, rules].concat();
        let words: Vec<_> = words.iter().map(|word| word.as_bytes()).collect();
        assert_eq!(cluster[0].command(&words), Reply::Simple("OK".to_owned()));
    };
    allow(&[]);
    let time = ["the user app may not run: time", "ACL SETUSER app +time"];
    init(&url, &["--no-wait"]).assert(69, &time);
    allow(&["+time"]);
    let refused = ["the user app may not run: dbsize", "ACL SETUSER app +dbsize"];
    let before = written(&all(&cluster));
    init(&url, &["--fresh"]).assert(69, &refused);
    assert_eq!(written(&all(&cluster)), before);
    init(&url, &["--no-wait"]).assert(0, &["no witness: a witness written"]);
    cluster[0].command(&[b"FLUSHALL"]);
    allow(&["+dbsize"]);
    init(&url, &["--fresh"]).assert(0, &["empty: declared fresh"]);
    // Without the right to look, a label could be a lock.
    cluster[0].command(&[b"SET", b"redbolt:label:x", b"y"]);
    cluster[0].command(&[b"DEL", b"redbolt:witness", b"redbolt:seen"]);
    init(&url, &["--fresh"]).assert(69, &["not new, it has 1 key"]);
    allow(&["+scan"]);
    init(&url, &["--fresh"]).assert(0, &["empty: declared fresh"]);
}
