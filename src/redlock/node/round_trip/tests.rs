use super::*;

const MS: Duration = Duration::from_millis(1);

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

/// Returns the estimate for a connection that was up after `connect`, and whose first reply
/// took `first`, in microseconds.
fn seeded(connect: u64, first: u64) -> RoundTrip {
    let mut round_trip = RoundTrip::new();
    round_trip.connecting(at(0));
    round_trip.connected(at(connect));
    reply(&mut round_trip, connect, connect + first);
    round_trip
}

/// Answers a request that was sent at `sent` and answered at `now`, in microseconds.
fn reply(round_trip: &mut RoundTrip, sent: u64, now: u64) {
    round_trip.answered(at(now), at(sent), (now - sent) * 1_000);
}

#[test]
fn a_connection_starts_with_the_shorter_of_its_first_two_times() {
    let rows = [
        (60_000, 61_000, 60_000),
        // The name of the node was looked up.
        (200_000, 1_000, 1_000),
        // The server was stopped, and the kernel took the connection for it.
        (1_000, 900_000, 1_000),
        // The driver had a connection.
        (0, 1_000, 1_000),
    ];
    for (connect, first, expected) in rows {
        let found = seeded(connect, first).get();
        assert_eq!(found, Duration::from_micros(expected), "{connect} {first}");
    }
}

#[cfg(feature = "net")]
#[test]
fn the_least_round_trip_is_that_without_a_queue() {
    let mut round_trip = RoundTrip::new();
    assert_eq!(round_trip.least(), Duration::ZERO);
    reply(&mut round_trip, 0, 900);
    reply(&mut round_trip, 1_000, 1_070);
    reply(&mut round_trip, 2_000, 4_000);
    assert_eq!(round_trip.least(), Duration::from_micros(70));
    round_trip.connecting(at(5_000));
    round_trip.connected(at(9_000));
    assert_eq!(round_trip.least(), Duration::ZERO, "another server");
}

#[test]
fn all_replies_that_a_stall_kept_back_at_most_double_the_estimate() {
    let mut round_trip = seeded(1_000, 1_000);
    for sent in 0..500 {
        reply(&mut round_trip, 10_000 + sent, 4_000_000);
    }
    assert_eq!(round_trip.get(), 2 * MS);
    for number in 0..40 {
        let sent = 4_000_000 + number * 1_000;
        reply(&mut round_trip, sent, sent + 1_000);
    }
    assert!(round_trip.get() < MS + MS / 50, "{:?}", round_trip.get());
}

#[test]
fn a_node_that_has_moved_far_away_is_learned_in_a_few_round_trips() {
    let mut round_trip = seeded(1_000, 1_000);
    let mut now = 10_000;
    for _ in 0..6 {
        // Ten requests are on their way at a time.
        (0..10).for_each(|number| reply(&mut round_trip, now + number, now + 60_000));
        now += 60_000;
    }
    assert!(round_trip.get() > 50 * MS, "{:?}", round_trip.get());
    assert!(round_trip.get() <= 64 * MS, "{:?}", round_trip.get());
}

/// Returns the patience in milliseconds.
fn patience(round_trip: RoundTrip) -> f64 {
    round_trip.patience() as f64 / 1e6
}

#[test]
fn patience_follows_the_first_reply_however_fast_the_connection_was_up() {
    // connect, first reply and second reply in µs; patience after each in ms
    let rows = [
        (60_000, 60_000, 60_000, 240.0, 240.0),
        // A proxy close by took the connection.
        (100, 60_000, 60_000, 240.0, 240.0),
        // The server was stopped, or slow to log in, and has recovered.
        (1_000, 900_000, 1_000, 3_600.0, 4.0),
        // The second reply is late: the patience at most doubles.
        (1_000, 1_000, 500_000, 4.0, 8.0),
    ];
    for (connect, first, second, after_one, after_two) in rows {
        let mut round_trip = seeded(connect, first);
        assert_eq!(patience(round_trip), after_one, "{connect} {first}");
        // The other replies to the handshake came with the first one.
        reply(&mut round_trip, connect, connect + first + 50);
        assert_eq!(patience(round_trip), after_one, "{connect} {first}");
        reply(&mut round_trip, 5_000_000, 5_000_000 + second);
        assert_eq!(patience(round_trip), after_two, "{connect} {first} {second}");
    }
}

#[test]
fn patience_is_two_round_trips_where_they_are_alike_and_at_most_four() {
    let rows: [(&[u64], f64, f64); 3] = [
        (&[100_000], 200.0, 205.0),
        (&[90_000, 110_000], 235.0, 250.0),
        (&[40_000, 80_000, 120_000, 160_000], 330.0, 360.0),
    ];
    for (samples, least, most) in rows {
        let mut round_trip = seeded(samples[0], samples[0]);
        for (number, sample) in (1..400).zip(samples.iter().cycle()) {
            let sent = number * 1_000_000;
            reply(&mut round_trip, sent, sent + sample);
            let longest = 4 * round_trip.get().as_nanos() as u64;
            assert!(round_trip.patience() <= longest, "{samples:?}");
        }
        let found = patience(round_trip);
        assert!((least..=most).contains(&found), "{samples:?}: {found}");
    }
}

#[test]
fn a_late_answer_doubles_the_patience_at_most() {
    let mut round_trip = seeded(50_000, 50_000);
    reply(&mut round_trip, 200_000, 250_000);
    let before = round_trip.patience();
    (0..500).for_each(|sent| reply(&mut round_trip, 300_000 + sent, 4_000_000));
    assert_eq!(round_trip.patience(), 2 * before);
}

#[test]
fn a_new_connection_forgets_the_old_one() {
    let mut round_trip = seeded(80_000, 80_000);
    round_trip.connecting(at(500_000));
    round_trip.connected(at(501_000));
    assert_eq!(round_trip.get(), Duration::ZERO);
    reply(&mut round_trip, 501_000, 502_000);
    assert_eq!(round_trip.get(), MS);
}
