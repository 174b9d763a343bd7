//! `init` without options: witnesses where there are none.

use crate::support::servers::Cluster;
use crate::{SHORT, all, exec_at_once, init, redbolt, written};

#[test]
fn init_waits_until_the_cluster_votes_and_no_client_waits_after_it() {
    let cluster = Cluster::start(3);
    let outcome = init(&cluster.addrs(), &SHORT);
    outcome.assert(0, &["empty: a witness written", "waiting ", "a quorum of the nodes votes"]);
    exec_at_once(&cluster.addrs(), "2s").assert(0, &[]);
    let witnesses = written(&all(&cluster));
    init(&cluster.addrs(), &SHORT).assert(0, &["a witness of ", "s: kept"]);
    let kept = |of: &[Option<Vec<u8>>]| of.iter().step_by(2).cloned().collect::<Vec<_>>();
    assert_eq!(kept(&written(&all(&cluster))), kept(&witnesses));
}

#[test]
fn without_init_the_first_client_waits_and_later_ones_do_not() {
    let cluster = Cluster::start(3);
    exec_at_once(&cluster.addrs(), "2s").assert(69, &["quarantined for another"]);
    let patient = ["--wait", "60s", "--ttl", "1s", "--max-ttl", "2s", "r", "--", "true"];
    redbolt("exec", &cluster.addrs(), &patient).assert(0, &[]);
    exec_at_once(&cluster.addrs(), "2s").assert(0, &[]);
}

#[test]
fn a_node_that_is_down_is_named_and_the_others_are_prepared() {
    let mut cluster = Cluster::start(3);
    cluster[2].kill();
    let outcome = init(&cluster.addrs(), &["--no-wait"]);
    outcome.assert(69, &["connecting failed", "not every node is done"]);
    assert_eq!(outcome.out.matches("empty: a witness written").count(), 2, "{}", outcome.out);
    assert!(written(&[&cluster[0], &cluster[1]]).iter().all(Option::is_some));
}

#[test]
fn another_number_of_nodes_is_refused_by_both_numbers() {
    let cluster = Cluster::start(3);
    init(&cluster.addrs(), &["--no-wait"]).assert(0, &[]);
    let before = written(&all(&cluster));
    let refused = "2 nodes are configured here, and 3 in the deployment";
    init(&cluster.addrs()[..2], &["--no-wait"]).assert(69, &[refused]);
    assert_eq!(written(&all(&cluster)), before);
}

#[test]
fn a_dry_run_says_what_would_be_done_and_writes_nothing() {
    let head = |out: &str| out.split_inclusive('\n').take(4).collect::<String>();
    for way in [&["--no-wait"][..], &["--fresh"], &["--no-wait", "--max-ttl", "2m"]] {
        let cluster = Cluster::start(3);
        let rehearsed = init(&cluster.addrs(), &[way, &["--dry-run"]].concat());
        rehearsed.assert(0, &["found, and to be done:", "nothing was written\n"]);
        assert_eq!(written(&all(&cluster)), [None, None, None, None, None, None], "{way:?}");
        let done = init(&cluster.addrs(), way);
        done.assert(0, &["done:\n"]);
        assert_eq!(head(&done.out), head(&rehearsed.out), "{way:?}");
    }
    let mut cluster = Cluster::start(3);
    cluster[0].kill();
    let missing = ["connecting failed", "not every node is done"];
    init(&cluster.addrs(), &["--dry-run"]).assert(69, &missing);
    init(&cluster.addrs(), &["--dry-run", "--fresh"]).assert(69, &["nothing was written on any"]);
}
