//! Cycles as tasks of tokio, on one thread: the client has one core, and a runtime of several
//! threads would only pass tasks around on that core.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redbolt::Clock;
use redbolt::time::Instant;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::schedule::Schedule;
use crate::meter::Meter;
use crate::names::Names;
use crate::plan::{Outcome, Plan};

/// A client that can lock.
pub(crate) trait Locker: Send + Sync + Sized + 'static {
    type Lock: Send;

    fn acquire(&self, resource: &[u8]) -> impl Future<Output = Outcome<Self::Lock>> + Send;

    fn release(&self, lock: Self::Lock) -> impl Future<Output = Outcome<()>> + Send;
}

/// The state that all tasks share.
struct Shared<L> {
    locker: L,
    names: Names,
    meter: Mutex<Meter>,
}

/// Runs cycles with the client that `connect` returns.
pub(crate) fn run<L: Locker>(
    plan: &Plan,
    connect: impl AsyncFnOnce() -> Outcome<L>,
) -> Outcome<Meter> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    runtime.block_on(async {
        let locker = connect().await?;
        let shared =
            Shared { locker, names: Names::default(), meter: Mutex::new(Meter::new(plan)) };
        let shared = Arc::new(shared);
        match plan.rate {
            None => closed_loop(&shared, plan.in_flight).await?,
            Some(rate) => open_loop(&shared, plan.in_flight, Schedule::new(rate)?).await?,
        }
        let shared = Arc::into_inner(shared).ok_or("a task goes on")?;
        Ok(shared.meter.into_inner().unwrap_or_else(PoisonError::into_inner))
    })
}

/// Runs as many tasks as there are cycles at a time, each with one cycle after the other.
async fn closed_loop<L: Locker>(shared: &Arc<Shared<L>>, in_flight: usize) -> Outcome<()> {
    let mut tasks = JoinSet::new();
    for _ in 0..in_flight {
        let shared = Arc::clone(shared);
        tasks.spawn(async move {
            while shared.goes_on() {
                shared.cycle(Clock::now()).await?;
            }
            Ok(())
        });
    }
    join(tasks).await
}

/// Runs one task per cycle, started when the cycle is due.
async fn open_loop<L: Locker>(
    shared: &Arc<Shared<L>>,
    most: usize,
    schedule: Schedule,
) -> Outcome<()> {
    let mut tasks = JoinSet::new();
    let room = Arc::new(Semaphore::new(most));
    #[expect(deprecated, reason = "the other one is unsafe; a schedule owns its descriptor")]
    let mut schedule = AsyncFd::with_interest(schedule, Interest::READABLE)?;
    while shared.goes_on() {
        let due = schedule.get_ref().next();
        if Clock::now() < due {
            let mut ready = schedule.readable().await?;
            ready.get_inner().clear();
            ready.clear_ready();
            continue;
        }
        schedule.get_mut().advance();
        let place = Arc::clone(&room).acquire_owned().await?;
        let shared = Arc::clone(shared);
        tasks.spawn(async move {
            let result = shared.cycle(due).await;
            drop(place);
            result
        });
        while let Some(result) = tasks.try_join_next() {
            result??;
        }
    }
    join(tasks).await
}

async fn join(mut tasks: JoinSet<Outcome<()>>) -> Outcome<()> {
    while let Some(result) = tasks.join_next().await {
        result??;
    }
    Ok(())
}

impl<L: Locker> Shared<L> {
    async fn cycle(&self, since: Instant) -> Outcome<()> {
        let lock = self.locker.acquire(&self.names.next()).await?;
        self.meter().acquired(Clock::now() - since);
        self.locker.release(lock).await?;
        self.meter().released(1);
        Ok(())
    }

    fn goes_on(&self) -> bool {
        self.meter().goes_on(Clock::now())
    }

    /// Locks the mutex, which is never contended: there is one thread.
    fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
