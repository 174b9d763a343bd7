//! Wakers that panic end no thread. A thread that dies, or that is made to die, leaves nobody
//! waiting and no wrong report.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use redbolt::{Client, LockNoticeKind};

use crate::fixture::{Fixture, PATIENCE, TTL};

struct Panicking;

impl Wake for Panicking {
    fn wake(self: Arc<Self>) {
        resume_unwind(Box::new("on purpose"));
    }
}

/// Asks the client, and waits for the answer, on the thread that would have to answer.
struct Waiting(Client);

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock("b").wait(PATIENCE).blocking_acquire());
    }
}

fn poll_from<F: Future + Unpin>(task: Arc<impl Wake + Send + Sync + 'static>, future: &mut F) {
    let waker = Waker::from(task);
    let poll = Pin::new(future).poll(&mut Context::from_waker(&waker));
    assert!(matches!(poll, Poll::Pending), "there is nothing to be told yet");
}

#[test]
fn wakers_that_panic_or_wait_are_counted_and_harm_nobody_else() {
    let fixture = Fixture::new(1);
    let client = &fixture.client;
    let held = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let (let_go, lost) = fixture.hold_up();
    let (mut first, mut second, last) = (client.nodes(), client.nodes(), client.nodes());
    poll_from(Arc::new(Panicking), &mut first);
    poll_from(Arc::new(Waiting(client.clone())), &mut second);
    drop(let_go);
    last.blocking_wait().expect("the thread lives");
    let panics = || client.counters().blocking_wait().expect("the thread lives").panics;
    assert_eq!(panics(), 2);
    assert!(held.is_held());
    drop((lost, first, second));

    // The waker of a signal is called before the callback.
    let (tell, told) = channel();
    let request = client.lock("c").ttl(Duration::from_millis(200)).wait(PATIENCE);
    let request = request.on_lost(move |notice| {
        // The test may be over.
        let _ = tell.send(notice.kind());
    });
    let guard = request.blocking_acquire().expect("free");
    let mut signal = guard.lost();
    poll_from(Arc::new(Panicking), &mut signal);
    let kind = told.recv_timeout(PATIENCE).expect("the callback is called");
    assert!(matches!(kind, LockNoticeKind::Lost(_)), "{kind:?}");
    assert_eq!(panics(), 3);
    assert_eq!((client.is_closed(), client.failure()), (false, None));
    drop((held, guard));
    fixture.expect_clean();
}

#[test]
fn wakers_that_panic_at_the_end_keep_the_others_from_nothing() {
    let client = Client::builder(["127.0.0.1:1"]).build().expect("a client can be made");
    let mut panicking = [client.ready(Duration::MAX), client.ready(Duration::MAX)];
    panicking.iter_mut().for_each(|ready| poll_from(Arc::new(Panicking), ready));
    let (tell, told) = channel();
    let waiting = client.ready(Duration::MAX);
    thread::spawn(move || tell.send(waiting.blocking_wait().is_err()));
    // The thread must sleep before it can be woken in vain.
    assert!(told.recv_timeout(Duration::from_millis(50)).is_err());
    let shutdown = client.shutdown(Duration::ZERO);
    assert_eq!(told.recv_timeout(PATIENCE), Ok(true));
    let report = client.blocking_shutdown(PATIENCE);
    assert_eq!((report.threads, client.failure()), (0, None), "{report}");
    drop((shutdown, panicking));
}

/// Panics end the thread where its own code calls a subscriber.
#[cfg(feature = "tracing")]
mod subscriber {
    use redbolt::{ClientError, ClientFailure, LockErrorKind};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;
    use crate::shutdown::armed;

    impl Subscriber for Panicking {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            resume_unwind(Box::new("on purpose"));
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    /// The subscriber also panics when it is told of the waker that panics.
    #[test]
    fn a_thread_that_dies_in_its_shutdown_is_counted() {
        let mut fixture = Fixture::new(1);
        let client = fixture.client.clone();
        let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
        // The callback runs on the thread that is to die, and on no other.
        let watch =
            client.on_node(|_| std::mem::forget(tracing::subscriber::set_default(Panicking)));
        watch.expect("the client runs");
        client.nodes().blocking_wait().expect("the callback was called before");
        fixture.cluster[0].stop();
        let mut release = guard.release();
        poll_from(Arc::new(Panicking), &mut release);
        let shutdown = client.shutdown(PATIENCE);
        let (tell, told) = channel();
        thread::spawn(move || tell.send(client.blocking_shutdown(PATIENCE)));
        assert!(told.recv_timeout(Duration::from_millis(100)).is_err(), "the node is silent");
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

    /// Of two panics at once, the second would end the process.
    #[test]
    fn a_thread_that_dies_drops_callbacks_whose_drop_panics() {
        let fixture = Fixture::new(1);
        let client = &fixture.client;
        let (let_go, held_up) = channel::<()>();
        let (tell, told) = channel();
        (0..2).for_each(|_| client.on_node(armed()).expect("the client runs"));
        let request = client.lock("a").ttl(Duration::from_millis(50)).wait(PATIENCE);
        let request = request.on_lost(move |_| {
            // The subscriber is told of the panic, and ends the thread.
            std::mem::forget(tracing::subscriber::set_default(Panicking));
            // The test may be over. The end of the other channel is what it waits for.
            let _ = tell.send(());
            let _ = held_up.recv_timeout(4 * PATIENCE);
            resume_unwind(Box::new("on purpose"));
        });
        let guard = request.blocking_acquire().expect("free");
        told.recv_timeout(PATIENCE).expect("the lock is lost");
        (0..2).for_each(|_| client.on_node(armed()).expect("the queue is open"));
        let waiting = client.nodes();
        drop(let_go);
        let closed = ClientError::Closed(Some(ClientFailure::Panic));
        assert_eq!(waiting.blocking_wait().err(), Some(closed));
        assert_eq!(client.failure(), Some(ClientFailure::Panic));
        drop(guard);
    }
}
