//! `tests/loom.sh` tries every order in which the two sides of the hand-off can run.

use core::task::{Context, Poll, Waker};
use std::task::Wake;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::client::oneshot::Oneshot;
use crate::client::queue::{Added, Queue};

/// The waker of a sleeping thread: a flag that is set by waking, and looked at by the test.
#[derive(Default)]
struct Bell(std::sync::Arc<BellInner>);

struct BellInner(AtomicBool);

impl Default for BellInner {
    fn default() -> Self {
        Self(AtomicBool::new(false))
    }
}

impl Wake for BellInner {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Bell {
    fn waker(&self) -> Waker {
        Waker::from(std::sync::Arc::clone(&self.0))
    }

    fn rang(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }
}

/// Nobody sleeps while something is there for them.
#[test]
fn who_adds_to_the_list_of_a_sleeper_is_told_to_wake_it() {
    loom::model(|| {
        let queue = Arc::new(Queue::new(9));
        let is_woken = Arc::new(AtomicBool::new(false));
        let adder = {
            let (queue, is_woken) = (Arc::clone(&queue), Arc::clone(&is_woken));
            thread::spawn(move || {
                if queue.push(1) == Ok(Added::Wake) {
                    is_woken.store(true, Ordering::SeqCst);
                }
            })
        };
        let mut list = Vec::new();
        queue.take(&mut list);
        let was_idle = list.is_empty();
        adder.join().expect("the adder does not panic");
        if was_idle {
            assert!(is_woken.load(Ordering::SeqCst), "it would sleep for ever");
            queue.take(&mut list);
        }
        assert_eq!(list, [1]);
    });
}

/// A thread that got up by itself may miss the bell, but not the request.
#[test]
fn who_gets_up_by_itself_finds_what_was_added_meanwhile() {
    loom::model(|| {
        let queue = Arc::new(Queue::new(9));
        let mut list = Vec::new();
        queue.take(&mut list);
        let adder = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(1).is_ok_and(|added| added == Added::Wake))
        };
        queue.woke_up();
        queue.take(&mut list);
        let found = !list.is_empty();
        let rang = adder.join().expect("the adder does not panic");
        assert!(found || rang, "it would sleep for ever");
    });
}

#[test]
fn a_result_reaches_the_one_who_waits() {
    loom::model(|| {
        let oneshot = Arc::new(Oneshot::new());
        let bell = Bell::default();
        let worker = {
            let oneshot = Arc::clone(&oneshot);
            thread::spawn(move || {
                if let Ok(Some(waker)) = oneshot.complete(7) {
                    waker.wake();
                }
            })
        };
        let waker = bell.waker();
        let context = Context::from_waker(&waker);
        let first = oneshot.poll(&context);
        worker.join().expect("the worker does not panic");
        if first.is_pending() {
            assert!(bell.rang(), "it would sleep for ever");
            assert_eq!(oneshot.poll(&context), Poll::Ready(7));
        }
    });
}

/// A lock that is granted while its request is dropped is given back by exactly one of the two.
#[test]
fn a_result_for_one_who_leaves_has_exactly_one_owner() {
    loom::model(|| {
        let oneshot = Arc::new(Oneshot::new());
        let returned = Arc::new(Mutex::new(Vec::new()));
        let worker = {
            let (oneshot, returned) = (Arc::clone(&oneshot), Arc::clone(&returned));
            thread::spawn(move || {
                if let Err(value) = oneshot.complete(7) {
                    returned.lock().expect("nobody panics").push(value);
                }
            })
        };
        if let Some(value) = oneshot.abandon() {
            returned.lock().expect("nobody panics").push(value);
        }
        worker.join().expect("the worker does not panic");
        assert_eq!(*returned.lock().expect("nobody panics"), [7]);
    });
}

/// A request is either refused or in what the closing thread finds: none vanishes.
#[test]
fn what_is_added_while_the_queue_closes_is_refused_or_found() {
    loom::model(|| {
        let queue = Arc::new(Queue::new(9));
        let adder = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push_always(1).is_ok())
        };
        let found = queue.close(None);
        let was_taken = adder.join().expect("the adder does not panic");
        assert_eq!(was_taken, found == [1]);
    });
}
