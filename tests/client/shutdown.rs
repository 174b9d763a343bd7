//! The end of a client.

use std::thread;
use std::time::Duration;

use redbolt::LockError;

use crate::fixture::{Fixture, PATIENCE, TTL};
use crate::support::{now, until};

#[test]
fn what_is_held_is_given_back_and_who_waits_is_told() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire().expect("free");
    let waiting = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).start();
    let lost = guard.lost();
    assert!(fixture.client.shutdown(PATIENCE));
    assert_eq!(waiting.wait().err(), Some(LockError::Closed));
    assert!(!guard.is_held());
    assert_eq!(lost.wait(), None);
    let late = fixture.client.lock("b").acquire().expect_err("the client is shut down");
    assert_eq!(late, LockError::Closed);
    assert!(guard.release().wait().is_err());
    fixture.expect_clean();
    assert!(fixture.client.shutdown(PATIENCE), "once more is not too much");
}

#[test]
fn the_last_handle_sees_to_the_last_release() {
    let fixture = Fixture::new(3);
    let cluster = fixture.cluster;
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire().expect("free");
    drop(fixture.client);
    assert!(guard.is_held(), "a guard is a handle too");
    drop(guard);
    let is_clean = || cluster.iter().all(|node| node.keys().is_empty());
    assert!(until(PATIENCE, is_clean));
}

#[test]
fn servers_that_do_not_answer_hold_nobody_up_for_longer_than_allowed() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire().expect("free");
    (0..3).for_each(|index| fixture.cluster[index].stop());
    drop(guard);
    let start = now();
    assert!(!fixture.client.shutdown(Duration::from_millis(100)));
    assert!(now() - start < Duration::from_secs(5));
    (0..3).for_each(|index| fixture.cluster[index].cont());
    fixture.expect_clean();
}

#[test]
fn threads_that_ask_while_the_client_ends_all_get_an_answer() {
    let fixture = Fixture::new(3);
    thread::scope(|scope| {
        for number in 0..16 {
            let client = fixture.client.clone();
            scope.spawn(move || {
                let resource = format!("r{}", number % 3);
                while client.lock(&resource).ttl(TTL).wait(PATIENCE).acquire().is_ok() {}
            });
        }
        assert!(until(PATIENCE, || fixture.standing("r0") > 0));
        assert!(fixture.client.shutdown(PATIENCE));
    });
    fixture.expect_clean();
}
