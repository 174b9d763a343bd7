//! A oneshot and a queue, step by step in one thread.

use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use crate::client::failure::ClientFailure;
use crate::client::oneshot::Oneshot;
use crate::client::queue::{Added, Queue, Refused};

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_value_goes_to_the_one_who_waits_once() {
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let context = Context::from_waker(&waker);
    let oneshot = Oneshot::new();
    assert_eq!(oneshot.poll(&context), Poll::Pending);
    let waker = oneshot.complete(1).expect("somebody waits").expect("and is to be woken");
    waker.wake();
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert_eq!(oneshot.complete(2).err(), Some(2));
    assert_eq!(oneshot.poll(&context), Poll::Ready(1));
    assert_eq!(oneshot.poll(&context), Poll::Pending);
    assert_eq!(oneshot.abandon(), None);
}

#[test]
fn a_value_for_one_who_is_gone_comes_back() {
    let oneshot = Oneshot::new();
    assert_eq!(oneshot.abandon(), None);
    assert_eq!(oneshot.complete(1).err(), Some(1));
    let oneshot = Oneshot::new();
    assert!(oneshot.complete(1).is_ok());
    assert_eq!(oneshot.abandon(), Some(1));
}

#[test]
fn only_the_first_to_add_after_the_thread_lay_down_wakes_it() {
    let queue = Queue::new(9);
    assert_eq!(queue.push(1), Ok(Added::Nothing));
    let mut list = Vec::new();
    queue.take(&mut list);
    assert_eq!(list, [1]);
    assert_eq!(queue.push(2), Ok(Added::Nothing), "it has found something and looks again");
    list.clear();
    queue.take(&mut list);
    list.clear();
    queue.take(&mut list);
    assert_eq!(queue.push(3), Ok(Added::Wake));
    assert_eq!(queue.push(4), Ok(Added::Nothing));
    queue.take(&mut list);
    list.clear();
    queue.take(&mut list);
    queue.woke_up();
    assert_eq!(queue.push(5), Ok(Added::Nothing));
}

#[test]
fn a_full_queue_still_takes_what_must_not_be_lost_and_a_closed_one_nothing() {
    let queue = Queue::new(1);
    assert!(queue.push(1).is_ok());
    assert_eq!(queue.push(2), Err(Refused::Full { max: 1 }));
    assert!(queue.push_always(3).is_ok());
    assert_eq!(queue.close(None), [1, 3]);
    assert_eq!(queue.push_always(4), Err(Refused::Closed(None)));
    let failure = Some(ClientFailure::Panic);
    assert!(queue.close(failure).is_empty());
    assert_eq!(queue.push_always(5), Err(Refused::Closed(failure)));
}
