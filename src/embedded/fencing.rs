//! The scripts about fencing numbers, executed without Lua: the hash of a master's numbers.
//!
//! The hash is no key here: no other command of this master can see or touch it. It goes with all
//! keys of its database.

use bytes::BytesMut;
use smallvec::SmallVec;

use super::database::Database;
use super::number;
use super::refusal::Refusal;
use crate::redlock as script;
use crate::resp;

/// A script about fencing numbers, for the n keys of one lock. `KEYS` ends with the hash. `ARGV`
/// begins with a token and the fields of the n keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fencing {
    /// Takes the keys for `ARGV[n + 3]` milliseconds, and draws a number near `ARGV[n + 2]`.
    Acquire(Width),
    /// Does the same for each of several locks on one key. `ARGV` has the words of each, one lock
    /// behind another.
    AcquireMany,
    /// Draws a number near `ARGV[n + 2]`, if the keys hold the token.
    Draw(Width),
    /// Stores the number `ARGV[n + 2]`, if the keys hold the token and the number is larger.
    Raise(Width),
}

/// How many keys the locks of a script have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    One,
    Several,
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
            Self::Acquire(Width::One) => script::ACQUIRE_FENCED,
            Self::AcquireMany => script::ACQUIRE_FENCED_MANY,
            Self::Draw(Width::One) => script::DRAW,
            Self::Raise(Width::One) => script::RAISE,
            Self::Acquire(Width::Several) => script::ACQUIRE_FENCED_SET,
            Self::Draw(Width::Several) => script::DRAW_SET,
            Self::Raise(Width::Several) => script::RAISE_SET,
        }
    }

    const fn width(self) -> Width {
        match self {
            Self::Acquire(width) | Self::Draw(width) | Self::Raise(width) => width,
            Self::AcquireMany => Width::One,
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
        if self == Self::AcquireMany {
            let before = out.len();
            let done = acquire_many(database, now, keys, arguments, out);
            return done.inspect_err(|_| out.truncate(before));
        }
        let words = Words::split(self.width(), keys, arguments)?;
        let is_taken = |key: &&[u8]| database.get(key, now.millis).is_some();
        match self {
            Self::Acquire(_) if words.keys.iter().any(is_taken) => {
                resp::null(out);
                return Ok(());
            }
            Self::Acquire(_) => take(database, now, &words)?,
            _ => {
                let values = words.keys.iter().map(|key| database.get(key, now.millis));
                if let Some(other) = other(values, words.token) {
                    resp::integer(out, other);
                    return Ok(());
                }
            }
        }
        let stored = words.stripes.iter().filter_map(|stripe| database.fence(*stripe)).max();
        let (number, answer) = match (self, stored) {
            (Self::Raise(_), Some(stored)) if stored >= words.number => {
                resp::integer(out, stored.saturating_neg());
                return Ok(());
            }
            (Self::Raise(_), _) => (words.number, 1),
            _ => {
                let drawn = draw(now, stored, words.number);
                (drawn, drawn)
            }
        };
        words.stripes.iter().for_each(|stripe| database.set_fence(*stripe, number));
        resp::integer(out, answer);
        Ok(())
    }
}

/// Takes the keys of several locks, each on its own, and appends an array of the answers.
fn acquire_many(
    database: &mut Database,
    now: &Moment,
    keys: &[&[u8]],
    arguments: &[&[u8]],
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    let (hash, keys) = keys.split_last().ok_or(Refusal::ScriptArguments)?;
    let words = arguments.chunks_exact(WORDS);
    if now.room < keys.len() {
        return Err(Refusal::OutOfMemory);
    }
    if words.len() != keys.len() || !words.remainder().is_empty() {
        return Err(Refusal::ScriptArguments);
    }
    resp::array_header(out, keys.len());
    for (key, words) in keys.iter().zip(words) {
        Fencing::Acquire(Width::One).run(database, now, &[key, hash], words, out)?;
    }
    Ok(())
}

/// How many words of `ARGV` a lock on one key has: the token, the field, the proposal, the ttl.
const WORDS: usize = 4;

/// Returns the larger of the number behind the stored one and the proposal, which is cut to a
/// second around the clock of the master.
fn draw(now: &Moment, stored: Option<i64>, proposal: i64) -> i64 {
    let clock = number::signed(now.micros);
    // A second.
    let cut = script::CUT.as_micros() as i64;
    let near = proposal.clamp(clock.saturating_sub(cut), clock.saturating_add(cut));
    near.max(stored.map_or(near, |stored| stored.saturating_add(1)))
}

/// The words of a call.
struct Words<'a> {
    keys: &'a [&'a [u8]],
    token: &'a [u8],
    stripes: SmallVec<[u16; 8]>,
    /// The proposal, or the number to store.
    number: i64,
    ttl: Option<&'a [u8]>,
}

impl<'a> Words<'a> {
    fn split(
        width: Width,
        keys: &'a [&'a [u8]],
        arguments: &'a [&'a [u8]],
    ) -> Result<Self, Refusal> {
        let refused = || Refusal::ScriptArguments;
        let (keys, hash) = match (width, keys) {
            (Width::One, [key, hash, ..]) => (core::slice::from_ref(key), hash),
            (Width::Several, [keys @ .., hash]) if !keys.is_empty() => (keys, hash),
            _ => return Err(refused()),
        };
        if *hash != script::FENCES {
            return Err(refused());
        }
        let (token, rest) = arguments.split_first().ok_or_else(refused)?;
        let (fields, rest) = rest.split_at_checked(keys.len()).ok_or_else(refused)?;
        let (asked, rest) = rest.split_first().ok_or_else(refused)?;
        // No field beyond these, so that the hash stays small.
        let stripe = |field: &&[u8]| {
            let stripe = u16::try_from(number::integer(field)?).ok();
            stripe.filter(|stripe| *stripe < script::STRIPES).ok_or_else(refused)
        };
        let stripes = fields.iter().map(stripe).collect::<Result<_, _>>()?;
        let ttl = rest.first().copied();
        Ok(Self { keys, token, stripes, number: number::integer(asked)?, ttl })
    }
}

/// Gives all keys the token, if there is room.
fn take(database: &mut Database, now: &Moment, words: &Words<'_>) -> Result<(), Refusal> {
    let ttl = number::integer(words.ttl.ok_or(Refusal::ScriptArguments)?)?;
    let deadline = number::deadline(now.millis, ttl, "set")?;
    if now.room < words.keys.len() {
        return Err(Refusal::OutOfMemory);
    }
    for key in words.keys {
        database.insert(key, words.token, Some(deadline));
    }
    Ok(())
}

/// Returns what the scripts answer where not all keys hold the token: 0 where none of them exists.
fn other<'a>(values: impl Iterator<Item = Option<&'a [u8]>> + Clone, token: &[u8]) -> Option<i64> {
    if values.clone().all(|value| value == Some(token)) {
        return None;
    }
    let is_any = values.flatten().next().is_some();
    Some(if is_any { -1 } else { 0 })
}
