//! A client process with one `Client`: two threads and two tasks share it.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use redbolt::Client;

use super::caller::{Caller, Way};
use super::{Mail, PATIENCE, REQUESTS, SHUTDOWN, SOON, lifetime};
use crate::log::{Log, Record, What, nanos};
use crate::order::Order;
use crate::support::now;

/// What the threads and tasks of a process share.
pub(super) struct Crowd<'a> {
    pub(super) order: &'a Order,
    pub(super) client: Client,
    pub(super) log: Log,
    pub(super) mail: Mail,
    /// The number of the last request.
    pub(super) last: AtomicU64,
    /// When the client was made, and when it is to be shut down at the latest.
    born: Duration,
    ends: Duration,
}

pub(super) fn live(order: &Order) {
    let mut rng = Rng::with_seed(order.seed);
    let mut last = 0;
    loop {
        let ends = if order.is_clinging() { Duration::MAX } else { now() + lifetime(&mut rng) };
        let crowd = Crowd {
            order,
            client: Client::new(order.config()).expect("a client can be made"),
            log: order.open_log(),
            mail: Mail::open(&order.log, order.client, last),
            last: AtomicU64::new(last),
            born: now(),
            ends,
        };
        crowd.work(&mut rng);
        crowd.end();
        last = crowd.last.into_inner();
        if crowd.log.is_closed() {
            break;
        }
    }
    let record = Record { at: nanos(), client: order.client, request: 0, what: What::Left };
    order.open_log().write(&record);
}

impl Crowd<'_> {
    /// Returns whether the client is to be shut down.
    pub(super) fn is_over(&self) -> bool {
        let is_asked = now() >= self.born + SOON && self.log.is_in_a_hurry();
        now() >= self.ends || is_asked || self.log.is_closed()
    }

    /// Lets threads and tasks take locks until the client is to be shut down.
    fn work(&self, rng: &mut Rng) {
        let mut caller = |way| Caller::new(self, way, Rng::with_seed(rng.u64(..)));
        thread::scope(|scope| {
            for _ in 0..REQUESTS / 2 {
                let caller = caller(Way::Thread);
                scope.spawn(|| at_once(caller.live()));
            }
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            runtime.expect("a runtime can be made").block_on(async {
                let [first, second] = [(); 2].map(|()| caller(Way::Task));
                tokio::join!(first.live(), second.live());
            });
        });
    }

    /// Shuts the client down. Its last shutdown is after the storm.
    fn end(&self) {
        let is_last = self.log.is_closed();
        self.write(0, What::Closing);
        let report = self.client.blocking_shutdown(if is_last { PATIENCE } else { SHUTDOWN });
        self.write(0, What::Closed { is_complete: report.is_complete() });
        assert!(report.is_complete() || !is_last, "{report}");
        assert!(self.client.failure().is_none(), "{:?}", self.client.failure());
    }

    pub(super) fn write(&self, request: u64, what: What) {
        let client = self.order.client;
        self.log.write(&Record { at: nanos(), client, request, what });
    }
}

/// Runs a future that blocks its thread and never waits for a wake-up.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    if_ready(future).expect("a caller in a thread does not wait as a task does")
}

/// Returns the value of a future that is ready.
pub(super) fn if_ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
