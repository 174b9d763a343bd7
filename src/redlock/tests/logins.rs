//! Logins that a node refuses, and others that may be had meanwhile.

use super::*;

const REFUSED: &str = "-WRONGPASS invalid username-password pair";

/// Connects the only node with a login, which the node refuses.
fn refused(rig: &mut Rig, login: &Login) {
    rig.until(|rig| rig.wanted.contains(node(0)));
    rig.wanted.remove(node(0));
    rig.redlock.set_login(node(0), login.clone());
    rig.redlock.handle_connected(rig.now, node(0));
    assert!(rig.sent(0)[0].starts_with("AUTH"));
    rig.reply(0, REFUSED);
    assert_eq!(rig.state(0), NodeState::Misconfigured);
}

/// Somebody who rotates a password cannot do so everywhere at the same moment.
#[test]
fn another_login_than_the_refused_one_is_tried_at_once() {
    let mut rig = Rig::unconnected(1, |_| ());
    let login = Login::with_password("first");
    refused(&mut rig, &login);
    let start = rig.now;
    rig.until(|rig| !rig.asked.is_empty());
    assert!(rig.now - start <= ms(40), "the pause of a reconnect");
    rig.redlock.set_login(node(0), login);
    assert!(rig.redlock.poll_timeout().is_some_and(|(at, _)| at > rig.now), "it is the same one");

    rig.until(|rig| rig.asked.len() == 2);
    rig.redlock.set_login(node(0), Login::with_password("second"));
    assert!(rig.redlock.poll_timeout().is_some_and(|(at, _)| at <= rig.now));
    rig.advance(Duration::ZERO);
    assert!(rig.wanted.contains(node(0)));
    rig.redlock.handle_connected(rig.now, node(0));
    assert_eq!(rig.sent(0)[0], "AUTH second");
    assert!(rig.now - start < Duration::from_secs(1));
}

/// The function that knows the login may fetch it from somewhere, and the node may be busy with
/// others.
#[test]
fn questions_for_another_login_slow_down_and_the_old_one_is_tried_twice_a_minute() {
    let mut rig = Rig::unconnected(1, |_| ());
    refused(&mut rig, &Login::with_password("first"));
    let start = rig.now;
    rig.until(|rig| rig.wanted.contains(node(0)));
    let waited = rig.now - start;
    assert!(waited >= Duration::from_secs(15) && waited <= Duration::from_secs(30), "{waited:?}");
    let asked = rig.asked.len();
    assert!((8..=38).contains(&asked), "{asked} times in {waited:?}");
}

/// A login that is drawn anew each time is another one each time.
#[test]
fn a_login_that_always_changes_and_is_always_refused_is_no_busier_than_a_reconnect() {
    let mut rig = Rig::unconnected(1, |_| ());
    let start = rig.now;
    for number in 0..40 {
        refused(&mut rig, &Login::with_password(format!("{number}")));
        let known = rig.asked.len();
        rig.until(|rig| rig.asked.len() > known);
        rig.redlock.set_login(node(0), Login::with_password(format!("{number}, or another")));
    }
    assert!(rig.now - start >= Duration::from_secs(30), "{:?}", rig.now - start);
}

/// A driver whose logins never change is not asked.
#[test]
fn without_other_logins_nobody_is_asked() {
    let mut rig = Rig::new(1);
    rig.acquire("r", NO_WAIT);
    rig.reply(0, "-NOAUTH Authentication required.");
    assert_eq!(rig.state(0), NodeState::Misconfigured);
    rig.until(|rig| rig.wanted.contains(node(0)));
    assert_eq!(rig.asked, []);
}

/// Whoever mends the configuration wants to know when that will be noticed.
#[test]
fn a_node_that_refuses_a_login_says_when_it_is_tried_again() {
    let mut rig = Rig::unconnected(1, |_| ());
    refused(&mut rig, &Login::with_password("first"));
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    let wait = status.retry_in.expect("it is down");
    assert!((15..=30).contains(&wait.as_secs()), "{wait:?}");
    let end = format!("), tried again in {}", crate::time::format_rounded(wait));
    assert!(status.to_string().ends_with(&end), "{status}");
    rig.until(|rig| rig.wanted.contains(node(0)));
    let status = rig.redlock.node(rig.now, node(0)).expect("the node is there");
    assert_eq!(status.retry_in, None, "{status}");
}
