//! The nodes of a run: who they are, and the masters that are started where none are given.
//!
//! `masters` provides five masters that live as long as the run, each a `process`, and `connect`
//! waits until a quorum is ready. `announce` tells who will bear the load.
//! `plain` is a connection beside the engine. This room must never know what the load is.

pub(crate) mod announce;
pub(crate) mod connect;
pub(crate) mod masters;
pub(crate) mod plain;
mod process;
