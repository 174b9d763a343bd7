//! Requests with tries, pauses, a node timeout or a token of their own, on real servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use redbolt::redlock::RequestError;
use redbolt::{Client, LockError, LockErrorKind, Token, TokenRefusal};

use crate::fixture::{Fixture, PATIENCE, TTL, config};
use crate::support::until;

const OWN: Token = Token::from_bytes(*b"a-token-of-my-making");

fn refusal(error: &LockError) -> Option<TokenRefusal> {
    match error.kind() {
        LockErrorKind::Request(RequestError::Token(refusal)) => Some(*refusal),
        _ => None,
    }
}

#[test]
fn a_request_ends_with_its_last_try() {
    let fixture = Fixture::new(3);
    let holder = Client::new(config(&fixture.cluster)).expect("a client can be made");
    let held = holder.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    // The wait alone would let this request try for longer than the test lasts.
    let request = fixture.client.lock("a").wait(TTL).tries(4).retry_delay(move |retry| {
        counter.store(retry.failed(), Ordering::Relaxed);
        retry.random_between(Duration::from_millis(1), Duration::from_millis(5))
    });
    let error = request.blocking_acquire().expect_err("somebody else has it");
    assert!(error.is_contended(), "{error}");
    assert_eq!(calls.load(Ordering::Relaxed), 3, "pauses between four tries");
    let counters = fixture.client.counters().blocking_wait().expect("the client lives");
    assert_eq!(counters.locks.attempts, 4);
    drop(held);
    fixture.expect_clean();
}

/// The pause is then the client's own.
#[test]
fn a_pause_that_panics_is_one_of_the_client() {
    let fixture = Fixture::new(3);
    let holder = Client::new(config(&fixture.cluster)).expect("a client can be made");
    let held = holder.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let request = fixture.client.lock("a").wait(TTL).tries(3);
    let request = request.retry_delay(|_| std::panic::resume_unwind(Box::new("on purpose")));
    let error = request.blocking_acquire().expect_err("somebody else has it");
    assert!(error.is_contended(), "{error}");
    assert!(!fixture.client.is_closed());
    drop(held);
    fixture.expect_clean();
}

#[test]
fn a_try_is_one_attempt_whatever_the_tries_are() {
    let fixture = Fixture::new(1);
    let holder = Client::new(config(&fixture.cluster)).expect("a client can be made");
    let held = holder.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    fixture.client.ready(PATIENCE).blocking_wait().expect("the node is there");
    let error = fixture.client.lock("a").wait(TTL).tries(9).blocking_try_acquire();
    assert!(error.expect_err("somebody else has it").is_contended());
    let counters = fixture.client.counters().blocking_wait().expect("the client lives");
    assert_eq!(counters.locks.attempts, 1);
    drop(held);
}

#[test]
fn options_out_of_bounds_are_named() {
    let fixture = Fixture::new(1);
    let lock = || fixture.client.lock("a");
    let rows = [
        (lock().wait(TTL).tries(0), "0 tries are asked for, at least 1 is needed"),
        (lock().tries(3), "3 tries need a wait, and the request has none"),
        (
            lock().node_timeout(Duration::from_secs(61)),
            "the node timeout is 61s, between 1ms and 1m is possible",
        ),
        (
            lock().wait(TTL).tries(2).token(OWN),
            "the token is refused: it is for 1 try, and 2 were asked for",
        ),
        (lock().token(Token::from_bytes([0; 20])), "the token is refused: all its bytes are zero"),
        (
            fixture.client.adopt(["a"], OWN).token(OWN),
            "the token is refused: an adoption has a token already",
        ),
    ];
    for (request, text) in rows {
        let error = request.blocking_acquire().expect_err("out of bounds");
        assert_eq!(error.to_string(), format!("lock \"a\": {text}"));
    }
}

#[test]
fn a_lock_under_a_token_of_the_caller_stands_under_that_token() {
    let fixture = Fixture::new(3);
    let request = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).token(OWN);
    let guard = request.blocking_acquire().expect("free");
    assert_eq!(guard.token(), OWN);
    assert!(fixture.cluster.holding(b"a", OWN.as_ref()) >= 2);
    guard.extend(TTL).blocking_wait().expect("a majority is there");
    let again = fixture.client.lock("a").wait(PATIENCE).token(OWN).blocking_acquire();
    assert_eq!(refusal(&again.expect_err("in use")), Some(TokenRefusal::InUse));
    drop(guard);
    fixture.expect_clean();
    // All nodes have answered soon, and then nothing of the first lock is on its way.
    let second = || fixture.client.lock("a").ttl(TTL).wait(PATIENCE).token(OWN).blocking_acquire();
    let is_free = until(PATIENCE, || match second() {
        Ok(guard) => guard.token() == OWN,
        Err(error) => {
            assert_eq!(refusal(&error), Some(TokenRefusal::InUse), "{error}");
            false
        }
    });
    assert!(is_free, "a node owes a reply for ever");
    fixture.expect_clean();
}

/// The token was written down first, and the process that had the lock is gone.
#[test]
fn a_lock_of_a_dead_process_is_adopted_by_the_token_it_wrote_down() {
    let fixture = Fixture::new(3);
    // What is left of that process.
    fixture.cluster.iter().for_each(|node| node.set_px(b"a", OWN.as_ref(), TTL));
    let adopted = fixture.client.adopt(["a"], OWN).ttl(TTL).wait(PATIENCE).blocking_acquire();
    drop(adopted.expect("a majority has the token"));
    fixture.expect_clean();
}
