//! Values as fields of `--log json`.

use std::time::Duration;

use redbolt::LostReason;
use rustix::process::Signal;
use serde::{Serialize, Serializer};

use super::signals;
use crate::json::Millis;

/// Writes a time in milliseconds.
pub(super) fn millis<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    Millis::of(*time).serialize(to)
}

/// Writes a time in milliseconds, if there is one.
pub(super) fn some_millis<S: Serializer>(
    time: &Option<Duration>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => millis(time, to),
        None => to.serialize_none(),
    }
}

/// Writes the name of a signal.
pub(super) fn signal<S: Serializer>(signal: &Signal, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&signals::name(*signal))
}

/// Writes the name of a reason.
pub(super) fn reason<S: Serializer>(reason: &LostReason, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(match reason {
        LostReason::Expired => "expired",
        LostReason::MaxHold => "max_hold",
        LostReason::Majority => "majority",
        LostReason::ClockBehind => "clock_behind",
        _ => "other",
    })
}
