//! `init --max-ttl`: a longer ttl for a deployment that exists.

use crate::support::servers::Cluster;
use crate::{SHORT, all, exec_at_once, init, written};

#[test]
fn max_ttl_is_raised_on_all_nodes_and_then_clients_may_use_it() {
    let cluster = Cluster::start(3);
    let fresh = [&["--fresh"][..], &SHORT].concat();
    init(&cluster.addrs(), &fresh).assert(0, &[]);
    exec_at_once(&cluster.addrs(), "4s").assert(69, &["redbolt init --max-ttl"]);
    let outcome = init(&cluster.addrs(), &["--max-ttl", "4s"]);
    outcome.assert(0, &["max_ttl raised from 2s to 4s", "for every client to look"]);
    exec_at_once(&cluster.addrs(), "4s").assert(0, &[]);
    // Clients with the shorter one go on.
    exec_at_once(&cluster.addrs(), "2s").assert(0, &[]);
}

#[test]
fn max_ttl_is_never_lowered_and_never_raised_on_some_of_the_nodes() {
    let mut cluster = Cluster::start(3);
    init(&cluster.addrs(), &["--fresh"]).assert(0, &[]);
    let before = written(&all(&cluster));
    let lowered = "max_ttl is 1m, and cannot be lowered to 2s";
    init(&cluster.addrs(), &SHORT).assert(69, &["nothing was written", lowered]);
    assert_eq!(written(&all(&cluster)), before);
    cluster[0].kill();
    let longer = ["--max-ttl", "2m"];
    init(&cluster.addrs(), &longer).assert(69, &["nothing was written", "connecting failed"]);
    assert_eq!(written(&all(&cluster)[1..]), before[2..]);
}
