//! The same as library calls, on real servers and on the embedded masters.

use redbolt::redlock::StoredValue;
use redbolt::{
    Config, RequestError, RestartGuard, Unlock, UnlockError, UnlockVerdict, Who, WhoError,
    WhoState, embedded,
};

use crate::support::servers::Cluster;

/// What is found before a lock is taken, while it is held, and after it was unlocked.
fn states(mut config: Config) -> Vec<WhoState> {
    config.redlock.restart_guard = RestartGuard::Off;
    let client = config.clone().into_builder().build().expect("a client");
    let who = Who::new(config.clone(), ["r"]);
    let mut states = Vec::new();
    let mut look = || {
        let report = who.run().expect("the nodes are asked");
        states.push(report.resources()[0].state);
        report.resources()[0].values.first().map(|value| value.value.clone())
    };
    assert_eq!(look(), None);
    let guard = client.lock("r").wait(crate::who::MINUTE).blocking_acquire().expect("the lock");
    let value = look().expect("a value");
    assert_eq!(value.as_bytes(), guard.token().as_bytes());
    let other = Unlock::new(config.clone(), "r", StoredValue::new("other")).run();
    assert_eq!(other.expect("the nodes are asked").verdict(), UnlockVerdict::OtherValue);
    let unlocked = Unlock::new(config.clone(), "r", value).run();
    assert_eq!(unlocked.expect("the nodes are asked").verdict(), UnlockVerdict::Ended);
    assert_eq!(look(), None);
    states
}

#[test]
fn real_servers_and_embedded_masters_tell_the_same() {
    let (real, embedded) = (Cluster::start(3), embedded::Cluster::start(3).expect("masters"));
    for config in [Config::new(real.addrs()).expect("addresses"), embedded.config()] {
        let states = states(config);
        assert!(matches!(states[..], [WhoState::Free, WhoState::Held { .. }, WhoState::Free]));
    }
}

#[test]
fn what_cannot_be_asked_is_refused_before_a_node_is_visited() {
    let config = || Config::new(["127.0.0.1:1"]).expect("an address");
    let names = |count: usize| (0..count).map(|number| number.to_string());
    let given = |count| match Who::new(config(), names(count)).run() {
        Err(WhoError::Count { given }) => Some(given),
        _ => None,
    };
    assert_eq!((given(0), given(Who::MAX_RESOURCES)), (Some(0), None));
    assert_eq!(given(Who::MAX_RESOURCES + 1), Some(1_025));
    let long = StoredValue::new([0; StoredValue::MAX_LEN + 1]);
    let error = Unlock::new(config(), "r", long).run();
    assert!(matches!(error, Err(UnlockError::ValueTooLong { len: 1_025 })));
    let error = Unlock::new(config(), "redbolt:seen", StoredValue::new("x")).run();
    assert!(matches!(error, Err(UnlockError::Resource(RequestError::ReservedResource))));
}
