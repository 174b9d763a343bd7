//! A Redlock engine for services in which the lock is on the hot path.
//!
//! A lock is a key that a majority of N independent Redis or Valkey masters hold for a limited
//! time. redbolt talks raw RESP to those masters from one thread and one loop, sends whatever
//! gathered between two turns of that loop in one write per node, decides at the quorum-th reply
//! and finishes the rest behind.
//!
//! # How to use it
//!
//! [`Engine`] is the face for one thread: [`acquire`](Engine::acquire) and
//! [`release`](Engine::release) queue, [`poll`](Engine::poll) moves bytes,
//! [`next_event`](Engine::next_event) tells what came of it.
//!
//! ```no_run
//! use redbolt::{Config, Engine, Event};
//! use std::time::Duration;
//!
//! let mut engine = Engine::new(Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?)?;
//! let lock = engine.acquire("orders/42", Duration::from_secs(10), Duration::from_secs(2))?;
//! loop {
//!     engine.poll(None)?;
//!     match engine.next_event() {
//!         Some(Event::Acquired { .. }) => break,
//!         Some(Event::AcquireFailed { error, .. }) => return Err(error.into()),
//!         _ => {}
//!     }
//! }
//! assert!(engine.is_held(lock));
//! engine.release(lock)?;
//! engine.drain(Duration::from_millis(100))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The contract
//!
//! * Every accepted request ends in exactly one event, by its deadline, whatever the nodes do.
//! * A lock is to be believed until [`valid_until`](Event::Acquired) and no longer;
//!   [`Engine::is_held`] asks the clock at every call. Work that must not happen twice looks at it
//!   before each step, and lets the storage refuse writers that come too late: no lock with a
//!   timeout can do that for it.
//! * A minority of failing nodes fails no call and costs nothing on the hot path.
//! * No input from the network can make it panic, hang, grow beyond the bounds of the
//!   configuration, or count a vote that is none.
//!
//! Bad input from the caller is a typed error that names the value and the limit. A panic is a bug
//! of this crate.
//!
//! # The layers
//!
//! Each may use only those above it.
//!
//! | module | knows |
//! | --- | --- |
//! | [`time`] | instants as numbers |
//! | [`resp`] | bytes to values and back; usable alone |
//! | [`redlock`] | the algorithm without input or output; usable alone, with another driver |
//! | `net` | system calls |
//! | [`Engine`] | the algorithm and the loop together |
//!
//! # Features
//!
//! * `net` (default): [`Engine`] and what it needs of the system. Linux only, because a lock must
//!   be timed on a clock that counts suspend. Without it the crate is `resp` and `redlock`.
//! * `embedded`: [`embedded`], an in-process master for demos and for tests of one's own code.
//! * `cli`: the command line, `redbolt bench` and `redbolt exec`.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "embedded"),
    allow(rustdoc::broken_intra_doc_links, reason = "the crate page names what features add")
)]

#[cfg(feature = "net")]
mod client;
#[cfg(feature = "embedded")]
pub mod embedded;
#[cfg(feature = "net")]
mod engine;
#[cfg(feature = "net")]
mod net;
pub mod redlock;
pub mod resp;
pub mod time;

#[cfg(feature = "net")]
pub use self::client::{
    Acquire, Client, Closed, Guard, KeepError, LockError, LockRequest, NodeReport, Parts, Pending,
    Signal,
};
#[cfg(feature = "net")]
pub use self::engine::{Config, Engine, EngineError};
#[cfg(feature = "net")]
pub use self::net::{Address, AddressError, Clock, IoCounters, Waker};
pub use self::redlock::{
    AcquireError, ConfigError, Event, ExtendError, Holder, LockId, LostReason, NodeId, NodeOutcome,
    NodeState, NodeStatus, QueryId, ReleaseOutcome, RequestError, ServerError, Token, Trouble,
};

/// The example of the README must compile.
#[cfg(all(doctest, feature = "net"))]
#[doc = include_str!("../README.md")]
struct Readme;
