//! The life of a client process.
//!
//! A client writes what it believes and judges nothing. Each action is in the log before the client
//! acts, and each result as soon as the client knows it. So a client that is killed or stopped
//! between any two steps has claimed no more than it believed.
//!
//! - [`engine`] is a client with an `Engine` in a loop of its own;
//! - [`crowd`] is a client with threads and tasks that share a `Client`, and [`caller`] is one of
//!   them;
//! - [`mail`] is the way of locks from one client to another.

mod caller;
mod crowd;
mod engine;
mod mail;

use std::time::Duration;

pub(crate) use self::mail::Mail;
use crate::order::{Body, Order};

/// The number of locks that a client wants or has at a time.
pub(crate) const REQUESTS: usize = 4;

/// The time that the last requests of a client may take to end. Each has a deadline of seconds; the
/// rest is for machines that pause for a while.
const PATIENCE: Duration = Duration::from_secs(60);

/// Lives as ordered, until the log is closed.
pub(crate) fn live(order: Order) {
    match order.body {
        Body::Engine => engine::live(order),
        Body::Client => crowd::live(&order),
    }
}
