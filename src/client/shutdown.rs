//! The end of a client: [`Shutdown`], and what it has left open.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use super::gather::Gather;
use crate::engine::Count;
use crate::net::Address;
use crate::redlock::{NodeId, NodeSet};

/// What was left open when a client ended.
///
/// A lock that is free on a quorum of the nodes is free for everybody. So a shutdown is complete
/// once each thread of the client has nothing held or owed on a quorum. What is left on the other
/// nodes, which may be down, is told here, and ends with its ttl. `Display` writes one line:
///
/// ```text
/// all locks are released
/// all locks are released; left on a minority of the nodes: 0 locks not confirmed, 2 tokens to
/// clean up, at 10.0.0.3:6379
/// 1 lock not confirmed, 0 tokens to clean up, at 10.0.0.2:6379, 10.0.0.3:6379
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Whether on a quorum of the nodes nothing was held or owed any more: all releases were
    /// confirmed, and no token waited to be cleaned up.
    pub is_quorum_free: bool,
    /// How many locks still waited for the answer of a node, to their release or to a request
    /// before.
    pub locks: usize,
    /// How many tokens, on all nodes together, waited to be cleaned up after a broken connection.
    pub cleanup: usize,
    /// The nodes for which these locks and tokens waited.
    pub nodes: NodeSet,
    /// How many threads of the client have not ended in time, or have died before.
    pub threads: usize,
    /// The addresses of all nodes; `None` for a thread that could not say what is left.
    pub(super) addresses: Option<Arc<[Address]>>,
}

impl ShutdownReport {
    /// The report of a thread that has left nothing open.
    const NOTHING: Self = Self {
        is_quorum_free: true,
        locks: 0,
        cleanup: 0,
        nodes: NodeSet::EMPTY,
        threads: 0,
        addresses: None,
    };

    /// The report of a thread that died, or that nobody can wait for.
    pub(super) const NOT_ENDED: Self = Self { is_quorum_free: false, threads: 1, ..Self::NOTHING };

    /// Returns `true` if nothing was left open that could keep anybody from a lock: all threads
    /// have ended, and nothing was held or owed on a quorum of the nodes. What may be left on the
    /// other nodes is in the fields.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.is_quorum_free && self.threads == 0
    }

    /// Returns the address of a node, such as one of [`nodes`](Self::nodes); `None` for a node that
    /// is not configured, and where no thread could say what is left.
    ///
    /// ```no_run
    /// # async fn stop(client: redbolt::Client) {
    /// let report = client.shutdown(std::time::Duration::from_secs(2)).await;
    /// for address in report.nodes.into_iter().filter_map(|node| report.address(node)) {
    ///     eprintln!("something is left at {address}");
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn address(&self, node: NodeId) -> Option<&Address> {
        self.addresses.as_ref()?.get(node.index())
    }

    /// Adds the reports of all threads.
    pub(super) fn sum(reports: impl IntoIterator<Item = Self>) -> Self {
        reports.into_iter().fold(Self::NOTHING, |sum, report| Self {
            is_quorum_free: sum.is_quorum_free && report.is_quorum_free,
            locks: sum.locks + report.locks,
            cleanup: sum.cleanup + report.cleanup,
            nodes: sum.nodes.union(report.nodes),
            threads: sum.threads + report.threads,
            // All threads have the same nodes.
            addresses: sum.addresses.or(report.addresses),
        })
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { locks, cleanup, threads, .. } = self;
        if self.is_complete() {
            f.write_str("all locks are released")?;
            if *locks == 0 && *cleanup == 0 {
                return Ok(());
            }
            f.write_str("; left on a minority of the nodes: ")?;
        }
        let (locks, tokens) = (Count(*locks, "lock"), Count(*cleanup, "token"));
        write!(f, "{locks} not confirmed, {tokens} to clean up")?;
        let addresses = self.nodes.into_iter().filter_map(|node| self.address(node));
        for (place, address) in addresses.enumerate() {
            write!(f, "{}{address}", if place == 0 { ", at " } else { ", " })?;
        }
        if *threads > 0 {
            write!(f, "; {} not ended", Count(*threads, "thread"))?;
        }
        Ok(())
    }
}

/// Prints what `Display` writes.
impl fmt::Debug for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShutdownReport({self})")
    }
}

/// The end of a client: a future with a [`ShutdownReport`].
///
/// The shutdown goes on whether or not anybody awaits this. After the report was returned, polling
/// stays pending.
#[must_use = "a process that ends before the shutdown is over may leave locks to their ttl"]
pub struct Shutdown {
    threads: Gather<ShutdownReport>,
}

impl Shutdown {
    pub(super) fn new(threads: Gather<ShutdownReport>) -> Self {
        Self { threads }
    }
}

impl Future for Shutdown {
    type Output = ShutdownReport;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ShutdownReport> {
        self.threads.poll(context).map(ShutdownReport::sum)
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shutdown")
    }
}
