use super::*;

#[test]
fn a_remembered_validity_is_the_computed_one() {
    let config = RedlockConfig::default();
    let drift = config.drift;
    let starts = [0, 1, 7_000_000_000, u64::MAX - 5, u64::MAX].map(Instant::from_nanos);
    for millis in [1, 2, 3, 10, 999, 30_000, 604_800_000] {
        let given = Duration::from_millis(millis);
        let ttl = Millis::of(given);
        let last = Some(LastTtl::new(given, ttl, &config));
        let other = Some(LastTtl::new(2 * given, Millis::of(2 * given), &config));
        for start in starts {
            let computed = drift.valid_until(start, given);
            for last in [last, other, None] {
                let found = LastTtl::valid_until(last, drift, start, ttl);
                assert_eq!(found, computed, "{millis} ms from {start:?}");
            }
        }
    }
}

#[test]
fn a_remembered_hedge_is_the_computed_one_and_good_for_the_whole_validity_alone() {
    for node_timeout in [None, Some(Duration::from_millis(700))] {
        let config = RedlockConfig { node_timeout, ..RedlockConfig::default() };
        for millis in [10, 11, 999, 30_000, 604_800_000] {
            let given = Duration::from_millis(millis);
            let ttl = Millis::of(given);
            let last = LastTtl::new(given, ttl, &config);
            let validity = config.drift.valid_until(Instant::ZERO, given).as_nanos();
            let expected = hedge::latest(config.longest_node_timeout(given), validity);
            assert_eq!(last.latest_hedge(ttl, validity), Some(expected), "{millis} ms");
            assert_eq!(last.latest_hedge(ttl, validity - 1), None);
            assert_eq!(last.latest_hedge(Millis::of(2 * given), validity), None);
        }
    }
}
