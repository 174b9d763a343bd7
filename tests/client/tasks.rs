//! Tasks on a runtime that the client knows nothing of.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use redbolt::{LockNoticeKind, LostReason};
use tokio::runtime::{Builder, Runtime};

use crate::fixture::{Fixture, PATIENCE, TTL};

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime")
}

#[test]
fn a_request_can_be_awaited_and_its_guard_dropped_in_a_task() {
    let fixture = Fixture::new(3);
    let client = fixture.client.clone();
    runtime().block_on(async move {
        let guard = client.lock("a").ttl(TTL).wait(PATIENCE).await.expect("nobody has it");
        let report = guard.release().await.expect("the client runs");
        assert!(report.is_complete() && !report.outcome().released.is_empty(), "{report}");
        let guard = client.lock("a").ttl(TTL).wait(PATIENCE).await.expect("nobody has it");
        tokio::spawn(async move { drop(guard) }).await.expect("the task ends");
    });
    fixture.expect_clean();
}

#[test]
fn a_request_that_is_cancelled_by_its_runtime_leaves_nothing() {
    let fixture = Fixture::new(3);
    let holder = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let client = fixture.client.clone();
    runtime().block_on(async move {
        let wait = client.lock("a").ttl(TTL).wait(PATIENCE).into_future();
        let cancelled = tokio::time::timeout(Duration::from_millis(5), wait).await;
        assert!(cancelled.is_err(), "somebody else has it");
        let task = tokio::spawn(client.lock("b").ttl(TTL).wait(PATIENCE).into_future());
        task.abort();
        // Whether it was granted before that or not.
        drop(task.await);
    });
    drop(holder);
    fixture.expect_clean();
}

#[test]
fn ten_thousand_tasks_each_get_their_lock() {
    const TASKS: usize = 10_000;
    let fixture = Fixture::new(3);
    let done = Arc::new(AtomicUsize::new(0));
    let runtime = runtime();
    let tasks: Vec<_> = (0..TASKS)
        .map(|number| {
            let (client, done) = (fixture.client.clone(), Arc::clone(&done));
            runtime.spawn(async move {
                let resource = format!("r{}", number % 3_000);
                let guard = client.lock(resource).ttl(TTL).wait(PATIENCE).await;
                drop(guard.expect("everybody has a turn"));
                done.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    runtime.block_on(async {
        for task in tasks {
            task.await.expect("no task panics");
        }
    });
    assert_eq!(done.load(Ordering::Relaxed), TASKS);
    fixture.expect_clean();
}

#[test]
fn the_loss_of_a_lock_ends_the_work_that_it_protects() {
    let fixture = Fixture::new(1);
    let client = fixture.client.clone();
    let lost = runtime().block_on(async move {
        let guard = client.lock("a").ttl(Duration::from_millis(80)).wait(PATIENCE).await;
        let guard = guard.expect("free");
        tokio::select! {
            lost = guard.lost() => Some(lost),
            () = std::future::pending() => None,
        }
    });
    let kind = lost.map(|notice| notice.kind());
    assert_eq!(kind, Some(LockNoticeKind::Lost(LostReason::Expired)));
}
