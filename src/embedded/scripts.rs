//! The engine's scripts, known by their text and executed without Lua.

use bytes::BytesMut;

use super::database::{Database, Ttl};
use super::number;
use super::refusal::Refusal;
use crate::redlock as script;
use crate::resp;

const ABSENT: i64 = 0;
const ANOTHER: i64 = -1;
const DONE: i64 = 1;

/// A script of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// `KEYS[1]`, `ARGV[1]` a token: deletes the key if it holds that token.
    Release,
    /// `KEYS[1]`, `ARGV[1]` a token, `ARGV[2]` a ttl in milliseconds: makes the key live at least
    /// that long if it holds that token. Never shortens a ttl, never creates a key.
    Extend,
    /// The first for many keys: `KEYS[i]` goes with `ARGV[i]`.
    ReleaseMany,
    /// The second for n keys: `KEYS[i]` goes with `ARGV[i]` and `ARGV[n + i]`.
    ExtendMany,
}

impl Script {
    pub(super) const ALL: [Self; 4] =
        [Self::Release, Self::Extend, Self::ReleaseMany, Self::ExtendMany];

    /// The script with exactly this text, to the byte.
    pub(super) fn by_text(text: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|script| script.text().as_bytes() == text)
    }

    /// The script with this SHA-1, in hexadecimal digits of either case.
    pub(super) fn by_sha(sha: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|script| sha.eq_ignore_ascii_case(script.sha().as_bytes()))
    }

    /// The script as the engine has it.
    const fn source(self) -> script::Script {
        match self {
            Self::Release => script::RELEASE,
            Self::Extend => script::EXTEND,
            Self::ReleaseMany => script::RELEASE_MANY,
            Self::ExtendMany => script::EXTEND_MANY,
        }
    }

    pub(super) const fn text(self) -> &'static str {
        self.source().text
    }

    /// Forty lower-case hexadecimal digits.
    pub(super) const fn sha(self) -> &'static str {
        self.source().sha
    }

    /// Executes the script and appends its reply: for each key 1 done, 0 no such key, -1 the key
    /// holds another value.
    pub(super) fn run(
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
        // All are compared before the first is touched: one key may be asked about twice.
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
        if many {
            resp::array_header(out, answers.len());
        }
        answers.into_iter().for_each(|answer| resp::integer(out, answer));
        Ok(())
    }
}

/// What there is to do about one key.
fn compare(database: &Database, now: u64, key: &[u8], token: &[u8]) -> i64 {
    match database.get(key, now) {
        None => ABSENT,
        Some(value) if value != token => ANOTHER,
        Some(_) => DONE,
    }
}

/// `PTTL` counts a key without a deadline as -1, so that any ttl gives it one; and `PEXPIRE` to a
/// time that is not in the future deletes the key, which only that case can reach.
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
