//! The ticket of the one who goes first when the owner of a resource lets go.
//!
//! The ticket is a key beside that of the resource, with a number that stands for the token of the
//! owner. Whoever can write it has drawn it. A ticket is a hint, and never a vote.

use bytes::BytesMut;

use super::{command, mark};
use crate::redlock::millis::Millis;
use crate::redlock::token::{Token, hex};

/// The begin of a ticket's name, behind the prefix of all keys.
const NEXT: &[u8] = b"redbolt:next:";

/// The value of each ticket. No lock has this token: nonces are random.
const VALUE: Token = Token::from_bytes(*b"ticket: ticket: tick");

/// Appends `SET prefix:next:number:resource value NX PX ttl`, where the `key` of the resource
/// begins with the prefix.
pub(crate) fn draw(out: &mut BytesMut, prefix: &[u8], key: &[u8], number: u64, ttl: Millis) {
    let begin = [NEXT, hex(&number.to_be_bytes()).as_bytes(), b":"].concat();
    command::set(out, &mark::beside(prefix, &begin, key), &VALUE, ttl);
}

#[cfg(test)]
mod tests;
