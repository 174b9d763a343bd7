//! Faults of nodes, of their clocks and of clients, injected on purpose into real servers.
//!
//! Faults that the tests of the engine show already are not shown again here. Each test names the
//! known fault that it injects in the words `FAULTS 24`. Some tests are controls: they show what
//! happens without the guard, or outside of what the algorithm promises, so that a guard which
//! guards nothing is found.
#![cfg(feature = "net")]

mod ahead;
#[path = "../engine/book.rs"]
mod book;
#[cfg(feature = "cli")]
mod calls;
#[cfg(feature = "cli")]
mod clients;
mod clocks;
mod fences;
mod guarded;
mod links;
mod majority;
mod members;
#[allow(dead_code, reason = "the tests of the engine use the rest")]
#[path = "../engine/owner.rs"]
mod owner;
mod replicas;
mod restarts;
#[cfg(feature = "cli")]
#[allow(dead_code, reason = "the tests of the command use the rest")]
#[path = "../exec_command/run.rs"]
mod run;
#[path = "../support/mod.rs"]
mod support;
mod tracking;
mod witness;
