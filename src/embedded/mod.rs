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
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//!
//! let mut masters = (0..3).map(|_| Server::start()).collect::<Result<Vec<_>, _>>()?;
//! let urls: Vec<String> = masters.iter().map(Server::url).collect();
//! // The code under test is now given `urls`. Here, a client by hand takes one vote:
//! let mut client = TcpStream::connect(masters[0].addr())?;
//! let mut set = bytes::BytesMut::new();
//! redbolt::resp::command(&mut set, &[b"SET", b"printer", b"token", b"NX", b"PX", b"30000"]);
//! client.write_all(&set)?;
//! let mut reply = [0; 5];
//! client.read_exact(&mut reply)?;
//! assert_eq!(&reply, b"+OK\r\n");
//!
//! // One master crashes, and restarts without a memory of the lock.
//! let crashed = masters.remove(0);
//! let port = crashed.addr().port();
//! crashed.stop()?;
//! masters.insert(0, Server::bind(port, Options::default())?);
//! # assert_eq!(urls, masters.iter().map(Server::url).collect::<Vec<_>>());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Masters that have just been started are not believed for a while, because they may have
//! forgotten locks ([`RestartGuard`](crate::redlock::RestartGuard)). Code under test that is to
//! lock at once is configured with `RestartGuard::Off`.
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
mod number;
mod options;
mod refusal;
mod scripting;
mod scripts;
mod server;
mod state;
mod strings;

#[cfg(test)]
mod tests;

pub use options::Options;
pub use server::{CONNECTIONS_MAX, Server};
pub use state::{DATABASES, Master, SWEEP_MAX, Session};
