//! An in-process master for demos and for users' own tests. It is not a Redis.
//!
//! It answers what redbolt's engine sends as Redis 7 would: the handshake (`AUTH`, `SELECT`,
//! `INFO`, `COMMAND INFO`, `SCRIPT LOAD`), `SET` with `NX` and `PX`, and the engine's scripts by
//! `EVAL` and `EVALSHA`. Beyond that it knows as much as it takes to look inside with `redis-cli`:
//! `GET`, `PTTL`, `DEL`, `EXISTS`, `DBSIZE`, `PING`, `ECHO`. Errors have the words that Redis has
//! for them.
//!
//! What it lacks is what a Redis is for:
//!
//! * Nothing is persistent. A master that is stopped forgets every lock.
//! * There is no replication, no cluster, no TLS; the port is one of 127.0.0.1.
//! * There is no Lua: a script that is not one of the engine's is refused.
//! * Values are strings, there are no other types. Inline commands and RESP3 are not spoken.
//! * Memory is bounded by the number of keys ([`Options::max_keys`]) and by the length of a request
//!   (1 MiB), not by a `maxmemory`.
//! * Several masters in one process stop together with it. Locks that must survive the failure of a
//!   machine need masters on several machines.
//!
//! Time is the clock that counts suspend, not the wall clock: setting the date expires nothing.
//!
//! # In a test
//!
//! [`Server`] listens on a free port, so that tests can run side by side, and stops when it is
//! dropped. Killing a master is dropping it; an empty one comes back with [`Server::bind`] on the
//! same port.
//!
//! ```
//! use redbolt::embedded::{Options, Server};
//! use redbolt::{Client, Config, RestartGuard};
//! use std::time::Duration;
//!
//! let mut masters = (0..3).map(|_| Server::start()).collect::<Result<Vec<_>, _>>()?;
//! let mut config = Config::new(masters.iter().map(Server::url))?;
//! // Masters that have just been started may have forgotten locks. These cannot have.
//! config.redlock.restart_guard = RestartGuard::Off;
//! let client = Client::new(config)?;
//! // The code under test is now given `client`. The first request waits for the connections.
//! let guard = client.lock("printer").wait(Duration::from_secs(5)).acquire()?;
//! assert!(client.lock("printer").try_acquire().is_err_and(|error| error.is_held()));
//!
//! // One master crashes, and restarts without a memory of the lock.
//! let crashed = masters.remove(0);
//! let port = crashed.addr().port();
//! crashed.stop()?;
//! masters.insert(0, Server::bind(port, Options::default())?);
//! assert!(guard.is_held(), "two of three still have it");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Master`] is the same without a socket, a thread or a clock: it is given time, and gives the
//! same bytes every time.
//!
//! # Layers
//!
//! `server` and `connection` know sockets and the clock, and nothing of any command. Everything
//! else is a state machine that must never know a socket, a thread or a clock, and whose output
//! must never depend on the order of a hash table.

mod command;
mod connection;
mod database;
mod info;
mod master;
mod number;
mod options;
mod refusal;
mod scripting;
mod scripts;
mod server;
mod strings;

#[cfg(test)]
mod tests;

pub use master::{DATABASES, Master, SWEEP_MAX, Session};
pub use options::Options;
pub use server::{CONNECTIONS_MAX, Server};
