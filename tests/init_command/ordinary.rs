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
