//! A master inside the process, for demos and for users' own tests. The master is not a Redis.
//!
//! The master answers the requests of redbolt's engine as Redis 7 would: the handshake (`AUTH`,
//! `SELECT`, `INFO`, `COMMAND INFO`, `SCRIPT LOAD`), `SET` with `NX` and `PX`, and the engine's
//! scripts by `EVAL` and `EVALSHA`. For a look inside with `redis-cli`, the master also knows
//! `GET`, `PTTL`, `DEL`, `EXISTS`, `DBSIZE`, `PING` and `ECHO`. Error replies have the words of
//! Redis.
//!
//! The master lacks much of what makes Redis a database:
//!
//! * Nothing is persistent. A master that is stopped forgets every lock.
//! * There is no replication, no cluster mode, no TLS. The master listens on 127.0.0.1 only.
//! * There is no Lua. Any script except the engine's own is refused.
//! * Values are strings. There are no other types, no inline commands and no RESP3.
//! * Memory is bounded by the number of keys ([`Options::max_keys`]) and by the length of a request
//!   (1 MiB), not by a `maxmemory`.
//! * All masters in one process stop together with the process. Locks that must survive the failure
//!   of a machine need masters on several machines.
//!
//! Keys expire by the clock that keeps running in suspend, not by the wall clock: setting the date
//! expires nothing.
//!
//! # In a test
//!
//! [`Server`] listens on a free port, so tests can run side by side. Dropping a server kills the
//! master, and [`Server::bind`] starts an empty master on the same port.
//!
//! ```
//! use redbolt::embedded::{Options, Server};
//! use redbolt::{Client, Config, RestartGuard};
//! use std::time::Duration;
//!
//! let mut masters = (0..3).map(|_| Server::start()).collect::<Result<Vec<_>, _>>()?;
//! let mut config = Config::new(masters.iter().map(Server::url))?;
//! // Masters that have just been started may have forgotten locks. New masters have not.
//! config.redlock.restart_guard = RestartGuard::Off;
//! let client = Client::new(config)?;
//! // The code under test is now given `client`. The first request waits for the connections.
//! let guard = client.lock("printer").wait(Duration::from_secs(5)).blocking_acquire()?;
//! assert!(client.lock("printer").blocking_try_acquire().is_err_and(|error| error.is_contended()));
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
//! [`Master`] is the same master without a socket, a thread or a clock: the time is an argument,
//! and the same calls give the same bytes.
//!
//! # Layers
//!
//! `server` and `connection` know sockets and the clock, and no command. All other files are a
//! state machine, which must never know a socket, a thread or a clock. The output of the state
//! machine must never depend on the order of a hash table.

mod cluster;
mod command;
mod connection;
mod database;
mod info;
mod master;
mod node;
mod number;
mod options;
mod port;
mod refusal;
mod scripting;
mod scripts;
mod server;
mod shared;
mod strings;

#[cfg(test)]
mod tests;

pub use cluster::Cluster;
pub use master::{DATABASES, Master, Memory, SWEEP_MAX, Session};
pub use node::Node;
pub use options::Options;
pub use server::{CONNECTIONS_MAX, Server};
