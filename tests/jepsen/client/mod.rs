//! The life of a client process.
//!
//! A client writes what it believes and judges nothing. Each action is in the log before the client
//! acts, and each result as soon as the client knows it. So a client that is killed or stopped
//! between any two steps has claimed no more than it believed.
//!
//! - [`engine`] is a client with an `Engine` in a loop of its own;
//! - [`crowd`] is a client with threads and tasks that share a `Client`, and [`caller`] is one of
//!   them;
//! - [`mail`] is the way of locks from one client to another;
//! - [`child`] is a child of the process, and [`watch`] sees when the process does not run.

mod caller;
mod child;
mod crowd;
mod engine;
mod mail;

use std::time::Duration;

use fastrand::Rng;

pub(crate) use self::mail::Mail;
use crate::order::{Body, Order};
use crate::watch::Watch;

/// The number of locks that a client wants or has at a time.
pub(crate) const REQUESTS: usize = 4;

/// The time that the last requests of a client may take to end. Each has a deadline of seconds; the
/// rest is for machines that pause for a while.
const PATIENCE: Duration = Duration::from_secs(60);

/// How soon a client in a hurry is shut down.
const SOON: Duration = Duration::from_millis(300);

/// The time that a shutdown in between may take, far more than it should.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// Lives as ordered, until the log is closed.
pub(crate) fn live(order: Order) {
    let _watch = Watch::over(order.client, order.open_log());
    match order.body {
        Body::Engine => engine::live(order),
        Body::Client => crowd::live(&order),
    }
}

/// Returns for how long an engine or a `Client` lives before it is shut down.
fn lifetime(rng: &mut Rng) -> Duration {
    Duration::from_millis(rng.u64(1_000..8_000))
}

/// Returns how long it takes until a process has the next child.
fn pause_between_children(rng: &mut Rng) -> Duration {
    Duration::from_millis(rng.u64(500..5_000))
}
