//! The end of a client: [`Shutdown`], and what it has left open.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::gather::Gather;

/// What was left open when a client ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// How many locks still waited for the answer of a node to their release.
    pub locks: usize,
    /// How many tokens, on all nodes together, waited to be cleaned up after a broken connection.
    pub cleanup: usize,
    /// How many threads of the client have not ended in time, or have died before.
    pub threads: usize,
}

impl ShutdownReport {
    /// The report of a thread that died, or that nobody can wait for.
    pub(super) const NOT_ENDED: Self = Self { locks: 0, cleanup: 0, threads: 1 };

    /// Returns `true` if nothing was left open: every node has confirmed every release.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.locks == 0 && self.cleanup == 0 && self.threads == 0
    }

    /// Adds the reports of all threads.
    pub(super) fn sum(reports: impl IntoIterator<Item = Self>) -> Self {
        reports.into_iter().fold(Self::default(), |sum, report| Self {
            locks: sum.locks + report.locks,
            cleanup: sum.cleanup + report.cleanup,
            threads: sum.threads + report.threads,
        })
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_complete() {
            return f.write_str("all locks are released");
        }
        let Self { locks, cleanup, threads } = self;
        write!(f, "{locks} locks not confirmed, {cleanup} tokens to clean up")?;
        if *threads > 0 {
            write!(f, ", {threads} threads not ended")?;
        }
        Ok(())
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
