//! The contestants.
//!
//! Each contestant runs cycles over all nodes of a plan and reports to a `Meter`. No contestant may
//! know how figures are computed or written, or that there are other contestants.
//!
//! A cycle acquires one lock on a resource that nobody else wants, and releases the lock at once.
//!
//! - `raw`: canned bytes over blocking sockets, to show what servers and kernel can do;
//! - `bolt`: redbolt's `Engine`;
//! - `tasks`: cycles as tasks of tokio, for `redis_rs` and `rslock`.

mod bolt;
mod raw;
mod redis_rs;
mod rslock;
mod schedule;
mod tasks;

use std::time::Duration;

use redbolt::Ask;

use crate::meter::Meter;
use crate::plan::{Outcome, Plan, Transport};
use bolt::Manner;
use raw::Kind;

/// A busy-poll time so long that the engine never sleeps while a reply is on its way.
const BUSY_POLL: Duration = Duration::from_millis(1);

/// A queue longer than the number of requests that ever wait.
pub(crate) const LONG_QUEUE: usize = 2048;

/// Runs the contestant with this name in the records.
pub(crate) fn run(name: &str, plan: &Plan) -> Outcome<Meter> {
    match name {
        "raw-single" => raw::run(plan, Kind::Single),
        "raw-group" => raw::run(plan, Kind::Group),
        "raw-fresh" => raw::run(plan, Kind::Fresh),
        "raw-majority" => raw::run(plan, Kind::Majority),
        "redbolt" => bolt::run(plan, Manner::default()),
        "redbolt-busy" => bolt::run(plan, Manner { busy_poll: BUSY_POLL, ..Manner::default() }),
        "redbolt-tls" => bolt::run(plan, Manner { transport: Transport::Tls, ..Manner::default() }),
        "redbolt-fenced" => bolt::run(plan, Manner { is_fenced: true, ..Manner::default() }),
        "redbolt-majority" => bolt::run(plan, Manner { ask: Ask::Majority, ..Manner::default() }),
        "redbolt-majority-busy" => {
            let (ask, busy_poll) = (Ask::Majority, BUSY_POLL);
            bolt::run(plan, Manner { ask, busy_poll, ..Manner::default() })
        }
        "redbolt-rest" => bolt::run(plan, Manner { rests: true, ..Manner::default() }),
        "redbolt-majority-rest" => {
            bolt::run(plan, Manner { ask: Ask::Majority, rests: true, ..Manner::default() })
        }
        "redis-rs" => redis_rs::run(plan, Transport::Tcp, None),
        "redis-rs-tls" => redis_rs::run(plan, Transport::Tls, None),
        "redis-rs-tuned" => redis_rs::run(plan, Transport::Tcp, Some(LONG_QUEUE)),
        "redis-rs-tuned-tls" => redis_rs::run(plan, Transport::Tls, Some(LONG_QUEUE)),
        "rslock" => rslock::run(plan),
        _ => Err(format!("there is no contestant {name}").into()),
    }
}
