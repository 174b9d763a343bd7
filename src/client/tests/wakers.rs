//! Wakers are somebody else's code: the last waker of a task may drop the task, and with the task
//! whatever the task has of ours.

use core::pin::Pin;
use core::task::{Context, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::Wake;
use std::thread;

use smallvec::SmallVec;

use crate::client::oneshot::Oneshot;
use crate::client::signal::LockSignal;
use crate::client::sync::Mutex;
use crate::client::ticket::{Awaited, Order, Ticket, Wakers};
use crate::net::Clock;
use crate::redlock::LostReason;

/// The longest wait for something that takes no time unless it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// A task, as far as its wakers are concerned: the task is dropped with the last of them.
struct Task<T>(T);

impl<T: Send + Sync> Wake for Task<T> {
    fn wake(self: Arc<Self>) {}
}

fn task_of<T: Send + Sync + 'static>(owned: T) -> Waker {
    Waker::from(Arc::new(Task(owned)))
}

/// Somebody who leaves a oneshot.
struct Leaver(Arc<Oneshot<u8>>);

impl Drop for Leaver {
    fn drop(&mut self) {
        assert_eq!(self.0.abandon(), None);
    }
}

/// A thread that waits for itself would never end.
fn ends(what: impl FnOnce() + Send + 'static) {
    let (tell, told) = channel();
    thread::spawn(move || {
        what();
        tell.send(())
    });
    told.recv_timeout(PATIENCE).expect("it does not wait for itself");
}

fn poll(signal: &mut LockSignal, waker: &Waker) {
    let mut context = Context::from_waker(waker);
    assert!(Future::poll(Pin::new(signal), &mut context).is_pending());
}

fn ticket() -> Arc<Ticket> {
    let order = Order {
        resources: SmallVec::new(),
        count: 0,
        ttl: Duration::ZERO,
        wait: Duration::ZERO,
        adopts: None,
        options: None,
        max_hold: None,
        ahead: Duration::ZERO,
        on_lost: Mutex::new(None),
    };
    Arc::new(Ticket::new(order))
}

fn two_signals() -> (LockSignal, LockSignal) {
    let ticket = ticket();
    let mut second = LockSignal::new(Arc::clone(&ticket), Awaited::Loss);
    poll(&mut second, Waker::noop());
    (LockSignal::new(ticket, Awaited::Loss), second)
}

#[test]
fn a_signal_that_moves_to_another_task_may_end_the_first_one() {
    ends(|| {
        let (mut first, second) = two_signals();
        poll(&mut first, &task_of(second));
        poll(&mut first, Waker::noop());
    });
}

#[test]
fn a_signal_that_is_dropped_may_end_a_task_with_another_one() {
    ends(|| {
        let (mut first, second) = two_signals();
        poll(&mut first, &task_of(second));
        drop(first);
    });
}

#[test]
fn a_oneshot_that_is_polled_from_another_task_may_end_the_first_one() {
    ends(|| {
        let oneshot = Arc::new(Oneshot::new());
        let first = task_of(Leaver(Arc::clone(&oneshot)));
        assert!(oneshot.poll(&Context::from_waker(&first)).is_pending());
        drop(first);
        assert!(oneshot.poll(&Context::from_waker(Waker::noop())).is_pending());
    });
}

#[test]
fn a_oneshot_that_is_abandoned_may_end_the_task_that_polled_it() {
    ends(|| {
        let oneshot = Arc::new(Oneshot::new());
        let first = task_of(Leaver(Arc::clone(&oneshot)));
        assert!(oneshot.poll(&Context::from_waker(&first)).is_pending());
        drop(first);
        assert_eq!(oneshot.abandon(), None);
    });
}

/// The thread of the engine says that the lock ends earlier, and is stuck from then on.
#[test]
fn a_thread_that_waits_for_the_end_learns_of_an_earlier_one() {
    let ticket = ticket();
    ticket.hold(Clock::now() + 1_000 * PATIENCE);
    let signal = LockSignal::new(Arc::clone(&ticket), Awaited::Loss);
    let (tell, told) = channel();
    thread::spawn(move || tell.send(signal.blocking_wait().is_lost()));
    let wake = |wakers: Wakers| wakers.into_iter().map(Waker::wake).count();
    while wake(ticket.warn(LostReason::Expired)) == 0 {
        thread::yield_now();
    }
    wake(ticket.shorten(Clock::now() + Duration::from_millis(1)));
    assert_eq!(told.recv_timeout(PATIENCE), Ok(true));
}
