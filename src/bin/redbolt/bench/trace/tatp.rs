//! The locks of TATP (Telecommunication Application Transaction Processing Benchmark).
//!
//! A transaction locks the rows that it changes; one that only reads locks the row which it reads
//! first, because every lock here is exclusive.
//!
//! | transaction | share | locks |
//! | --- | --- | --- |
//! | GET_SUBSCRIBER_DATA | 35 % | the subscriber |
//! | GET_ACCESS_DATA | 35 % | one of the subscriber's four rows of access data |
//! | UPDATE_LOCATION | 14 % | the subscriber |
//! | GET_NEW_DESTINATION | 10 % | one of the subscriber's four special facilities |
//! | UPDATE_SUBSCRIBER_DATA | 2 % | the subscriber and a special facility |
//! | INSERT_CALL_FORWARDING | 2 % | the row of call forwarding |
//! | DELETE_CALL_FORWARDING | 2 % | the row of call forwarding |

use fastrand::Rng;

use super::draw::{Generator, non_uniform, of_mix};

/// Rows of access data and special facilities for each subscriber, at most.
const FACILITIES: u64 = 4;

/// When a forwarding may begin, in hours.
const STARTS: [u64; 3] = [0, 8, 16];

#[derive(Clone, Copy)]
enum Row {
    Subscriber,
    Access,
    Facility,
    SubscriberAndFacility,
    Forwarding,
}

const MIX: [(u32, Row); 4] = [
    (35 + 14, Row::Subscriber),
    (35, Row::Access),
    (10, Row::Facility),
    (2, Row::SubscriberAndFacility),
];

pub(super) struct Tatp {
    subscribers: u64,
    rng: Rng,
}

impl Tatp {
    /// Of at least one subscriber.
    pub(super) fn new(subscribers: u32, seed: u64) -> Self {
        Self { subscribers: subscribers.into(), rng: Rng::with_seed(seed) }
    }

    /// Some subscribers are asked for more often, by the rule of the benchmark.
    fn subscriber(&mut self) -> u64 {
        let a = match self.subscribers {
            0..=1_000_000 => 65_535,
            1_000_001..=10_000_000 => 1_048_575,
            _ => 2_097_151,
        };
        non_uniform(&mut self.rng, a, 1, self.subscribers, 0)
    }
}

impl Generator for Tatp {
    fn next(&mut self) -> Vec<String> {
        let s = self.subscriber();
        let row = of_mix(&mut self.rng, &MIX, Row::Forwarding);
        let number = self.rng.u64(1..=FACILITIES);
        let facility = || format!("tatp/f/{s}/{number}");
        match row {
            Row::Subscriber => vec![format!("tatp/s/{s}")],
            Row::Access => vec![format!("tatp/a/{s}/{number}")],
            Row::Facility => vec![facility()],
            Row::SubscriberAndFacility => vec![format!("tatp/s/{s}"), facility()],
            Row::Forwarding => {
                let start = self.rng.choice(STARTS).unwrap_or_default();
                vec![format!("tatp/c/{s}/{number}/{start}")]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transactions_come_up_in_their_shares_with_their_locks() {
        let mut tatp = Tatp::new(1_000_000, 1);
        let mut counts = [0u32; 5];
        for _ in 0..100_000 {
            let names = tatp.next();
            let table = |name: &String| name.split('/').nth(1).map(str::to_owned);
            let tables: String = names.iter().filter_map(table).collect();
            let kind = match tables.as_str() {
                "s" => 0,
                "a" => 1,
                "f" => 2,
                "sf" => 3,
                "c" => 4,
                _ => panic!("{names:?}"),
            };
            counts[kind] += 1;
            for part in names.iter().flat_map(|name| name.split('/').nth(2)) {
                let subscriber: u64 = part.parse().expect("a number");
                assert!((1..=1_000_000).contains(&subscriber), "{names:?}");
            }
        }
        for (count, share) in counts.into_iter().zip([49_000, 35_000, 10_000, 2_000, 4_000u32]) {
            assert!(count.abs_diff(share) < 1_000, "{counts:?}");
        }
    }

    #[test]
    fn one_subscriber_is_enough() {
        let mut tatp = Tatp::new(1, 1);
        let names = (0..100).flat_map(|_| tatp.next()).collect::<Vec<_>>();
        assert!(names.iter().all(|name| name.split('/').nth(2) == Some("1")), "{names:?}");
    }
}
