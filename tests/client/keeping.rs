//! Keep-alive, and what is told when it fails.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use redbolt::redlock::{RELEASE, RELEASE_MANY};
use redbolt::time::Instant;
use redbolt::{Client, LockNoticeKind, LostReason};

use crate::fixture::{Fixture, PATIENCE, config_of};
use crate::support::fake::{Action, Fake, Request};
use crate::support::master::Master;
use crate::support::{now, until};

const SHORT: Duration = Duration::from_secs(2);

#[test]
fn a_lock_that_is_kept_alive_outlives_its_ttl() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(SHORT).wait(PATIENCE).keep_alive_for(PATIENCE);
    let guard = guard.blocking_acquire().expect("free");
    let first = guard.valid_until();
    assert!(until(PATIENCE, || guard.valid_until() > first + 2 * SHORT || !guard.is_held()));
    assert!(guard.is_held());
    drop(guard);
    fixture.expect_clean();
}

#[test]
fn the_end_of_max_hold_is_the_end_of_the_lock() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(SHORT).wait(PATIENCE).keep_alive_for(2 * SHORT);
    let guard = guard.blocking_acquire().expect("free");
    // Its max_hold has begun by now.
    let most = Instant::from_nanos(now().as_nanos() as u64) + 2 * SHORT;
    let (first, mut last) = (guard.valid_until(), Instant::ZERO);
    let mut lost = guard.lost();
    let notice = loop {
        last = last.max(guard.valid_until());
        if let Some(notice) = lost.blocking_wait_timeout(Duration::from_millis(1)) {
            break notice;
        }
    };
    assert_eq!(notice.kind(), LockNoticeKind::Lost(LostReason::MaxHold));
    assert!(first < last && last <= most, "from {first:?} it went on to {last:?}, not {most:?}");
    fixture.expect_clean();
}

/// Two of five are not a majority: the lock is kept.
#[test]
fn killing_a_minority_costs_nothing() {
    let mut fixture = Fixture::new(5);
    let guard = fixture.client.lock("a").ttl(SHORT).wait(PATIENCE).keep_alive_for(PATIENCE);
    let guard = guard.blocking_acquire().expect("free");
    // A bare quorum may have granted it; the others are given the key.
    assert!(until(PATIENCE, || fixture.standing("a") == 5));
    (0..2).for_each(|index| fixture.cluster[index].kill());
    let first = guard.valid_until();
    assert!(until(PATIENCE, || guard.valid_until() > first + 2 * SHORT || !guard.is_held()));
    assert!(guard.is_held());
}

#[test]
fn a_majority_that_does_not_answer_costs_the_lock_in_time() {
    let fixture = Fixture::with(5, |config| config.redlock.node_timeout = None);
    let (tell, told) = channel();
    let guard = fixture.client.lock("a").ttl(SHORT).wait(PATIENCE).keep_alive_for(PATIENCE);
    let guard = guard.warn_before(SHORT * 3 / 5).on_lost(move |reason| {
        // The test may be over.
        let _ = tell.send(reason);
    });
    let guard = guard.blocking_acquire().expect("free");
    (0..3).for_each(|index| fixture.cluster[index].stop());
    let warning = guard.expiring().blocking_wait();
    assert_eq!(warning.kind(), LockNoticeKind::Expiring(LostReason::Expired));
    assert!(!warning.is_planned(), "{warning}");
    assert!(guard.is_held(), "a warning comes before the end");
    let valid_until = guard.valid_until();
    assert_eq!(guard.lost().blocking_wait().kind(), LockNoticeKind::Lost(LostReason::Expired));
    let late = now().saturating_sub(Duration::from_nanos(valid_until.as_nanos()));
    assert!(!guard.is_held());
    assert!(late < Duration::from_secs(5), "told {late:?} after the end");
    let told = told.recv_timeout(PATIENCE).expect("the loss is told");
    assert_eq!(
        (told.kind(), told.resource()),
        (LockNoticeKind::Lost(LostReason::Expired), &b"a"[..])
    );
    assert_eq!(told.to_string(), "lock \"a\": the validity ended");
    (0..3).for_each(|index| fixture.cluster[index].cont());
    drop(guard);
    fixture.expect_clean();
}

#[test]
fn a_majority_that_says_that_it_is_gone_costs_the_lock_at_once() {
    let fixture = Fixture::with(3, |config| config.redlock.repair = false);
    let guard =
        fixture.client.lock("a").ttl(PATIENCE).wait(PATIENCE).blocking_acquire().expect("free");
    for node in fixture.cluster.iter() {
        node.command(&[b"DEL", b"a"]);
    }
    assert!(guard.extend(PATIENCE).blocking_wait().is_err());
    assert_eq!(guard.lost().blocking_wait().kind(), LockNoticeKind::Lost(LostReason::Majority));
    assert!(!guard.is_held());
}

/// S8: the end of a lock is a matter of the clock. Whoever waits for it needs nobody to tell.
#[test]
fn a_loss_is_told_at_the_deadline_though_the_engine_is_held_up() {
    let fixture = Fixture::new(1);
    let (let_go, held_up) = channel::<()>();
    let held_up = Mutex::new(held_up);
    let culprit = fixture.client.lock("a").ttl(SHORT).wait(PATIENCE).on_lost(move |_| {
        // The end of the channel is what it waits for, and a test that fails is not to hang.
        let _ = held_up.lock().expect("nobody panics").recv_timeout(4 * PATIENCE);
    });
    let victim =
        fixture.client.lock("b").ttl(2 * SHORT).wait(PATIENCE).blocking_acquire().expect("free");
    let culprit = culprit.blocking_acquire().expect("free");
    let (tell, told) = channel();
    let (first, mut second, tell_too) = (victim.lost(), victim.lost(), tell.clone());
    thread::spawn(move || tell.send(Some(first.blocking_wait())));
    thread::spawn(move || tell_too.send(second.blocking_wait_timeout(4 * PATIENCE)));
    for _ in 0..2 {
        let notice = told.recv_timeout(PATIENCE).expect("the loss is told").expect("in time");
        assert_eq!(notice.kind(), LockNoticeKind::Lost(LostReason::Expired));
        assert_eq!(notice.resource(), b"b");
    }
    assert!(!victim.is_held());
    drop(let_go);
    drop((culprit, victim));
    fixture.expect_clean();
}

/// A majority has lost both locks, and whoever asks now can have them. The thread of the engine is
/// held up when it tells of the first: until it has told of the second as well, the second must not
/// be given back.
#[test]
fn nobody_believes_in_a_lock_that_is_being_given_back() {
    let fake = |set: &'static [u8], compare: &'static str| {
        Fake::after_handshake(Master::new(), move |request| match request.name().as_str() {
            "SET" => Action::Reply(set.to_vec()),
            // Whoever was refused, because a node was slow, finds nobody there.
            "GETRANGE" => Action::Reply(b"$0\r\n\r\n".to_vec()),
            // One answer for each key.
            _ => Action::Reply(match request.part(2) {
                b"1" => format!(":{compare}\r\n").into_bytes(),
                _ => format!("*2\r\n:{compare}\r\n:{compare}\r\n").into_bytes(),
            }),
        })
    };
    let nodes = [fake(b"+OK\r\n", "1"), fake(b"+OK\r\n", "0"), fake(b"$-1\r\n", "-1")];
    let mut config = config_of(nodes.iter().map(Fake::addr));
    config.redlock.repair = false;
    let client = Client::new(config).expect("a client can be made");
    let (let_go, held_up) = channel::<()>();
    let (tell, told) = channel();
    let first = client.lock("first").ttl(PATIENCE).wait(PATIENCE).on_lost(move |_| {
        // The test may be over. The end of the other channel is what it waits for.
        let _ = tell.send(());
        let _ = held_up.recv_timeout(4 * PATIENCE);
    });
    let first = first.blocking_acquire().expect("two of three");
    let second = client.lock("second").ttl(PATIENCE).wait(PATIENCE).blocking_acquire();
    let second = second.expect("two of three");
    let known = nodes[0].requests().len();
    let extensions = (first.extend(PATIENCE), second.extend(PATIENCE));
    told.recv_timeout(PATIENCE).expect("the first is lost");
    // Of the second: where the extensions left one by one, the first is given back before.
    let is_release = |request: &Request| {
        let script = request.part(1);
        let is_known = script == RELEASE.sha.as_bytes() || script == RELEASE_MANY.sha.as_bytes();
        is_known && request.parts.iter().any(|part| part.ends_with(b"second"))
    };
    let is_given_back = || nodes[0].requests()[known..].iter().any(is_release);
    // It must not come, so that there is nothing else to wait for.
    let is_wrong = until(Duration::from_millis(300), || is_given_back() && second.is_held());
    assert!(!is_wrong, "given back, and believed in");
    drop(let_go);
    assert!(until(PATIENCE, is_given_back));
    assert!(!second.is_held());
    drop((extensions, first));
}
