//! RESP3, and client-side caching: a server that can do both says by itself that a key may have
//! another value, or that all keys may be gone, between two replies (S11).
//!
//! The client opts in for each key that it wants to hear of: `CLIENT CACHING YES`, and the read of
//! the key directly behind. Whoever writes or deletes the key then makes the server push its name,
//! once; who wants to hear more reads again. The server does not leave out the client's own writes:
//! with `NOLOOP` such a write would end the registration in silence.
//!
//! Who empties a database, by `FLUSHALL`, `DEBUG RELOAD` or as a replica that loads the data of its
//! master, makes the server push a null to every client that tracks, and forget all registrations.
//! A push goes into the output of a connection at once, so it stands before every reply to a
//! request that the server executes later. `SWAPDB` pushes nothing.

use bytes::BytesMut;

use super::command;
use super::witness::WITNESS;
use crate::resp::{self, Elements, Value};

/// The key by which Redis up to 6.0.5 says that all keys may be gone, instead of a null. No lock
/// can have this name: a client reads only keys that it wants to hear of.
const ALL_KEYS: &[u8] = b"\0";

/// What a push says.
#[derive(Clone, Debug)]
pub(crate) enum Push<'a> {
    /// All keys may be gone.
    AllKeys,
    /// These keys may have other values.
    Keys(Elements<'a>),
    /// Nothing.
    Other,
}

/// What a key of a push is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Touched<'a> {
    /// All keys may be gone.
    AllKeys,
    /// The witness.
    Witness,
    /// A lock, by its key.
    Lock(&'a [u8]),
}

/// Appends the request to speak RESP3 from the reply on.
pub(crate) fn hello(out: &mut BytesMut) {
    resp::command(out, &[b"HELLO", b"3"]);
}

/// Appends the request to be told what happens to keys for which the client opts in.
pub(crate) fn track(out: &mut BytesMut) {
    resp::command(out, &[b"CLIENT", b"TRACKING", b"ON", b"OPTIN"]);
}

/// Appends the request to be told what happens to the keys that the next command reads.
pub(crate) fn opt_in(out: &mut BytesMut) {
    resp::command(out, &[b"CLIENT", b"CACHING", b"YES"]);
}

/// Appends a read of the witness.
pub(crate) fn read_witness(out: &mut BytesMut, prefix: &[u8]) {
    command::get(out, &[prefix, WITNESS].concat());
}

impl<'a> Push<'a> {
    /// Reads the elements of a push. An invalidation that cannot be understood counts as one of all
    /// keys: that costs a look.
    pub(crate) fn read(mut elements: Elements<'a>) -> Self {
        match elements.next() {
            Some(Value::Bulk(b"invalidate") | Value::Simple(b"invalidate")) => {}
            _ => return Self::Other,
        }
        match elements.next() {
            Some(Value::Array(keys)) => Self::Keys(keys),
            _ => Self::AllKeys,
        }
    }
}

impl<'a> Touched<'a> {
    /// Reads a key of a push, on a connection whose keys have this prefix. What is no string can
    /// stand for any key.
    pub(crate) fn read(key: &Value<'a>, prefix: &[u8]) -> Self {
        match key {
            Value::Bulk(ALL_KEYS) => Self::AllKeys,
            Value::Bulk(key) if key.strip_prefix(prefix) == Some(WITNESS) => Self::Witness,
            Value::Bulk(key) => Self::Lock(key),
            _ => Self::AllKeys,
        }
    }
}

#[cfg(test)]
mod tests;
