//! [`Cluster`], the masters of a test.

use core::time::Duration;
use std::io;

use super::node::Node;
use super::options::Options;
use crate::client::Client;
use crate::engine::Config;
use crate::redlock::{MAX_NODES, RestartGuard};

/// The least patience that a busy machine needs: a master's thread may have to wait for its turn.
const NODE_TIMEOUT: Duration = Duration::from_millis(500);

/// The time for all masters to be ready for a new client, which takes about a millisecond. Only a
/// master that a test has stopped or paused needs more.
const READY: Duration = Duration::from_secs(10);

/// A test that restarts a master wants the master back soon.
const RECONNECT_MAX: Duration = Duration::from_millis(20);

/// Masters inside the process, each with a thread and a port of 127.0.0.1 of its own, for tests of
/// code that locks. Clusters share nothing, so that tests can run side by side.
///
/// The masters end when the cluster is dropped. A cluster that outlives its clients lets them
/// release their locks in peace: where both are local variables, create the cluster first.
///
/// ```
/// use redbolt::embedded::Cluster;
///
/// let cluster = Cluster::start(3)?;
/// let client = cluster.client()?;
/// let guard = client.lock("printer").blocking_try_acquire()?;
///
/// cluster.node(0)?.pause();
/// assert!(client.lock("scanner").blocking_try_acquire().is_ok(), "two of three are enough");
/// # drop(guard);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Node>,
    config: Config,
}

impl Cluster {
    /// Starts masters without a password. When `start` returns, their ports accept connections.
    ///
    /// Costs a socket, an epoll instance and a thread for each master. The drop waits for the
    /// threads.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if `nodes` is not between 1 and
    /// [`MAX_NODES`], or the error of the system, which could not provide a socket, an epoll
    /// instance or a thread.
    pub fn start(nodes: usize) -> io::Result<Self> {
        Self::start_with(nodes, &Options::default())
    }

    /// Starts masters with the same options, each with a memory of its own. They are declared
    /// fresh, unless [`Options::fresh`] says otherwise.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start), and [`InvalidInput`](io::ErrorKind::InvalidInput) for a user and
    /// password that do not fit into an [`Address`](crate::Address).
    pub fn start_with(nodes: usize, options: &Options) -> io::Result<Self> {
        if !(1..=MAX_NODES).contains(&nodes) {
            let what = format!("{nodes} nodes given, between 1 and {MAX_NODES} are possible");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let options = options.clone().fresh(options.is_fresh.unwrap_or(true));
        let nodes: Vec<_> =
            (0..nodes).map(|_| Node::start(options.clone())).collect::<Result<_, _>>()?;
        let config = Config::new(nodes.iter().map(Node::url));
        let mut config =
            config.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        config.redlock.restart_guard = RestartGuard::Off;
        config.redlock.node_timeout = Some(NODE_TIMEOUT);
        config.redlock.reconnect_max = RECONNECT_MAX;
        Ok(Self { nodes, config })
    }

    /// Creates a client with the [`config`](Self::config) of this cluster, and blocks the thread
    /// until all masters vote, for at most 10 s. From the first lock on, every lock stands on every
    /// master, and a test can take away any minority.
    ///
    /// Mostly the call takes a millisecond. A task may make the call too: masters and client have
    /// threads of their own, and no runtime has to run meanwhile.
    ///
    /// # Errors
    ///
    /// [`TimedOut`](io::ErrorKind::TimedOut) after 10 s if a master does not vote, because a test
    /// has stopped or paused it, with a [`ReadyError`](crate::ReadyError) that names the master.
    /// Such a test makes its client by [`Client::new`]. Or the error of the system, which could not
    /// provide what the client needs, with an [`EngineError`](crate::EngineError).
    pub fn client(&self) -> io::Result<Client> {
        let client = Client::new(self.config()).map_err(io::Error::other)?;
        wait_for_all(&client, READY)?;
        Ok(client)
    }

    /// Returns a configuration for clients of this cluster, for tests that change a setting. Every
    /// client of the same locks needs the same.
    ///
    /// A request that follows the creation of a client at once is granted, by those masters to
    /// which the client is connected already: a majority, and not all. A test that then takes a
    /// master away can lose the lock. [`client`](Self::client) waits for all masters, and so does
    /// [`Client::ready_all`] after other settings:
    ///
    /// ```
    /// use redbolt::embedded::Cluster;
    /// use std::time::Duration;
    ///
    /// let cluster = Cluster::start(3)?;
    /// let client = cluster.config().into_builder().ttl(Duration::from_secs(1)).build()?;
    /// client.ready_all(Duration::from_secs(10)).blocking_wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// All settings have their defaults, but for three:
    ///
    /// * `restart_guard` is [`RestartGuard::Off`]: the masters are known to be new, and to have
    ///   forgotten no lock. With [`RestartGuard::On`] they vote at once too, until a restart,
    ///   because they are declared fresh; for a quarantine from the start, turn
    ///   [`Options::fresh`](super::Options::fresh) off. With `Off`, a master that a test restarts
    ///   with [`Memory::Lost`](super::Memory::Lost) has forgotten locks, and votes at once all the
    ///   same.
    /// * `node_timeout` is 500 ms, so that a busy machine fails no test. A request that finds no
    ///   quorum therefore takes as long, if its wait is shorter. Set less where a test is about
    ///   that.
    /// * `reconnect_max` is 20 ms, so that a master which was restarted soon has its clients again.
    pub fn config(&self) -> Config {
        self.config.clone()
    }

    /// Returns a master by its index, which is that of its
    /// [`NodeId`](crate::NodeId) and its place in errors.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for an index that is not below the number of
    /// masters.
    pub fn node(&self, index: usize) -> io::Result<&Node> {
        self.nodes.get(index).ok_or_else(|| {
            let what = format!("node {index} of a cluster of {}", self.nodes.len());
            io::Error::new(io::ErrorKind::InvalidInput, what)
        })
    }

    /// Returns all masters, in the order of their indexes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// Waits until all masters vote for a client.
pub(super) fn wait_for_all(client: &Client, limit: Duration) -> io::Result<()> {
    let ready = client.ready_all(limit).wait_anywhere();
    ready.map_err(|error| io::Error::new(io::ErrorKind::TimedOut, error))
}
