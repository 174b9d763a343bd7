//! [`Node`], one master of a cluster, and what a test can do to it.

use core::fmt;
use core::time::Duration;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::master::Memory;
use super::options::Options;
use super::port::Port;
use super::server::Server;
use super::shared::Shared;
use crate::net::Clock;

/// The database of the addresses that a cluster gives out.
const DATABASE: usize = 0;

/// A master of a [`Cluster`](super::Cluster): a thread, a port that stays the same, and a memory.
///
/// All methods take effect before they return, from any thread; `&Node` is all that is needed. They
/// cost a lock and at most a wake-up: microseconds, unless said otherwise.
///
/// [`keys`](Self::keys), [`get`](Self::get), [`delete`](Self::delete) and [`flush`](Self::flush)
/// work on the memory behind the back of the clients. They also work while the master is paused,
/// and while the master is stopped: then they show and change what a restart with
/// [`Memory::Kept`] brings back. They see the keys of database 0, the one in
/// [`Cluster::config`](super::Cluster::config), with the configured prefix in front.
///
/// ```
/// use redbolt::embedded::{Cluster, Memory};
///
/// let cluster = Cluster::start(3)?;
/// let node = cluster.node(0)?;
/// node.pause();
/// node.resume();
/// node.restart(Memory::Lost)?;
/// assert!(node.keys().is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Node {
    port: Port,
    options: Options,
    shared: Arc<Shared>,
    /// `None` while the master is stopped.
    server: Mutex<Option<Server>>,
}

impl Node {
    pub(super) fn start(options: Options) -> io::Result<Self> {
        let port = Port::reserve()?;
        let shared = Arc::new(Shared::new(options.clone()));
        let server = Server::serve(port.number(), options.clone(), Arc::clone(&shared))?;
        Ok(Self { port, options, shared, server: Mutex::new(Some(server)) })
    }

    /// The address of the master. No restart changes the address.
    pub fn addr(&self) -> SocketAddr {
        self.port.address()
    }

    /// The address as a URL, user and password included; see [`Server::url`].
    pub fn url(&self) -> String {
        self.options.url(self.addr())
    }

    /// Has the master do nothing more, as SIGSTOP does: connections stay open, new ones are
    /// established by the system, bytes wait, and no reply leaves once `pause` has returned. The
    /// clock goes on, and keys expire.
    ///
    /// Does nothing to a master that is stopped.
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Ends a pause. Requests that have waited are executed now, in their order, however old they
    /// are: a `SET` of an attempt that was given up long ago makes its key all the same, as on a
    /// real server.
    pub fn resume(&self) {
        self.set_paused(false);
    }

    /// Holds every reply back for `delay`. Requests are executed when they arrive, so that a key
    /// stands before its vote is known. Replies keep their order, and are late by up to 1 ms more.
    ///
    /// The delay counts from the execution, for replies that wait already too: a delay of zero lets
    /// all of them go. `Duration::MAX` is for ever. A client with more than 4 MiB of replies held
    /// back is disconnected.
    ///
    /// Does nothing to a master that is stopped.
    pub fn delay(&self, delay: Duration) {
        if let Some(server) = &*self.server() {
            self.shared.lock().delay = delay;
            server.wake();
        }
    }

    /// Stops the master, as SIGKILL does: all connections end, and the port refuses new ones. The
    /// port stays reserved for [`restart`](Self::restart). Does nothing to a master that is
    /// stopped.
    ///
    /// Waits for the thread of the master to end.
    ///
    /// # Errors
    ///
    /// The error of the system that ended the thread, if it had ended before.
    pub fn stop(&self) -> io::Result<()> {
        self.server().take().map_or(Ok(()), Server::stop)
    }

    /// Starts the master anew on the same port: with another run id, an uptime of zero, no delay
    /// and no pause. A master that still runs is stopped first. When `restart` returns, the port
    /// accepts connections; a client reconnects after a pause of
    /// [`reconnect_max`](crate::RedlockConfig::reconnect_max) at most.
    ///
    /// Whether clients let the restarted master vote at once is the question of
    /// [`RestartGuard`](crate::RestartGuard), which is off in
    /// [`Cluster::config`](super::Cluster::config).
    ///
    /// Costs the end of one thread and the start of another.
    ///
    /// # Errors
    ///
    /// As [`stop`](Self::stop), and the error of the system, which could not provide a socket, an
    /// epoll instance or a thread. The master is stopped then, and `restart` may be tried again.
    pub fn restart(&self, memory: Memory) -> io::Result<()> {
        let mut server = self.server();
        server.take().map_or(Ok(()), Server::stop)?;
        self.shared.restart(memory);
        let (options, shared) = (self.options.clone(), Arc::clone(&self.shared));
        *server = Some(Server::serve(self.port.number(), options, shared)?);
        Ok(())
    }

    /// Returns the keys that are alive, in byte order: the locks. The resource is the key without
    /// the configured prefix, which is empty by default. The two keys by which clients know the age
    /// of the data are left out; [`get`](Self::get) and [`delete`](Self::delete) know them as
    /// `redbolt:witness` and `redbolt:seen`, with the prefix in front. Hints are there for a while:
    /// `redbolt:wanted:` with a resource, where clients waited behind one that asked again and
    /// again, and `redbolt:next:` with a number and a resource, where they waited for long. Costs a
    /// copy of each key.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        let state = self.shared.lock();
        state.master.keys(DATABASE, Clock::now()).map(<[u8]>::to_vec).collect()
    }

    /// Returns the value of a key, which is the token of the lock
    /// ([`Guard::token`](crate::Guard::token)); `None` where there is no such key.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        let state = self.shared.lock();
        state.master.get(DATABASE, key.as_ref(), Clock::now()).map(<[u8]>::to_vec)
    }

    /// Deletes a key, as an operator with `redis-cli` could. Returns whether there was such a key.
    ///
    /// The holder of the lock learns of that by the next extension or renewal. With the key gone
    /// from a majority, the lock is lost; a minority is given the key again.
    pub fn delete(&self, key: impl AsRef<[u8]>) -> bool {
        self.shared.lock().master.delete(DATABASE, key.as_ref(), Clock::now())
    }

    /// Deletes all keys, as `FLUSHALL` does. A client that looks at the master afterwards sees that
    /// data was lost.
    pub fn flush(&self) {
        self.shared.lock().master.flush();
    }

    fn set_paused(&self, paused: bool) {
        if let Some(server) = &*self.server() {
            self.shared.lock().paused = paused;
            server.wake();
        }
    }

    /// No method panics while it has this lock; a panic of the server's thread is not one of them.
    fn server(&self) -> MutexGuard<'_, Option<Server>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("Node")
            .field("addr", &self.port.address())
            .field("master", &state.master)
            .field("paused", &state.paused)
            .field("delay", &state.delay)
            .finish_non_exhaustive()
    }
}
