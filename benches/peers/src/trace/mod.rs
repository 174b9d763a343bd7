//! Two-phase transactions by hand on redis-rs, over the same trace as `redbolt bench --trace`.
//!
//! A transaction takes all its locks, in one request or one after the other in the order of their
//! names, and releases them together. `file` reads the trace, `locker` is the Redlock, and `load`
//! runs transactions as tasks of tokio on one thread, and counts. One line of JSON comes out, with
//! the names that `redbolt bench --json` has.

mod file;
mod load;
mod locker;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::nodes;
use crate::plan::Outcome;

/// How locks are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Locks {
    /// All by one script on every node.
    Set,
    /// One `SET` after the other.
    Each,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<SocketAddr>,
    pub(crate) trace: PathBuf,
    pub(crate) locks: Locks,
    /// The transactions at a time.
    pub(crate) in_flight: usize,
    pub(crate) seconds: Duration,
    /// After how long a transaction without all locks gives up.
    pub(crate) patience: Duration,
    /// The requests that may wait in front of a connection; `None` leaves the default of 50.
    pub(crate) queue: Option<usize>,
}

/// Runs the trace, and returns a line of JSON. A lock that is left behind is an error.
pub(crate) fn run(plan: &Plan) -> Outcome<String> {
    let trace = file::read(&plan.trace)?;
    nodes::check_none(&plan.nodes)?;
    let line = load::run(plan, trace)?;
    nodes::check_none(&plan.nodes)?;
    Ok(line)
}
