//! Counters, gauges and a histogram of the engine, through `metrics`.

use core::time::Duration;

use metrics::{
    Key, Label, Level, Metadata, Unit, counter, describe_counter, describe_gauge,
    describe_histogram, gauge, histogram,
};

use crate::net::Address;
use crate::redlock::{AcquireError, Event, LostReason, MAX_NODES, NodeId, NodeState, Redlock};

const ACQUIRED: &str = "redbolt_acquired_total";
const FAILED: &str = "redbolt_acquire_failed_total";
const EXTENDED: &str = "redbolt_extended_total";
const NOT_EXTENDED: &str = "redbolt_extend_failed_total";
const FENCED: &str = "redbolt_fenced_total";
const NOT_FENCED: &str = "redbolt_fence_failed_total";
const SHORTENED: &str = "redbolt_shortened_total";
const RELEASED: &str = "redbolt_released_total";
const PASSED_ON: &str = "redbolt_passed_on_total";
const LOST: &str = "redbolt_lost_total";
const EXPIRING: &str = "redbolt_expiring_total";
const QUERIED: &str = "redbolt_queried_total";
const CHANGES: &str = "redbolt_node_changes_total";
const HELD: &str = "redbolt_held";
const VOTES: &str = "redbolt_node_votes";
const ROUND_TRIP: &str = "redbolt_node_round_trip_seconds";
const PANICS: &str = "redbolt_callback_panics_total";
const WAIT: &str = "redbolt_wait_seconds";

/// The values of the label `reason`.
const FAILURES: [&str; 8] =
    ["held", "no_quorum", "too_far", "in_line", "quarantined", "no_room", "gone", "cancelled"];
const LOSSES: [&str; 4] = ["expired", "max_hold", "majority", "clock_behind"];
const WARNINGS: [&str; 2] = ["max_hold", "expired"];

/// The values of the label `callback`.
const CALLBACKS: [&str; 4] = ["on_lost", "on_node", "credentials", "waker"];

/// What the macros of `metrics` say of the place of a metric.
static METADATA: Metadata<'static> =
    Metadata::new(module_path!(), Level::INFO, Some(module_path!()));

/// What one engine has told the gauges, which all engines of a process share.
#[derive(Default)]
pub(super) struct Metrics {
    held: u64,
    /// The round trip of each node, and the name of its gauge. The names are made once, because the
    /// gauges are set while locks come and go, and then nothing is allocated.
    round_trips: [Duration; MAX_NODES],
    names: Vec<Key>,
}

impl Metrics {
    /// Counts what has become of a lock.
    pub(super) fn lock(&mut self, redlock: &Redlock, addresses: &[Address], event: &Event) {
        self.begin(addresses);
        match event {
            Event::Acquired { .. } => counter!(ACQUIRED).increment(1),
            // Labels that are literals cost no allocation.
            Event::AcquireFailed { error, .. } => match error {
                AcquireError::Held { .. } => counter!(FAILED, "reason" => "held"),
                AcquireError::NoQuorum(_) => counter!(FAILED, "reason" => "no_quorum"),
                AcquireError::TooFar { .. } => counter!(FAILED, "reason" => "too_far"),
                AcquireError::InLine => counter!(FAILED, "reason" => "in_line"),
                AcquireError::Quarantined { .. } => counter!(FAILED, "reason" => "quarantined"),
                AcquireError::NoRoom => counter!(FAILED, "reason" => "no_room"),
                AcquireError::Gone => counter!(FAILED, "reason" => "gone"),
                AcquireError::Cancelled => counter!(FAILED, "reason" => "cancelled"),
            }
            .increment(1),
            Event::Extended { .. } => counter!(EXTENDED).increment(1),
            Event::ExtendFailed { .. } => counter!(NOT_EXTENDED).increment(1),
            Event::Shortened { .. } => counter!(SHORTENED).increment(1),
            Event::Released { outcome, .. } => {
                counter!(RELEASED).increment(1);
                if outcome.is_passed_on {
                    counter!(PASSED_ON).increment(1);
                }
            }
            Event::Lost { reason, .. } => match reason {
                LostReason::Expired => counter!(LOST, "reason" => "expired"),
                LostReason::MaxHold => counter!(LOST, "reason" => "max_hold"),
                LostReason::Majority => counter!(LOST, "reason" => "majority"),
                LostReason::ClockBehind => counter!(LOST, "reason" => "clock_behind"),
            }
            .increment(1),
            Event::Expiring { reason, .. } => match reason {
                LostReason::MaxHold => counter!(EXPIRING, "reason" => "max_hold"),
                _ => counter!(EXPIRING, "reason" => "expired"),
            }
            .increment(1),
            Event::Queried { .. } => counter!(QUERIED).increment(1),
            Event::Fenced { .. } => counter!(FENCED).increment(1),
            Event::FenceFailed { .. } => counter!(NOT_FENCED).increment(1),
            Event::Node(_) => {}
        }
        self.count_held(redlock);
        for index in 0..addresses.len() {
            let now = redlock.round_trip(index);
            let told = self.round_trips[index];
            // A node that has recovered must not keep the round trip of its worst moment, and no
            // event needs a gauge that is right to the last digit.
            if now.abs_diff(told) > told / 4 {
                self.set_round_trip(index, now);
            }
        }
    }

    /// Counts a change of a node, and sets its gauges.
    pub(super) fn node(
        &mut self,
        id: NodeId,
        addresses: &[Address],
        state: NodeState,
        round_trip: Duration,
    ) {
        self.begin(addresses);
        self.set_round_trip(id.index(), round_trip);
        let address = addresses[id.index()].to_string();
        let votes = f64::from(u8::from(state == NodeState::Ready));
        gauge!(VOTES, "node" => address.clone()).set(votes);
        counter!(CHANGES, "node" => address, "state" => state.to_string()).increment(1);
    }

    /// Brings the gauge of the held locks up to date.
    pub(super) fn count_held(&mut self, redlock: &Redlock) {
        let now = redlock.counters().held_now();
        if now != self.held {
            // Fewer than 2⁵³, and so exact.
            gauge!(HELD).increment(now as f64 - self.held as f64);
            self.held = now;
        }
    }

    fn set_round_trip(&mut self, index: usize, round_trip: Duration) {
        self.round_trips[index] = round_trip;
        let name = &self.names[index];
        metrics::with_recorder(|recorder| {
            recorder.register_gauge(name, &METADATA).set(round_trip.as_secs_f64());
        });
    }

    /// Makes names, and describes all metrics, once. Counters begin with 0, because an alarm on a
    /// counter that is absent until the first loss does not see the first loss. Not when the engine
    /// is made, because a program may install its recorder later.
    fn begin(&mut self, addresses: &[Address]) {
        if !self.names.is_empty() {
            return;
        }
        let label = |address: &Address| vec![Label::new("node", address.to_string())];
        let name = |address| Key::from_parts(ROUND_TRIP, label(address));
        self.names = addresses.iter().map(name).collect();
        describe_counter!(ACQUIRED, Unit::Count, "Locks acquired");
        describe_counter!(FAILED, Unit::Count, "Requests for a lock that failed");
        describe_counter!(EXTENDED, Unit::Count, "Extensions granted, renewals included");
        describe_counter!(NOT_EXTENDED, Unit::Count, "Extensions failed, renewals not included");
        describe_counter!(FENCED, Unit::Count, "Fencing numbers drawn for locks held already");
        describe_counter!(NOT_FENCED, Unit::Count, "Draws of such numbers that failed");
        describe_counter!(SHORTENED, Unit::Count, "Validities shortened, as clocks ran apart");
        describe_counter!(RELEASED, Unit::Count, "Locks released");
        describe_counter!(PASSED_ON, Unit::Count, "Locks passed on, of those released");
        describe_counter!(LOST, Unit::Count, "Locks lost");
        describe_counter!(EXPIRING, Unit::Count, "Warnings that a lock is about to end");
        describe_counter!(QUERIED, Unit::Count, "Queries answered");
        describe_counter!(CHANGES, Unit::Count, "Changes of the state of a node");
        describe_counter!(PANICS, Unit::Count, "Callbacks and wakers that panicked");
        describe_gauge!(HELD, Unit::Count, "Locks held now");
        describe_gauge!(VOTES, Unit::Count, "1 if the node may vote, otherwise 0");
        describe_gauge!(ROUND_TRIP, Unit::Seconds, "Round trip of the node");
        describe_histogram!(WAIT, Unit::Seconds, "Time from a request to the grant of its lock");
        for name in [ACQUIRED, EXTENDED, NOT_EXTENDED, FENCED, NOT_FENCED, SHORTENED] {
            counter!(name).increment(0);
        }
        for name in [RELEASED, PASSED_ON, QUERIED] {
            counter!(name).increment(0);
        }
        for reason in FAILURES {
            counter!(FAILED, "reason" => reason).increment(0);
        }
        for reason in LOSSES {
            counter!(LOST, "reason" => reason).increment(0);
        }
        for reason in WARNINGS {
            counter!(EXPIRING, "reason" => reason).increment(0);
        }
        for callback in CALLBACKS {
            counter!(PANICS, "callback" => callback).increment(0);
        }
        gauge!(HELD).increment(0.0);
    }
}

/// The locks of an engine that is dropped are held by nobody.
impl Drop for Metrics {
    fn drop(&mut self) {
        if self.held > 0 {
            gauge!(HELD).decrement(self.held as f64);
        }
    }
}

/// Counts a function of the caller's that has panicked.
pub(super) fn panicked(callback: &'static str) {
    counter!(PANICS, "callback" => callback).increment(1);
}

/// Records how long the caller of a granted lock has waited.
pub(super) fn waited(wait: Duration) {
    histogram!(WAIT).record(wait);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Such as `=> "held"`: the reasons that are counted.
    #[test]
    fn every_reason_begins_with_zero_and_is_in_the_table() {
        let source = include_str!("count.rs").split("mod tests").next().unwrap_or_default();
        let page = include_str!("../../lib.rs");
        let tables = [("FAILED", &FAILURES[..]), ("LOST", &LOSSES), ("EXPIRING", &WARNINGS)];
        for (name, known) in tables {
            let begin = format!("counter!({name}, \"reason\" => \"");
            let counted: Vec<_> =
                source.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect();
            assert_eq!(counted, known, "{name}");
            for reason in known {
                assert!(page.contains(&format!("`{reason}`")), "{reason}");
            }
        }
    }
}
