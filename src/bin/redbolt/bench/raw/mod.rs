//! Bare sockets beside the engine: what servers, kernel and network give to a client that decides
//! nothing.
//!
//! `prepared` makes the bytes before the clock runs: those of the commands that the engine sends,
//! with names and tokens as long. `line` sends them and compares what comes back. All locks in
//! flight go in lockstep: one write for each node with every `SET`, all replies, one write with
//! every release, all replies. No service has such a load, and no library can be as fast for one
//! that it does not know beforehand: the result is the line to measure an engine by. A lock counts
//! as acquired when the replies of a quorum have been read, in the order of the list.

mod line;
mod prepared;

pub(crate) use self::line::{Raw, measure};
