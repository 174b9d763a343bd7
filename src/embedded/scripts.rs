//! The engine's scripts, known by their text and executed without Lua.

use bytes::BytesMut;

use super::database::{Database, Ttl};
use super::fencing::{Fencing, Width};
use super::number;
use super::refusal::Refusal;
use super::witness::Witness;
use crate::redlock as script;
use crate::resp;

const ABSENT: i64 = 0;
const ANOTHER: i64 = -1;
const DONE: i64 = 1;

/// A script of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// `KEYS[1]`, `ARGV[1]` a token: deletes the key if the key holds that token.
    Release,
    /// `KEYS[1]`, `ARGV[1]` a token, `ARGV[2]` a ttl in milliseconds: makes the key live at least
    /// that long if the key holds that token. Never shortens a ttl, never creates a key.
    Extend,
    /// `Release` for many keys: `KEYS[i]` goes with `ARGV[i]`.
    ReleaseMany,
    /// `Extend` for n keys: `KEYS[i]` goes with `ARGV[i]` and `ARGV[n + i]`.
    ExtendMany,
    /// All `KEYS` get `ARGV[1]`, a token, for `ARGV[2]` milliseconds, if none of the keys exists.
    AcquireSet,
    /// All `KEYS` that hold `ARGV[1]`, a token, are deleted.
    ReleaseSet,
    /// All `KEYS` live at least `ARGV[2]` milliseconds, if all of them hold `ARGV[1]`, a token.
    ExtendSet,
    /// Returns the value of `KEYS[1]` and its ttl.
    Holder,
    /// Returns the length of the value of `KEYS[1]`, the value unless it is longer than `ARGV[1]`,
    /// and the ttl.
    Peek,
    /// Counts the keys that begin with `ARGV[1]`, if there are few keys.
    CountLabels,
    /// Tries all commands on the key `ARGV[1]`, and tells which of them fail.
    Probe,
    /// One of the scripts of the witness.
    Witness(Witness),
    /// One of the scripts about fencing numbers.
    Fencing(Fencing),
}

impl Script {
    pub(super) const ALL: [Self; 23] = [
        Self::Release,
        Self::Extend,
        Self::ReleaseMany,
        Self::ExtendMany,
        Self::AcquireSet,
        Self::ReleaseSet,
        Self::ExtendSet,
        Self::Holder,
        Self::Peek,
        Self::CountLabels,
        Self::Probe,
        Self::Witness(Witness::Look),
        Self::Witness(Witness::DeclareFresh),
        Self::Witness(Witness::RaiseMaxTtl),
        Self::Witness(Witness::Close),
        Self::Witness(Witness::Reopen),
        Self::Fencing(Fencing::Acquire(Width::One)),
        Self::Fencing(Fencing::AcquireMany),
        Self::Fencing(Fencing::Draw(Width::One)),
        Self::Fencing(Fencing::Raise(Width::One)),
        Self::Fencing(Fencing::Acquire(Width::Several)),
        Self::Fencing(Fencing::Draw(Width::Several)),
        Self::Fencing(Fencing::Raise(Width::Several)),
    ];

    /// The script with exactly this text, to the byte.
    pub(super) fn by_text(text: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|script| script.text().as_bytes() == text)
    }

    /// The script with this SHA-1, in hexadecimal digits of either case.
    pub(super) fn by_sha(sha: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|script| sha.eq_ignore_ascii_case(script.sha().as_bytes()))
    }

    /// The text and the SHA-1 of the script, from the engine.
    const fn source(self) -> script::Script {
        match self {
            Self::Release => script::RELEASE,
            Self::Extend => script::EXTEND,
            Self::ReleaseMany => script::RELEASE_MANY,
            Self::ExtendMany => script::EXTEND_MANY,
            Self::AcquireSet => script::ACQUIRE_SET,
            Self::ReleaseSet => script::RELEASE_SET,
            Self::ExtendSet => script::EXTEND_SET,
            Self::Holder => script::HOLDER,
            Self::Peek => script::PEEK,
            Self::CountLabels => script::COUNT_LABELS,
            Self::Probe => script::PROBE,
            Self::Witness(witness) => witness.source(),
            Self::Fencing(fencing) => fencing.source(),
        }
    }

    pub(super) const fn text(self) -> &'static str {
        self.source().text
    }

    /// Forty lower-case hexadecimal digits.
    pub(super) const fn sha(self) -> &'static str {
        self.source().sha
    }

    /// Executes the script and appends its reply. `room` is how many more keys may exist.
    ///
    /// A script of the witness needs more than that ([`Witness::run`]), and so does one about
    /// fencing numbers ([`Fencing::run`]). Both are refused here.
    pub(super) fn run(
        self,
        database: &mut Database,
        now: u64,
        room: usize,
        keys: &[&[u8]],
        arguments: &[&[u8]],
        out: &mut BytesMut,
    ) -> Result<(), Refusal> {
        match (self, keys, arguments) {
            (Self::AcquireSet, [_, ..], [token, ttl, ..]) => {
                acquire_set(database, now, room, keys, token, number::integer(ttl)?, out)
            }
            (Self::ReleaseSet, [_, ..], [token, ..]) => {
                resp::integer(out, release_set(database, now, keys, token));
                Ok(())
            }
            (Self::ExtendSet, [_, ..], [token, ttl, ..]) => {
                let ttl = number::integer(ttl)?;
                resp::integer(out, extend_set(database, now, keys, token, ttl)?);
                Ok(())
            }
            (Self::Holder, [key, ..], _) => {
                show_holder(database, now, key, out);
                Ok(())
            }
            (Self::Peek, [key, ..], [most, ..]) => {
                peek(database, now, key, number::integer(most)?, out);
                Ok(())
            }
            (Self::CountLabels, _, [begin, ..]) => {
                resp::integer(out, number::signed(database.count_labels(begin, now)));
                Ok(())
            }
            (Self::Probe, _, []) => {
                resp::array_header(out, 0);
                Ok(())
            }
            (Self::Probe, _, [key, ..]) => {
                probe(database, now, room, key, out);
                Ok(())
            }
            (
                Self::AcquireSet
                | Self::ReleaseSet
                | Self::ExtendSet
                | Self::Holder
                | Self::Peek
                | Self::Witness(_)
                | Self::Fencing(_),
                ..,
            ) => Err(Refusal::ScriptArguments),
            _ => self.run_for_each(database, now, keys, arguments, out),
        }
    }

    /// Answers for each key: 1 for done, 0 for no such key, -1 for a key with another value. A
    /// release of many keys that are all done has their number for an answer.
    fn run_for_each(
        self,
        database: &mut Database,
        now: u64,
        keys: &[&[u8]],
        arguments: &[&[u8]],
        out: &mut BytesMut,
    ) -> Result<(), Refusal> {
        let extends = matches!(self, Self::Extend | Self::ExtendMany);
        let many = matches!(self, Self::ReleaseMany | Self::ExtendMany);
        let needed = if extends { 2 * keys.len() } else { keys.len() };
        if keys.is_empty() || arguments.len() < needed || (!many && keys.len() > 1) {
            return Err(Refusal::ScriptArguments);
        }
        let (tokens, ttls) = arguments.split_at(keys.len());
        // All keys are compared before the first key changes: a key may be named twice.
        let pairs = keys.iter().zip(tokens);
        let answers: Vec<_> =
            pairs.map(|(key, token)| compare(database, now, key, token)).collect();
        for (index, key) in keys.iter().enumerate().filter(|(index, _)| answers[*index] == DONE) {
            if extends {
                extend(database, now, key, number::integer(ttls[index])?)?;
            } else {
                database.remove(key, now);
            }
        }
        if self == Self::ReleaseMany && answers.iter().all(|answer| *answer == DONE) {
            resp::integer(out, number::signed(answers.len()));
            return Ok(());
        }
        if many {
            resp::array_header(out, answers.len());
        }
        answers.into_iter().for_each(|answer| resp::integer(out, answer));
        Ok(())
    }
}

/// A key that is named twice needs room for two.
fn acquire_set(
    database: &mut Database,
    now: u64,
    room: usize,
    keys: &[&[u8]],
    token: &[u8],
    ttl: i64,
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    if keys.iter().any(|key| database.get(key, now).is_some()) {
        resp::null(out);
        return Ok(());
    }
    let deadline = number::deadline(now, ttl, "set")?;
    if keys.len() > room {
        return Err(Refusal::OutOfMemory);
    }
    for key in keys {
        database.insert(key, token, Some(deadline));
    }
    resp::simple(out, "OK");
    Ok(())
}

fn release_set(database: &mut Database, now: u64, keys: &[&[u8]], token: &[u8]) -> i64 {
    let answers: Vec<_> = keys.iter().map(|key| compare(database, now, key, token)).collect();
    for (key, _) in keys.iter().zip(&answers).filter(|(_, answer)| **answer == DONE) {
        database.remove(key, now);
    }
    // One key with the token decides the answer; without one, a key with another value does.
    match answers {
        answers if answers.contains(&DONE) => DONE,
        answers if answers.contains(&ANOTHER) => ANOTHER,
        _ => ABSENT,
    }
}

fn extend_set(
    database: &mut Database,
    now: u64,
    keys: &[&[u8]],
    token: &[u8],
    ttl: i64,
) -> Result<i64, Refusal> {
    let answers = || keys.iter().map(|key| compare(database, now, key, token));
    if answers().all(|answer| answer == ABSENT) {
        return Ok(ABSENT);
    }
    if answers().any(|answer| answer != DONE) {
        return Ok(ANOTHER);
    }
    for key in keys {
        extend(database, now, key, ttl)?;
    }
    Ok(DONE)
}

fn show_holder(database: &Database, now: u64, key: &[u8], out: &mut BytesMut) {
    const MOST: usize = 40;
    resp::array_header(out, 2);
    match database.get(key, now) {
        Some(value) => resp::bulk(out, &value[..value.len().min(MOST)]),
        None => resp::null(out),
    }
    show_ttl(database, now, key, out);
}

/// No key of this master has another type than a string.
fn peek(database: &Database, now: u64, key: &[u8], most: i64, out: &mut BytesMut) {
    let value = database.get(key, now);
    let len = number::signed(value.map_or(0, |value| value.len()));
    resp::array_header(out, 3);
    resp::integer(out, len);
    match value.filter(|_| len <= most) {
        Some(value) => resp::bulk(out, value),
        None => resp::null(out),
    }
    show_ttl(database, now, key, out);
}

fn show_ttl(database: &Database, now: u64, key: &[u8], out: &mut BytesMut) {
    let ttl = match database.ttl(key, now) {
        Ttl::Absent => -2,
        Ttl::Forever => -1,
        Ttl::Millis(millis) => number::signed(millis),
    };
    resp::integer(out, ttl);
}

/// Sets and deletes a key. Only the first can fail, for want of room.
fn probe(database: &mut Database, now: u64, room: usize, key: &[u8], out: &mut BytesMut) {
    let was_there = database.remove(key, now);
    if was_there || room > 0 {
        return resp::array_header(out, 0);
    }
    resp::array_header(out, 2);
    resp::bulk(out, b"set");
    resp::bulk(out, Refusal::OutOfMemory.to_string().as_bytes());
}

/// Compares the value of a key with a token.
fn compare(database: &Database, now: u64, key: &[u8], token: &[u8]) -> i64 {
    match database.get(key, now) {
        None => ABSENT,
        Some(value) if value != token => ANOTHER,
        Some(_) => DONE,
    }
}

/// Makes a key live at least `ttl` milliseconds, as the script does with `PTTL` and `PEXPIRE`.
///
/// `PTTL` answers -1 for a key without a deadline, so that any ttl gives the key a deadline.
/// `PEXPIRE` with a ttl of zero deletes the key; only a key without a deadline can get there.
fn extend(database: &mut Database, now: u64, key: &[u8], ttl: i64) -> Result<(), Refusal> {
    let current = match database.ttl(key, now) {
        Ttl::Absent => return Ok(()),
        Ttl::Forever => -1,
        Ttl::Millis(millis) => number::signed(millis),
    };
    if current >= ttl {
        return Ok(());
    }
    if ttl == 0 {
        database.remove(key, now);
        return Ok(());
    }
    database.set_deadline(key, number::deadline(now, ttl, "pexpire")?);
    Ok(())
}
