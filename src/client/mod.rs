//! From any thread or task: [`Client`], [`Guard`], blocking and as futures.
//!
//! This folder knows threads and tasks: how a request gets to the thread that owns an engine, how
//! its result gets back, and what becomes of a lock whose owner goes away. It must never know RESP,
//! sockets, or when a lock is held: that is the engine's to say.
//!
//! A request is a [`Ticket`](ticket), shared by the one who waits and the engine's thread. It goes
//! there through a [`queue`] and comes back through the [`slot`] in it, which serves a blocked
//! thread and a task alike. Once granted, the same ticket is what a [`Guard`] holds on to: it has
//! the deadline, and whoever waits for the loss. [`worker`] is the engine's thread, [`inlet`] the
//! way to it, and [`shared`] has all of these.

mod error;
mod guard;
mod handle;
mod inlet;
mod pending;
mod queue;
mod report;
mod request;
mod shared;
mod signal;
mod slot;
mod sync;
#[cfg(test)]
mod tests;
mod ticket;
mod wait;
mod worker;

pub use self::error::{Closed, KeepError, LockError, Refusal};
pub use self::guard::{Guard, Parts};
pub use self::handle::Client;
pub use self::pending::{Acquire, Pending};
pub use self::report::NodeReport;
pub use self::request::LockRequest;
pub use self::signal::{Notice, Signal};
