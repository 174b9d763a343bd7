//! [`LockError`] and [`ClientClosed`], the errors that concern a lock and name its resource.

use core::fmt;
use core::time::Duration;
use std::borrow::Cow;
use std::sync::Arc;

use super::cause::{Cause, LockErrorKind};
use super::error::{write_busy, write_closed};
use super::failure::ClientFailure;
use crate::engine::{Nodes, Resources};
use crate::net::Address;
use crate::redlock::{AcquireError, AtNodes, NodeId, NodeOutcome};

/// The error of a lock that was not acquired, not extended, or not handed over, and of a question
/// for the holder of a resource that was not asked.
///
/// [`kind`](Self::kind) returns the reason, [`resource`](Self::resource) the resource, and
/// [`nodes`](Self::nodes) what the nodes had to do with it. `Display` writes all of this in one
/// line, with at most 64 bytes of the resource:
///
/// ```text
/// lock "orders/42": no quorum of nodes (10.0.0.1:6379: granted; 10.0.0.2:6379: down, connecting
/// failed: connection refused; 10.0.0.3:6379: no reply in time)
/// ```
///
/// What the attempts for a lock that was not acquired may have left on nodes is released in the
/// background. A lock that was not extended keeps its old validity, unless the error says that the
/// lock is lost.
///
/// For every error one of six predicates is true. A service can map them to answers of its own:
///
/// | predicate | meaning | HTTP status |
/// |---|---|---|
/// | [`is_contended`] | somebody else has the lock | 409 |
/// | [`is_unavailable`] | too few nodes vote | 503, with [`retry_after`] if there is one |
/// | [`is_overloaded`] | this client has too many requests | 503, or 429 |
/// | [`is_closed`] | this client has ended | 503 |
/// | [`is_lost`] | the lock is not held any more | 500: the work was cut short |
/// | [`is_invalid`] | the request is refused as it is | 500, or 400 for a resource from outside |
///
/// These are the [kinds](LockErrorKind) of each, by the name of the reason inside:
///
/// | predicate | kinds |
/// |---|---|
/// | [`is_contended`] | `Held`, `InLine` |
/// | [`is_unavailable`] | `NoQuorum`, `TooFar`, `Quarantined` |
/// | [`is_overloaded`] | `Busy`, `NoRoom`, `Full`, `TooManyQueries` |
/// | [`is_closed`] | `Closed`, `Cancelled` |
/// | [`is_lost`] | `Gone`, `Lost`, `Released`, `NotHeld`, `UnknownLock` |
/// | [`is_invalid`] | `OtherProcess`, and every `RequestError` that is not named above |
///
/// [`is_contended`]: Self::is_contended
/// [`is_unavailable`]: Self::is_unavailable
/// [`retry_after`]: Self::retry_after
/// [`is_overloaded`]: Self::is_overloaded
/// [`is_closed`]: Self::is_closed
/// [`is_lost`]: Self::is_lost
/// [`is_invalid`]: Self::is_invalid
///
/// The cost of an error: two allocations, and a few more where a quorum was missing.
///
/// ```no_run
/// # async fn work(client: redbolt::Client) -> Result<(), redbolt::LockError> {
/// use redbolt::{LockErrorKind, RequestError};
///
/// match client.lock("orders/42").await {
///     Ok(guard) => drop(guard),
///     Err(error) if error.is_contended() => println!("somebody else is at it: {error}"),
///     Err(error) if error.is_unavailable() => {
///         println!("try again in {:?}: {error}", error.retry_after());
///     }
///     Err(error) => match error.kind() {
///         LockErrorKind::Request(RequestError::TtlTooLong { max, .. }) => println!("{max:?}"),
///         _ => return Err(error),
///     },
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LockError {
    inner: Box<Inner>,
}

#[derive(Clone)]
struct Inner {
    kind: LockErrorKind,
    /// The first resource, and how many there are.
    resource: Box<[u8]>,
    count: usize,
    nodes: Option<NodeReasons>,
}

/// The nodes of a client, and what was wrong with each of them.
#[derive(Clone)]
pub(super) struct NodeReasons {
    pub(super) addresses: Arc<[Address]>,
    /// By node; empty where nothing is known to be wrong.
    pub(super) reasons: Vec<String>,
}

/// What one node had to do with a [`LockError`]. `Display` writes the address, the outcome and the
/// reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NodeVerdict<'a> {
    /// The node.
    pub node: NodeId,
    /// The address of the node.
    pub address: &'a Address,
    /// The outcome of the last attempt at the node.
    pub outcome: NodeOutcome,
    /// What was wrong with the node when the request failed; empty where nothing is known.
    pub reason: &'a str,
}

impl LockError {
    /// Creates the error of a lock on `count` resources, of which `resource` is the first.
    pub(super) fn new(kind: impl Into<LockErrorKind>, resource: &[u8], count: usize) -> Self {
        let (kind, resource) = (kind.into(), resource.into());
        Self { inner: Box::new(Inner { kind, resource, count, nodes: None }) }
    }

    /// Adds what was wrong with the nodes.
    pub(super) fn with_nodes(mut self, nodes: NodeReasons) -> Self {
        self.inner.nodes = Some(nodes);
        self
    }

    /// Returns the reason.
    #[must_use]
    pub const fn kind(&self) -> &LockErrorKind {
        &self.inner.kind
    }

    /// Returns the resource of the lock; of several, the first in the request. Empty for a request
    /// without resources.
    ///
    /// For a lock on several resources that somebody else has
    /// ([`is_contended`](Self::is_contended)), this need not be the one that is held, and the error
    /// does not know which one is: a node takes all of them or none, and its refusal names none.
    /// [`Client::query`](super::Client::query) asks for the holder of one resource.
    #[must_use]
    pub const fn resource(&self) -> &[u8] {
        &self.inner.resource
    }

    /// Returns the nodes that were the reason: those that refused the lock because somebody else
    /// has it, or all nodes where a quorum was missing. Nothing for other errors.
    pub fn nodes(&self) -> impl Iterator<Item = NodeVerdict<'_>> + Clone {
        let outcomes = match self.kind() {
            LockErrorKind::Acquire(error) => error.at_nodes(),
            LockErrorKind::Extend(error) => error.at_nodes(),
            LockErrorKind::Draw(error) => error.at_nodes(),
            _ => AtNodes::new(),
        };
        outcomes.into_iter().filter_map(|(node, outcome)| {
            let NodeReasons { addresses, reasons } = self.inner.nodes.as_ref()?;
            let address = addresses.get(node.index())?;
            let reason = reasons.get(node.index()).map_or("", |reason| reason);
            Some(NodeVerdict { node, address, outcome, reason })
        })
    }

    /// Returns `true` if somebody else held the lock until the wait ended, or another request of
    /// this client was ahead in the line for the lock.
    #[must_use]
    pub const fn is_contended(&self) -> bool {
        matches!(Cause::of(self.kind()), Cause::Contended)
    }

    /// Returns `true` if too few nodes could be asked or have answered: the nodes are the problem,
    /// and not another owner of the lock.
    #[must_use]
    pub const fn is_unavailable(&self) -> bool {
        matches!(Cause::of(self.kind()), Cause::Unavailable)
    }

    /// Returns `true` if this client has as many requests as its bounds allow: `max_locks` in the
    /// queue of a thread or in use, or the pipelines to a quorum of the nodes until the wait ended.
    #[must_use]
    pub const fn is_overloaded(&self) -> bool {
        matches!(Cause::of(self.kind()), Cause::Overloaded)
    }

    /// Returns `true` if the client was shut down, or its thread has died. The
    /// [kind](LockErrorKind::Closed) says which, and so does
    /// [`Client::failure`](super::Client::failure).
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(Cause::of(self.kind()), Cause::Closed)
    }

    /// Returns `true` if there is no lock to extend, to hand over or to adopt any more: the lock
    /// was lost, released or never there. Work under the lock must stop.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        matches!(Cause::of(self.kind()), Cause::Lost)
    }

    /// Returns `true` if the request is refused as it is: a value is out of bounds, and the error
    /// names the value and the limit; or this process is a child of the one that made the client.
    ///
    /// The same request fails again, with four exceptions, which are mistakes of the caller all
    /// the same: an extension of a lock that is being extended (`ExtensionPending`), a number for a
    /// lock for which one is being drawn (`DrawPending`), an option for a lock that is held already
    /// (`AlreadyHeld`), and a token that another lock of this client
    /// still has ([`TokenRefusal::InUse`](crate::TokenRefusal::InUse)).
    #[must_use]
    pub const fn is_invalid(&self) -> bool {
        matches!(Cause::of(self.kind()), Cause::Invalid)
    }

    /// Returns how long it takes until the nodes that are connected can be a quorum again, because
    /// some of them may have forgotten locks in a restart and do not vote yet. The time counts from
    /// the moment of the error. `None` where no such moment is known, as for nodes that are down.
    ///
    /// The header `Retry-After` of HTTP has whole seconds. Round up: whoever comes too early is
    /// refused again.
    ///
    /// ```
    /// fn header(error: &redbolt::LockError) -> Option<String> {
    ///     let seconds = error.retry_after()?.as_millis().div_ceil(1_000);
    ///     Some(format!("Retry-After: {seconds}"))
    /// }
    /// ```
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self.kind() {
            LockErrorKind::Acquire(AcquireError::Quarantined { retry_after, .. }) => {
                Some(*retry_after)
            }
            _ => None,
        }
    }
}

impl<'a> NodeVerdict<'a> {
    fn entry(self) -> (&'a Address, NodeOutcome, Cow<'a, str>) {
        (self.address, self.outcome, self.reason.into())
    }
}

impl fmt::Display for NodeVerdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Nodes(vec![(*self).entry()]).fmt(f)
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, resource, count, .. } = &*self.inner;
        write!(f, "lock {}: ", Resources { first: resource, count: *count })?;
        let nodes = Nodes(self.nodes().map(NodeVerdict::entry).collect());
        match kind {
            LockErrorKind::Request(error) => error.fmt(f),
            LockErrorKind::Acquire(error) => error.write(f, &nodes),
            LockErrorKind::Extend(error) => error.write(f, &nodes),
            LockErrorKind::Draw(error) => error.write(f, &nodes),
            LockErrorKind::Busy { max } => write_busy(f, *max),
            LockErrorKind::Closed(failure) => write_closed(f, *failure),
            LockErrorKind::OtherProcess(error) => error.fmt(f),
        }
    }
}

/// Prints what `Display` writes: `fn main` that returns the error shows this.
impl fmt::Debug for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LockError({self})")
    }
}

/// The error of a release whose client was shut down, or whose thread has died. The ttl ends the
/// lock.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientClosed {
    failure: Option<ClientFailure>,
    resource: Box<[u8]>,
    count: usize,
}

impl ClientClosed {
    pub(super) fn new(failure: Option<ClientFailure>, resource: &[u8], count: usize) -> Self {
        Self { failure, resource: resource.into(), count }
    }

    /// Returns why the thread has died; `None` if the client was shut down.
    #[must_use]
    pub const fn failure(&self) -> Option<ClientFailure> {
        self.failure
    }

    /// Returns the resource of the lock; of several, the first in the request.
    #[must_use]
    pub const fn resource(&self) -> &[u8] {
        &self.resource
    }
}

impl fmt::Display for ClientClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failure, resource, count } = self;
        write!(f, "lock {}: ", Resources { first: resource, count: *count })?;
        write_closed(f, *failure)
    }
}

/// Prints what `Display` writes: `fn main` that returns the error shows this.
impl fmt::Debug for ClientClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientClosed({self})")
    }
}

// The texts of these errors have everything, so that none has a source.
impl core::error::Error for LockError {}
impl core::error::Error for ClientClosed {}
