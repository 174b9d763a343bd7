//! A client process with one `Client`: two threads and two tasks share it.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll, Waker};
use std::thread;

use fastrand::Rng;
use redbolt::Client;

use super::caller::{Caller, Way};
use super::{Mail, PATIENCE, REQUESTS};
use crate::log::{Log, Record, What, nanos};
use crate::order::Order;

/// What the threads and tasks of a process share.
pub(super) struct Crowd<'a> {
    pub(super) order: &'a Order,
    pub(super) client: Client,
    pub(super) log: Log,
    pub(super) mail: Mail,
    /// The number of the last request.
    pub(super) last: AtomicU64,
}

pub(super) fn live(order: &Order) {
    let crowd = Crowd {
        order,
        client: Client::new(order.config()).expect("a client can be made"),
        log: order.open_log(),
        mail: Mail::open(&order.log, order.client),
        last: AtomicU64::new(0),
    };
    let caller = |number: usize, way| {
        let seed = order.seed.wrapping_mul(REQUESTS as u64).wrapping_add(number as u64);
        Caller::new(&crowd, way, Rng::with_seed(seed))
    };
    thread::scope(|scope| {
        for number in 0..REQUESTS / 2 {
            let caller = caller(number, Way::Thread);
            scope.spawn(|| at_once(caller.live()));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime can be made").block_on(async {
            let [first, second] = [2, 3].map(|number| caller(number, Way::Task));
            tokio::join!(first.live(), second.live());
        });
    });
    let report = crowd.client.blocking_shutdown(PATIENCE);
    assert!(report.is_complete(), "{report}");
    assert!(crowd.client.failure().is_none(), "{:?}", crowd.client.failure());
    let record = Record { at: nanos(), client: order.client, request: 0, what: What::Left };
    crowd.log.write(&record);
}

/// Runs a future that blocks its thread and never waits for a wake-up.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a caller in a thread waits as a task does"),
    }
}
