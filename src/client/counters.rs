//! [`ClientCounters`], what a client has done: the sum over its threads.

use std::sync::Arc;

use super::error::ClientError;
use super::oneshot::Oneshot;
use super::sync::{Mutex, lock};
use crate::redlock::{Counters, Histogram};

/// What a client has done since it was created, all its threads together.
///
/// ```no_run
/// # async fn show(client: redbolt::Client) -> Result<(), redbolt::ClientError> {
/// let counters = client.counters().await?;
/// println!("{} locks are held", counters.locks.held_now());
/// println!("{} requests found too few nodes", counters.locks.acquire_failed.no_quorum);
/// println!("99 % of all locks were there after {:?}", counters.wait.quantile(0.99));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ClientCounters {
    /// Requests, and how they ended. Those in the queues of the threads are not included.
    pub locks: Counters,
    /// How many callbacks have panicked, of `on_lost`, [`on_node`](super::Client::on_node) and
    /// [`Credentials`](crate::Credentials), and how many wakers of tasks. The log has a line for
    /// each, and the thread lives on.
    pub panics: u64,
    /// How long the locks that were granted had been waited for: from the request to the grant.
    pub wait: Histogram,
}

impl ClientCounters {
    fn add(&mut self, other: &Self) {
        self.locks += other.locks;
        self.panics += other.panics;
        self.wait.merge(&other.wait);
    }
}

/// A question to all threads, with one answer: the last thread leaves the sum.
pub(super) struct Survey {
    pub(super) answer: Arc<Oneshot<Result<ClientCounters, ClientError>>>,
    sum: Mutex<Sum>,
}

struct Sum {
    missing: usize,
    counters: ClientCounters,
}

impl Survey {
    pub(super) fn of(threads: usize) -> Self {
        let sum = Sum { missing: threads, counters: ClientCounters::default() };
        Self { answer: Arc::new(Oneshot::new()), sum: Mutex::new(sum) }
    }

    /// Adds the counters of one thread. Returns the sum if no other thread is missing.
    pub(super) fn add(&self, counters: &ClientCounters) -> Option<ClientCounters> {
        let mut sum = lock(&self.sum);
        sum.counters.add(counters);
        sum.missing -= 1;
        (sum.missing == 0).then(|| core::mem::take(&mut sum.counters))
    }
}
