//! Runs that end halfway: a node dies between the inspection and the order, or `init` does.

use redbolt::{Config, Init, InitError, InitRefusal, InitReport};

use crate::closing::{close, open};
use crate::support::servers::Cluster;
use crate::{Outcome, all, init, redbolt, written};

const SAME: [&str; 2] = ["--max-ttl", "1s"];
const FRESH: [&str; 3] = ["--fresh", "--max-ttl", "1s"];
const CHANGE: [&str; 3] = ["--reconfigure", "--max-ttl", "1s"];

fn exec(nodes: &[String]) -> Outcome {
    let arguments = ["--no-wait", "--ttl", "500ms", SAME[0], SAME[1], "r", "--", "true"];
    redbolt("exec", nodes, &arguments)
}

fn config(nodes: &[String], max_ttl: &str) -> Config {
    let mut config = Config::new(nodes).expect("addresses");
    config.redlock.max_ttl = redbolt::time::parse_duration(max_ttl).expect("a duration");
    config
}

/// Inspects the nodes, kills one of them, and carries out what was planned.
fn kill_between(cluster: &mut Cluster, init: &Init, place: usize) -> InitReport {
    let plan = init.inspect().expect("threads");
    assert!(plan.report().is_complete() && !plan.is_refused(), "{}", plan.report());
    cluster[place].kill();
    match plan.execute() {
        Err(InitError::Unfinished(report)) => report,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_simple_way_is_finished_by_the_same_run_again() {
    // What happened before, the way, and what is said of the nodes that were done.
    type Row = (&'static [&'static str], &'static [&'static str], fn(Init) -> Init, &'static str);
    let rows: [Row; 3] = [
        (&[], &SAME, |init| init, ": kept"),
        (&[], &FRESH, Init::fresh, "declared fresh before: declared fresh"),
        (&["--fresh", "--max-ttl", "500ms"], &SAME, Init::raise_max_ttl, ": kept"),
    ];
    for (before, way, aim, done) in rows {
        let mut cluster = Cluster::start(3);
        if !before.is_empty() {
            init(&cluster.addrs(), before).assert(0, &[]);
        }
        let plan = aim(Init::new(config(&cluster.addrs(), "1s")));
        let report = kill_between(&mut cluster, &plan, 2);
        assert_eq!(report.done(), 2, "{report}");
        cluster[2].restart();
        let outcome = init(&cluster.addrs(), way);
        outcome.assert(0, &["a quorum of the nodes votes"]);
        assert_eq!(outcome.out.matches(done).count(), 2, "{}", outcome.out);
        exec(&cluster.addrs()).assert(0, &[]);
    }
}

/// Three nodes of five are a deployment, at which nobody has looked for long enough.
fn left_alone() -> Cluster {
    let cluster = Cluster::start(5);
    init(&cluster.addrs()[..3], &FRESH).assert(0, &[]);
    for node in all(&cluster).into_iter().take(3) {
        node.command(&[b"SET", b"redbolt:seen", b"1700000000000000 0 0 1"]);
    }
    cluster
}

#[test]
fn a_new_node_that_dies_leaves_the_old_clients_as_they_are() {
    let mut cluster = left_alone();
    let change = Init::new(config(&cluster.addrs(), "1s")).reconfigure();
    let report = kill_between(&mut cluster, &change, 4);
    let results: Vec<_> = report.nodes().iter().map(|node| node.result.clone()).collect();
    assert_eq!(results[..3], [(); 3].map(|()| Err(InitRefusal::NotReached)), "{report}");
    assert_eq!(results[3], Err(InitRefusal::Closed), "{report}");
    exec(&cluster.addrs()[..3]).assert(0, &[]);
    cluster[4].restart();
    init(&cluster.addrs(), &CHANGE).assert(0, &["clients with 5 nodes"]);
    exec(&cluster.addrs()).assert(0, &[]);
}

#[test]
fn a_client_that_comes_between_the_inspection_and_the_order_is_seen_by_the_node() {
    let cluster = left_alone();
    let plan = Init::new(config(&cluster.addrs(), "1s")).reconfigure().inspect().expect("threads");
    assert!(!plan.is_refused(), "{}", plan.report());
    exec(&cluster.addrs()[..3]).assert(0, &[]);
    let before = written(&all(&cluster)[..3]);
    let Err(InitError::Unfinished(report)) = plan.execute() else { panic!("a client is there") };
    for node in &report.nodes()[..3] {
        assert!(matches!(node.result, Err(InitRefusal::InUse(_))), "{report}");
    }
    assert!(!report.wait().is_zero(), "{report}");
    assert_eq!(written(&all(&cluster)[..3]), before);
    exec(&cluster.addrs()[..3]).assert(0, &[]);
}

#[test]
fn an_old_node_that_dies_leaves_nobody_a_quorum_until_another_run() {
    let mut cluster = left_alone();
    let change = Init::new(config(&cluster.addrs(), "1s")).reconfigure();
    let report = kill_between(&mut cluster, &change, 2);
    assert_eq!(report.done(), 0, "{report}");
    let closed = "closed for all clients by `redbolt init --reconfigure`";
    exec(&cluster.addrs()[..3]).assert(69, &[closed]);
    exec(&cluster.addrs()).assert(69, &[closed]);
    init(&cluster.addrs(), &SAME)
        .assert(69, &["closed for all clients by `redbolt init --reconfigure`"]);
    cluster[2].restart();
    // Nothing is in use, so nothing is waited for.
    let outcome = init(&cluster.addrs(), &CHANGE);
    outcome.assert(0, &["closed for a change: opened for 5 nodes, max_ttl 1s", "may start now"]);
    assert!(!outcome.err.contains("must be stopped"), "{}", outcome.err);
    exec(&cluster.addrs()).assert(0, &[]);
}

#[test]
fn a_change_can_be_taken_back() {
    let cluster = left_alone();
    for place in [3, 4, 0, 1] {
        close(&cluster[place], 0, "7");
    }
    let outcome = init(&cluster.addrs()[..3], &CHANGE);
    outcome.assert(0, &["opened for 3 nodes", ": confirmed"]);
    exec(&cluster.addrs()[..3]).assert(0, &[]);
    exec(&cluster.addrs()).assert(69, &["5 nodes are configured here, and 3 in the deployment"]);
}

/// Clients of either side come while `init` is dead, wherever that happened.
#[test]
fn old_and_new_clients_never_both_have_a_quorum_wherever_a_change_is_cut_short() {
    // How many nodes were closed and opened, the new ones first; who has a lock at once.
    let rows = [
        (2, 0, true, false),
        (3, 0, true, false),
        (4, 0, false, false),
        (5, 0, false, false),
        (5, 2, false, false),
        (5, 3, false, true),
        (5, 5, false, true),
    ];
    let order = [3, 4, 0, 1, 2];
    for (closed, opened, old_has, new_has) in rows {
        let cluster = left_alone();
        for place in &order[..closed] {
            close(&cluster[*place], 0, "7");
        }
        for place in &order[..opened] {
            open(&cluster[*place], 5, "7");
        }
        let patient = ["--wait", "3s", "--ttl", "500ms", SAME[0], SAME[1], "r", "--", "true"];
        let code = |has| if has { 0 } else { 69 };
        let told = format!("{closed} closed, {opened} opened");
        let old = exec(&cluster.addrs()[..3]);
        assert_eq!(old.code, Some(code(old_has)), "{told}: {}", old.err);
        let new = redbolt("exec", &cluster.addrs(), &patient);
        assert_eq!(new.code, Some(code(new_has)), "{told}: {}", new.err);
        let before = written(&all(&cluster));
        // A look of the clients above is waited for, but where a node had been opened.
        let early = [&CHANGE[..], &["--no-wait"]].concat();
        let is_ended = opened > 0 || closed == 5;
        let outcome = init(&cluster.addrs(), &early);
        assert_eq!(outcome.code, Some(if is_ended { 0 } else { 69 }), "{told}: {}", outcome.err);
        assert!(is_ended || written(&all(&cluster)) == before, "{told}");
        init(&cluster.addrs(), &CHANGE).assert(0, &["a quorum of the nodes votes"]);
        exec(&cluster.addrs()).assert(0, &[]);
        exec(&cluster.addrs()[..3]).assert(69, &[]);
    }
}
