//! Commands, scripts and replies: what travels between the engine and a master.
//!
//! This room knows how a request is encoded, which replies a request can have, and what an error of
//! a server means. This room must never know a lock, a node or a connection: the rooms above decide
//! whom to ask, and what follows from an answer.

pub(super) mod answer;
pub(super) mod command;
pub(super) mod fencing;
pub(super) mod introduction;
pub(super) mod keys;
pub(super) mod mark;
pub(super) mod native;
#[cfg(feature = "net")]
pub(super) mod peek;
pub(super) mod probe;
#[cfg(feature = "net")]
pub(super) mod rights;
pub(super) mod script;
pub(super) mod server_error;
pub(super) mod testimony;
pub(super) mod ticket;
pub(super) mod tracking;
pub(super) mod witness;
#[cfg(feature = "net")]
pub(super) mod written;
