//! The scripts about fencing numbers, executed without Lua: the hash of a master's numbers.
//!
//! The hash is no key here: no other command of this master can see or touch it. It goes with all
//! keys of its database.

use bytes::BytesMut;

use super::database::Database;
use super::number;
use super::refusal::Refusal;
use crate::redlock as script;
use crate::resp;

/// The number of fields that the hash can have.
const STRIPES: i64 = 1 << 14;

/// By how much a number may differ from the clock of the master, in microseconds.
const CUT: i64 = 1_000_000;

/// A script about fencing numbers. `KEYS[1]` is the key of a lock and `KEYS[2]` the hash, `ARGV[1]`
/// a token and `ARGV[2]` the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fencing {
    /// Takes the key for `ARGV[4]` milliseconds, and draws a number near `ARGV[3]`.
    Acquire,
    /// Draws a number near `ARGV[3]`, if the key holds the token.
    Draw,
    /// Stores the number `ARGV[3]`, if the key holds the token and the number is larger.
    Raise,
}

/// What a script knows of its master.
pub(super) struct Moment {
    /// In milliseconds, by which keys end.
    pub(super) millis: u64,
    /// In microseconds, as `TIME` tells.
    pub(super) micros: u64,
    /// How many more keys may exist.
    pub(super) room: usize,
}

impl Fencing {
    pub(super) const fn source(self) -> script::Script {
        match self {
            Self::Acquire => script::ACQUIRE_FENCED,
            Self::Draw => script::DRAW,
            Self::Raise => script::RAISE,
        }
    }

    /// Executes the script and appends its reply.
    pub(super) fn run(
        self,
        database: &mut Database,
        now: &Moment,
        keys: &[&[u8]],
        arguments: &[&[u8]],
        out: &mut BytesMut,
    ) -> Result<(), Refusal> {
        let ([key, b"redbolt:fence", ..], [token, field, asked, rest @ ..]) = (keys, arguments)
        else {
            return Err(Refusal::ScriptArguments);
        };
        let (field, asked) = (number::integer(field)?, number::integer(asked)?);
        let stripes = 0..STRIPES;
        // No field beyond these, so that the hash stays small.
        let stripe = u16::try_from(field).ok().filter(|_| stripes.contains(&field));
        let stripe = stripe.ok_or(Refusal::ScriptArguments)?;
        if self == Self::Acquire {
            let ttl = number::integer(rest.first().ok_or(Refusal::ScriptArguments)?)?;
            if database.get(key, now.millis).is_some() {
                resp::null(out);
                return Ok(());
            }
            let deadline = number::deadline(now.millis, ttl, "set")?;
            if now.room == 0 {
                return Err(Refusal::OutOfMemory);
            }
            database.insert(key, token, Some(deadline));
        } else if let Some(absent) = other(database.get(key, now.millis), token) {
            resp::integer(out, absent);
            return Ok(());
        }
        let stored = database.fence(stripe);
        if self == Self::Raise {
            let is_behind = stored.unwrap_or(0) >= asked;
            if is_behind {
                resp::integer(out, stored.unwrap_or(0).saturating_neg());
            } else {
                database.set_fence(stripe, asked);
                resp::integer(out, 1);
            }
            return Ok(());
        }
        let clock = number::signed(now.micros);
        let near = asked.clamp(clock.saturating_sub(CUT), clock.saturating_add(CUT));
        let drawn = near.max(stored.map_or(near, |stored| stored.saturating_add(1)));
        database.set_fence(stripe, drawn);
        resp::integer(out, drawn);
        Ok(())
    }
}

/// Returns what the scripts answer where the key does not hold the token.
fn other(value: Option<&[u8]>, token: &[u8]) -> Option<i64> {
    match value {
        None => Some(0),
        Some(value) if value != token => Some(-1),
        Some(_) => None,
    }
}
