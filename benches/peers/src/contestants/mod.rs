//! Those who are measured.
//!
//! Each knows how to run cycles over all nodes of a plan, and reports to a `Meter`. None may know
//! how figures are computed or written, or that there are others.
//!
//! A cycle acquires one lock on a resource that nobody else wants, and releases it at once.
//!
//! - `raw`: canned bytes over blocking sockets; what the servers and the kernel can do;
//! - `bolt`: redbolt's `Engine`;
//! - `tasks`: cycles as tasks of tokio, for `redis_rs` and `rslock`.

mod bolt;
mod raw;
mod redis_rs;
mod rslock;
mod schedule;
mod tasks;

use std::time::Duration;

use crate::meter::Meter;
use crate::plan::{Outcome, Plan};
use raw::Kind;

/// Long enough never to sleep while a reply is on its way.
const BUSY_POLL: Duration = Duration::from_millis(1);

/// More requests than ever wait.
const LONG_QUEUE: usize = 2048;

/// Runs one contestant by its name in the records.
pub(crate) fn run(name: &str, plan: &Plan) -> Outcome<Meter> {
    match name {
        "raw-single" => raw::run(plan, Kind::Single),
        "raw-group" => raw::run(plan, Kind::Group),
        "raw-fresh" => raw::run(plan, Kind::Fresh),
        "redbolt" => bolt::run(plan, Duration::ZERO),
        "redbolt-busy" => bolt::run(plan, BUSY_POLL),
        "redis-rs" => redis_rs::run(plan, None),
        "redis-rs-tuned" => redis_rs::run(plan, Some(LONG_QUEUE)),
        "rslock" => rslock::run(plan),
        _ => Err(format!("there is no contestant {name}").into()),
    }
}
