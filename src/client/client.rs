//! [`Client`], the handle that threads and tasks share.

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::time::Duration;
use std::sync::Arc;

use smallvec::SmallVec;

use super::builder::ClientBuilder;
use super::campaign::Campaign;
use super::command::Command;
use super::counters::ClientCounters;
use super::error::ClientError;
use super::failure::ClientFailure;
use super::lock_error::LockError;
use super::pending::PendingAnswer;
use super::ready::{Ready, Wanted};
use super::report::NodeReport;
use super::request::LockRequest;
use super::runtime;
use super::shared::{Defaults, Shared};
use super::shutdown::{Shutdown, ShutdownReport};
use super::sync::Mutex;
use super::ticket::Order;
use crate::engine::{Config, EngineError};
use crate::redlock::{Holder, MAX_SET, Token};

/// The maximum number of resources that are counted beyond the bound, so that the error can name
/// the number.
const MOST_COUNTED: usize = 1 << 20;

/// The time for which the drop of the last clone waits for the last releases to arrive.
const DROP_WAIT: Duration = Duration::from_millis(250);

/// A client for locks, shared by any number of threads and tasks.
///
/// A client is cheap to clone. All clones, and the guards they return, share one thread that owns
/// an [`Engine`](crate::Engine), or several threads ([`ClientBuilder::threads`]). Every
/// request can block a thread, or be awaited in a task, on any runtime or none. A request costs one
/// push into a queue, and a wake-up if the engine's thread sleeps.
///
/// # Drop
///
/// Dropping the last clone, when no guard is left, waits up to a quarter of a second for releases
/// that are still on their way. If a callback holds up the engine's thread, the drop waits for
/// 1.25 s at most. On a thread of a runtime the drop waits for nothing, and a process that ends
/// then may leave locks to their ttl. [`shutdown`](Self::shutdown) waits as long as the caller
/// wants, and returns whether the releases have arrived.
///
/// Guards may outlive the last clone, and work as before. Dropping the last guard then does not
/// wait: a process that ends at that moment may leave a lock to its ttl.
///
/// # When there is no quorum
///
/// [`nodes`](Self::nodes) reports the reason for each node, and [`on_node`](Self::on_node) reports
/// every change. Masters that have just been started do not vote at first: see
/// [`RestartGuard`](crate::RestartGuard).
///
/// # Example
///
/// ```no_run
/// use redbolt::{Client, Config};
/// use std::time::Duration;
///
/// let client = Client::new(Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?)?;
/// let guard = client.lock("orders/42").wait(Duration::from_secs(2)).blocking_acquire()?;
/// assert!(guard.is_held());
/// drop(guard);
/// client.blocking_shutdown(Duration::from_secs(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

/// The part that only the clones of a client share, so that the drop of the last clone can wait.
/// Guards and requests have the `Shared` alone.
struct Handle {
    shared: Arc<Shared>,
}

impl Client {
    /// Creates a client with the settings in `config`.
    ///
    /// # Errors
    ///
    /// An [`EngineError`]: a setting is out of bounds, or the system does not provide what the
    /// engine needs.
    pub fn new(config: Config) -> Result<Self, EngineError> {
        ClientBuilder::from(config).build()
    }

    /// Starts the settings of a client of these nodes. [`Address`] lists the ways to write a node.
    ///
    /// A [`Config`] that is there already, from the environment, a file or a list of [`Address`],
    /// becomes a builder by [`Config::into_builder`].
    ///
    /// [`Address`]: crate::Address
    pub fn builder<I>(nodes: I) -> ClientBuilder
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        ClientBuilder::new(Config::new(nodes))
    }

    pub(super) fn start(config: &Config, defaults: Defaults) -> Result<Self, EngineError> {
        let shared = Arc::new(Shared::new(config, defaults)?);
        Ok(Self { handle: Arc::new(Handle { shared }) })
    }

    /// Waits until a quorum of nodes votes. The other nodes get as much time as the quorum took, so
    /// that the first lock asks all that are there.
    ///
    /// A request for a lock waits for the nodes by itself. `ready` is for the start of a service,
    /// which fails early where the nodes are not there, and for a first attempt without a wait.
    ///
    /// ```no_run
    /// # async fn start(client: redbolt::Client) -> Result<(), redbolt::ReadyError> {
    /// client.ready(std::time::Duration::from_secs(3)).await
    /// # }
    /// ```
    pub fn ready(&self, timeout: Duration) -> Ready {
        Ready::new(self.handle.shared.ready(Wanted::Quorum, timeout))
    }

    /// Waits until all nodes vote, as [`ready`](Self::ready) waits for a quorum.
    ///
    /// A lock needs a quorum and no more, and a service that waits for all nodes does not start
    /// while one of them is down. `ready_all` is for tests, in which a lock must stand on every
    /// node before one of them is stopped, and for the roll-out of a new cluster. The error names
    /// each node that does not vote ([`ReadyError::NotAll`](super::ReadyError::NotAll)).
    ///
    /// ```no_run
    /// # async fn start(client: redbolt::Client) -> Result<(), redbolt::ReadyError> {
    /// client.ready_all(std::time::Duration::from_secs(3)).await
    /// # }
    /// ```
    pub fn ready_all(&self, timeout: Duration) -> Ready {
        Ready::new(self.handle.shared.ready(Wanted::All, timeout))
    }

    /// Starts a request for a lock on one resource.
    pub fn lock(&self, resource: impl AsRef<[u8]>) -> LockRequest {
        self.request([resource], None)
    }

    /// Starts a request for one lock on several resources, at most 64 ([`MAX_SET`]).
    ///
    /// The lock takes all resources or none, and one guard holds all of them. Where others want the
    /// resources one by one all the time, no moment comes in which all are free. So a request that
    /// others have kept waiting for a [`tenure`](crate::redlock::RedlockConfig::tenure), half a
    /// second by default, locks the resources one after the other. The cost: for up to half of its
    /// further wait, and at most 30 s at a time, others cannot have the resources that the request
    /// has so far, even if one of the rest stays held for hours. A request with `tries` or
    /// `retry_delay` does not go that way. See
    /// [`Redlock::acquire_all`](crate::redlock::Redlock::acquire_all).
    pub fn lock_all<R: AsRef<[u8]>>(&self, resources: impl IntoIterator<Item = R>) -> LockRequest {
        self.request(resources, None)
    }

    /// Starts a request for a lock that another process has given up with
    /// [`Guard::hand_over`](super::Guard::hand_over).
    ///
    /// The adoption needs the resources and the token of those parts, and
    /// [`with_fence`](LockRequest::with_fence) where the lock has a fencing number;
    /// [`Handover`](super::Handover) shows how they get here. The ttl and `max_hold` count anew
    /// from the adoption. See [`Redlock::adopt`](crate::redlock::Redlock::adopt).
    ///
    /// A request of this client that waits for the same resource may stay, and so may those of
    /// other clients: as long as the token is on the nodes, none of them can get the lock. The
    /// adoption goes ahead of the requests of its own client; give the adoption a
    /// [`wait`](LockRequest::wait), because one of them can be in its last attempt. What stays gets
    /// its turn after the release of the adopted lock: drop what nobody wants any more. The example
    /// `hand_over.rs` has a successor that waits and adopts, whichever comes first.
    ///
    /// **One process adopts, and once.** The token is all that the nodes know of the owner, so that
    /// two that adopt the same token both hold the lock, until one of them releases it. What
    /// delivers a handover must therefore deliver it at most once: a pipe does, and a queue that
    /// delivers again after a timeout does not.
    ///
    /// An adoption never shortens the life of the keys. After `extend` by 30 s, a guard adopted
    /// with a ttl of 5 s believes in the lock for 4.95 s, and the nodes keep the keys for the 30 s
    /// unless the guard is dropped before.
    pub fn adopt<R: AsRef<[u8]>>(
        &self,
        resources: impl IntoIterator<Item = R>,
        token: Token,
    ) -> LockRequest {
        self.request(resources, Some(token))
    }

    /// Starts a campaign for the lead on a resource: one of all candidates leads, and the next one
    /// follows when it resigns, loses the lead or dies.
    ///
    /// ```no_run
    /// # async fn run(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// let leadership = client.campaign("service/leader").await?;
    /// println!("we lead");
    /// leadership.lost().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn campaign(&self, resource: impl AsRef<[u8]>) -> Campaign {
        Campaign::new(Arc::clone(&self.handle.shared), resource.as_ref())
    }

    fn request<R: AsRef<[u8]>>(
        &self,
        resources: impl IntoIterator<Item = R>,
        adopts: Option<Token>,
    ) -> LockRequest {
        let mut names = resources.into_iter();
        // One name too many is enough to refuse the request; further names are only counted.
        let resources: SmallVec<_> =
            names.by_ref().take(MAX_SET + 1).map(|name| name.as_ref().into()).collect();
        let order = Order {
            count: resources.len() + names.take(MOST_COUNTED).count(),
            resources,
            ttl: self.handle.shared.defaults.ttl,
            wait: self.handle.shared.defaults.wait,
            adopts,
            options: None,
            max_hold: None,
            ahead: Duration::ZERO,
            on_lost: Mutex::new(None),
        };
        LockRequest::new(Arc::clone(&self.handle.shared), order)
    }

    /// Asks the nodes for the holder of a resource.
    ///
    /// The answer is advice: the holder may have changed while the answer was on its way, and
    /// nothing that a lock should decide may depend on the answer.
    ///
    /// # Errors
    ///
    /// The answer is a [`LockError`] with the resource if the question is out of bounds, or if the
    /// client is busy or has ended.
    pub fn query(&self, resource: impl AsRef<[u8]>) -> PendingAnswer<Result<Holder, LockError>> {
        PendingAnswer::ask(|answer| {
            let question = |resource| Command::Query { resource, answer };
            self.handle.shared.ask(resource.as_ref(), question)
        })
    }

    /// Asks for a report on every node: its state and its counters.
    ///
    /// With several threads, each of which has a connection of its own, a report is about all of
    /// them. The state, with all that explains it, is that of the thread for which it is the worst:
    /// a node is [`Ready`](crate::NodeState::Ready) only if each thread finds it so. Requests,
    /// tokens, counters and latencies are sums, and the round trip is the longest.
    ///
    /// The cost: one command for each thread, and some 3 KiB to copy for each node and thread.
    ///
    /// # Errors
    ///
    /// The answer is a [`ClientError`] if a thread is busy or has ended.
    pub fn nodes(&self) -> PendingAnswer<Result<Vec<NodeReport>, ClientError>> {
        self.handle.shared.survey(Command::Nodes)
    }

    /// Asks for the counters of the client, the locks that are held now, and how long granted locks
    /// had been waited for: the sum over all threads.
    ///
    /// The cost: one command for each thread, and a kilobyte to copy.
    ///
    /// # Errors
    ///
    /// The answer is a [`ClientError`] if a thread is busy or has ended.
    pub fn counters(&self) -> PendingAnswer<Result<ClientCounters, ClientError>> {
        self.handle.shared.survey(Command::Counters)
    }

    /// Returns `true` if the client was shut down, or one of its threads has died: requests that go
    /// to that thread fail with [`LockErrorKind::Closed`].
    ///
    /// [`LockErrorKind::Closed`]: crate::LockErrorKind::Closed
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.handle.shared.is_closed()
    }

    /// Returns why a thread of this client has died, if one did: an error of the system, or a panic
    /// that neither a callback nor a waker has made. From then on [`is_closed`](Self::is_closed) is
    /// true.
    #[must_use]
    pub fn failure(&self) -> Option<ClientFailure> {
        self.handle.shared.failure()
    }

    /// Registers `watch`, which is called on the engine's thread: once for each node as it is now,
    /// and then whenever the state of a node changes. Changes that come together make one call. An
    /// attempt to connect is no change before its outcome is known, and none if a node that was
    /// down stays down. With several threads, `watch` sees the connections of the first.
    ///
    /// `watch` must return at once. A call in `watch` that would have to wait for a client panics;
    /// [`blocking_shutdown`](Self::blocking_shutdown) has a rule of its own. The client keeps
    /// `watch` as long as the client lives, so `watch` must not own a clone of the client. If
    /// `watch` panics, it is not called again, and [`ClientCounters::panics`] counts the panic.
    ///
    /// # Errors
    ///
    /// A [`ClientError`]: the client was shut down or is busy, or has 64 callbacks already.
    pub fn on_node(
        &self,
        watch: impl FnMut(&NodeReport) + Send + 'static,
    ) -> Result<(), ClientError> {
        self.handle.shared.watch(Box::new(watch))
    }

    /// Releases all locks, ends all requests with [`LockErrorKind::Closed`], and ends the threads
    /// once a quorum of the nodes has confirmed the releases or `timeout` is over. The other nodes
    /// get a moment more, as in [`Engine::drain`](crate::Engine::drain), but nobody waits for nodes
    /// that are down. The result is a future, with what was left open. The shutdown begins at once,
    /// whether or not the future is awaited.
    ///
    /// [`LockErrorKind::Closed`]: crate::LockErrorKind::Closed
    ///
    /// Later requests are refused. Where several callers shut down at the same time, the longest
    /// `timeout` counts for all of them; a shutdown that is under way already keeps its time. A
    /// callback that holds up the thread holds up the shutdown. On the thread of the engine itself,
    /// which is to say in a callback, `shutdown` does nothing, and the report counts a thread that
    /// has not ended.
    ///
    /// ```no_run
    /// # async fn stop(client: redbolt::Client) {
    /// let report = client.shutdown(std::time::Duration::from_secs(2)).await;
    /// if !report.is_complete() {
    ///     eprintln!("{report}");
    /// }
    /// # }
    /// ```
    pub fn shutdown(&self, timeout: Duration) -> Shutdown {
        Shutdown::new(self.handle.shared.shut_down(timeout))
    }

    /// As [`shutdown`](Self::shutdown), for a thread, which is blocked meanwhile. A callback that
    /// holds up the engine's thread holds up this call for a second more than `timeout` at most.
    ///
    /// In a callback of this client the call returns at once, as `shutdown` does there. In a
    /// callback of another client the call blocks the thread of that client, and all its locks
    /// wait: no other call blocks there, because all others panic where they would.
    #[track_caller]
    pub fn blocking_shutdown(&self, timeout: Duration) -> ShutdownReport {
        runtime::block(|| self.handle.shared.shut_down_blocking(timeout))
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
        // Guards and requests that are left still have releases to send. The drop of the last one
        // ends the threads. A thread of a runtime must not wait: its tasks would.
        if Arc::strong_count(&self.shared) == 1 && !runtime::is_here() {
            self.shared.shut_down_blocking(DROP_WAIT);
        }
    }
}

// Clients, guards, signals and requests go from thread to thread, and through `catch_unwind`.
const _: fn() = || {
    fn goes<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    goes::<Client>();
    goes::<super::Guard>();
    goes::<super::LockSignal>();
    goes::<super::Acquire>();
    goes::<LockRequest>();
    goes::<Ready>();
    goes::<Shutdown>();
    goes::<Campaign>();
    goes::<super::Candidacy>();
    goes::<super::Leadership>();
    goes::<NodeReport>();
    goes::<PendingAnswer<Result<Holder, LockError>>>();
};
