//! `init --reconfigure`: another number of nodes, or a shorter `max_ttl`, for a deployment that
//! exists.

use std::process::{Child, Stdio};
use std::time::Duration;

use redbolt::{Config, Init, InitError, InitPlan};

use crate::support::servers::{Cluster, Node};
use crate::support::until;
use crate::support::watched::Watched;
use crate::{all, exec_at_once, init, program, redbolt, written};

/// The longest ttl: a change takes one and a half times as long, and so do its tests.
const TTL: &str = "1s";
const SAME: [&str; 2] = ["--max-ttl", TTL];
const CHANGE: [&str; 3] = ["--reconfigure", "--max-ttl", TTL];
/// A change that does not wait.
const AT_ONCE: [&str; 4] = ["--reconfigure", "--no-wait", "--max-ttl", TTL];

/// A deployment of the first nodes of a cluster, which works.
fn deployed(of: usize, count: usize) -> Cluster {
    let cluster = Cluster::start(of);
    init(&cluster.addrs()[..count], &["--fresh", SAME[0], SAME[1]]).assert(0, &[]);
    exec(&cluster.addrs()[..count]).assert(0, &[]);
    cluster
}

fn exec(nodes: &[String]) -> crate::Outcome {
    let arguments = ["--no-wait", "--ttl", "500ms", SAME[0], SAME[1], "r", "--", "true"];
    redbolt("exec", nodes, &arguments)
}

/// The identity, the birth and the origin in a witness, and what else it has.
fn birth(node: &Node) -> Vec<String> {
    let witness = node.get(b"redbolt:witness").expect("a witness");
    let witness = String::from_utf8(witness).expect("a text");
    witness.split(' ').take(4).map(str::to_owned).collect()
}

#[test]
fn three_nodes_become_five_and_old_clients_are_refused_from_then_on() {
    let cluster = deployed(5, 3);
    let (old, new) = (&cluster.addrs()[..3], cluster.addrs());
    let births: Vec<_> = cluster.iter().take(3).map(birth).collect();
    let before = written(&all(&cluster));
    let way = "stop all clients, then `redbolt init --reconfigure`, which waits for 1.6s after";
    let refused = "5 nodes are configured here, and 3 in the deployment";
    init(&new, &SAME).assert(69, &["nothing was written", refused, way]);
    assert_eq!(written(&all(&cluster)), before, "the new nodes neither");

    let outcome = init(&new, &CHANGE);
    let (planned, changed) = ("will be changed from 3 nodes to 5", ": changed from 3 nodes to 5");
    let may = "clients with 5 nodes, max_ttl 1s may start now";
    outcome.assert(
        0,
        &[
            planned,
            changed,
            "all clients must be stopped; waiting ",
            "a quorum of the nodes votes",
            may,
        ],
    );
    assert_eq!(outcome.out.matches(changed).count(), 3, "{}", outcome.out);
    assert_eq!(outcome.out.matches(": empty: a witness written").count(), 2, "{}", outcome.out);
    let after: Vec<_> = cluster.iter().take(3).map(birth).collect();
    assert_eq!(after, births, "the data is in one piece");
    exec(&new).assert(0, &[]);
    exec(old).assert(69, &["3 nodes are configured here, and 5 in the deployment"]);
    // There is nothing left to do, and nothing to wait for.
    init(&new, &AT_ONCE).assert(0, &["will be kept", ": kept"]);
}

#[test]
fn five_nodes_become_three_of_them() {
    let cluster = deployed(5, 5);
    let new = &cluster.addrs()[1..4];
    init(new, &CHANGE)
        .assert(0, &["changed from 5 nodes to 3", "the old list has 2 nodes more, or"]);
    exec(new).assert(0, &[]);
    exec(&cluster.addrs()).assert(69, &["5 nodes are configured here, and 3 in the deployment"]);
}

#[test]
fn max_ttl_is_lowered_and_clients_with_the_longer_one_are_refused() {
    let cluster = Cluster::start(3);
    init(&cluster.addrs(), &["--fresh", "--max-ttl", "2s"]).assert(0, &[]);
    let refused = ["max_ttl is 2s, and cannot be lowered to 1s", "--reconfigure --max-ttl 1s"];
    init(&cluster.addrs(), &SAME).assert(69, &refused);
    let changed = "changed from max_ttl 2s to 1s";
    init(&cluster.addrs(), &CHANGE).assert(0, &[changed, "clients with 3 nodes, max_ttl 1s may"]);
    exec(&cluster.addrs()).assert(0, &[]);
    exec_at_once(&cluster.addrs(), "2s").assert(69, &["max_ttl is 2s here and 1s in"]);
}

#[test]
fn a_change_that_comes_too_early_writes_nothing() {
    let cluster = deployed(5, 3);
    let before = written(&all(&cluster));
    for arguments in [&AT_ONCE[..], &["--dry-run", "--reconfigure", "-n"]] {
        let early = ["nothing was written on any node", "too early", "run init again in "];
        init(&cluster.addrs(), arguments).assert(69, &early);
        assert_eq!(written(&all(&cluster)), before, "{arguments:?}");
    }
    exec(&cluster.addrs()[..3]).assert(0, &[]);
}

#[test]
fn a_list_that_leaves_a_quorum_of_the_old_nodes_out_is_refused() {
    let cluster = deployed(5, 5);
    let before = written(&all(&cluster));
    let few = "only 2 nodes of its deployment of 5 are on the list";
    init(&cluster.addrs()[..2], &AT_ONCE).assert(69, &["nothing was written", few, "keep 3"]);
    assert_eq!(written(&all(&cluster)), before);
}

#[test]
fn a_client_that_still_runs_is_named_and_waited_for() {
    let cluster = deployed(5, 3);
    let hold = ["--ttl", "500ms", SAME[0], SAME[1], "r", "--", "cat"];
    let mut holder = program("exec", &cluster.addrs()[..3], &hold);
    holder.stdin(Stdio::piped());
    let mut holder = Killed(holder.spawn().expect("the program can be started"));
    let mut init = Watched::err(program("init", &cluster.addrs(), &CHANGE));
    init.line("a client still runs: it looked at 127.0.0.1");
    let nodes: Vec<_> = all(&cluster).iter().map(|node| node.get(b"redbolt:witness")).collect();
    // The end of its input is the end of the holder.
    drop(holder.0.stdin.take());
    let mut status = None;
    let is_over = until(Duration::from_secs(60), || {
        status = holder.0.try_wait().expect("it is ours to wait for");
        status.is_some()
    });
    assert!(
        is_over && status.is_some_and(|status| status.success()),
        "held to the end: {status:?}"
    );
    assert_eq!(nodes[3..], [None, None], "nothing is written before the client has ended");
    assert!(init.ended().success());
    exec(&cluster.addrs()).assert(0, &[]);
}

/// A process that does not outlive a test that fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// A refusal writes nothing. Only who waits has a node of another process begin to measure.
#[test]
fn a_node_of_another_process_measures_anew_when_somebody_waits() {
    let mut cluster = Cluster::start_with(3, &["--appendonly", "yes", "--appendfsync", "always"]);
    init(&cluster.addrs()[..2], &["--fresh", SAME[0], SAME[1]]).assert(0, &[]);
    cluster[0].restart();
    let before = written(&all(&cluster));
    let unknown = "last look unknown, 1.6s too early";
    let said = ["nothing was written on any node", unknown, "run init without --no-wait"];
    init(&cluster.addrs(), &AT_ONCE).assert(69, &said);
    assert_eq!(written(&all(&cluster)), before, "the witness of another process stays");
    init(&cluster.addrs(), &CHANGE).assert(0, &["changed from 2 nodes to 3"]);
    init(&cluster.addrs(), &AT_ONCE).assert(0, &["will be kept", ": kept"]);
}

/// The library keeps to the same: nothing is written before somebody asks the nodes to measure.
#[test]
fn a_plan_that_is_refused_writes_nothing_and_measures_when_told() {
    let mut cluster = Cluster::start_with(3, &["--appendonly", "yes", "--appendfsync", "always"]);
    init(&cluster.addrs()[..2], &["--fresh", SAME[0], SAME[1]]).assert(0, &[]);
    cluster[0].restart();
    let before = written(&all(&cluster));
    let mut config = Config::new(cluster.addrs()).expect("addresses");
    config.redlock.max_ttl = Duration::from_secs(1);
    let init = Init::new(config).reconfigure();
    let error = init.run().expect_err("a client may be there");
    assert!(matches!(error, InitError::Refused(_)), "{error}");
    assert_eq!(written(&all(&cluster)), before);
    let mut plan = init.inspect().expect("a plan");
    let knows = |plan: &InitPlan| plan.report().nodes()[0].wait.is_some_and(|it| it.ago.is_some());
    assert!(!knows(&plan), "{}", plan.report());
    plan.measure().expect("the nodes are asked");
    let after = written(&all(&cluster));
    assert_eq!(after[2..], before[2..], "the others are left as they are");
    assert_ne!(after[0], before[0]);
    let plan = init.inspect().expect("a plan");
    assert!(knows(&plan), "{}", plan.report());
}
