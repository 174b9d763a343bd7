//! A Redlock engine for services in which the lock is on the hot path.
//!
//! A lock is a key that a majority of N independent Redis or Valkey masters hold for a limited
//! time: the *ttl*. These masters are the *nodes*. redbolt speaks RESP with the nodes directly,
//! from one thread with one event loop. All commands that gather between two turns of the loop
//! leave in one write per node. A lock is granted at the reply that completes the *quorum*, the
//! number of nodes that must agree. Later replies are handled in the background.
//!
//! # Usage
//!
//! [`Client`] serves any number of threads and tasks. Requests are futures, on any runtime.
//! Dropping a [`Guard`] releases its lock.
//!
//! ```no_run
//! # async fn work() -> Result<(), Box<dyn std::error::Error>> {
//! use redbolt::Client;
//! use std::time::Duration;
//!
//! let client = Client::builder(["10.0.0.1", "10.0.0.2", "10.0.0.3"])
//!     .connect(Duration::from_secs(3))
//!     .await?;
//! let request = client.lock("orders/42").ttl(Duration::from_secs(10));
//! let guard = request.wait(Duration::from_secs(2)).await?;
//! if guard.is_held() {
//!     // A step of the work.
//! }
//! drop(guard);
//!
//! // Work of unknown length: renewals keep the lock for up to ten minutes.
//! let guard = client.lock("reports/7").keep_alive_for(Duration::from_secs(600)).await?;
//! // This signal reports the loss of the lock, to a thread or a task.
//! let lost = guard.lost();
//!
//! // One of several processes leads, and another follows when it resigns or dies.
//! let leadership = client.campaign("service/leader").await?;
//!
//! // One lock on several resources: all of them or none.
//! let both = client.lock_all(["accounts/a", "accounts/b"]).await?;
//! # drop((lost, leadership, both));
//! client.shutdown(Duration::from_secs(1)).await;
//! # Ok(())
//! # }
//! ```
//!
//! A [`LockError`] tells apart what a caller must tell apart: somebody else has the lock
//! ([`is_contended`](LockError::is_contended), for which a web service answers 409), too few nodes
//! vote ([`is_unavailable`](LockError::is_unavailable), 503), or one of four other reasons, for
//! which [`LockError`] has a table. [`Config::from_env`] and
//! [configuration files](Config#configuration-files) take the place of addresses in the program.
//! [`embedded::testing`] shows how to test code that locks.
//!
//! A restarted master may have forgotten locks. By default, a master therefore votes only once its
//! data has been in one piece for the longest ttl and a little more: about a minute. The masters of
//! a new cluster have forgotten nothing; [`Init::fresh`] lets them vote at once.
//!
//! # Threads
//!
//! Every future has a blocking form, whose name begins with `blocking`:
//!
//! ```no_run
//! use redbolt::Client;
//! use std::time::Duration;
//!
//! let client = Client::builder(["10.0.0.1", "10.0.0.2", "10.0.0.3"]).build()?;
//! let guard = client.lock("orders/42").wait(Duration::from_secs(2)).blocking_acquire()?;
//! drop(guard);
//! client.blocking_shutdown(Duration::from_secs(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In a task these calls would hold up all other tasks of the thread. With the feature `tokio` such
//! a call is noticed: in a multi-thread runtime the other tasks move to another thread first; in a
//! current-thread runtime the call panics, at the line of the caller, and names `.await`. The same
//! feature makes the drop of the last client in a task wait for nothing. Without the feature only
//! the names of the threads tell, so that a drop on the thread of a current-thread runtime waits
//! for up to a quarter of a second: await [`Client::shutdown`] before.
//!
//! # The engine alone
//!
//! [`Engine`] serves one thread that has a loop of its own. [`acquire`](Engine::acquire) and
//! [`release`](Engine::release) queue commands, [`poll`](Engine::poll) sends and receives, and
//! [`next_event`](Engine::next_event) returns the results.
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
//!         Some(event @ Event::AcquireFailed { .. }) => {
//!             return Err(engine.display(&event).to_string().into());
//!         }
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
//! * A lock is valid until [`valid_until`](Event::Acquired) and no longer. [`Guard::is_held`] and
//!   [`Engine::is_held`] compare this deadline with the clock at every call. Work that must not
//!   happen twice needs two measures: check `is_held` before each step, and let the storage refuse
//!   writers that come too late, by a number that the lock has ([`fenced`](LockRequest::fenced),
//!   [FENCING.md]). No lock with a timeout can replace the second measure.
//! * A minority of failing nodes fails no call and costs nothing on the hot path.
//! * No input from the network can cause a panic, a hang, growth beyond the configured bounds, or a
//!   false vote.
//!
//! Invalid input from the caller gives a typed error that names the value and the limit. A panic is
//! a bug in this crate, except where a call would block a thread that must not block:
//! [Threads](#threads).
//!
//! In these pages, `S1` to `S13` are the safety rules of [SAFETY.md](mod@safety#rules).
//!
//! # The layers
//!
//! A layer may use only the layers above it in this table.
//!
//! | layer | task |
//! | --- | --- |
//! | [`time`] | points in time as numbers |
//! | [`resp`] | RESP2 and RESP3, from bytes to values and back; usable alone |
//! | [`redlock`] | the algorithm, without input or output; usable alone, with another driver |
//! | `net` | system calls: sockets, event loop, clock |
//! | [`Engine`] | the algorithm and the event loop together, for one thread |
//! | [`Client`] | an engine in a thread of its own, shared by any number of threads and tasks |
//! | [`embedded`] | masters inside the process, for demos and tests |
//!
//! # Features
//!
//! ```toml
//! redbolt = { version = "0.1", features = ["tls", "tokio", "tracing", "metrics", "serde"] }
//! ```
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `std` | [`redlock`], the algorithm without sockets |
//! | `net` (default) | [`Client`], [`Engine`] and everything they need from the system |
//! | `tokio` | calls that block in a task of tokio are noticed: see [above](#threads) |
//! | `tracing` | [log events](#log-events) through the `tracing` crate |
//! | `metrics` | [metrics](#metrics) through the `metrics` crate, version 0.24 |
//! | `tls` | [nodes behind TLS](Tls): `rediss://` |
//! | `serde` | [configuration files](Config#configuration-files), a [`Handover`] as text |
//! | `embedded` | [masters inside the process](embedded), for demos and tests of your own code |
//! | `cli` | the command line, `redbolt exec` and others, with `tls`, `serde` and `embedded` |
//!
//! `tls`, `tokio`, `tracing`, `metrics` and `embedded` include `net`. Without `net` the crate
//! consists of [`time`], [`resp`] and [`redlock`], on any system. `net` and `serde` include `std`;
//! without it, the crate consists of [`time`] and [`resp`], and is `no_std` with an allocator.
//!
//! `net` is for Linux, and compiles on macOS, where nobody has run it yet. Other systems are
//! refused by the compiler: the validity of a lock needs a clock that keeps running in suspend.
//!
//! # Log events
//!
//! The target of all events of the feature `tracing` is [`TRACING_TARGET`]. The levels are `INFO`
//! for a node that becomes ready, `WARN` for other changes of a node and for a lock that is lost,
//! shortened or about to end, `ERROR` for a node that needs another configuration, and `DEBUG` for
//! connection attempts and failed requests. A lock that ends with its `max_hold` is told as `INFO`.
//! A node that stays down is told once. The threads of a client have connections of their own, and
//! tell of a node together, in the worst of its states: down for the first of them, and ready again
//! for the last.
//!
//! # Metrics
//!
//! The feature `metrics` provides the metrics of this table, and describes them to the recorder
//! with their units. All engines of a process share them. The counters without the label `node`
//! stand at 0 from the first event of an engine, which is when a node has answered. The gauges of a
//! node are set whenever the state of the node changes. The round trip is also set at an event of a
//! lock, if the round trip has changed by more than a quarter. The latencies of each node are not
//! in the table: see [`NodeReport::latencies`] and [`NodeStatus::latencies`].
//!
//! Without the feature, [`Counters`] have the figures of the locks under the same names, for an
//! engine ([`Engine::counters`]) and for a client ([`Client::counters`], which adds the panics of
//! all callbacks). The figures of a node are in its [`NodeReport`] ([`Client::nodes`]);
//! [`Client::on_node`] tells its changes.
//!
//! | metric | kind | value |
//! | --- | --- | --- |
//! | `redbolt_acquired_total` | counter | locks acquired |
//! | `redbolt_acquire_failed_total{reason}` | counter | requests for a lock that failed |
//! | `redbolt_extended_total` | counter | extensions granted, renewals included |
//! | `redbolt_extend_failed_total` | counter | extensions failed, renewals not included |
//! | `redbolt_fenced_total` | counter | fencing numbers drawn for locks that were held already |
//! | `redbolt_fence_failed_total` | counter | draws of such numbers that failed |
//! | `redbolt_shortened_total` | counter | validities shortened: a clock has fallen behind |
//! | `redbolt_released_total` | counter | locks released |
//! | `redbolt_passed_on_total` | counter | locks passed on to the next in line, of those released |
//! | `redbolt_lost_total{reason}` | counter | locks lost |
//! | `redbolt_expiring_total{reason}` | counter | warnings that a lock is about to end |
//! | `redbolt_queried_total` | counter | queries answered |
//! | `redbolt_callback_panics_total{callback}` | counter | callbacks and wakers that panicked |
//! | `redbolt_node_changes_total{node, state}` | counter | changes of the state of a node |
//! | `redbolt_held` | gauge | locks held now; a lock counts until its release is confirmed |
//! | `redbolt_wait_seconds` | histogram | time from a request of a [`Client`] to the grant |
//! | `redbolt_node_votes{node}` | gauge | 1 if the node may vote, otherwise 0 |
//! | `redbolt_node_round_trip_seconds{node}` | gauge | round trip of the node |
//!
//! The labels:
//!
//! * `reason` of a request that failed: `held`, `in_line`, `no_quorum`, `too_far`, `quarantined`,
//!   `no_room`, `gone`, `cancelled`. See [`AcquireError`].
//! * `reason` of a lost lock: `clock_behind`, `expired`, `majority`, `max_hold`. See
//!   [`LostReason`].
//! * `reason` of a warning: `expired`, `max_hold`. The second is a planned end, and no alarm.
//! * `callback`: `on_lost`, `on_node`, `credentials`, `waker`. A panic of `retry_delay` is caught,
//!   and not counted.
//! * `state`: `down`, `misconfigured`, `quarantined`, `ready`, `stalled`, `unhealthy`. See
//!   [`NodeState`].
//! * `node`: the address of the node, without a login.
//!
//! A request whose future is dropped is `cancelled`: a visitor of a web service who disconnects
//! counts there, and is no reason for an alarm.
//!
//! A recorder comes from an exporter, such as metrics-exporter-prometheus (0.18 goes with metrics
//! 0.24). Waits are about a round trip long where nobody else has the lock, and as long as others
//! hold the lock where somebody has; these buckets tell both apart:
//!
//! ```ignore
//! // Before the first client: what is counted without a recorder is lost.
//! let seconds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0];
//! let metrics = PrometheusBuilder::new()
//!     .set_buckets_for_metric(Matcher::Full("redbolt_wait_seconds".to_owned()), &seconds)?
//!     .install_recorder()?;
//! let page = metrics.render(); // the answer to GET /metrics
//! ```
//!
//! [FENCING.md]: https://docs.rs/crate/redbolt/latest/source/FENCING.md
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "embedded"),
    allow(rustdoc::broken_intra_doc_links, reason = "the crate page names what features add")
)]

extern crate alloc;

#[cfg(feature = "net")]
mod client;
#[cfg(feature = "embedded")]
pub mod embedded;
#[cfg(feature = "net")]
mod engine;
#[cfg(feature = "net")]
mod net;
#[cfg(any(feature = "net", feature = "serde"))]
mod quote;
#[cfg(feature = "std")]
pub mod redlock;
pub mod resp;
pub mod time;

#[cfg(feature = "net")]
pub use self::client::{
    Acquire, Campaign, Candidacy, Client, ClientBuilder, ClientClosed, ClientCounters, ClientError,
    ClientFailure, ConnectError, Guard, Handover, HandoverError, Leadership, LockError,
    LockErrorKind, LockNotice, LockNoticeKind, LockRequest, LockSignal, NodeReport, NodeVerdict,
    PendingAnswer, Ready, ReadyError, ReleaseReport, Shutdown, ShutdownReport,
};
#[cfg(feature = "tracing")]
pub use self::engine::TRACING_TARGET;
#[cfg(feature = "net")]
pub use self::engine::{
    Check, CheckClock, CheckError, CheckFinding, CheckNode, CheckOffset, CheckReport, CheckServer,
    CheckState, CheckStep, CheckSubject, CheckVerdict, Config, Deployment, Division, Engine,
    EngineError, EnvError, EnvErrorKind, EventDisplay, Init, InitAction, InitAdvice, InitError,
    InitFinding, InitNode, InitPlan, InitRefusal, InitReport, InitStep, InitWait, NodeWeight,
    Unlock, UnlockError, UnlockNode, UnlockReport, UnlockResult, UnlockVerdict, VisitedNode, Who,
    WhoClient, WhoError, WhoReport, WhoResource, WhoState, WhoValue,
};
#[cfg(feature = "net")]
#[doc(hidden)]
pub use self::net::Timer;
#[cfg(feature = "net")]
pub use self::net::{
    Address, AddressError, AddressErrorKind, Clock, Credentials, IoCounters, OtherProcess, Tls,
    Waker,
};
#[cfg(feature = "std")]
#[doc(inline)]
pub use self::redlock::{
    AcquireError, AcquireOptions, Ask, ConfigError, Counters, DrawError, Drift, Event,
    ExpiringCounters, ExtendError, FailedCounters, Fence, FenceBar, FenceError, FenceRefusal,
    Histogram, Holder, LockId, Login, LostCounters, LostReason, MissingRights, NodeCounters,
    NodeError, NodeId, NodeLatencies, NodeOutcome, NodeOutcomes, NodeSet, NodeState, NodeStatus,
    Occupancy, Quarantine, QuarantineReason, QueryId, Quorum, RedlockConfig, ReleaseOutcome,
    RequestError, RestartGuard, RetryContext, ServerError, TlsError, TlsFileError, Token,
    TokenError, TokenRefusal,
};

/// SAFETY.md as a page of this documentation: the promise, why it holds, and its limits.
///
/// [FENCING.md]: https://docs.rs/crate/redbolt/latest/source/FENCING.md
/// [TESTING.md]: https://docs.rs/crate/redbolt/latest/source/TESTING.md
/// [the tests of each rule]: https://docs.rs/crate/redbolt/latest/source/TESTING.md
#[cfg(doc)]
#[doc = include_str!("../SAFETY.md")]
pub mod safety {}

/// The README, so that its example is compiled as a test.
#[cfg(all(doctest, feature = "net"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// The same for FENCING.md.
#[cfg(all(doctest, feature = "net"))]
#[doc = include_str!("../FENCING.md")]
struct Fencing;
