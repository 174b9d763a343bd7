//! A Redlock engine for services in which the lock is on the hot path.
//!
//! A lock is a key that a majority of N independent Redis or Valkey masters hold for a limited
//! time. redbolt talks raw RESP to those masters from one thread and one loop, sends whatever
//! gathered between two turns of that loop in one write per node, decides at the quorum-th reply
//! and finishes the rest behind.
//!
//! # How to use it
//!
//! [`Client`] is the face for any thread and any task. The same request blocks and can be awaited,
//! on any runtime; a [`Guard`] that is dropped gives the lock back.
//!
//! ```no_run
//! use redbolt::{Client, Config};
//! use std::time::Duration;
//!
//! let client = Client::new(Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?)?;
//! let request = client.lock("orders/42").ttl(Duration::from_secs(10));
//! let guard = request.wait(Duration::from_secs(2)).acquire()?;
//! if guard.is_held() {
//!     // A step of the work.
//! }
//! drop(guard);
//!
//! // Work of unknown length: kept alive, but not for ever, and told when it is lost.
//! let guard = client.lock("leader").keep_alive(Duration::from_secs(600)).acquire()?;
//! let lost = guard.lost();
//!
//! // Several resources are one lock, all or nothing.
//! let both = client.lock_all(["accounts/a", "accounts/b"]).acquire()?;
//! # drop((lost, both));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Masters that have been up for less than the longest ttl may have forgotten locks in a restart,
//! and do not vote yet. Those of a new cluster cannot have: [`RestartGuard`] says how to declare
//! them.
//!
//! # The engine alone
//!
//! [`Engine`] is the face for one thread that has a loop of its own: [`acquire`](Engine::acquire)
//! and [`release`](Engine::release) queue, [`poll`](Engine::poll) moves bytes,
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
//! `S1` to `S12` in these pages are the rules of SAFETY.md, beside the README.
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
//! | [`Client`] | many threads and tasks, and the one that owns an engine |
//!
//! # Features
//!
//! * `net` (default): [`Client`], [`Engine`] and what they need of the system. Linux only, because
//!   a lock must be timed on a clock that counts suspend. Without it the crate is `resp` and
//!   `redlock`.
//! * `embedded`: [`embedded`], an in-process master for demos and for tests of one's own code.
//! * `tracing`: events for nodes that come and go (`INFO`, `WARN`, and `ERROR` for one that needs
//!   another configuration), locks that are lost or about to be (`WARN`), and requests that fail
//!   (`DEBUG`).
//! * `metrics`: the counters `redbolt_acquired_total`, `redbolt_acquire_failed_total{reason}`,
//!   `redbolt_extended_total`, `redbolt_extend_failed_total`, `redbolt_released_total`,
//!   `redbolt_lost_total{reason}`, `redbolt_expiring_total`, `redbolt_queried_total` and
//!   `redbolt_node_changes_total{node, state}`, and the gauges `redbolt_node_votes{node}` and
//!   `redbolt_node_round_trip_seconds{node}`, which are set when a node changes. Engines of one
//!   process share them. Latencies are in [`NodeStatus::latencies`].
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
    Acquire, Client, Closed, Guard, KeepError, LockError, LockRequest, NodeReport, Notice, Parts,
    Pending, Refusal, Signal,
};
#[cfg(feature = "net")]
pub use self::engine::{Config, Engine, EngineError};
#[cfg(feature = "net")]
pub use self::net::{Address, AddressError, Clock, IoCounters, Waker};
pub use self::redlock::{
    AcquireError, ConfigError, Event, ExtendError, Holder, LockId, LostReason, NodeError, NodeId,
    NodeOutcome, NodeState, NodeStatus, QueryId, ReleaseOutcome, RequestError, RestartGuard,
    ServerError, Token,
};

/// The example of the README must compile.
#[cfg(all(doctest, feature = "net"))]
#[doc = include_str!("../README.md")]
struct Readme;
