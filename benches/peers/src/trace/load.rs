//! Transactions as tasks of tokio on one thread, each with one transaction after the other.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use hdrhistogram::Histogram;
use redbolt::Clock;
use redbolt::time::Instant;
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::Builder;
use tokio::task::LocalSet;

use super::file::Transaction;
use super::locker::{Locker, Token};
use super::{Locks, Plan};
use crate::plan::Outcome;

/// As long as that of `redbolt bench`.
const WARM_UP: Duration = Duration::from_millis(200);

/// The bounds of the pause before the next try: the random delay of the algorithm's page, shorter
/// than the 200 ms of most libraries, which would spend the time of the run asleep.
const PAUSE_MICROS: std::ops::Range<u64> = 1_000..10_000;

const LEAST_NANOS: u64 = 100;
const MOST_NANOS: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;

/// What all tasks share.
struct Shared {
    locker: Locker,
    trace: Vec<Transaction>,
    plan: Plan,
    counts: RefCell<Counts>,
}

struct Counts {
    /// The transaction of the trace that starts next.
    next: usize,
    transactions: u64,
    locks: u64,
    aborted: u64,
    acquire: Histogram<u64>,
}

/// A moment, with the processor time of this process and the counts until then.
struct Snapshot {
    at: Instant,
    cpu: Duration,
    transactions: u64,
    locks: u64,
}

pub(crate) fn run(plan: &Plan, trace: Vec<Transaction>) -> Outcome<String> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let tasks = LocalSet::new();
    tasks.block_on(&runtime, async {
        let shared = Rc::new(Shared::new(plan, trace).await?);
        let start = Clock::now();
        let (warm, end) = (start + WARM_UP, start + WARM_UP + plan.seconds);
        let tasks = (0..plan.in_flight).map(|_| {
            let shared = Rc::clone(&shared);
            tokio::task::spawn_local(async move { shared.go_on(end).await })
        });
        let tasks: Vec<_> = tasks.collect();
        tokio::time::sleep(warm - Clock::now()).await;
        shared.forget();
        let before = shared.snapshot();
        tokio::time::sleep(end - Clock::now()).await;
        let after = shared.snapshot();
        for task in tasks {
            task.await??;
        }
        Ok(shared.line(&before, &after))
    })
}

impl Shared {
    async fn new(plan: &Plan, trace: Vec<Transaction>) -> Outcome<Self> {
        let locker = Locker::connect(&plan.nodes, plan.queue).await?;
        let acquire = Histogram::new_with_bounds(LEAST_NANOS, MOST_NANOS, DIGITS)?;
        let counts = Counts { next: 0, transactions: 0, locks: 0, aborted: 0, acquire };
        Ok(Self { locker, trace, plan: plan.clone(), counts: RefCell::new(counts) })
    }

    /// Runs one transaction after the other until the end.
    async fn go_on(&self, end: Instant) -> Outcome<()> {
        while Clock::now() < end {
            let number = {
                let mut counts = self.counts.borrow_mut();
                let number = counts.next;
                counts.next = (number + 1) % self.trace.len();
                number
            };
            self.transaction(&self.trace[number]).await?;
        }
        Ok(())
    }

    async fn transaction(&self, names: &[Vec<u8>]) -> Outcome<()> {
        let since = Clock::now();
        let deadline = since + self.plan.patience;
        let token: Token = std::array::from_fn(|_| fastrand::u8(..));
        let held = match self.plan.locks {
            Locks::Set => self.take_set(names, &token, deadline).await?,
            Locks::Each => self.take_each(names, &token, deadline).await?,
        };
        if held {
            let latency = u64::try_from((Clock::now() - since).as_nanos()).unwrap_or(u64::MAX);
            self.counts.borrow_mut().acquire.saturating_record(latency);
            self.locker.release(names, &token).await?;
        }
        let mut counts = self.counts.borrow_mut();
        if held {
            counts.transactions += 1;
            counts.locks += names.len() as u64;
        } else {
            counts.aborted += 1;
        }
        Ok(())
    }

    async fn take_set(&self, names: &[Vec<u8>], token: &Token, deadline: Instant) -> Outcome<bool> {
        while !self.locker.take(names, token).await? {
            if Clock::now() >= deadline {
                return Ok(false);
            }
            pause().await;
        }
        Ok(true)
    }

    /// Takes the locks one after the other. Releases what it has when one of them does not come.
    async fn take_each(
        &self,
        names: &[Vec<u8>],
        token: &Token,
        deadline: Instant,
    ) -> Outcome<bool> {
        for (index, name) in names.iter().enumerate() {
            while !self.locker.take_one(name, token).await? {
                if Clock::now() >= deadline {
                    if index > 0 {
                        self.locker.release(&names[..index], token).await?;
                    }
                    return Ok(false);
                }
                pause().await;
            }
        }
        Ok(true)
    }

    fn forget(&self) {
        let mut counts = self.counts.borrow_mut();
        counts.aborted = 0;
        counts.acquire.reset();
    }

    fn snapshot(&self) -> Snapshot {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let counts = self.counts.borrow();
        Snapshot {
            at: Clock::now(),
            cpu: Duration::try_from(cpu).unwrap_or_default(),
            transactions: counts.transactions,
            locks: counts.locks,
        }
    }

    /// Aborts and latencies also count the transactions that ended after the second snapshot.
    fn line(&self, before: &Snapshot, after: &Snapshot) -> String {
        let counts = self.counts.borrow();
        let seconds = (after.at - before.at).as_secs_f64();
        let transactions = after.transactions - before.transactions;
        let locks = after.locks - before.locks;
        let cpu = (after.cpu - before.cpu).as_secs_f64() * 1e6 / transactions.max(1) as f64;
        let micros = |quantile| counts.acquire.value_at_quantile(quantile) as f64 / 1e3;
        format!(
            "{{\"transactions\":{transactions},\"transactions_per_s\":{:.1},\"locks_per_s\":{:.1},\
             \"aborted\":{},\"client_cpu_us_per_transaction\":{cpu:.3},\"acquire_us\":\
             {{\"p50\":{:.1},\"p90\":{:.1},\"p99\":{:.1},\"p999\":{:.1},\"max\":{:.1}}}}}\n",
            transactions as f64 / seconds,
            locks as f64 / seconds,
            counts.aborted,
            micros(0.5),
            micros(0.9),
            micros(0.99),
            micros(0.999),
            micros(1.0),
        )
    }
}

async fn pause() {
    tokio::time::sleep(Duration::from_micros(fastrand::u64(PAUSE_MICROS))).await;
}
