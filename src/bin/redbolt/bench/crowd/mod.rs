//! `redbolt bench --client`: many threads or tasks through one `Client`, as services have them.
//!
//! A cycle acquires a lock, drops its guard, and goes on with the next lock. `workers` has the
//! cycles of threads and tasks, which share one `work` and count in `sums`, and `keep_alive` the
//! locks that are only kept alive. A client tells its counters and its nodes (`status`), and
//! `figures` is the outcome.

pub(crate) mod figures;
mod keep_alive;
mod status;
mod sums;
mod work;
mod workers;

use std::time::Duration;

use redbolt::{Client, Config};

use self::figures::Crowd;
use super::args::Kind;
use super::load::demand::Demand;
use super::nodes::connect::CONNECT_TIMEOUT;
use super::signals::Signals;
use super::watch::Watch;
use crate::failure::Failure;

/// Measures one load through a client of its own.
pub(crate) fn measure(
    demand: &Demand,
    kind: Kind,
    config: &Config,
    times: [Duration; 2],
    signals: &Signals,
    watch: &Watch<'_>,
) -> Result<Crowd, Failure> {
    let client = Client::new(config.clone())?;
    // The first lock is to ask all nodes.
    client.ready(CONNECT_TIMEOUT).blocking_wait().map_err(Failure::no_quorum)?;
    match kind {
        Kind::Threads(_) => workers::threads(&client, demand, times, signals, watch),
        Kind::Tasks(_) => workers::tasks(&client, demand, times, signals, watch),
        Kind::KeepAlive(_) => keep_alive::keep_alive(&client, demand, times, signals, watch),
    }
}
