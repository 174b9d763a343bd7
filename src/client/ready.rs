//! Waiting for the nodes: [`Ready`], and why a client was not ready in time.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::error::ClientError;
use super::gather::Gather;
use super::report::NodeReport;
use super::runtime;
use super::wait::block_on;
use crate::engine::EngineError;

/// The error of a client whose nodes were not ready in time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReadyError {
    /// Fewer nodes vote than a lock needs.
    NoQuorum {
        /// How many nodes must vote.
        need: usize,
        /// All nodes, as the thread saw them that had the fewest.
        nodes: Vec<NodeReport>,
    },
    /// The client did not take the question.
    Client(ClientError),
}

impl fmt::Display for ReadyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(error) => error.fmt(f),
            Self::NoQuorum { need, nodes } => {
                let ready = nodes.iter().filter(|node| node.is_ready()).count();
                write!(f, "no quorum: {ready} of {} nodes vote, {need} needed", nodes.len())?;
                nodes.iter().try_for_each(|node| write!(f, "; {node}"))
            }
        }
    }
}

impl core::error::Error for ReadyError {}

impl From<ClientError> for ReadyError {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

/// The error of [`ClientBuilder::connect`](super::ClientBuilder::connect).
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The client could not be created.
    Engine(EngineError),
    /// The client was created, and its nodes were not ready in time.
    Ready(ReadyError),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Ready(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            // `Display` shows these errors already, so the chain goes on with their sources.
            Self::Engine(error) => error.source(),
            Self::Ready(_) => None,
        }
    }
}

/// A wait for the nodes of a client: a future, and for threads a blocking wait.
///
/// After the result was returned, polling stays pending.
#[must_use = "nothing waits unless this is awaited or waited for"]
pub struct Ready {
    threads: Gather<Result<(), ReadyError>>,
}

impl Ready {
    pub(super) fn new(threads: Gather<Result<(), ReadyError>>) -> Self {
        Self { threads }
    }

    /// Blocks until the nodes are ready, or the time given to
    /// [`Client::ready`](super::Client::ready) is over.
    ///
    /// # Errors
    ///
    /// A [`ReadyError`]: fewer nodes than a quorum vote, or the client is busy or shut down.
    pub fn blocking_wait(mut self) -> Result<(), ReadyError> {
        runtime::block(|| block_on(|context| self.poll_once(context)))
    }

    fn poll_once(&mut self, context: &Context<'_>) -> Poll<Result<(), ReadyError>> {
        self.threads.poll(context).map(|results| results.into_iter().collect())
    }
}

impl Future for Ready {
    type Output = Result<(), ReadyError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_once(context)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ready")
    }
}
