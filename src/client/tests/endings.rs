//! Waits for the end of a thread.

use core::time::Duration;
use std::sync::Arc;

use crate::client::thread_end::ThreadEnd;

const SECOND: Duration = Duration::from_secs(1);

/// Somebody who polls a shutdown in a `select!` makes and drops a wait each time.
#[test]
fn waits_that_were_dropped_leave_nothing_behind() {
    let end = ThreadEnd::new();
    let kept = end.wait(SECOND).expect("the thread lives");
    for _ in 0..1_000 {
        drop(end.wait(SECOND));
    }
    let waiters = end.take_waiters();
    assert!(waiters.len() <= 2, "{}", waiters.len());
    assert!(waiters.iter().any(|waiter| Arc::strong_count(waiter) == 2), "one still waits");
    drop(kept);
    assert!(end.wait(SECOND).is_none(), "the thread has ended");
}

#[test]
fn the_thread_is_told_of_longer_times_only() {
    let end = ThreadEnd::new();
    let is_told = |timeout| end.wait(timeout).expect("the thread lives").1;
    assert_eq!([2, 1, 2, 3].map(|times| is_told(SECOND * times)), [true, false, false, true]);
}

#[test]
fn a_shutdown_without_any_time_is_told_as_well() {
    let end = ThreadEnd::new();
    assert!(end.wait(Duration::ZERO).expect("the thread lives").1);
}
