//! The client: what threads and tasks have in their hands.

use core::fmt;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use smallvec::SmallVec;

use super::error::Refusal;
use super::pending::Pending;
use super::report::NodeReport;
use super::request::LockRequest;
use super::shared::Shared;
use super::sync::Mutex;
use super::ticket::Order;
use super::worker::Command;
use crate::engine::{Config, EngineError};
use crate::redlock::{Holder, MAX_SET, Token};

/// How many names too many are counted, for the error to say.
const MOST_COUNTED: usize = 1 << 20;

/// How long the last clone waits, when it is dropped, for the last releases to arrive.
const GOODBYE: Duration = Duration::from_millis(250);

/// Locks for any thread and any task.
///
/// Cheap to clone: all clones, and the guards they hand out, share one thread that owns an
/// [`Engine`](crate::Engine). The same calls block and are futures, on any runtime or none. A
/// request costs one push into a queue, and waking the engine's thread if that sleeps.
///
/// When the last clone is dropped and no guard is left, releases that are still on their way get a
/// quarter of a second to arrive, and whoever drops it waits for that (1.25 s at most, where a
/// callback holds up the thread); [`shutdown`](Self::shutdown) gives them as long as one wants, and
/// tells whether they did. Guards that outlive the last clone are served as before, and to drop the
/// last of them waits for nobody: a process that ends right then may leave a lock to its ttl.
///
/// Where no quorum of nodes can be had, [`nodes`](Self::nodes) says why, node by node, and
/// [`on_node`](Self::on_node) says it when it happens. Masters that have just been started do not
/// vote at first: see [`RestartGuard`](crate::RestartGuard).
///
/// ```no_run
/// use redbolt::{Client, Config};
/// use std::time::Duration;
///
/// let client = Client::new(Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?)?;
/// let guard = client.lock("orders/42").wait(Duration::from_secs(2)).acquire()?;
/// assert!(guard.is_held());
/// drop(guard);
/// client.shutdown(Duration::from_secs(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

/// What the clones of a client share, and guards and requests do not: only the last clone waits.
struct Handle {
    shared: Arc<Shared>,
}

impl Client {
    /// A client with one thread.
    ///
    /// # Errors
    ///
    /// An [`EngineError`]: a setting is out of bounds, or the system does not provide what is
    /// needed.
    pub fn new(config: Config) -> Result<Self, EngineError> {
        Self::with_threads(config, 1)
    }

    /// A client with several threads, from 1 to 64, each with an engine and connections of its own.
    /// A resource always goes to the same one. One is enough until its processor is not: see
    /// PERFORMANCE.md for how far that goes.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_threads(config: Config, threads: usize) -> Result<Self, EngineError> {
        let shared = Arc::new(Shared::new(&config, threads)?);
        Ok(Self { handle: Arc::new(Handle { shared }) })
    }

    /// A lock on one resource, yet to be asked for.
    pub fn lock(&self, resource: impl AsRef<[u8]>) -> LockRequest {
        self.request([resource], None)
    }

    /// One lock on several resources, at most [`MAX_SET`] of them: all or nothing, and one guard.
    /// See [`Redlock::acquire_all`](crate::redlock::Redlock::acquire_all).
    pub fn lock_all<R: AsRef<[u8]>>(&self, resources: impl IntoIterator<Item = R>) -> LockRequest {
        self.request(resources, None)
    }

    /// A lock that another process has let go of, by
    /// [`Guard::into_parts`](super::Guard::into_parts): what it knows is all that is needed. The
    /// ttl and `max_hold` count anew from the adoption. See
    /// [`Redlock::adopt`](crate::redlock::Redlock::adopt).
    pub fn adopt<R: AsRef<[u8]>>(
        &self,
        resources: impl IntoIterator<Item = R>,
        token: Token,
    ) -> LockRequest {
        self.request(resources, Some(token))
    }

    fn request<R: AsRef<[u8]>>(
        &self,
        resources: impl IntoIterator<Item = R>,
        adopts: Option<Token>,
    ) -> LockRequest {
        let mut names = resources.into_iter();
        // One too many is enough to refuse them; the others are only counted.
        let resources: SmallVec<_> =
            names.by_ref().take(MAX_SET + 1).map(|name| name.as_ref().into()).collect();
        let order = Order {
            count: resources.len() + names.take(MOST_COUNTED).count(),
            resources,
            ttl: self.handle.shared.default_ttl,
            wait: Duration::ZERO,
            adopts,
            max_hold: None,
            ahead: Duration::ZERO,
            on_lost: Mutex::new(None),
        };
        LockRequest::new(Arc::clone(&self.handle.shared), order)
    }

    /// Who holds a resource, as the nodes see it. Advice: it was true on its way here, and nothing
    /// may be decided by it that a lock should decide.
    pub fn query(&self, resource: impl AsRef<[u8]>) -> Pending<Result<Holder, Refusal>> {
        Pending::ask(|slot| {
            let question = |resource| Command::Query { resource, slot };
            self.handle.shared.ask(resource.as_ref(), question)
        })
    }

    /// Where every node stands, and what was counted there. The first thread answers for its own
    /// connections.
    pub fn nodes(&self) -> Pending<Result<Vec<NodeReport>, Refusal>> {
        Pending::ask(|slot| self.handle.shared.ask_first(Command::Nodes(slot)))
    }

    /// What the system said, if a thread of this client died of it: of that alone, and not of a
    /// panic. Everything is answered with [`Closed`](crate::LockError::Closed) from then on.
    pub fn failure(&self) -> Option<io::ErrorKind> {
        self.handle.shared.failure()
    }

    /// Has `watch` called whenever the state of a node changes, on the thread of the engine: it
    /// must return at once. Changes that come together make one call. It is kept as long as the
    /// client lives, so it must not have a handle of it.
    ///
    /// # Errors
    ///
    /// A [`Refusal`]: the client was shut down or is busy, or there are 64 already.
    pub fn on_node(&self, watch: impl FnMut(&NodeReport) + Send + 'static) -> Result<(), Refusal> {
        self.handle.shared.watch(Box::new(watch))
    }

    /// Gives all locks back, ends all requests with
    /// [`LockError::Closed`](crate::LockError::Closed), waits until the nodes have confirmed it or
    /// `timeout` is over, and ends the thread. Returns whether all is done.
    ///
    /// Everything that is asked for afterwards is refused. Where several ask for the end, the
    /// longest `timeout` counts for all. A callback that holds up the thread holds this up for a
    /// second more at most. From the thread of the engine itself, which is to say from a callback,
    /// this does nothing and returns false.
    pub fn shutdown(&self, timeout: Duration) -> bool {
        self.handle.shared.shut_down(timeout)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("threads", &self.handle.shared.threads())
            .finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Where guards or requests are left, more releases are to come, and the last of them ends
        // the threads.
        if Arc::strong_count(&self.shared) == 1 {
            self.shared.shut_down(GOODBYE);
        }
    }
}

// Clients, guards and what they wait for go from thread to thread.
const _: fn() = || {
    fn goes<T: Send + Sync>() {}
    goes::<Client>();
    goes::<super::Guard>();
    goes::<super::Signal>();
    goes::<super::Acquire>();
    goes::<LockRequest>();
    goes::<NodeReport>();
    goes::<Pending<Result<Holder, Refusal>>>();
};
