//! What a testimony is worth (S11): for how long the data of a node has been in one piece, and
//! whether the node was in service meanwhile.
//!
//! Everything here is a pure function of what two looks have said, and has table tests.

use core::time::Duration;

use super::error::NodeError;
use super::identity::Identity;
use super::quarantine::QuarantineReason;
use crate::redlock::config::RedlockConfig;
use crate::redlock::millis::Millis;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::testimony::{Constants, Found, Testimony};
use crate::time::Instant;

/// A moment on the clock of this client, in nanoseconds. Unlike an [`Instant`], a moment can be
/// earlier than the boot of the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Moment(i128);

impl Moment {
    pub(crate) fn before(now: Instant, age: Duration) -> Self {
        Self::of(now).minus(age)
    }

    fn of(instant: Instant) -> Self {
        Self(i128::from(instant.as_nanos()))
    }

    // No duration has 2^127 nanoseconds.
    fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(duration.as_nanos() as i128))
    }

    fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.as_nanos() as i128))
    }

    /// Returns the instant this long after the moment.
    pub(crate) fn after(self, duration: Duration) -> Instant {
        let nanos = self.plus(duration).0.max(0);
        Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// A moment that a node has told by its own clock, on the clock of this client. The node has told
/// its time between the leaving of a look and the coming of the answer, and nobody knows when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Told {
    earliest: Moment,
    latest: Moment,
}

impl Told {
    /// Converts a time of a node, which has said `testimony` in answer to a look. The look left at
    /// `sent`, and `now` is read after the answer was.
    fn of(sent: Instant, now: Instant, testimony: &Testimony, micros: u64) -> Self {
        let age = Duration::from_micros(testimony.time.saturating_sub(micros));
        Self { earliest: Moment::before(sent, age), latest: Moment::before(now, age) }
    }
}

/// What earlier looks have said about a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Past {
    pub(crate) identity: Identity,
    /// The last testimony, if the node has ever given one.
    pub(crate) testimony: Option<Testimony>,
}

/// What a look says about a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Evidence {
    pub(crate) identity: Identity,
    pub(crate) is_durable: bool,
    pub(crate) testimony: Option<Testimony>,
    /// The wall clock of this client, in microseconds since 1970, if the client knows the time.
    pub(crate) wall: Option<u64>,
}

/// Compares the constants of the deployment with those of this client, which has this number of
/// nodes. Returns the reason why the client must not use the node, if there is one.
pub(crate) fn disagreement(
    config: &RedlockConfig,
    nodes: usize,
    recorded: Constants,
) -> Option<NodeError> {
    let max_ttl = Millis::of(config.max_ttl).count().unsigned_abs();
    let nodes = nodes as u64;
    if recorded.is_closed {
        return Some(NodeError::Reconfiguring);
    }
    if recorded.nodes != nodes {
        return Some(NodeError::OtherNodes { ours: nodes, recorded: recorded.nodes });
    }
    let is_short = recorded.max_ttl < max_ttl;
    is_short.then_some(NodeError::MaxTtlTooLong { ours: max_ttl, recorded: recorded.max_ttl })
}

/// Judges a look at a node. Returns `None` if the data is what the looks before have seen, and
/// otherwise for how long the data has certainly been in one piece, and why for no longer.
pub(crate) fn judge(
    past: Option<&Past>,
    found: &Evidence,
    config: &RedlockConfig,
) -> Option<(Duration, QuarantineReason)> {
    let Some(past) = past else {
        return Some((age(found, config), QuarantineReason::FirstContact));
    };
    let (then, now) = (past.identity, found.identity);
    if then != now && !config.is_sabotaged(Saboteur::WitnessKeptAcrossIdentity) {
        let reason = if then.run_id != now.run_id {
            QuarantineReason::Restarted
        } else if then.replication != now.replication {
            QuarantineReason::NewReplicationId
        } else {
            QuarantineReason::EvictedKeys
        };
        let age =
            if is_same_file(past, found, config) { age(found, config) } else { Duration::ZERO };
        return Some((age, reason));
    }
    let now = found.testimony?;
    let Some(then) = past.testimony else {
        // The right to read the witness has come. Only what the witness tells counts.
        return Some((age(found, config), QuarantineReason::FirstContact));
    };
    let is_older = now.found == Found::Same && now.born <= then.born && now.count > then.count;
    (!is_older).then_some((Duration::ZERO, QuarantineReason::DataLost))
}

/// Returns whether a process has read back everything that the process before it had answered.
fn is_same_file(past: &Past, found: &Evidence, config: &RedlockConfig) -> bool {
    let (Some(then), Some(now)) = (past.testimony, found.testimony) else { return false };
    is_believed_durable(found, config) && then.origin == now.origin && now.count > then.count
}

fn is_believed_durable(found: &Evidence, config: &RedlockConfig) -> bool {
    let has_witness = found.testimony.is_some_and(|word| word.found != Found::Nothing);
    config.restart_guard == RestartGuard::Durable && found.is_durable && has_witness
}

/// Returns for how long the data of a node has been in one piece, as its witness says.
fn age(found: &Evidence, config: &RedlockConfig) -> Duration {
    if config.is_sabotaged(Saboteur::WitnessIgnored) {
        return Duration::MAX;
    }
    let Some(word) = found.testimony else { return Duration::ZERO };
    let step = match config.drift.step {
        _ if config.is_sabotaged(Saboteur::AgeWithoutEpsilon) => Duration::ZERO,
        step => step,
    };
    let micros = if config.restart_guard == RestartGuard::Strict {
        0
    } else if is_believed_durable(found, config) {
        word.time.saturating_sub(word.origin)
    } else if word.found == Found::Same {
        // Two clocks, which would have to be wrong both.
        let by_wall = found.wall.map_or(0, |wall| wall.saturating_sub(word.wall));
        word.time.saturating_sub(word.born).min(by_wall)
    } else {
        0
    };
    Duration::from_micros(micros).saturating_sub(step)
}

/// The last time in which nobody looked at a node for longer than a span. Meanwhile, another
/// process may have had the name of the node, and may have granted what this one knows nothing of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gap {
    /// As the node has written it.
    raw: (u64, u64),
    /// The last look before.
    began: Told,
    /// The first look after.
    ended: Told,
    /// Whether the other nodes were not in use either; `None` until all of them have been asked.
    pub(crate) is_excused: Option<bool>,
}

impl Gap {
    /// Reads the gap that a node tells. A gap that is known keeps its place on this client's clock,
    /// whatever happens to the clock of the node.
    pub(crate) fn read(
        sent: Instant,
        now: Instant,
        word: &Testimony,
        known: Option<Self>,
    ) -> Option<Self> {
        let raw = word.unseen;
        if raw.1 == 0 {
            return None;
        }
        let told = |micros| Told::of(sent, now, word, micros);
        let read = || Self { raw, began: told(raw.0), ended: told(raw.1), is_excused: None };
        Some(known.filter(|known| known.raw == raw).unwrap_or_else(read))
    }

    /// Returns the moment from which the node has been in service for a span again.
    pub(crate) fn over_at(&self, config: &RedlockConfig, span: Duration) -> Instant {
        self.ended.latest.after(span.saturating_add(config.drift.step))
    }

    /// Returns whether another node, with the gap `other`, cannot have granted a lock in this gap
    /// that somebody still believes in.
    ///
    /// A client asks for a lock at most half a span after its last look at the node, and looks at
    /// all nodes at the same times. So either the last looks at both nodes were of one round, or
    /// whatever came of a later round at the other node is over after one and a half spans.
    /// `leeway` is for a handshake that takes longer at one node than at another. No time that an
    /// answer took is added: a late answer about the other node would make its gap end later.
    fn is_covered_by(&self, other: &Self, now: Instant, span: Duration, leeway: Duration) -> bool {
        let began = self.began.earliest.plus(leeway);
        let began_before = began.max(Moment::before(now, span + span / 2));
        let ended_after = self.ended.latest.minus(leeway);
        other.began.latest <= began_before && other.ended.earliest >= ended_after
    }
}

/// What a node says about the time in which another node was out of service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Alibi {
    /// The node has not been asked yet.
    Unknown,
    /// The node has nothing to say: it is down, has no witness, or its witness is younger.
    Silent,
    /// The node was not in use either.
    Idle,
    /// The node was in use.
    InUse,
}

/// What all other nodes say together about the time in which a node was out of service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Excuse {
    /// Some have not been asked yet.
    Unknown,
    /// Enough of them were not in use either, and none was.
    Idle,
    /// One was in use.
    InUse,
    /// None was in use, and too few have something to say.
    TooFew,
}

/// The last word of a node about its own service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Service {
    /// The birth of its witness, at the earliest.
    born: Moment,
    gap: Option<Gap>,
}

impl Service {
    pub(crate) fn read(sent: Instant, now: Instant, word: &Testimony, gap: Option<Gap>) -> Self {
        let born = match word.found {
            Found::Same => Told::of(sent, now, word, word.born).earliest,
            Found::Nothing | Found::Other => Moment::of(sent),
        };
        Self { born, gap }
    }

    /// Returns what this node says about a time in which another node was out of service.
    pub(crate) fn alibi(
        &self,
        about: &Gap,
        now: Instant,
        span: Duration,
        leeway: Duration,
    ) -> Alibi {
        match self.gap {
            _ if self.born >= about.ended.latest.minus(leeway) => Alibi::Silent,
            Some(gap) if about.is_covered_by(&gap, now, span, leeway) => Alibi::Idle,
            _ => Alibi::InUse,
        }
    }
}

#[cfg(test)]
mod tests;
