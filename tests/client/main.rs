//! `Client` and `Guard` on real servers: threads, tasks, panics, and what is left on the nodes when
//! they are over.
#![cfg(feature = "net")]

mod adoption;
mod blocking;
#[cfg(feature = "tokio")]
mod caller;
mod campaign;
mod counting;
mod dropping;
mod dying;
mod engines;
mod errors;
mod fences;
mod fixture;
mod keeping;
mod options;
mod order;
mod process;
mod ready;
mod recycling;
mod sets;
mod shutdown;
mod stopped;
#[path = "../support/mod.rs"]
mod support;
mod tasks;
mod watching;
