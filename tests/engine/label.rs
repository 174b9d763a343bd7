//! The label of a client: who has a lock, for `redbolt who`.

use std::process;
use std::time::Duration;

use redbolt::redlock::RestartGuard;

use crate::owner::{Owner, PATIENCE, config};
use crate::support::servers::Cluster;
use crate::support::until;

/// The ttl of the locks here: as long as the span of a quarantine, roughly.
const TTL: Duration = Duration::from_secs(1);

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whoever reads the token of a lock finds the label under the first twelve bytes of the token.
#[test]
fn the_label_of_a_client_is_found_by_each_of_its_tokens() {
    for guard in [RestartGuard::On, RestartGuard::Off] {
        let servers = Cluster::start(3);
        let mut config = config(servers.addrs());
        config.redlock.restart_guard = guard;
        config.redlock.max_ttl = TTL;
        config.redlock.prefix = b"p:".to_vec();
        config.redlock.label = b"billing".to_vec();
        let mut owner = Owner::new(config);
        let lock = owner.acquire_for("r", TTL, PATIENCE);
        owner.acquired();
        let token = owner.engine.token(lock).expect("it is held");
        let key = format!("p:redbolt:label:{}", hex(&token.as_bytes()[..12]));
        owner.all_ready();
        for node in servers.iter() {
            let label = node.get(key.as_bytes()).expect("each node has the label");
            let label = String::from_utf8(label).expect("it is text");
            let [host, pid, name] = label.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{label}")
            };
            assert_eq!((pid, name), (&*process::id().to_string(), "billing"));
            assert!(!host.is_empty());
            assert!(node.pttl(key.as_bytes()) <= 2_100, "the label ends with its client");
        }
        owner.let_go(lock);
        // Each look writes the label again.
        let written = servers[0].calls("set");
        owner.poll_until("the next looks", |_| servers[0].calls("set") > written + 1);
        let left = servers[0].pttl(key.as_bytes());
        assert!(left > 0, "{left} ms are left of the label");
        drop(owner);
        let is_gone = || servers[0].get(key.as_bytes()).is_none();
        assert!(until(PATIENCE, is_gone), "the label is left behind");
    }
}

#[test]
fn without_a_label_nothing_is_written_about_the_client() {
    let servers = Cluster::start(1);
    let mut owner = Owner::of(servers.addrs());
    owner.hold("r");
    assert_eq!(servers[0].keys(), [b"r".to_vec()]);
}
