use super::*;
use crate::redlock::node_set::MAX_NODES;

#[test]
fn the_default_is_fine_for_every_number_of_nodes() {
    for nodes in 1..=MAX_NODES {
        let quorum = RedlockConfig::default().check(nodes).expect("the default is within bounds");
        assert_eq!(quorum.need(), nodes / 2 + 1);
    }
}

#[test]
fn a_configuration_that_is_accepted_has_room_for_a_ttl() {
    let micros = Duration::from_micros;
    for max_ttl in [10_000, 10_500, 10_999, 11_000, 60_000_000].map(micros) {
        for step in [0, 7_000, 7_900, 8_000, 8_500, 8_780].map(micros) {
            let drift = Drift::new(5_000, step);
            let config = RedlockConfig { max_ttl, drift, ..RedlockConfig::default() };
            let has_room = config.shortest_ttl() <= max_ttl;
            assert_eq!(config.check(1).is_ok(), has_room, "{max_ttl:?}, {drift:?}");
        }
    }
}

#[test]
fn a_majority_that_is_asked_first_needs_a_restart_guard() {
    let guard = RestartGuard::Off;
    let mut config = RedlockConfig { restart_guard: guard, ..RedlockConfig::default() };
    assert!(config.check(5).is_ok());
    config.ask = Ask::Majority;
    let error = config.check(5).expect_err("nobody guards the nodes").to_string();
    assert_eq!(
        error,
        "ask is majority, which needs restart_guard = on, strict or durable, but it is off"
    );
}

#[test]
fn what_is_out_of_bounds_is_named_with_its_bounds() {
    let error = |change: fn(&mut RedlockConfig), nodes| {
        let mut config = RedlockConfig::default();
        change(&mut config);
        config.check(nodes).expect_err("out of bounds").to_string()
    };
    assert_eq!(error(|_| (), 0), "0 nodes given, between 1 and 16 are possible");
    assert_eq!(error(|_| (), 17), "17 nodes given, between 1 and 16 are possible");
    assert_eq!(
        error(|c| c.quorum = Some(2), 5),
        "a quorum of 2 given, with 5 nodes between 3 and 5 is possible"
    );
    assert_eq!(
        error(|c| c.max_ttl = Duration::from_millis(9), 5),
        "max_ttl is 9ms, between 10ms and 168h is possible"
    );
    assert_eq!(
        error(|c| c.max_hold = Duration::ZERO, 5),
        "max_hold is 0s, at least 10ms is possible"
    );
    assert_eq!(error(|c| c.tenure = Duration::ZERO, 5), "tenure is 0s, at least 1ms is possible");
    assert_eq!(
        error(|c| c.lost_lead = Duration::from_micros(2_500), 5),
        "lost_lead is 2.5ms, between 0s and 2ms is possible"
    );
    assert_eq!(
        error(|c| c.close_timeout = Duration::from_millis(49), 5),
        "close_timeout is 49ms, between 50ms and 10m is possible"
    );
    assert_eq!(
        error(|c| c.reconnect_max = Duration::MAX, 5),
        "reconnect_max is forever, between 1ms and 10m is possible"
    );
    assert_eq!(
        error(|c| c.prefix = vec![0; 2_049], 5),
        "prefix has 2049 bytes, between 0 and 2048 is possible"
    );
    assert_eq!(
        error(|c| c.prefix = b"redbolt:app:".to_vec(), 5),
        "the prefix begins with \"redbolt:\", which is reserved"
    );
    assert_eq!(
        error(|c| c.label = vec![b'x'; 101], 5),
        "label has 101 bytes, between 0 and 100 is possible"
    );
    assert_eq!(
        error(|c| c.connection_name = vec![b'x'; 101], 5),
        "connection_name has 101 bytes, between 0 and 100 is possible"
    );
    assert_eq!(
        error(|c| c.connection_name = b"a b".to_vec(), 5),
        "connection_name has a character that servers take in no name: only visible ASCII \
         characters without a space are possible"
    );
    assert_eq!(
        error(|c| c.drift.rate_ppm = 100_001, 5),
        "drift.rate_ppm is 100001, between 0 and 100000 is possible"
    );
    assert_eq!(error(|c| c.max_locks = 0, 5), "max_locks is 0, between 1 and 16777216 is possible");
    assert_eq!(
        error(|c| c.drift.step = Duration::from_secs(60), 5),
        "the drift is 60.602s, less than max_ttl = 1m is possible"
    );
}
