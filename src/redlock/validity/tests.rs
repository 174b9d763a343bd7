use super::*;

const START: Instant = Instant::from_nanos(7_000_000_000);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn the_default_is_one_percent_and_two_milliseconds() {
    let rows = [(0, 2_000), (10, 2_100), (100, 3_000), (1_000, 12_000), (30_000, 302_000)];
    for (ttl, drift) in rows {
        let found = Drift::default().of(ms(ttl));
        assert_eq!(found, Duration::from_micros(drift), "ttl {ttl} ms");
    }
}

#[test]
fn validity_counts_from_the_start() {
    let rows = [
        // rate in ppm, step in ms, ttl in ms, validity in µs
        (5_000, 0, 10, 7_900),
        (5_000, 0, 30_000, 29_698_000),
        (0, 0, 1_000, 998_000),
        (0, 500, 1_000, 498_000),
        (50_000, 0, 1_000, 898_000),
        (50_000, 900, 1_000, 0),
        (5_000, 0, 2, 0),
        (5_000, 0, 0, 0),
    ];
    for (rate_ppm, step, ttl, validity) in rows {
        let drift = Drift { rate_ppm, step: ms(step) };
        let found = drift.valid_until(START, ms(ttl)) - START;
        assert_eq!(found, Duration::from_micros(validity), "{drift:?}, ttl {ttl} ms");
    }
}

#[test]
fn the_shortest_ttl_is_the_first_millisecond_of_which_something_is_left() {
    for rate_ppm in [0, 1, 5_000, 49_999, Drift::MAX_RATE] {
        for step in [0, 1, 7_900_000, 8_000_000, 500_000_001, 60_000_000_000] {
            let drift = Drift::new(rate_ppm, Duration::from_nanos(step));
            let shortest = drift.shortest_ttl();
            let shorter = shortest - ms(1);
            assert!(drift.of(shortest) < shortest, "{drift:?}: {shortest:?}");
            assert!(drift.of(shorter) >= shorter, "{drift:?}: {shortest:?}");
        }
    }
    assert_eq!(Drift::default().shortest_ttl(), ms(3));
    assert_eq!(Drift::new(500_000, Duration::ZERO).shortest_ttl(), Duration::MAX);
    assert_eq!(Drift::new(u32::MAX, Duration::MAX).shortest_ttl(), Duration::MAX);
}

#[test]
fn a_fraction_of_a_nanosecond_is_rounded_against_the_holder() {
    let drift = Drift { rate_ppm: 1, step: Duration::ZERO };
    let ttl = Duration::from_nanos(1);
    assert_eq!(drift.of(ttl), Drift::PRECISION + Duration::from_nanos(1));
}

/// Below and above the largest number of eight bytes, the drift grows evenly.
#[test]
fn long_ttls_have_the_same_drift_as_short_ones() {
    let most = Duration::from_nanos(u64::MAX / 10_000);
    for (ttl, nanos) in [
        (most - Duration::from_nanos(1), 18_446_744_073_710),
        (most, 18_446_744_073_710),
        (most + Duration::from_nanos(100), 18_446_744_073_711),
        (100 * most, 1_844_674_407_370_955),
    ] {
        let found = Drift::default().of(ttl) - Drift::PRECISION;
        assert_eq!(found, Duration::from_nanos(nanos), "{ttl:?}");
    }
}

#[test]
fn half_of_a_validity_is_counted_from_its_start() {
    let at = Instant::from_nanos;
    for (start, end, expected) in [(100, 200, 150), (100, 201, 150), (7, 7, 7), (9, 4, 9)] {
        assert_eq!(half(at(start), at(end)), at(expected), "{start} to {end}");
    }
    assert_eq!(half(at(1), Instant::FAR_FUTURE), at(1 << 63));
}

#[test]
fn absurd_values_never_lengthen_a_lock() {
    let drift = Drift { rate_ppm: u32::MAX, step: Duration::MAX };
    assert_eq!(drift.valid_until(START, Duration::MAX), START);
    let late = Instant::from_nanos(u64::MAX - 5);
    let until = Drift::default().valid_until(late, ms(30_000));
    assert_eq!(until, Instant::FAR_FUTURE);
}
