//! The scripts by which a node draws and accepts fencing numbers, and what they answer (S13).
//!
//! Each node keeps one hash, [`FENCES`], with the largest number that it has accepted in each of
//! 16,384 *stripes*. The [`stripe`] of a key is its CRC16, as in a Redis cluster, so the hash never
//! grows past that. The names, the stripes and the second in the scripts are the same in all
//! clients, whatever their configuration: they are part of the protocol.
//!
//! A number is accepted only if it is larger than the number of the stripe, and only by a script
//! that has seen the token of the lock at the key. A lock on several keys has one number, which is
//! larger than those of the stripes of all its keys, and is accepted for all of them at once.

use core::time::Duration;

use bytes::BytesMut;

pub(crate) use self::drawn::Drawn;
pub use self::scripts::{
    ACQUIRE_FENCED, ACQUIRE_FENCED_MANY, ACQUIRE_FENCED_SET, DRAW, DRAW_SET, RAISE, RAISE_SET,
};
use super::command::{Call, SetForm, begin_script};
use super::keys::Names;
use super::script::Script;
use crate::redlock::fence::Fence;
use crate::redlock::millis::Millis;
use crate::redlock::stripe::stripe;
use crate::redlock::token::Token;
use crate::resp;

mod drawn;
mod scripts;

/// The name of the hash. There is no prefix before it: clients with different prefixes can share a
/// key, and then share its numbers too.
pub(crate) const FENCES: &[u8] = b"redbolt:fence";

/// By how much the scripts let a number differ from the clock of a node.
pub(crate) const CUT: Duration = Duration::from_secs(1);

impl SetForm {
    /// Returns whether the request is about a fencing number.
    pub(crate) const fn is_fenced(self) -> bool {
        matches!(self, Self::Fenced(_) | Self::Joined)
    }
}

/// What a script is asked to do with the number of a stripe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fencing {
    /// Take the key for this ttl, and draw a number near the proposal.
    Acquire { ttl: Millis, proposal: u64 },
    /// Draw a number near the proposal.
    Draw { proposal: u64 },
    /// Accept this number.
    Raise { number: u64 },
}

impl Fencing {
    const fn script(self, is_set: bool) -> Script {
        match (self, is_set) {
            (Self::Acquire { .. }, false) => ACQUIRE_FENCED,
            (Self::Acquire { .. }, true) => ACQUIRE_FENCED_SET,
            (Self::Draw { .. }, false) => DRAW,
            (Self::Draw { .. }, true) => DRAW_SET,
            (Self::Raise { .. }, false) => RAISE,
            (Self::Raise { .. }, true) => RAISE_SET,
        }
    }
}

/// Appends a call of the script for the keys of a lock, which has this token.
pub(crate) fn fencing(
    out: &mut BytesMut,
    call: Call,
    names: Names<'_>,
    token: &Token,
    what: Fencing,
) {
    let (number, ttl) = match what {
        Fencing::Acquire { ttl, proposal } => (proposal, Some(ttl)),
        Fencing::Draw { proposal: number } | Fencing::Raise { number } => (number, None),
    };
    let keys = names.keys();
    let count = keys.len();
    begin_script(
        out,
        what.script(count > 1),
        call,
        count + 1,
        count + 2 + usize::from(ttl.is_some()),
    );
    keys.clone().for_each(|key| resp::bulk(out, key));
    resp::bulk(out, FENCES);
    resp::bulk(out, token.as_ref());
    keys.for_each(|key| resp::bulk_integer(out, i64::from(stripe(key))));
    // No number has more than 53 bits.
    resp::bulk_integer(out, number.min(Fence::MOST) as i64);
    if let Some(ttl) = ttl {
        resp::bulk_integer(out, ttl.count());
    }
}

/// One of the locks that are taken, each with a number of its own, in one call.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) resource: &'a [u8],
    pub(crate) token: Token,
    pub(crate) proposal: u64,
    pub(crate) ttl: Millis,
}

/// Appends a call of the script that takes the keys of several locks. A call for one lock is that
/// of [`Fencing::Acquire`].
pub(crate) fn acquire_many<'a>(
    out: &mut BytesMut,
    call: Call,
    claims: impl ExactSizeIterator<Item = Claim<'a>> + Clone,
) {
    let count = claims.len();
    let script = if count > 1 { ACQUIRE_FENCED_MANY } else { ACQUIRE_FENCED };
    begin_script(out, script, call, count + 1, 4 * count);
    claims.clone().for_each(|claim| resp::bulk(out, claim.resource));
    resp::bulk(out, FENCES);
    for Claim { resource, token, proposal, ttl } in claims {
        resp::bulk(out, token.as_ref());
        resp::bulk_integer(out, i64::from(stripe(resource)));
        // No number has more than 53 bits.
        resp::bulk_integer(out, proposal.min(Fence::MOST) as i64);
        resp::bulk_integer(out, ttl.count());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::Value;

    const TOKEN: Token = Token::from_bytes(*b"twenty bytes in all!");

    fn words(what: Fencing, call: Call, names: Names<'_>) -> String {
        let mut out = BytesMut::new();
        fencing(&mut out, call, names, &TOKEN, what);
        let Ok(resp::Status::Complete((Value::Array(parts), used))) = resp::parse(&out) else {
            panic!("not a command: {}", out.escape_ascii());
        };
        assert_eq!(used, out.len());
        let word = |part: Value<'_>| match part {
            Value::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => panic!("{other:?}"),
        };
        parts.map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_call_names_the_keys_the_hash_the_token_and_the_stripes() {
        let ttl = Millis::of(Duration::from_millis(1_500));
        let acquire = Fencing::Acquire { ttl, proposal: 7 };
        let draw = Fencing::Draw { proposal: u64::MAX };
        let raise = Fencing::Raise { number: 5_000_000_000 };
        let one = Names { count: 1, bytes: b"foo" };
        let two = Names { count: 2, bytes: b"\0\x03foo\0\x09123456789" };
        let rest = "2 foo redbolt:fence twenty bytes in all! 12182";
        let rest_of_two = "3 foo 123456789 redbolt:fence twenty bytes in all! 12182 12739";
        let rows = [
            (one, acquire, ACQUIRE_FENCED, rest, "7 1500"),
            (one, draw, DRAW, rest, "9007199254740991"),
            (one, raise, RAISE, rest, "5000000000"),
            (two, acquire, ACQUIRE_FENCED_SET, rest_of_two, "7 1500"),
            (two, draw, DRAW_SET, rest_of_two, "9007199254740991"),
            (two, raise, RAISE_SET, rest_of_two, "5000000000"),
        ];
        for (names, what, script, rest, end) in rows {
            let by_sha = format!("EVALSHA {} {rest} {end}", script.sha);
            assert_eq!(words(what, Call::Sha, names), by_sha);
            assert_eq!(
                words(what, Call::Text, names),
                format!("EVAL {} {rest} {end}", script.text)
            );
        }
    }
}
