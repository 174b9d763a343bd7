//! The commands that the engine sends, encoded as bytes.

use core::time::Duration;

use bytes::BytesMut;
use smallvec::SmallVec;

use super::keys::{Keys, Names};
use super::probe::{PROBE, PROBED};
use super::script::{
    ACQUIRE_SET, EXTEND, EXTEND_MANY, EXTEND_SET, HOLDER, RELEASE, RELEASE_MANY, RELEASE_SET,
    Script,
};
use super::witness::{LABEL, LOOK, STAMP, WITNESS};
use crate::redlock::holder::MAX_VALUE;
use crate::redlock::millis::Millis;
use crate::redlock::token::{Nonce, Token, hex};
use crate::resp;

/// The form of a compare request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// The server's own command, which takes one key. Only a release has such a command.
    Native(Native),
    Script(Call),
}

impl Form {
    /// Returns the call of the script, for the requests that no native command covers: extensions,
    /// and sets of resources.
    pub(crate) const fn call(self) -> Call {
        match self {
            Self::Native(_) => Call::Sha,
            Self::Script(call) => call,
        }
    }
}

/// The form of a request for the keys of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SetForm {
    /// One key, by `SET … NX`.
    Command,
    /// Several keys, by the script that takes all of them or none.
    Script(Call),
    /// One key, by a script that also draws or accepts a fencing number.
    Fenced(Call),
    /// One key and a fencing number, in the same script call as the request before.
    Joined,
}

/// The way to name a script in its call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    /// The SHA-1 of the text: the node has loaded the script.
    Sha,
    /// The whole text, which also loads the script: the node answered `NOSCRIPT`.
    Text,
}

/// The native commands of servers for "act if the key still has this value".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Native {
    /// `DELIFEQ key value`: Valkey 9.
    DelIfEq,
    /// `DELEX key IFEQ value`: Redis 8.4.
    DelEx,
}

/// One key of a compare request.
pub(crate) struct Subject<'a> {
    pub(crate) resource: &'a [u8],
    pub(crate) token: Token,
    /// The new ttl; only extensions have one.
    pub(crate) ttl: Millis,
}

/// What a client says of itself when it looks at a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    /// The prefix of all keys.
    pub(crate) prefix: &'a [u8],
    /// The name of the connection.
    pub(crate) name: &'a [u8],
    pub(crate) database: u32,
    /// The wall clock of the client, in microseconds since 1970.
    pub(crate) wall: u64,
    pub(crate) max_ttl: Millis,
    pub(crate) nodes: usize,
    /// From which time without a look on the node counts as out of service.
    pub(crate) gap: Duration,
    pub(crate) label: Option<Label<'a>>,
}

/// What a client writes about itself beside the locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label<'a> {
    /// The begin of all tokens of the client.
    pub(crate) nonce: Nonce,
    /// Where the client runs, and its label.
    pub(crate) text: [&'a [u8]; 2],
    pub(crate) ttl: Millis,
}

/// Appends `SET resource token NX PX ttl`.
pub(crate) fn set(out: &mut BytesMut, resource: &[u8], token: &Token, ttl: Millis) {
    // The constant parts are copied as ready bytes, which saves 46 instructions.
    out.extend_from_slice(b"*6\r\n$3\r\nSET\r\n");
    resp::bulk(out, resource);
    resp::bulk(out, token.as_ref());
    out.extend_from_slice(b"$2\r\nNX\r\n$2\r\nPX\r\n");
    resp::bulk_integer(out, ttl.count());
}

/// Appends `GET key`.
pub(crate) fn get(out: &mut BytesMut, key: &[u8]) {
    resp::command(out, &[b"GET", key]);
}

/// Appends `GETRANGE key 0 39`: whatever others keep there can be long, and a token is not. Without
/// a key the reply is an empty string.
pub(crate) fn get_begin(out: &mut BytesMut, key: &[u8]) {
    const LAST: &[u8] = b"39";
    const _: () = assert!(MAX_VALUE == 40, "LAST is the last of so many bytes");
    resp::command(out, &[b"GETRANGE", key, b"0", LAST]);
}

/// Appends `PTTL key`.
pub(crate) fn pttl(out: &mut BytesMut, key: &[u8]) {
    resp::command(out, &[b"PTTL", key]);
}

/// Appends the script call that takes all resources of one lock, or none of them.
pub(crate) fn set_all(out: &mut BytesMut, call: Call, keys: Keys<'_>, token: &Token, ttl: Millis) {
    about_all(out, ACQUIRE_SET, call, keys, token, Some(ttl));
}

/// Appends a compare-and-delete for the resources of one lock.
pub(crate) fn release_all(out: &mut BytesMut, call: Call, names: Names<'_>, token: &Token) {
    about_all(out, RELEASE_SET, call, names.keys(), token, None);
}

/// Appends a compare-and-expire for the resources of one lock.
pub(crate) fn extend_all(
    out: &mut BytesMut,
    call: Call,
    names: Names<'_>,
    token: &Token,
    ttl: Millis,
) {
    about_all(out, EXTEND_SET, call, names.keys(), token, Some(ttl));
}

fn about_all(
    out: &mut BytesMut,
    script: Script,
    call: Call,
    keys: Keys<'_>,
    token: &Token,
    ttl: Option<Millis>,
) {
    begin_script(out, script, call, keys.len(), 1 + usize::from(ttl.is_some()));
    keys.for_each(|key| resp::bulk(out, key));
    resp::bulk(out, token.as_ref());
    if let Some(ttl) = ttl {
        resp::bulk_integer(out, ttl.count());
    }
}

/// Appends a query for the value at a key, and for its remaining ttl.
pub(crate) fn holder(out: &mut BytesMut, resource: &[u8]) {
    begin_script(out, HOLDER, Call::Text, 1, 0);
    resp::bulk(out, resource);
}

/// Appends a probe of the rights that this client has on a node. The call by text tries all
/// commands, and the call by SHA-1 only itself.
pub(crate) fn probe(out: &mut BytesMut, call: Call, prefix: &[u8]) {
    begin_script(out, PROBE, call, 0, usize::from(call == Call::Text));
    if call == Call::Text {
        resp::bulk(out, &[prefix, PROBED].concat());
    }
}

/// Appends a look at the witness.
pub(crate) fn look(out: &mut BytesMut, call: Call, look: &Look<'_>) {
    about_witness(out, LOOK, call, look);
}

/// Appends `SET prefix:label text PX ttl`, if the client has a label.
pub(crate) fn label(out: &mut BytesMut, look: &Look<'_>) {
    let Some(label) = look.label else { return };
    set_anyway(out, &label_key(look.prefix, &label.nonce), &label.text.concat(), label.ttl);
}

/// Appends `SET key value PX ttl`, for a key that no lock depends on.
pub(super) fn set_anyway(out: &mut BytesMut, key: &[u8], value: &[u8], ttl: Millis) {
    resp::array_header(out, 5);
    resp::bulk(out, b"SET");
    resp::bulk(out, key);
    resp::bulk(out, value);
    resp::bulk(out, b"PX");
    resp::bulk_integer(out, ttl.count());
}

/// Returns the key under which the client with this nonce writes its label.
pub(crate) fn label_key(prefix: &[u8], nonce: &Nonce) -> Vec<u8> {
    [prefix, LABEL, hex(nonce).as_bytes()].concat()
}

/// Appends a call of one of the scripts of the witness.
pub(crate) fn about_witness(out: &mut BytesMut, script: Script, call: Call, look: &Look<'_>) {
    begin_script(out, script, call, 2, 5);
    witness_arguments(out, look);
}

/// Appends a call of one of the scripts by which an operator changes the deployment, by its text.
#[cfg(feature = "net")]
pub(crate) fn about_change(out: &mut BytesMut, script: Script, look: &Look<'_>, change: u64) {
    begin_script(out, script, Call::Text, 2, 6);
    witness_arguments(out, look);
    resp::bulk(out, change.to_string().as_bytes());
}

fn witness_arguments(out: &mut BytesMut, look: &Look<'_>) {
    for name in [WITNESS, STAMP] {
        let mut key: SmallVec<[u8; 64]> = SmallVec::from_slice(look.prefix);
        key.extend_from_slice(name);
        resp::bulk(out, &key);
    }
    resp::bulk_integer(out, i64::from(look.database));
    resp::bulk_integer(out, i64::try_from(look.wall).unwrap_or(i64::MAX));
    resp::bulk_integer(out, look.max_ttl.count());
    resp::bulk_integer(out, look.nodes as i64);
    // No ttl is longer than a week, and no time that is asked for much longer.
    resp::bulk_integer(out, look.gap.as_micros() as i64);
}

/// Appends a compare-and-delete for one key or many.
///
/// The tokens, which follow all keys, are gathered beside the keys: asking for every subject twice
/// cost 220 instructions of a cycle with 512 locks in flight.
pub(crate) fn release<'a>(
    out: &mut BytesMut,
    form: Form,
    subjects: impl ExactSizeIterator<Item = Subject<'a>>,
) {
    let count = subjects.len();
    match form {
        Form::Native(Native::DelIfEq) => {
            resp::array_header(out, 3);
            resp::bulk(out, b"DELIFEQ");
        }
        Form::Native(Native::DelEx) => {
            resp::array_header(out, 4);
            resp::bulk(out, b"DELEX");
        }
        Form::Script(call) => {
            let script = if count == 1 { RELEASE } else { RELEASE_MANY };
            begin_script(out, script, call, count, count);
        }
    }
    let mut tokens: SmallVec<[[u8; TOKEN_BULK]; ON_THE_STACK]> = SmallVec::new();
    for subject in subjects {
        resp::bulk(out, subject.resource);
        tokens.push(token_bulk(&subject.token));
    }
    if form == Form::Native(Native::DelEx) {
        resp::bulk(out, b"IFEQ");
    }
    out.extend_from_slice(tokens.as_flattened());
}

/// The length of a token as a bulk string.
const TOKEN_BULK: usize = 5 + Token::LEN + 2;

/// The number of tokens for which nothing is allocated: those of a group.
const ON_THE_STACK: usize = 64;

/// Returns a token as a bulk string.
#[inline]
fn token_bulk(token: &Token) -> [u8; TOKEN_BULK] {
    const { assert!(Token::LEN == 20) };
    let mut bulk = *b"$20\r\n--------------------\r\n";
    bulk[5..5 + Token::LEN].copy_from_slice(token.as_ref());
    bulk
}

/// Appends a compare-and-expire for one key or many. The form is always a script, because the
/// native `SET … IFEQ … PX` can shorten a ttl (S7).
pub(crate) fn extend<'a>(
    out: &mut BytesMut,
    call: Call,
    subjects: impl ExactSizeIterator<Item = Subject<'a>> + Clone,
) {
    let count = subjects.len();
    let script = if count == 1 { EXTEND } else { EXTEND_MANY };
    begin_script(out, script, call, count, 2 * count);
    subjects.clone().for_each(|subject| resp::bulk(out, subject.resource));
    subjects.clone().for_each(|subject| resp::bulk(out, subject.token.as_ref()));
    subjects.for_each(|subject| resp::bulk_integer(out, subject.ttl.count()));
}

/// Appends what a saboteur takes for a release.
#[cfg(redbolt_sabotage)]
pub(crate) fn delete<'a>(out: &mut BytesMut, subjects: impl Iterator<Item = Subject<'a>>) {
    subjects.for_each(|subject| resp::command(out, &[b"DEL", subject.resource]));
}

/// Appends what a saboteur takes for an extension.
#[cfg(redbolt_sabotage)]
pub(crate) fn recreate<'a>(out: &mut BytesMut, subjects: impl Iterator<Item = Subject<'a>>) {
    let script = [crate::redlock::sabotage::RECREATE, EXTEND.text].concat();
    for Subject { resource, token, ttl } in subjects {
        let (script, ttl) = (script.as_bytes(), ttl.count().to_string());
        resp::command(out, &[b"EVAL", script, b"1", resource, token.as_ref(), ttl.as_bytes()]);
    }
}

/// Appends the head of a script call with `keys` keys and `args` values. The caller appends the
/// keys and the values.
pub(super) fn begin_script(
    out: &mut BytesMut,
    script: Script,
    call: Call,
    keys: usize,
    args: usize,
) {
    resp::array_header(out, 3 + keys + args);
    if call == Call::Text {
        resp::bulk(out, b"EVAL");
        resp::bulk(out, script.text.as_bytes());
    } else {
        resp::bulk(out, b"EVALSHA");
        resp::bulk(out, script.sha.as_bytes());
    }
    // A group has at most 64 keys.
    resp::bulk_integer(out, keys as i64);
}

#[cfg(test)]
mod tests;
