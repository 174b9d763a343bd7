//! The mark of somebody who waits while locks of one engine follow one another.
//!
//! The mark is a key beside that of the resource, at the node which those who wait look at. Whoever
//! waits writes the mark, with a ttl; an engine whose locks follow one another takes the mark away,
//! and knows then that somebody waits. A mark is a hint, and never a vote.

use bytes::BytesMut;
use smallvec::SmallVec;

use super::command::{self, Call, Form, Native, Subject};
use crate::redlock::millis::Millis;
use crate::redlock::token::Token;

/// The begin of a mark's name, behind the prefix of all keys.
const WANTED: &[u8] = b"redbolt:wanted:";

/// The value of each mark. No lock has this token: nonces are random.
const VALUE: Token = Token::from_bytes(*b"wanted: wanted: want");

/// Appends `SET prefix:wanted:resource value PX ttl`, where the `key` of the resource begins with
/// the prefix.
pub(crate) fn leave(out: &mut BytesMut, prefix: &[u8], key: &[u8], ttl: Millis) {
    command::set_anyway(out, &beside(prefix, WANTED, key), VALUE.as_ref(), ttl);
}

/// Appends a compare-and-delete of the mark: one command that every node allows whose locks can be
/// released.
pub(crate) fn take(out: &mut BytesMut, native: Option<Native>, prefix: &[u8], key: &[u8]) {
    let name = beside(prefix, WANTED, key);
    let form = native.map_or(Form::Script(Call::Sha), Form::Native);
    let mark = Subject { resource: &name, token: VALUE, ttl: Millis::ZERO };
    command::release(out, form, core::iter::once(mark));
}

/// Returns the key beside that of a resource that begins like this. The prefix stands in front of
/// all keys of redbolt.
pub(super) fn beside(prefix: &[u8], begin: &[u8], key: &[u8]) -> SmallVec<[u8; 64]> {
    let resource = key.strip_prefix(prefix).unwrap_or(key);
    let mut name = SmallVec::from_slice(prefix);
    name.extend_from_slice(begin);
    name.extend_from_slice(resource);
    name
}

#[cfg(test)]
mod tests;
