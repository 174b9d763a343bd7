//! What a lock is for.

use std::fs;

use super::run::{PATIENCE, exec};
use crate::support::process::Folder;
use crate::support::servers::Cluster;
use crate::support::until;

const LOOPS: usize = 20;
const ROUNDS: usize = 20;

/// `redbolt` with its first arguments comes as `$@`.
const LOOP: &str = r#"
    round=0
    while [ "$round" -lt 20 ]; do
        "$@" --wait 60s counter -- sh -c 'n=$(cat f); echo $((n + 1)) >f' || exit
        round=$((round + 1))
    done
"#;

#[test]
fn no_increment_is_lost_while_one_server_dies_and_another_stops() {
    let mut cluster = Cluster::start(5);
    let folder = Folder::new();
    let file = folder.path().join("f");
    fs::write(&file, "0\n").expect("the folder is ours");
    let count = || fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok());

    let mut loops: Vec<_> = (0..LOOPS).map(|_| Loop::start(&cluster, &folder)).collect();
    assert!(until(6 * PATIENCE, || count() >= Some(LOOPS * ROUNDS / 8)));
    cluster[0].kill();
    assert!(until(6 * PATIENCE, || count() >= Some(LOOPS * ROUNDS / 4)));
    cluster[1].stop();
    for one in &mut loops {
        one.finish();
    }
    assert_eq!(count(), Some(LOOPS * ROUNDS));

    cluster[1].cont();
    cluster[0].restart();
    for (index, node) in cluster.iter().enumerate() {
        // The node that stood still can execute a `SET` of a process that has gone since, behind
        // the release or without one. Such a key lasts for its ttl of 30 s, here in one run of 40.
        let limit = if index == 1 { 2 * PATIENCE } else { PATIENCE / 2 };
        let is_free = until(limit, || node.keys().is_empty());
        assert!(is_free, "node {index} has {:?}", node.keys());
    }
}

/// A shell, killed on `Drop`.
struct Loop(std::process::Child);

impl Loop {
    fn start(cluster: &Cluster, folder: &Folder) -> Self {
        let exec = exec(&cluster.addrs());
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", LOOP, "loop"]).arg(exec.get_program()).args(exec.get_args());
        shell.envs(exec.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Self(shell.current_dir(folder.path()).spawn().expect("sh can be started"))
    }

    fn finish(&mut self) {
        let mut status = None;
        let has_ended = until(6 * PATIENCE, || {
            status = self.0.try_wait().expect("it is ours to wait for");
            status.is_some()
        });
        assert!(has_ended, "a loop hangs");
        assert!(status.is_some_and(|status| status.success()), "a loop ended with {status:?}");
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // Errors mean that it has ended, as it should.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}
