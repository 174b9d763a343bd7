//! What travels between the engine and a master: commands, scripts, and the answers to them.
//!
//! This room knows how a request is encoded, which replies a request can have, and what an error
//! of a server means. It must never know a lock, a node or a connection: who asks, and what
//! follows from an answer, is the business of the rooms above.

pub(super) mod answer;
pub(super) mod command;
pub(super) mod keys;
pub(super) mod request;
pub(super) mod script;
pub(super) mod server_error;
