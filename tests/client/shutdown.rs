//! The end of a client.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use redbolt::{Client, ClientCounters, LockErrorKind, LockNoticeKind, NodeId, NodeReport};

use crate::fixture::{Fixture, PATIENCE, TTL};
use crate::support::{now, until};

/// For what mostly happens at once, and is tried again otherwise.
const SHORT: Duration = Duration::from_millis(100);

#[test]
fn what_is_held_is_given_back_and_who_waits_is_told() {
    let fixture = Fixture::new(3);
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    // The lock is passed on to none of them, in whatever order they come.
    let waiting: Vec<_> =
        (0..20).map(|_| fixture.client.lock("a").ttl(TTL).wait(PATIENCE).acquire()).collect();
    let lost = guard.lost();
    assert!(fixture.client.blocking_shutdown(PATIENCE).is_complete());
    for request in waiting {
        let ended = request.blocking_wait().expect_err("the client is shut down");
        assert_eq!(ended.kind(), &LockErrorKind::Closed(None));
    }
    assert!(!guard.is_held());
    assert_eq!(lost.blocking_wait().kind(), LockNoticeKind::Closed(None));
    let late = fixture.client.lock("b").blocking_acquire().expect_err("the client is shut down");
    assert_eq!(late.kind(), &LockErrorKind::Closed(None));
    let text = "the client is shut down";
    assert_eq!(late.to_string(), format!("lock \"b\": {text}"));
    let unreleased = guard.release().blocking_wait().expect_err("the client is shut down");
    assert_eq!(unreleased.resource(), b"a");
    assert_eq!(unreleased.to_string(), format!("lock \"a\": {text}"));
    fixture.expect_clean();
    assert!(fixture.client.blocking_shutdown(PATIENCE).is_complete(), "once more is not too much");
}

#[test]
fn the_last_handle_sees_to_the_last_release() {
    let fixture = Fixture::new(3);
    let cluster = fixture.cluster;
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    drop(fixture.client);
    assert!(guard.is_held(), "a guard is a handle too");
    drop(guard);
    let is_clean = || cluster.iter().all(|node| node.keys().is_empty());
    assert!(until(PATIENCE, is_clean));
}

#[test]
fn servers_that_do_not_answer_hold_nobody_up_for_longer_than_allowed() {
    let fixture = Fixture::new(3);
    fixture.client.ready_all(PATIENCE).blocking_wait().expect("all are there");
    let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    (0..3).for_each(|index| fixture.cluster[index].stop());
    drop(guard);
    let start = now();
    let report = fixture.client.blocking_shutdown(Duration::from_millis(100));
    assert_eq!((report.locks, report.cleanup, report.threads), (1, 0, 0), "{report}");
    let at = (0..3).map(|index| fixture.cluster[index].addr()).collect::<Vec<_>>().join(", ");
    let text = format!("1 lock not confirmed, 0 tokens to clean up, at {at}");
    assert_eq!(report.to_string(), text);
    assert_eq!(report.nodes.into_iter().filter_map(|node| report.address(node)).count(), 3);
    assert!(!report.is_complete());
    assert!(now() - start < Duration::from_secs(5));
    (0..3).for_each(|index| fixture.cluster[index].cont());
    fixture.expect_clean();
}

/// What may be left on a node that has died keeps nobody from a lock, and ends with its ttl.
#[test]
fn a_minority_that_has_died_holds_nobody_up() {
    let mut fixture = Fixture::new(3);
    let has_all = || {
        let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire();
        guard.is_ok() && until(SHORT, || fixture.standing("a") == 3)
    };
    assert!(until(PATIENCE, has_all), "a node is not connected");
    fixture.cluster[2].stop();
    let guard = fixture.client.lock("b").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    fixture.cluster[2].kill();
    drop(guard);
    let start = now();
    let report = fixture.client.blocking_shutdown(PATIENCE);
    assert!(now() - start < PATIENCE, "it waited for the dead node");
    assert!(report.is_complete(), "{report}");
    let left: Vec<_> = report.nodes.into_iter().map(NodeId::index).collect();
    assert_eq!(left, [2], "{report}");
    assert!(report.locks + report.cleanup > 0, "{report}");
    let text = report.to_string();
    assert!(text.starts_with("all locks are released; left on a minority"), "{text}");
    assert!(text.ends_with(&format!(", at {}", fixture.cluster[2].addr())), "{text}");
    fixture.cluster[2].restart();
    fixture.expect_clean();
}

/// The tasks of the thread go on meanwhile: here the one that releases the last guard.
#[test]
fn a_shutdown_can_be_awaited() {
    let fixture = Fixture::new(3);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let report = runtime.expect("a runtime can be made").block_on(async {
        let guard = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).await.expect("free");
        let holder = tokio::spawn(async move {
            let lost = guard.lost().await;
            drop(guard);
            lost
        });
        let report = fixture.client.shutdown(PATIENCE).await;
        let notice = holder.await.expect("the task does not panic");
        assert_eq!(notice.kind(), LockNoticeKind::Closed(None));
        report
    });
    assert!(report.is_complete(), "{report}");
    assert_eq!(report.to_string(), "all locks are released");
    fixture.expect_clean();
}

#[test]
fn threads_that_ask_while_the_client_ends_all_get_an_answer() {
    let fixture = Fixture::new(3);
    thread::scope(|scope| {
        for number in 0..16 {
            let client = fixture.client.clone();
            scope.spawn(move || {
                let resource = format!("r{}", number % 3);
                while client.lock(&resource).ttl(TTL).wait(PATIENCE).blocking_acquire().is_ok() {}
            });
        }
        assert!(until(PATIENCE, || fixture.standing("r0") > 0));
        assert!(fixture.client.blocking_shutdown(PATIENCE).is_complete());
    });
    fixture.expect_clean();
}

/// FAULTS 67: the client is shut down, and dropped, where nobody can wait for it.
#[test]
fn a_callback_that_ends_the_client_hangs_nobody() {
    let fixture = Fixture::new(1);
    let (tell, told) = channel();
    let inner = fixture.client.clone();
    let request = fixture.client.lock("a").ttl(Duration::from_millis(50)).wait(PATIENCE);
    let request = request.on_lost(move |_| {
        let answers = [
            inner.blocking_shutdown(PATIENCE).is_complete(),
            inner.blocking_shutdown(PATIENCE).is_complete(),
        ];
        // The test may be over.
        let _ = tell.send(answers);
    });
    let guard = request.blocking_acquire().expect("free");
    assert_eq!(told.recv_timeout(PATIENCE), Ok([false, false]));
    assert!(guard.lost().blocking_wait().is_lost());
    let next = fixture.client.lock("b").ttl(TTL).wait(PATIENCE).blocking_acquire();
    assert!(next.expect("the client goes on").is_held());
}

/// The last handle goes on the engine's own thread.
#[test]
fn a_callback_that_has_the_last_handle_ends_the_thread() {
    let fixture = Fixture::new(1);
    let cluster = fixture.cluster;
    let inner = fixture.client.clone();
    let request = fixture.client.lock("a").ttl(TTL).wait(PATIENCE).on_lost(move |_| drop(inner));
    let guard = request.blocking_acquire().expect("free");
    drop(fixture.client);
    drop(guard);
    assert!(until(PATIENCE, || cluster[0].keys().is_empty()));
    let clients = || cluster[0].info("connected_clients");
    assert!(until(PATIENCE, || clients().as_deref() == Some("1")), "{:?}", clients());
}

/// Panics when dropped.
pub(crate) struct Armed;

impl Drop for Armed {
    fn drop(&mut self) {
        std::panic::resume_unwind(Box::new("on purpose"));
    }
}

/// Returns a callback whose drop panics.
pub(crate) fn armed() -> impl FnMut(&NodeReport) + Send + 'static {
    let owned = Armed;
    move |_| {
        let _owned = &owned;
    }
}

fn counters(client: &Client) -> ClientCounters {
    client.counters().blocking_wait().expect("the thread lives")
}

/// Neither does what they throw, nor what they own.
#[test]
fn callbacks_that_panic_are_counted_and_harm_nobody_else() {
    let fixture = Fixture::new(1);
    let client = &fixture.client;
    let (tell, told) = channel();
    let owned = Armed;
    let panicking = move |_: &NodeReport| {
        let _owned = &owned;
        // The test may be over.
        let _ = tell.send(());
        std::panic::resume_unwind(Box::new(Armed));
    };
    client.on_node(panicking).expect("the client lives");
    let request = client.lock("a").ttl(Duration::from_millis(50)).wait(PATIENCE);
    let request = request.on_lost(|_| std::panic::resume_unwind(Box::new(Armed)));
    let guard = request.blocking_acquire().expect("free");
    let waiting: Vec<_> =
        (0..50).map(|_| client.lock("a").ttl(TTL).wait(PATIENCE).acquire()).collect();
    assert!(matches!(guard.lost().blocking_wait().kind(), LockNoticeKind::Lost(_)));
    for request in waiting {
        drop(request.blocking_wait().expect("the thread lives"));
    }
    let owned = Armed;
    let request = client.lock("b").ttl(TTL).wait(PATIENCE).on_lost(move |_| drop(owned));
    drop(request.acquire());
    let request = client.lock("b").ttl(TTL).wait(PATIENCE);
    drop(request.blocking_acquire().expect("the thread lives"));
    fixture.cluster[0].stop();
    fixture.cluster[0].cont();
    let panics = || client.counters().blocking_wait().expect("the thread lives").panics;
    assert!(until(PATIENCE, || panics() == 1 + told.try_iter().count() as u64));
    assert!(!client.is_closed());
    assert_eq!(client.failure(), None);
    let report = client.blocking_shutdown(PATIENCE);
    assert!(report.is_complete(), "{report}");
    assert!(client.is_closed());
    assert_eq!(client.failure(), None);
}

/// Whoever owns them last: the thread, or the table of the engine.
#[test]
fn callbacks_whose_drop_panics_harm_nobody_when_they_are_never_called() {
    let fixture = Fixture::new(1);
    let client = &fixture.client;
    let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let delayed = || {
        let owned = Armed;
        client.lock("a").ttl(TTL).wait(PATIENCE).retry_delay(move |retry| {
            let _owned = &owned;
            retry.engine_pause()
        })
    };
    let waiting: Vec<_> = (0..3).map(|_| delayed().acquire()).collect();
    assert!(until(PATIENCE, || counters(client).locks.waiting_now() == 3));
    drop(waiting);
    assert!(until(PATIENCE, || counters(client).locks.waiting_now() == 0));
    drop(delayed().try_acquire().blocking_wait().expect_err("it is held"));
    for _ in 0..2 {
        client.on_node(armed()).expect("the client runs");
    }
    assert_eq!(counters(client).panics, 0);
    drop(guard);
    let report = client.blocking_shutdown(PATIENCE);
    assert!(report.is_complete(), "{report}");
    assert_eq!(client.failure(), None);
}

#[test]
fn who_shuts_down_second_waits_for_the_first() {
    let fixture = Fixture::new(3);
    let guards: Vec<_> = (0..200)
        .map(|number| fixture.client.lock(format!("r{number}")).ttl(TTL).wait(PATIENCE).acquire())
        .collect();
    let guards: Vec<_> =
        guards.into_iter().map(|request| request.blocking_wait().expect("free")).collect();
    thread::scope(|scope| {
        for _ in 0..4 {
            let fixture = &fixture;
            scope.spawn(move || {
                assert!(fixture.client.blocking_shutdown(PATIENCE).is_complete());
                assert!(fixture.cluster.iter().filter(|node| node.keys().is_empty()).count() >= 2);
            });
        }
    });
    drop(guards);
}

/// Whoever asks for the end waits for it no longer than the longest that anybody asked for, and not
/// at all for a thread that has none.
#[test]
fn a_callback_that_hangs_holds_nobody_up_for_ever() {
    let fixture = Fixture::new(1);
    let client = fixture.client.clone();
    let (let_go, held_up) = channel::<()>();
    let (tell, told) = channel();
    let watch = client.on_node(move |_| {
        // The test may be over. The end of the other channel is what it waits for.
        let _ = tell.send(());
        let _ = held_up.recv_timeout(4 * PATIENCE);
    });
    watch.expect("the client runs");
    drop(fixture.client);
    let mut cluster = fixture.cluster;
    cluster[0].kill();
    told.recv_timeout(PATIENCE).expect("the change is told");
    let start = now();
    assert!(!client.blocking_shutdown(Duration::ZERO).is_complete());
    assert!(!client.blocking_shutdown(Duration::ZERO).is_complete(), "a second time");
    drop(client);
    assert!(now() - start < PATIENCE, "it took {:?}", now() - start);
    drop(let_go);
}

#[test]
fn any_timeout_will_do() {
    let fixture = Fixture::new(1);
    drop(fixture.client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free"));
    assert!(fixture.client.blocking_shutdown(Duration::MAX).is_complete());
    fixture.expect_clean();
}

#[test]
fn of_those_who_ask_for_the_end_together_the_most_patient_decides() {
    assert!(until(PATIENCE, two_ask_for_the_end), "they never asked together");
}

/// Whether both asked before the thread looked: the room that is left in its queue tells.
fn two_ask_for_the_end() -> bool {
    let fixture = Fixture::with(1, |config| config.redlock.max_locks = 8);
    let held = fixture.client.lock("b").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("free");
    let (let_go, lost) = fixture.hold_up();
    fixture.cluster[0].stop();
    thread::scope(|scope| {
        let (tell, told) = channel();
        let ask = |timeout| {
            let (tell, client) = (tell.clone(), fixture.client.clone());
            scope.spawn(move || {
                tell.send(()).expect("it is waited for");
                client.blocking_shutdown(timeout).is_complete()
            })
        };
        // The other way round, the hasty one asks for nothing that was not asked for already.
        let (hasty, patient) = (ask(Duration::ZERO), ask(PATIENCE));
        (0..2).for_each(|_| told.recv_timeout(PATIENCE).expect("both begin"));
        let room = (0..8).filter(|_| fixture.client.on_node(|_| ()).is_ok()).count();
        drop(let_go);
        assert!(until(PATIENCE, || !held.is_held()), "the end has begun");
        fixture.cluster[0].cont();
        let is_done = patient.join().expect("it does not panic");
        let _ = hasty.join().expect("it does not panic");
        assert!(is_done || room != 6, "it was not given its time");
        drop((held, lost));
        room == 6
    })
}

/// A task that shuts its client down when the task is dropped.
struct Closing(Client);

impl Wake for Closing {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Closing {
    fn drop(&mut self) {
        drop(self.0.shutdown(PATIENCE));
    }
}

/// The next shutdown drops what the first one has left behind, and the task with it.
#[test]
fn a_task_that_is_dropped_by_a_shutdown_may_shut_down_as_well() {
    let fixture = Fixture::new(1);
    let client = fixture.client.clone();
    let (let_go, guard) = fixture.hold_up();
    let (tell, told) = channel();
    thread::spawn(move || {
        let waker = Waker::from(Arc::new(Closing(client.clone())));
        let mut given_up = Box::pin(client.shutdown(PATIENCE));
        assert!(given_up.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        drop(given_up);
        drop(client.shutdown(PATIENCE));
        // The test may be over.
        let _ = tell.send(());
    });
    told.recv_timeout(PATIENCE).expect("no shutdown waits for another one");
    drop((let_go, guard));
}
