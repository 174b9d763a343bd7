//! The client: locks for many threads and tasks, by [`Client`] and [`Guard`], blocking or as
//! futures.
//!
//! This folder knows threads and tasks: how a request gets to the thread that owns an engine, how
//! the result gets back, and what becomes of a lock whose owner goes away. This folder must never
//! know RESP or sockets, and must never decide whether a lock is held: the engine decides that.
//!
//! The way of a request, and the file for each step:
//!
//! 1. [`client`] and [`request`] collect what the caller wants, in an order.
//! 2. [`ticket`] carries the order. The caller and the engine's thread share the ticket.
//! 3. [`shared`] picks the thread in charge, a [`shard`], and puts a [`command`] into the
//!    [`mailbox`] of that thread. The mailbox is a [`queue`] and the waker of the thread.
//! 4. [`worker`] is the thread: the worker takes commands, drives the engine, and hands out
//!    results.
//! 5. The result comes back through the [`oneshot`] in the ticket, which serves a blocked thread
//!    ([`wait`]) and a task alike. The caller waits with an [`acquire`] or a [`pending`].
//! 6. Once the lock is granted, [`guard`] keeps the same ticket: the ticket has the deadline, and
//!    the list of those who wait for the loss ([`signal`]).
//!
//! [`campaign`] stands for the lead by such a request, and [`leadership`] is its guard.
//!
//! [`builder`] collects the settings of a client, and [`connect`] makes a client of them. [`ready`]
//! waits for the nodes, [`shutdown`] for the end. [`gather`] collects the answers of all threads,
//! and [`survey`] makes one of them. [`runtime`] knows the threads that must not block.
//!
//! [`lock_error`] has the errors that name a resource, and [`cause`] their kinds; [`error`] has the
//! other one, and [`notice`] what is told of a lock that ends. [`handover`] is the data with which
//! another process goes on with a lock. [`report`] is what a client says of a node, [`release`] of
//! a release, and [`counters`] what the client says of itself. [`thread_end`] is what is left of a
//! thread when the thread has ended, and [`failure`] why a thread has died. `fakes` makes errors
//! for tests of users, behind the feature `embedded`.

mod acquire;
mod builder;
mod campaign;
mod cause;
mod client;
mod command;
mod connect;
mod counters;
mod error;
mod failure;
#[cfg(feature = "embedded")]
mod fakes;
mod gather;
mod guard;
mod handover;
mod leadership;
mod lock_error;
mod mailbox;
mod notice;
mod oneshot;
mod pending;
mod queue;
mod ready;
mod release;
mod report;
mod request;
mod runtime;
mod shard;
mod shared;
mod shutdown;
mod signal;
mod survey;
mod sync;
#[cfg(test)]
mod tests;
mod thread_end;
mod ticket;
mod wait;
mod worker;

pub use self::acquire::Acquire;
pub use self::builder::ClientBuilder;
pub use self::campaign::{Campaign, Candidacy};
pub use self::cause::LockErrorKind;
pub use self::client::Client;
pub use self::counters::ClientCounters;
pub use self::error::ClientError;
pub use self::failure::ClientFailure;
pub use self::guard::Guard;
pub use self::handover::{Handover, HandoverError};
pub use self::leadership::Leadership;
pub use self::lock_error::{ClientClosed, LockError, NodeVerdict};
pub use self::notice::{LockNotice, LockNoticeKind};
pub use self::pending::PendingAnswer;
pub use self::ready::{ConnectError, Ready, ReadyError};
pub use self::release::ReleaseReport;
pub use self::report::NodeReport;
pub use self::request::LockRequest;
pub use self::shutdown::{Shutdown, ShutdownReport};
pub use self::signal::LockSignal;
