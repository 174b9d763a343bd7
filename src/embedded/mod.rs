//! An in-process master for demos and for users' own tests. It is not a Redis.
//!
//! It answers what redbolt's engine sends as Redis 7 would: the handshake (`AUTH`, `SELECT`,
//! `INFO`, `COMMAND INFO`, `SCRIPT LOAD`), `SET` with `NX` and `PX`, and the engine's scripts by
//! `EVAL` and `EVALSHA`. Beyond that it knows as much as it takes to look inside with
//! `redis-cli`: `GET`, `PTTL`, `DEL`, `EXISTS`, `DBSIZE`, `PING`, `ECHO`. Errors have the words that
//! Redis has for them.
//!
//! A state machine that must never know a socket, a thread or a clock, and whose output must never
//! depend on the order of a hash table.

mod command;
mod database;
mod info;
mod number;
mod options;
mod refusal;
mod scripting;
mod scripts;
mod state;
mod strings;

#[cfg(test)]
mod tests;

pub use options::Options;
pub use state::{DATABASES, Master, SWEEP_MAX, Session};
