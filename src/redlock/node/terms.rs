//! What the looks of an engine at its nodes have in common (S11).

use core::time::Duration;

use crate::redlock::config::RedlockConfig;
use crate::redlock::millis::Millis;
use crate::redlock::token::Nonce;
use crate::redlock::wire::command::{Label, Look};
use crate::time::Instant;

/// The wall clock that a client without one sends: so late that the witness earns no credit.
const NO_WALL: u64 = (1 << 53) - 1;

/// What all looks of an engine have in common at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The longest `max_ttl` that a witness has told, or our own.
    pub(crate) max_ttl: Duration,
    /// How long a lock can be believed after a crash of a node that granted it: the longest
    /// `max_ttl` that a witness has told, and its drift.
    pub(crate) span: Duration,
    /// The wall clock of this client, in microseconds since 1970, if the client knows the time.
    pub(crate) wall: Option<u64>,
    /// The number of nodes.
    pub(crate) nodes: usize,
    /// The begin of all tokens of this engine.
    pub(crate) nonce: Nonce,
    /// All nodes are looked at together, each third of a span and this much later. So no node seems
    /// to have been in use for longer than another. Engines differ in this, so that they do not all
    /// ask at once.
    pub(crate) phase: u64,
}

impl Terms {
    /// Returns the arguments of a look, for the database of a node.
    pub(super) fn look<'a>(&self, config: &'a RedlockConfig, database: u32) -> Look<'a> {
        Look {
            prefix: &config.prefix,
            name: &config.connection_name,
            database,
            wall: self.wall.unwrap_or(NO_WALL),
            // Of the deployment, as far as others have told: a new witness beside theirs must keep
            // nobody out.
            max_ttl: Millis::of(self.max_ttl),
            nodes: self.nodes,
            // Less than a span: a clock that is slow, or was set back, must not hide a gap.
            gap: self.max_ttl,
            label: (!config.label.is_empty()).then(|| Label {
                nonce: self.nonce,
                text: [config.place.as_bytes(), &config.label],
                // Longer than any lock of which the last look knows.
                ttl: Millis::of(self.span.saturating_mul(2)),
            }),
        }
    }

    /// Returns the time of the next look after `now`.
    pub(super) fn next_look(&self, now: Instant) -> Instant {
        let period = (Instant::ZERO + self.span / 3).as_nanos().max(1);
        let rest = (now.as_nanos() % period + period - self.phase % period) % period;
        now + Duration::from_nanos(period - rest)
    }

    /// Returns the time of the next look at a node that could not answer for the moment.
    pub(super) fn look_again(&self, now: Instant) -> Instant {
        now + self.span / 12
    }
}
