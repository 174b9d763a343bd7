//! Locks that are handed over to another process, which is another client here.

use redbolt::{AcquireError, Client, LockError, Token};

use crate::fixture::{Fixture, PATIENCE, TTL, config};

#[test]
fn another_client_goes_on_with_a_lock_by_its_token() {
    let fixture = Fixture::new(3);
    let first = fixture.client.lock_all(["a", "b"]).ttl(TTL).wait(PATIENCE).acquire();
    let parts = first.expect("free").into_parts();
    let other = Client::new(config(&fixture.cluster)).expect("a client can be made");
    let request = other.adopt(&parts.resources, parts.token).ttl(TTL).wait(PATIENCE);
    let second = request.acquire().expect("it was handed over");
    assert_eq!(second.token(), parts.token);
    // The first owner ends, and nothing of the second's is touched.
    assert!(fixture.client.shutdown(PATIENCE));
    assert!(fixture.cluster.holding(b"a", parts.token.as_ref()) >= 2);
    second.extend(TTL).wait().expect("a majority is there");
    drop(second);
    fixture.expect_clean();
}

#[test]
fn a_token_that_nobody_has_is_gone() {
    let fixture = Fixture::new(3);
    let token = Token::from_bytes([7; 20]);
    let error = fixture.client.adopt(["a"], token).wait(PATIENCE).acquire();
    assert_eq!(error.err(), Some(LockError::Acquire(AcquireError::Gone)));
    fixture.expect_clean();
}
