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
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_left_to_others_for_as_long_as_they_need_to_come_back() {
        let ms = Duration::from_millis;
        // configured, round trip and gap in ms
        let rows = [(50, 0, 50), (50, 1, 50), (50, 12, 50), (50, 60, 240), (50, 300, 1_200)];
        for (configured, round_trip, expected) in rows {
            assert_eq!(gap(ms(configured), ms(round_trip)), ms(expected), "{round_trip} ms");
        }
        assert_eq!(gap(ms(0), ms(300)), ms(0), "nothing is left to others");
        assert_eq!(gap(ms(2_000), ms(300)), ms(2_000));
        assert_eq!(gap(ms(50), Duration::MAX), Duration::MAX);
    }

    #[test]
    fn the_range_starts_from_the_round_trip_and_doubles_up_to_the_cap() {
        let micros = Duration::from_micros;
        let cap = Duration::from_millis(100);
        let rows = [
            // what comes before, retries, round trip in µs, least and most pause in µs
            (After::Attempt, 0, 0, 50, 200),
            (After::Attempt, 0, 100, 100, 400),
            (After::Attempt, 1, 100, 200, 800),
            (After::Attempt, 3, 100, 800, 3_200),
            (After::Attempt, 10, 100, 25_000, 100_000),
            (After::Attempt, u32::MAX, 100, 25_000, 100_000),
            // Clients with pauses shorter than a round trip would meet again and again.
            (After::Attempt, 0, 20_000, 20_000, 80_000),
            (After::Attempt, 1, 20_000, 40_000, 160_000),
            (After::Attempt, 10, 20_000, 80_000, 320_000),
            (After::Attempt, u32::MAX, 60_000, 240_000, 960_000),
            (After::Attempt, u32::MAX, 1_000_000, 4_000_000, 16_000_000),
            (After::Look { others: 0 }, 0, 100, 100, 400),
            (After::Look { others: 0 }, u32::MAX, 100, 25_000, 100_000),
            (After::Look { others: 1 }, u32::MAX, 20_000, 25_000, 100_000),
            (After::Look { others: 1 }, u32::MAX, 60_000, 60_000, 240_000),
            (After::Look { others: 9 }, u32::MAX, 60_000, 135_000, 540_000),
            (After::Look { others: 99 }, u32::MAX, 60_000, 240_000, 960_000),
        ];
        for (after, retries, round_trip, least, most) in rows {
            let mut rng = fastrand::Rng::with_seed(1);
            let pauses: Vec<_> = (0..1_000)
                .map(|_| pause(after, retries, micros(round_trip), cap, &mut rng))
                .collect();
            let shortest = pauses.iter().min().expect("a thousand pauses");
            let longest = pauses.iter().max().expect("a thousand pauses");
            assert!(*shortest >= micros(least) && *longest <= micros(most), "{retries}");
            let spread = micros(most - least);
            assert!(*longest - *shortest > spread * 9 / 10, "{retries}: no real spread");
        }
    }
}
