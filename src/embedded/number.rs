//! Numbers in requests and replies: the integers that Redis accepts, deadlines, and times.

use super::refusal::Refusal;
use crate::time::Instant;

/// What `TIME` tells when the master's clock shows zero: the beginning of the year 2000, in
/// microseconds since 1970.
const EPOCH: u64 = 946_684_800_000_000;

/// Reads a 64-bit integer in the one spelling that Redis accepts: no `+`, no leading zeros, no
/// spaces.
pub(super) fn integer(text: &[u8]) -> Result<i64, Refusal> {
    let canonical = matches!(text, b"0" | [b'1'..=b'9', ..] | [b'-', b'1'..=b'9', ..]);
    let parsed = core::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    parsed.filter(|_| canonical).ok_or(Refusal::NotAnInteger)
}

/// Returns the deadline `ttl` milliseconds after `now`, both in milliseconds. The error names
/// `command`.
///
/// Redis keeps deadlines in a signed 64-bit number and refuses a ttl whose deadline does not fit.
pub(super) fn deadline(now: u64, ttl: i64, command: &'static str) -> Result<u64, Refusal> {
    let now = i64::try_from(now).map_err(|_| Refusal::InvalidExpire(command))?;
    if ttl <= 0 {
        return Err(Refusal::InvalidExpire(command));
    }
    let deadline = now.checked_add(ttl).ok_or(Refusal::InvalidExpire(command))?;
    u64::try_from(deadline).map_err(|_| Refusal::InvalidExpire(command))
}

/// Returns a count as the integer of a reply. More than `i64::MAX` of anything does not fit into
/// memory.
pub(super) fn signed(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

/// The time in microseconds since 1970, if the master was made in the year 2000.
pub(super) fn micros(now: Instant) -> u64 {
    EPOCH + now.as_nanos() / 1_000
}
