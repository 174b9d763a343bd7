//! The engine's scripts, known by their text and executed without Lua.

use super::database::{Database, Ttl};
use super::number;
use super::refusal::Refusal;

const RELEASE: &str = "local v = redis.call('GET', KEYS[1]) if v == ARGV[1] then \
    return redis.call('DEL', KEYS[1]) end return v and -1 or 0";
const RELEASE_SHA: &str = "f94ecbb3c68b8cc95981f82b830aac1ad2b9eaa3";

const EXTEND: &str = "local v = redis.call('GET', KEYS[1]) if v ~= ARGV[1] then \
    return v and -1 or 0 end if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then \
    redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 1";
const EXTEND_SHA: &str = "4b87d659dbff9eb9506b4a46bd715e7ebc7fb7d8";

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
}

impl Script {
    pub(super) const ALL: [Self; 2] = [Self::Release, Self::Extend];

    /// The script with exactly this text, to the byte.
    pub(super) fn by_text(text: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|script| script.text().as_bytes() == text)
    }

    /// The script with this SHA-1, in hexadecimal digits of either case.
    pub(super) fn by_sha(sha: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|script| sha.eq_ignore_ascii_case(script.sha().as_bytes()))
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Release => RELEASE,
            Self::Extend => EXTEND,
        }
    }

    /// Forty lower-case hexadecimal digits.
    pub(super) const fn sha(self) -> &'static str {
        match self {
            Self::Release => RELEASE_SHA,
            Self::Extend => EXTEND_SHA,
        }
    }

    /// Executes the script: 1 done, 0 no such key, -1 the key holds another value.
    pub(super) fn run(
        self,
        database: &mut Database,
        now: u64,
        keys: &[&[u8]],
        arguments: &[&[u8]],
    ) -> Result<i64, Refusal> {
        let (Some(key), Some(token)) = (keys.first(), arguments.first()) else {
            return Err(Refusal::ScriptArguments);
        };
        match database.get(key, now) {
            None => return Ok(ABSENT),
            Some(value) if value != *token => return Ok(ANOTHER),
            Some(_) => {}
        }
        match self {
            Self::Release => {
                database.remove(key, now);
            }
            Self::Extend => {
                let ttl = arguments.get(1).ok_or(Refusal::ScriptArguments)?;
                extend(database, now, key, number::integer(ttl)?)?;
            }
        }
        Ok(DONE)
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
