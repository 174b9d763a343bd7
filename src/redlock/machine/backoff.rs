//! The pause before the next look or attempt, when somebody else has the resource.
//!
//! Two clients that split the votes would split them again if they came back together; with an even
//! number of nodes, for ever. So each client waits a random time. The range starts at a few round
//! trips, the time in which a short holder is done. The range doubles up to a cap, so that waiting
//! for a long holder costs little. However low the cap is, the range grows to many round trips:
//! clients that come back within one round trip of each other meet again.
//!
//! Who leaves a resource to others leaves them the time in which somebody comes back who has just
//! been refused. With masters far away that takes longer than any time that was chosen for masters
//! nearby.

use core::time::Duration;

/// The first range, in round trips.
const FIRST_RANGE: u32 = 4;

/// The shortest range. A shorter range would measure jitter rather than the network.
const LEAST_RANGE: Duration = Duration::from_micros(200);

/// The number of round trips to which the range can always grow, whatever the cap is. The simulator
/// found two clients that split the votes of seven nodes for a minute, with a cap below one round
/// trip. Two clients in a range of 16 meet at every sixth try. A wider range would meet less often,
/// and would let a lock lie free for seconds where masters are far away.
const ROOM: u32 = 16;

/// The same behind a look that has shown somebody else. A look splits no votes, and must not come
/// too seldom: an engine leaves the resource to others for two to four round trips, once in a
/// tenure. The simulator found a client that looked each ten round trips, and missed each of these
/// moments for 20 seconds.
const LEAST_ROOM: u32 = 4;

/// What comes before a pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    /// An attempt in vain. A look may follow all the same.
    Attempt,
    /// A look, by one of so many who are known to contend, and one more.
    Look { others: u32 },
}

impl After {
    /// Returns the number of round trips to which the range can grow. Looks that find the door
    /// empty within one round trip lead to attempts that split the votes, so those of many spread
    /// as attempts do.
    fn room(self) -> u32 {
        match self {
            Self::Attempt => ROOM,
            Self::Look { others } => others.clamp(LEAST_ROOM, ROOM),
        }
    }
}

/// Returns a random pause between one quarter of the range and the whole range.
pub(super) fn pause(
    after: After,
    retries: u32,
    round_trip: Duration,
    cap: Duration,
    rng: &mut fastrand::Rng,
) -> Duration {
    let first = first_range(round_trip);
    let cap = cap.max(round_trip.saturating_mul(after.room()));
    let range = first.saturating_mul(1 << retries.min(20)).min(cap);
    let nanos = u64::try_from(range.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(rng.u64(nanos / 4..=nanos))
}

/// Returns the range of the first pause.
pub(super) fn first_range(round_trip: Duration) -> Duration {
    round_trip.saturating_mul(FIRST_RANGE).max(LEAST_RANGE)
}

/// Returns for how long an engine leaves a resource to others, at the most: `configured`, or the
/// first range of a pause. Zero stays zero.
pub(super) fn gap(configured: Duration, round_trip: Duration) -> Duration {
    if configured.is_zero() {
        return configured;
    }
    configured.max(round_trip.saturating_mul(FIRST_RANGE))
}

#[cfg(test)]
mod tests;
