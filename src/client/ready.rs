//! Waiting for the nodes: [`Ready`], and why a client was not ready in time.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use super::error::ClientError;
use super::gather::Gather;
use super::report::NodeReport;
use super::runtime;
#[cfg(feature = "embedded")]
use super::wait::block_on;
use crate::engine::EngineError;
use crate::redlock::NodeState;
use crate::time::format_rounded;

/// Which nodes a caller waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    Quorum,
    All,
}

/// The error of a client whose nodes were not ready in time.
#[derive(Clone)]
#[non_exhaustive]
pub enum ReadyError {
    /// Fewer nodes vote than a lock needs.
    NoQuorum {
        /// How many nodes must vote.
        need: usize,
        /// All nodes, as the thread saw them that had the fewest.
        nodes: Vec<NodeReport>,
    },
    /// A node does not vote, and all were asked for.
    NotAll {
        /// All nodes, as a thread saw them for which they were not ready.
        nodes: Vec<NodeReport>,
    },
    /// The client did not take the question.
    Client(ClientError),
}

impl ReadyError {
    /// Returns `true` if too few nodes vote. Else the client has refused the question.
    #[must_use]
    pub const fn is_unavailable(&self) -> bool {
        matches!(self, Self::NoQuorum { .. } | Self::NotAll { .. })
    }

    /// Returns the time until as many nodes can vote as were asked for, if nothing but quarantine
    /// prevents them: nodes that may have forgotten locks do not vote yet (S11).
    ///
    /// Wait for that long, or see [`RestartGuard`](crate::RestartGuard), which explains how to
    /// declare nodes fresh that are known to be so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let (need, nodes) = match self {
            Self::NoQuorum { need, nodes } => (*need, nodes),
            Self::NotAll { nodes } => (nodes.len(), nodes),
            Self::Client(_) => return None,
        };
        let nodes = nodes.iter().map(|node| {
            (node.state, node.quarantine.map_or(Duration::ZERO, |quarantine| quarantine.remaining))
        });
        quarantined_for(need, nodes)
    }
}

/// Returns the time until `need` nodes have left quarantine, from the state of each node and the
/// rest of its quarantine. `None` if quarantine is not what prevents a quorum.
fn quarantined_for(
    need: usize,
    nodes: impl Iterator<Item = (NodeState, Duration)>,
) -> Option<Duration> {
    let mut waits: Vec<_> = nodes
        .filter_map(|(state, remaining)| match state {
            NodeState::Quarantined => Some(remaining),
            NodeState::Ready | NodeState::Stalled | NodeState::Unhealthy => Some(Duration::ZERO),
            _ => None,
        })
        .collect();
    waits.sort_unstable();
    let last = waits.get(need.checked_sub(1)?)?;
    Some(*last).filter(|wait| !wait.is_zero())
}

impl fmt::Display for ReadyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (who, nodes) = match self {
            Self::Client(error) => return error.fmt(f),
            Self::NoQuorum { nodes, .. } => ("a quorum", nodes),
            Self::NotAll { nodes } => ("every node", nodes),
        };
        let ready = nodes.iter().filter(|node| node.is_ready()).count();
        match self {
            Self::NoQuorum { need, .. } => {
                write!(f, "no quorum: {ready} of {} nodes vote, {need} needed", nodes.len())?;
            }
            _ => write!(f, "{ready} of {} nodes vote, all were asked for", nodes.len())?,
        }
        nodes.iter().try_for_each(|node| write!(f, "; {node}"))?;
        let Some(pause) = self.retry_after() else { return Ok(()) };
        let pause = format_rounded(pause);
        write!(
            f,
            "; {who} can vote in {pause}: wait for that long; on new servers, \
             `redbolt init --fresh` before the first client saves the wait"
        )
    }
}

/// Prints what `Display` writes: `fn main` that returns the error shows this.
impl fmt::Debug for ReadyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadyError({self})")
    }
}

impl core::error::Error for ReadyError {}

impl From<ClientError> for ReadyError {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

/// The error of [`ClientBuilder::connect`](super::ClientBuilder::connect).
#[non_exhaustive]
pub enum ConnectError {
    /// The client could not be created.
    Engine(EngineError),
    /// The client was created, and its nodes were not ready in time.
    Ready(ReadyError),
}

impl ConnectError {
    /// Returns `true` if the client was created, and too few of its nodes voted in time. Another
    /// attempt may succeed.
    #[must_use]
    pub const fn is_unavailable(&self) -> bool {
        matches!(self, Self::Ready(error) if error.is_unavailable())
    }

    /// Returns `true` if a setting or an address is wrong. Every attempt with the same settings
    /// fails.
    #[must_use]
    pub const fn is_invalid(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Address(_) | EngineError::Config(_)))
    }

    /// Returns the time until a quorum can vote, where nothing but quarantine prevents a quorum:
    /// see [`ReadyError::retry_after`].
    ///
    /// ```no_run
    /// # use redbolt::{Client, ConnectError};
    /// # use std::time::Duration;
    /// # async fn connect() -> Result<Client, ConnectError> {
    /// loop {
    ///     let builder = Client::builder(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    ///     match builder.connect(Duration::from_secs(3)).await {
    ///         Err(error) if error.is_unavailable() => {
    ///             eprintln!("{error}");
    ///             let pause = error.retry_after().unwrap_or(Duration::from_secs(1));
    ///             tokio::time::sleep(pause).await;
    ///         }
    ///         result => return result,
    ///     }
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Engine(_) => None,
            Self::Ready(error) => error.retry_after(),
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Ready(error) => error.fmt(f),
        }
    }
}

/// Prints what `Display` writes: `fn main` that returns the error shows this.
impl fmt::Debug for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectError({self})")
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
    /// A [`ReadyError`]: fewer nodes vote than were asked for, or the client is busy or shut down.
    #[track_caller]
    pub fn blocking_wait(mut self) -> Result<(), ReadyError> {
        runtime::wait(|context| self.poll_once(context))
    }

    /// Blocks, in a task too: for nodes that are threads of this process, and ready at once.
    #[cfg(feature = "embedded")]
    pub(crate) fn wait_anywhere(mut self) -> Result<(), ReadyError> {
        block_on(|context| self.poll_once(context))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::NodeState::{Down, Quarantined as Waits, Ready as Votes, Stalled};

    #[test]
    fn the_time_to_wait_is_that_of_the_node_that_makes_the_quorum() {
        type Row<'r> = (usize, &'r [(NodeState, u64)], Option<u64>);
        let rows: [Row<'_>; 8] = [
            (2, &[(Waits, 9), (Waits, 5), (Waits, 7)], Some(7)),
            (2, &[(Waits, 9), (Votes, 0), (Down, 0)], Some(9)),
            (2, &[(Waits, 9), (Stalled, 0), (Waits, 8)], Some(8)),
            // Nodes that vote already are no quorum only because of those that are down.
            (2, &[(Votes, 0), (Down, 0), (Down, 0)], None),
            (2, &[(Waits, 9), (Down, 0), (Down, 0)], None),
            (2, &[(Votes, 0), (Votes, 0), (Waits, 9)], None),
            (1, &[], None),
            (0, &[], None),
        ];
        for (need, nodes, expected) in rows {
            let seconds = Duration::from_secs;
            let found = nodes.iter().map(|(state, rest)| (*state, seconds(*rest)));
            assert_eq!(quarantined_for(need, found), expected.map(seconds), "{need} of {nodes:?}");
        }
    }
}
