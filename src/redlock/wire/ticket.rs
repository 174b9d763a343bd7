//! The tickets of those who go first when the owner of a resource lets go.
//!
//! A ticket is a key beside that of the resource, with a number that stands for the token of the
//! owner. Whoever can write the key has drawn the ticket. A ticket is a hint, and never a vote.

use bytes::BytesMut;
use smallvec::SmallVec;

use super::command::{self, Call, Form, Native, Subject};
use super::mark;
use crate::redlock::millis::Millis;
use crate::redlock::token::{Token, hex};

/// The begin of a ticket's name, behind the prefix of all keys.
const NEXT: &[u8] = b"redbolt:next:";

/// The value of each ticket. No lock has this token: nonces are random.
const VALUE: Token = Token::from_bytes(*b"ticket: ticket: tick");

/// Returns `prefix:next:number:resource`, where the `key` of the resource begins with the prefix.
pub(crate) fn name(prefix: &[u8], key: &[u8], number: u64) -> SmallVec<[u8; 64]> {
    let begin = [NEXT, hex(&number.to_be_bytes()).as_bytes(), b":"].concat();
    mark::beside(prefix, &begin, key)
}

/// Appends `SET name value NX PX ttl`.
pub(crate) fn draw(out: &mut BytesMut, name: &[u8], ttl: Millis) {
    command::set(out, name, &VALUE, ttl);
}

/// Appends a compare-and-delete of a ticket: one command that every node allows whose locks can be
/// released.
pub(crate) fn give_back(out: &mut BytesMut, native: Option<Native>, name: &[u8]) {
    let form = native.map_or(Form::Script(Call::Sha), Form::Native);
    let ticket = Subject { resource: name, token: VALUE, ttl: Millis::ZERO };
    command::release(out, form, core::iter::once(ticket));
}

#[cfg(test)]
mod tests;
