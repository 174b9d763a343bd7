//! Masters that are far away, with the default settings.

use crate::run::{PATIENCE, Run, exec, run};
use crate::support::far::FarAway;
use crate::support::servers::Cluster;
use crate::support::until;

#[test]
fn a_command_runs_under_a_lock_of_far_masters() {
    for ways in [vec![15; 3], vec![30; 3], vec![75; 5], vec![150; 3], vec![0, 30, 150, 0, 75]] {
        let cluster = Cluster::start(ways.len());
        let proxies = FarAway::start_all(&cluster.addrs(), &ways);
        let far: Vec<_> = proxies.iter().map(FarAway::addr).collect();
        let outcome = run(&far, &["-v", "r", "--", "echo", "ran"]);
        assert_eq!(outcome.status.code(), Some(0), "{ways:?}: {}", outcome.err);
        assert_eq!(outcome.out, "ran\n");
        // The releases to nodes that are not needed may still be on their way.
        let is_clean = until(PATIENCE, || cluster.iter().all(|node| node.keys().is_empty()));
        assert!(is_clean, "{ways:?}: {}", outcome.err);
    }
}

/// The lock is kept for much longer than its ttl, over renewals that take their time.
#[test]
fn a_lock_of_far_masters_is_kept_alive() {
    let cluster = Cluster::start(3);
    let proxies = FarAway::start_all(&cluster.addrs(), &[75; 3]);
    let far: Vec<_> = proxies.iter().map(FarAway::addr).collect();
    let mut command = exec(&far);
    command.args(["--ttl", "2s", "r", "--", "sh", "-c", "sleep 5; echo $REDBOLT_RESOURCE"]);
    let outcome = Run::start(&mut command).finish();
    assert_eq!(outcome.status.code(), Some(0), "{}", outcome.err);
    assert_eq!(outcome.out, "r\n");
}
