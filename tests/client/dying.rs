//! A thread that dies, or that is made to die, leaves nobody waiting and no wrong report.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use redbolt::{Client, ClientFailure, LockErrorKind};

use crate::fixture::{Fixture, PATIENCE, TTL};

struct Panicking;

impl Wake for Panicking {
    fn wake(self: Arc<Self>) {
        resume_unwind(Box::new("on purpose"));
    }
}

#[test]
fn wakers_that_panic_at_the_end_keep_the_others_from_nothing() {
    let client = Client::builder(["127.0.0.1:1"]).build().expect("a client can be made");
    let waker = Waker::from(Arc::new(Panicking));
    let mut panicking = [client.ready(Duration::MAX), client.ready(Duration::MAX)];
    for ready in &mut panicking {
        assert!(Pin::new(ready).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    let (tell, told) = channel();
    let waiting = client.ready(Duration::MAX);
    thread::spawn(move || tell.send(waiting.blocking_wait().is_err()));
    // The thread must sleep before it can be woken in vain.
    assert!(told.recv_timeout(Duration::from_millis(50)).is_err());
    let shutdown = client.shutdown(Duration::ZERO);
    assert_eq!(told.recv_timeout(PATIENCE), Ok(true));
    drop((shutdown, panicking));
}

#[test]
fn a_thread_that_dies_in_its_shutdown_is_counted() {
    let mut fixture = Fixture::new(1);
    let client = fixture.client.clone();
    let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    fixture.cluster[0].stop();
    let waker = Waker::from(Arc::new(Panicking));
    let mut release = guard.release();
    assert!(Pin::new(&mut release).poll(&mut Context::from_waker(&waker)).is_pending());
    let shutdown = client.shutdown(PATIENCE);
    let (tell, told) = channel();
    thread::spawn(move || tell.send(client.blocking_shutdown(PATIENCE)));
    assert!(told.recv_timeout(Duration::from_millis(100)).is_err(), "the node does not answer");
    fixture.cluster[0].kill();
    let report = told.recv_timeout(PATIENCE).expect("the thread has died");
    assert_eq!(report.threads, 1, "{report}");
    assert!(fixture.client.is_closed());
    assert_eq!(fixture.client.failure(), Some(ClientFailure::Panic));
    let late = fixture.client.lock("b").blocking_acquire().expect_err("the thread has died");
    assert_eq!(late.kind(), &LockErrorKind::Closed(Some(ClientFailure::Panic)));
    let text = "lock \"b\": the client has ended: the client's thread has panicked";
    assert_eq!(late.to_string(), text);
    drop((shutdown, release));
}
