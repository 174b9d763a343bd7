//! A client over servers of its own, on which nothing may be left.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use redbolt::redlock::RestartGuard;
use redbolt::{Client, Config, Guard, NodeState};

use crate::support::servers::Cluster;
use crate::support::until;

/// The ttl of locks that are not to end by themselves: longer than [`PATIENCE`], so that a key
/// which is left behind is still there when it is looked for.
pub(crate) const TTL: Duration = Duration::from_secs(60);

/// For anything that is to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Fixture {
    pub(crate) client: Client,
    pub(crate) cluster: Cluster,
}

pub(crate) fn config(cluster: &Cluster) -> Config {
    config_of(cluster.addrs())
}

pub(crate) fn config_of<I>(nodes: I) -> Config
where
    I: IntoIterator<Item: AsRef<str>>,
{
    let mut config = Config::new(nodes).expect("the addresses of servers can be read");
    // The servers of a test have just been started.
    config.redlock.restart_guard = RestartGuard::Off;
    config.redlock.node_timeout = Some(Duration::from_secs(5));
    config.redlock.retry_max = Duration::from_millis(20);
    config.redlock.max_locks = 20_000;
    config
}

/// Waits until the client finds all its nodes in this state.
pub(crate) fn expect_all(client: &Client, state: NodeState) {
    let nodes = || client.nodes().blocking_wait().expect("the client runs");
    let are_all = || nodes().iter().all(|node| node.state == state);
    assert!(until(PATIENCE, are_all), "not {state:?}: {:?}", nodes());
}

impl Fixture {
    pub(crate) fn new(nodes: usize) -> Self {
        Self::with(nodes, |_| ())
    }

    pub(crate) fn with(nodes: usize, change: impl FnOnce(&mut Config)) -> Self {
        let cluster = Cluster::start(nodes);
        let mut config = config(&cluster);
        change(&mut config);
        let client = Client::new(config).expect("a client can be made");
        Self { client, cluster }
    }

    /// Holds up the thread of the client, in the callback of a lock that is lost, until the sender
    /// is dropped.
    pub(crate) fn hold_up(&self) -> (Sender<()>, Guard) {
        let (let_go, held_up) = channel();
        let (tell, told) = channel();
        let request = self.client.lock("held up").ttl(Duration::from_millis(50)).wait(PATIENCE);
        let request = request.on_lost(move |_| {
            // The test may be over. The end of the other channel is what it waits for.
            let _ = tell.send(());
            let _ = held_up.recv_timeout(4 * PATIENCE);
        });
        let guard = request.blocking_acquire().expect("free");
        told.recv_timeout(PATIENCE).expect("it is lost");
        (let_go, guard)
    }

    /// How many nodes have something at `key`.
    pub(crate) fn standing(&self, key: &str) -> usize {
        self.cluster.iter().filter(|node| node.get(key.as_bytes()).is_some()).count()
    }

    /// Nothing is left on any node, soon.
    pub(crate) fn expect_clean(&self) {
        let is_clean = || self.cluster.iter().all(|node| node.keys().is_empty());
        let keys = || self.cluster.iter().map(|node| node.keys()).collect::<Vec<_>>();
        assert!(until(PATIENCE, is_clean), "left behind: {:?}", keys());
    }
}
