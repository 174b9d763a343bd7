//! Testing code that uses redbolt.
//!
//! A test starts masters inside its own process ([`Cluster`]), gives the code under test a
//! [`Client`] of these masters ([`Cluster::client`], for which all of them vote), and does to the
//! masters what the test is about. Nothing has to be installed, every cluster has ports of its own,
//! and the locks are real. The feature `embedded` is needed only by the tests:
//!
//! ```toml
//! [dev-dependencies]
//! redbolt = { version = "0.1", features = ["embedded"] }
//! ```
//!
//! # With threads
//!
//! ```
//! use redbolt::embedded::Cluster;
//! use redbolt::{Client, LockError};
//!
//! /// The code under test: does a job, unless somebody else is at it.
//! fn run_once(client: &Client, job: &str, work: impl FnOnce()) -> Result<bool, LockError> {
//!     match client.lock(job).blocking_try_acquire() {
//!         Ok(_guard) => work(),
//!         Err(error) if error.is_contended() => return Ok(false),
//!         Err(error) => return Err(error),
//!     }
//!     Ok(true)
//! }
//!
//! // In a test suite: #[test]
//! fn a_job_is_done_by_one_client_and_by_a_majority() -> Result<(), Box<dyn std::error::Error>> {
//!     let cluster = Cluster::start(3)?;
//!     let client = cluster.client()?;
//!     let other = cluster.client()?;
//!
//!     let guard = other.lock("nightly").blocking_try_acquire()?;
//!     assert!(!run_once(&client, "nightly", || unreachable!("the other client is at it"))?);
//!     drop(guard);
//!
//!     cluster.node(0)?.pause();
//!     assert!(run_once(&client, "weekly", || ())?, "two of three masters are enough");
//!     cluster.node(1)?.pause();
//!     let error = run_once(&client, "weekly", || ()).unwrap_err();
//!     assert!(error.is_unavailable(), "{error}");
//!     # cluster.nodes().iter().for_each(|node| node.resume());
//!     Ok(())
//! }
//! # a_job_is_done_by_one_client_and_by_a_majority().unwrap();
//! ```
//!
//! # With tasks
//!
//! The same masters serve futures on any runtime. What is done to a master is done when the call
//! returns, within microseconds, so that a task may call it.
//!
//! ```
//! use redbolt::embedded::Cluster;
//! use std::time::Duration;
//!
//! // In a test suite: #[tokio::test]
//! async fn a_leader_notices_that_its_keys_are_gone() -> Result<(), Box<dyn std::error::Error>> {
//!     let cluster = Cluster::start(3)?;
//!     let client = cluster.client()?;
//!     let leader = client.lock("leader").ttl(Duration::from_secs(1));
//!     let guard = leader.keep_alive_for(Duration::from_secs(600)).await?;
//!
//!     cluster.nodes().iter().for_each(|node| node.flush());
//!     assert!(guard.lost().await.is_lost());
//!     assert!(!guard.is_held());
//!     Ok(())
//! }
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(a_leader_notices_that_its_keys_are_gone()).unwrap();
//! ```
//!
//! # What a test can do
//!
//! | the story | the call |
//! | --- | --- |
//! | a master is slow | [`delay`]: keys stand at once, votes come late |
//! | a master hangs | [`pause`], and [`resume`], which executes what has waited |
//! | a master is down | [`stop`] |
//! | a master crashes and comes back | [`restart`], with [`Memory::Kept`] or [`Memory::Lost`] |
//! | an operator deletes a lock | [`delete`], [`flush`] |
//! | somebody else has the lock | a second client of the same cluster |
//! | a lock is lost | `delete` on a majority, then an extension or a renewal |
//! | a lock runs out | a short ttl: 10 ms are possible |
//! | no quorum | `pause` or `stop` on a majority |
//! | a master has no room | [`Options::max_keys`] |
//! | nobody has declared the masters fresh | [`Options::fresh`] |
//! | who has a lock | [`keys`], [`get`] |
//!
//! # What a test should wait for
//!
//! A test that sleeps is slow or fails now and then. Better:
//!
//! * **A lock** is there when the request has returned. A majority has the key then; the others
//!   have it soon. A request waits for masters to come back as long as its `wait` says.
//! * **A release** has freed the lock for others when `release()` has answered, with a report that
//!   [`is_complete`](crate::ReleaseReport::is_complete): a majority has deleted the key then, and
//!   the others do so soon. After a [`Client::shutdown`] whose report is complete and names no
//!   nodes, [`keys`] is empty. The drop of a guard waits for nothing, and so does the release of a
//!   lock that was lost before: look at the keys until they are gone, with a deadline.
//! * **A lost lock** can be taken again by a request with a `wait`. A single attempt can meet the
//!   [rest](crate::ReleaseReport#a-lock-that-was-lost-before) of the lost lock, in its own client
//!   ("held by another lock of this client") or on the masters.
//! * **A loss** is told by [`Guard::lost`](crate::Guard::lost).
//! * **All masters**: [`Cluster::client`] waits for them, and [`Client::ready_all`] does so again
//!   after a restart. A lock that was taken while only a majority was there stands on no more than
//!   that majority.
//! * **A state of a master** is told by [`Client::on_node`] and [`Client::nodes`].
//!
//! # Why paused time does not reach locks
//!
//! tokio can pause the time of a runtime (`start_paused`, `tokio::time::pause`). A client does not
//! notice: its thread is not of the runtime, and its clock is the `CLOCK_BOOTTIME` of the system.
//! That is so on purpose. Validity is a promise about real time (S9), and a clock that the process
//! can stop would break that promise. So in paused time:
//!
//! * `tokio::time::advance` ends no lock. A short ttl does, and [`delete`] on a majority.
//! * A runtime whose tasks all wait goes to its next timer **at once**. A task that waits for a
//!   lock counts as waiting, however busy the client's thread is. A timer beside the request, as in
//!   `timeout(Duration::from_secs(5), request)`, therefore ends before the masters answer, as a
//!   rule.
//!
//! Three ways out, the best first:
//!
//! 1. Do not pause the time in tests that wait for locks. What takes time with other kits is a call
//!    here, and a request has a limit of its own: [`LockRequest::wait`](crate::LockRequest::wait).
//! 2. Take the lock first, and call `tokio::time::pause` afterwards. `is_held`, and the drop of the
//!    guard, need no runtime.
//! 3. Block for the lock in `spawn_blocking`: the paused time stands still as long as a blocking
//!    task runs.
//!
//! ```
//! use redbolt::embedded::Cluster;
//! use std::time::Duration;
//! use tokio::task::spawn_blocking;
//! use tokio::time;
//!
//! // In a test suite: #[tokio::test(start_paused = true)]
//! async fn a_minute_under_the_lock() -> Result<(), Box<dyn std::error::Error>> {
//!     let cluster = Cluster::start(3)?;
//!     let client = cluster.client()?;
//!
//!     let request = client.lock("report");
//!     let guard = spawn_blocking(move || request.blocking_try_acquire()).await??;
//!     // A minute of the code under test is over at once, and none of the lock's ten seconds.
//!     time::sleep(Duration::from_secs(60)).await;
//!     assert!(guard.is_held());
//!     Ok(())
//! }
//! # let mut runtime = tokio::runtime::Builder::new_current_thread();
//! # let runtime = runtime.enable_time().start_paused(true).build().unwrap();
//! # runtime.block_on(a_minute_under_the_lock()).unwrap();
//! ```
//!
//! Simulated time for locks themselves is one layer below the client: [`Redlock`] and [`Master`]
//! have neither a clock nor a thread, and take the time as an argument.
//!
//! # Instead of a mock
//!
//! This kit is the client in memory that other libraries mock: one master is a full quorum.
//! `Cluster::start(1)` costs a socket, an epoll instance and a thread, and a lock costs round trips
//! on the loopback: a test can afford a cluster of its own. A mock of [`Client`] would have to
//! repeat when a lock is lost, and that is what tests are about; therefore the crate has no trait
//! to implement.
//!
//! Code that should not know redbolt at all has a trait of its own, with no more than that code
//! needs. Then a fake has a few lines. Where the errors of redbolt go through that trait, a fake
//! makes them by [`LockError::fake`], and what is told of a lost lock by [`LockNotice::fake`]:
//!
//! ```
//! use redbolt::{AcquireError, Client, Guard, LockError, LockErrorKind};
//!
//! trait Locks {
//!     type Lock;
//!     fn try_lock(&self, name: &str) -> Result<Self::Lock, LockError>;
//! }
//!
//! impl Locks for Client {
//!     type Lock = Guard;
//!     fn try_lock(&self, name: &str) -> Result<Guard, LockError> {
//!         self.lock(name).blocking_try_acquire()
//!     }
//! }
//!
//! /// Every lock fails, for this reason.
//! struct Failing(LockErrorKind);
//!
//! impl Locks for Failing {
//!     type Lock = ();
//!     fn try_lock(&self, name: &str) -> Result<(), LockError> {
//!         Err(LockError::fake(self.0.clone(), name))
//!     }
//! }
//!
//! /// The code under test: the status that a web service answers.
//! fn status(locks: &impl Locks) -> u16 {
//!     match locks.try_lock("nightly") {
//!         Ok(_lock) => 200,
//!         Err(error) if error.is_contended() => 409,
//!         Err(error) if error.is_unavailable() || error.is_closed() => 503,
//!         Err(_) => 500,
//!     }
//! }
//!
//! assert_eq!(status(&Failing(LockErrorKind::Acquire(AcquireError::InLine))), 409);
//! assert_eq!(status(&Failing(LockErrorKind::fake_no_quorum())), 503);
//! assert_eq!(status(&Failing(LockErrorKind::Closed(None))), 503);
//! # let cluster = redbolt::embedded::Cluster::start(1).unwrap();
//! # assert_eq!(status(&cluster.client().unwrap()), 200);
//! ```
//!
//! In a trait for tasks the method returns `impl Future<Output = …> + Send`.
//!
//! [`delay`]: super::Node::delay
//! [`delete`]: super::Node::delete
//! [`flush`]: super::Node::flush
//! [`get`]: super::Node::get
//! [`keys`]: super::Node::keys
//! [`pause`]: super::Node::pause
//! [`restart`]: super::Node::restart
//! [`resume`]: super::Node::resume
//! [`stop`]: super::Node::stop
//! [`Client`]: crate::Client
//! [`Client::nodes`]: crate::Client::nodes
//! [`Client::on_node`]: crate::Client::on_node
//! [`Client::ready_all`]: crate::Client::ready_all
//! [`Client::shutdown`]: crate::Client::shutdown
//! [`Cluster`]: super::Cluster
//! [`Cluster::client`]: super::Cluster::client
//! [`LockError::fake`]: crate::LockError::fake
//! [`LockNotice::fake`]: crate::LockNotice::fake
//! [`Master`]: super::Master
//! [`Memory::Kept`]: super::Memory::Kept
//! [`Memory::Lost`]: super::Memory::Lost
//! [`Options::fresh`]: super::Options::fresh
//! [`Options::max_keys`]: super::Options::max_keys
//! [`Redlock`]: crate::redlock::Redlock
