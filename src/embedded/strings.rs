//! The commands on keys: `SET`, `GET`, `GETRANGE`, `MGET`, `PTTL`, `PEXPIRE`, `DEL`, `EXISTS`.
//!
//! `arguments` is the request without the command's name; [`super::command`] has counted the words.
//! Times are milliseconds of the master's clock.

use bytes::BytesMut;

use super::database::{Database, Ttl};
use super::number;
use super::refusal::Refusal;
use crate::resp;

/// `SET key value [NX] [PX milliseconds | EX seconds]`; any other option is a syntax error.
///
/// `room` is how many more keys may exist. The order of the checks is that of Redis: options,
/// then the ttl, then `NX`. Only the memory check comes last instead of first, because a limit on
/// keys does not forbid overwriting.
pub(super) fn set(
    database: &mut Database,
    now: u64,
    room: usize,
    arguments: &[&[u8]],
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    let [key, value, options @ ..] = arguments else { return Err(Refusal::WrongArity("set")) };
    let options = SetOptions::parse(options)?;
    let deadline = options.deadline(now)?;
    let exists = database.ttl(key, now) != Ttl::Absent;
    if exists && options.only_if_absent {
        resp::null(out);
        return Ok(());
    }
    if !exists && room == 0 {
        return Err(Refusal::OutOfMemory);
    }
    database.insert(key, value, deadline);
    resp::simple(out, "OK");
    Ok(())
}

pub(super) fn get(database: &Database, now: u64, arguments: &[&[u8]], out: &mut BytesMut) {
    match arguments.first().and_then(|key| database.get(key, now)) {
        Some(value) => resp::bulk(out, value),
        None => resp::null(out),
    }
}

/// `GETRANGE key start end`: both count from the end where they are negative.
pub(super) fn get_range(
    database: &Database,
    now: u64,
    arguments: &[&[u8]],
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    let [key, start, end] = arguments else { return Err(Refusal::Syntax) };
    let (start, end) = (number::integer(start)?, number::integer(end)?);
    let value = database.get(key, now).unwrap_or_default();
    let len = i64::try_from(value.len()).unwrap_or(i64::MAX);
    // Whatever lies before the begin is the begin.
    let place = |at: i64| if at < 0 { at.saturating_add(len).max(0) } else { at };
    let is_reversed = start < 0 && end < 0 && start > end;
    let range = place(start)..=place(end).min(len - 1);
    let part = match (usize::try_from(*range.start()), usize::try_from(*range.end())) {
        (Ok(start), Ok(end)) if start <= end && !is_reversed => &value[start..=end],
        _ => &[],
    };
    resp::bulk(out, part);
    Ok(())
}

pub(super) fn mget(database: &Database, now: u64, keys: &[&[u8]], out: &mut BytesMut) {
    resp::array_header(out, keys.len());
    keys.iter().for_each(|key| get(database, now, &[key], out));
}

/// `PEXPIRE key milliseconds`, without the options of newer servers. A ttl of nothing deletes the
/// key.
pub(super) fn pexpire(
    database: &mut Database,
    now: u64,
    arguments: &[&[u8]],
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    let [key, millis] = arguments else { return Err(Refusal::Syntax) };
    let millis = number::integer(millis)?;
    let exists = database.ttl(key, now) != Ttl::Absent;
    if millis > 0 {
        let deadline = number::deadline(now, millis, "pexpire")?;
        if exists {
            database.set_deadline(key, deadline);
        }
    } else {
        database.remove(key, now);
    }
    resp::integer(out, i64::from(exists));
    Ok(())
}

/// Replies -2 for no such key, and -1 for a key without a deadline.
pub(super) fn pttl(database: &Database, now: u64, arguments: &[&[u8]], out: &mut BytesMut) {
    let ttl = arguments.first().map_or(Ttl::Absent, |key| database.ttl(key, now));
    let reply = match ttl {
        Ttl::Absent => -2,
        Ttl::Forever => -1,
        Ttl::Millis(millis) => number::signed(millis),
    };
    resp::integer(out, reply);
}

pub(super) fn del(database: &mut Database, now: u64, keys: &[&[u8]], out: &mut BytesMut) {
    let removed = keys.iter().filter(|key| database.remove(key, now)).count();
    resp::integer(out, number::signed(removed));
}

/// Counts a key that is named twice as two, as Redis does.
pub(super) fn exists(database: &Database, now: u64, keys: &[&[u8]], out: &mut BytesMut) {
    let alive = keys.iter().filter(|key| database.get(key, now).is_some()).count();
    resp::integer(out, number::signed(alive));
}

#[derive(Default)]
struct SetOptions<'a> {
    only_if_absent: bool,
    ttl: Option<(Unit, &'a [u8])>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Milliseconds,
    Seconds,
}

impl<'a> SetOptions<'a> {
    fn parse(words: &[&'a [u8]]) -> Result<Self, Refusal> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let is = |option: &str| word.eq_ignore_ascii_case(option.as_bytes());
            let unit = match () {
                () if is("NX") => {
                    options.only_if_absent = true;
                    continue;
                }
                () if is("PX") => Unit::Milliseconds,
                () if is("EX") => Unit::Seconds,
                () => return Err(Refusal::Syntax),
            };
            // Redis accepts the same unit twice, and the last ttl counts.
            let other = options.ttl.is_some_and(|(before, _)| before != unit);
            let ttl = words.next().filter(|_| !other).ok_or(Refusal::Syntax)?;
            options.ttl = Some((unit, ttl));
        }
        Ok(options)
    }

    fn deadline(&self, now: u64) -> Result<Option<u64>, Refusal> {
        let Some((unit, text)) = self.ttl else { return Ok(None) };
        let ttl = number::integer(text)?;
        let millis = match unit {
            Unit::Milliseconds => Some(ttl),
            Unit::Seconds => ttl.checked_mul(1_000),
        };
        let millis = millis.ok_or(Refusal::InvalidExpire("set"))?;
        number::deadline(now, millis, "set").map(Some)
    }
}
