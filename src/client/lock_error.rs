//! [`LockError`] and [`ClientClosed`], the errors that concern a lock and name its resource.

use core::fmt;
use std::borrow::Cow;
use std::sync::Arc;

use super::error::{CLOSED, write_busy};
use super::queue::Refused;
use crate::engine::{Nodes, Resources};
use crate::net::{Address, OtherProcess};
use crate::redlock::{AcquireError, AtNodes, ExtendError, NodeId, NodeOutcome, RequestError};

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
/// The cost of an error: two allocations, and a few more where a quorum was missing.
///
/// ```no_run
/// # async fn work(client: redbolt::Client) -> Result<(), redbolt::LockError> {
/// use redbolt::{LockErrorKind, RequestError};
///
/// match client.lock("orders/42").await {
///     Ok(guard) => drop(guard),
///     Err(error) if error.is_contended() => println!("somebody else is at it: {error}"),
///     Err(error) if error.is_unavailable() => println!("try again later: {error}"),
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

/// The reason of a [`LockError`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LockErrorKind {
    /// The client refused the request at once. The error names the value and the limit, or says
    /// that the lock is not held any more.
    Request(RequestError),
    /// The request for a lock ended without the lock.
    Acquire(AcquireError),
    /// Too few nodes confirmed the extension, or the lock ended meanwhile.
    Extend(ExtendError),
    /// The queue of the client's thread is full.
    Busy {
        /// How many requests may wait for each thread: the configured `max_locks`.
        max: usize,
    },
    /// The client was shut down, or its thread has died.
    Closed,
    /// This process is a child of the one that made the client.
    OtherProcess(OtherProcess),
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
            _ => AtNodes::new(),
        };
        outcomes.into_iter().filter_map(|(node, outcome)| {
            let NodeReasons { addresses, reasons } = self.inner.nodes.as_ref()?;
            let address = addresses.get(node.index())?;
            let reason = reasons.get(node.index()).map_or("", |reason| reason);
            Some(NodeVerdict { node, address, outcome, reason })
        })
    }

    /// Returns `true` if somebody else held the lock until the wait ended.
    #[must_use]
    pub const fn is_contended(&self) -> bool {
        matches!(self.kind(), LockErrorKind::Acquire(AcquireError::Held { .. }))
    }

    /// Returns `true` if too few nodes could be asked or have answered: the nodes are the problem,
    /// and not another owner of the lock.
    #[must_use]
    pub const fn is_unavailable(&self) -> bool {
        matches!(
            self.kind(),
            LockErrorKind::Acquire(AcquireError::NoQuorum(_) | AcquireError::Quarantined { .. })
                | LockErrorKind::Extend(ExtendError::NoQuorum(_))
        )
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
            LockErrorKind::Busy { max } => write_busy(f, *max),
            LockErrorKind::Closed => f.write_str(CLOSED),
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

impl From<Refused> for LockErrorKind {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full { max } => Self::Busy { max },
            Refused::Closed => Self::Closed,
            Refused::OtherProcess(error) => Self::OtherProcess(error),
        }
    }
}

impl From<RequestError> for LockErrorKind {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

/// The error of a release whose client was shut down, or whose thread has died. The ttl ends the
/// lock.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ClientClosed {
    resource: Box<[u8]>,
    count: usize,
}

impl ClientClosed {
    pub(super) fn new(resource: &[u8], count: usize) -> Self {
        Self { resource: resource.into(), count }
    }

    /// Returns the resource of the lock; of several, the first in the request.
    #[must_use]
    pub const fn resource(&self) -> &[u8] {
        &self.resource
    }
}

impl fmt::Display for ClientClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, count } = self;
        write!(f, "lock {}: {CLOSED}", Resources { first: resource, count: *count })
    }
}

// The texts of these errors have everything, so that none has a source.
impl core::error::Error for LockError {}
impl core::error::Error for ClientClosed {}
