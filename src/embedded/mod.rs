//! A master inside the process, for demos and for users' own tests. The master is not a Redis.
//!
//! The master answers the requests of redbolt's engine as Redis 7 would: the handshake (`AUTH`,
//! `SELECT`, `INFO`, `CONFIG GET`, `COMMAND INFO`, `SCRIPT LOAD`), `SET` with `NX` and `PX`, and
//! the engine's scripts by `EVAL` and `EVALSHA`. For a look inside with `redis-cli`, the master
//! also knows `GET`, `GETRANGE`, `MGET`, `PTTL`, `PEXPIRE`, `DEL`, `EXISTS`, `DBSIZE`, `TIME`,
//! `PING` and `ECHO`. Error replies have the words of Redis.
//!
//! The master lacks much of what makes Redis a database:
//!
//! * Nothing is persistent. A master that is dropped forgets every lock; only a [`Node`] can be
//!   stopped and keep its memory ([`Memory::Kept`]).
//! * There is no replication, no cluster mode, no TLS. The master listens on 127.0.0.1 only.
//! * There is no Lua. Any script except the engine's own is refused.
//! * Values are strings. There are no other types, no inline commands and no RESP3.
//! * Memory is bounded by the number of keys ([`Options::max_keys`]) and by the length of a request
//!   (1 MiB), not by a `maxmemory`.
//! * All masters in one process stop together with the process. Locks that must survive the failure
//!   of a machine need masters on several machines.
//!
//! Keys expire by the clock that keeps running in suspend, not by the wall clock: setting the date
//! expires nothing. `TIME` is told by the same clock, which counts from the beginning of the year
//! 2000. So [fencing numbers](crate::Fence) begin anew with each boot of the machine, and are
//! smaller than those of servers: storage that compares them has to be as new as the boot.
//!
//! # In a test
//!
//! A [`Cluster`] is a few masters on free ports, so tests can run side by side. Each [`Node`] can
//! be paused, delayed, stopped and restarted, with or without its memory. The page [`testing`] has
//! more: threads and tasks, what to wait for, paused time, and what to do instead of a mock.
//!
//! ```
//! use redbolt::embedded::{Cluster, Memory};
//! use std::time::Duration;
//!
//! let cluster = Cluster::start(3)?;
//! let client = cluster.client()?;
//! // The code under test is now given `client`.
//! let guard = client.lock("printer").blocking_try_acquire()?;
//! let error = client.lock("printer").blocking_try_acquire().unwrap_err();
//! assert!(error.is_contended());
//!
//! // One master crashes, and restarts without a memory of the lock.
//! cluster.node(0)?.restart(Memory::Lost)?;
//! // A majority still has it: the masters are asked. `is_held` only reads the clock.
//! guard.extend(Duration::from_secs(10)).blocking_wait()?;
//! // Another hangs.
//! cluster.node(1)?.pause();
//! let waiting = client.lock("scanner").wait(Duration::from_secs(5));
//! // The first has come back, and the third was never away.
//! assert!(waiting.blocking_acquire().is_ok());
//! # cluster.node(1)?.resume();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Server`] is one master alone, on a port that can be chosen. Dropping a server kills the
//! master, and [`Server::bind`] starts an empty master on the same port.
//!
//! [`Master`] is the same master without a socket, a thread or a clock: the time is an argument,
//! and the same calls give the same bytes.
//!
//! # Layers
//!
//! `cluster`, `node`, `shared`, `port`, `server` and `connection` know sockets, threads and the
//! clock, and no command. All other files are a state machine, which must never know a socket, a
//! thread or a clock. The output of the state machine must never depend on the order of a hash
//! table.

mod cluster;
mod command;
mod connection;
mod database;
mod fencing;
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
mod settings;
mod shared;
mod strings;
pub mod testing;
mod witness;

#[cfg(test)]
mod tests;

pub use cluster::Cluster;
pub use master::{DATABASES, Master, Memory, SWEEP_MAX, Session};
pub use node::Node;
pub use options::Options;
pub use server::{CONNECTIONS_MAX, Server};
