//! [`ClientCounters`], what a client has done: the sum over its threads.

use super::survey::Merge;
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
    /// each, but only for the first of the credentials, and the thread lives on.
    pub panics: u64,
    /// How long the locks that were granted had been waited for: from the request to the grant.
    pub wait: Histogram,
}

impl Merge for ClientCounters {
    fn merge(&mut self, other: Self) {
        self.locks += other.locks;
        self.panics += other.panics;
        self.wait.merge(&other.wait);
    }
}
