//! Calls that block where nothing may block: the panic names the line that must be changed.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Mutex;
use std::thread::{self, ThreadId};
use std::time::Duration;

use redbolt::Client;

use crate::fixture::{Fixture, PATIENCE, TTL};

/// Where the panics of each thread were.
static PANICS: Mutex<Vec<(ThreadId, String)>> = Mutex::new(Vec::new());

fn note(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let mut panics = PANICS.lock().expect("nothing panics while the list is locked");
    panics.push((thread::current().id(), place));
}

/// Returns where a call in a task panics.
fn place_of_panic(call: &dyn Fn()) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime can be made");
    let task = async { panic::catch_unwind(AssertUnwindSafe(call)) };
    runtime.block_on(task).expect_err("the only thread of a runtime must not block");
    let own = thread::current().id();
    let panics = PANICS.lock().expect("nothing panics while the list is locked");
    let last = panics.iter().rfind(|(thread, _)| *thread == own);
    last.expect("the hook was called").1.clone()
}

#[test]
fn a_call_that_must_not_block_is_told_with_the_line_of_the_caller() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        note(info);
        before(info);
    }));
    let fixture = Fixture::new(1);
    let client = &fixture.client;
    let guard = client.lock("a").ttl(TTL).wait(PATIENCE).blocking_acquire().expect("it is free");
    let second = Duration::from_secs(1);
    let calls: [(&str, &dyn Fn()); 9] = [
        ("acquire", &|| drop(client.lock("b").blocking_acquire())),
        ("try_acquire", &|| drop(client.lock("b").blocking_try_acquire())),
        ("wait for a lock", &|| drop(client.lock("b").acquire().blocking_wait())),
        ("wait for the nodes", &|| drop(client.ready(second).blocking_wait())),
        ("wait for an answer", &|| drop(client.nodes().blocking_wait())),
        ("wait for a loss", &|| {
            _ = guard.lost().blocking_wait();
        }),
        ("wait for a loss, for a time", &|| {
            _ = guard.lost().blocking_wait_timeout(second);
        }),
        ("connect", &|| {
            drop(Client::builder(fixture.cluster.addrs()).blocking_connect(second));
        }),
        ("shutdown", &|| {
            _ = client.blocking_shutdown(second);
        }),
    ];
    for (name, call) in calls {
        let place = place_of_panic(call);
        assert!(place.starts_with(file!()), "{name}: {place}");
    }
    drop(guard);
    fixture.expect_clean();
}
