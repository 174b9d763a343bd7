//! Threads and tasks that want the same again and again, and note when they get it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::redlock::RestartGuard;
use redbolt::time::Instant;
use redbolt::{Client, Clock, LockRequest};

use crate::Outcome;
use crate::record::Record;

/// How long a client may take to be ready at all nodes, beside a hundred others.
const CONNECT: Duration = Duration::from_secs(30);

/// Longer than any run: no wait ends by its length, so that the longest wait is not cut.
const WAIT: Duration = Duration::from_secs(3600);

/// How long the last releases may take to arrive.
const SHUTDOWN: Duration = Duration::from_secs(2);

const CHECK_EVERY: Duration = Duration::from_millis(20);

/// What all contenders of a process do.
#[derive(Clone)]
pub(crate) struct Load {
    /// One resource, or several that are locked together.
    pub(crate) resources: Vec<String>,
    pub(crate) ttl: Duration,
    pub(crate) hold: Duration,
    /// When contenders stop asking.
    pub(crate) end: Instant,
    /// How long those who wait then may go on waiting.
    pub(crate) grace: Duration,
    /// Whether each contender asks once only, however long that takes. The clients live on.
    pub(crate) is_once: bool,
}

/// Returns clients that are ready at all nodes. The servers of a measurement are fresh, so the
/// guard against restarted ones is off.
pub(crate) fn connect(nodes: &[String], count: usize) -> Outcome<Vec<Client>> {
    let build =
        |_| Client::builder(nodes).restart_guard(RestartGuard::Off).build().map_err(Into::into);
    let clients: Vec<Client> = (0..count).map(build).collect::<Outcome<_>>()?;
    for client in &clients {
        client.ready_all(CONNECT).blocking_wait()?;
    }
    Ok(clients)
}

/// Sleeps until then.
pub(crate) fn sleep_until(then: Instant) {
    loop {
        let left = then - Clock::now();
        if left.is_zero() {
            return;
        }
        thread::park_timeout(left);
    }
}

impl Load {
    /// Returns the resource of those who lock one at a time.
    pub(crate) fn resource(&self) -> &str {
        self.resources.first().map_or("", String::as_str)
    }

    pub(crate) fn request(&self, client: &Client) -> LockRequest {
        let request = match &self.resources[..] {
            [resource] => client.lock(resource),
            resources => client.lock_all(resources),
        };
        request.ttl(self.ttl).wait(WAIT)
    }

    /// Returns whether a contender with these records asks again. Nobody does who got no lock.
    fn goes_on(&self, records: &[Record]) -> bool {
        if self.is_once {
            return records.is_empty();
        }
        records.last().is_none_or(Record::is_granted) && Clock::now() < self.end
    }

    /// Runs `each` threads for each client.
    pub(crate) fn threads(&self, clients: &[Client], each: usize) -> Outcome<Vec<Record>> {
        let left = Arc::new(AtomicUsize::new(clients.len() * each));
        let mut threads = Vec::new();
        for number in 0..clients.len() * each {
            let (load, left) = (self.clone(), Arc::clone(&left));
            let client = clients[number / each].clone();
            let builder = thread::Builder::new().stack_size(256 << 10);
            threads.push(builder.spawn(move || {
                let records = load.block(&client, number as u32);
                left.fetch_sub(1, Ordering::Release);
                records
            })?);
        }
        self.wind_down(clients, &left);
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| "a contender panicked")?);
        }
        Ok(all)
    }

    /// The same with tasks on tokio's runtime.
    pub(crate) fn tasks(&self, clients: &[Client], each: usize) -> Outcome<Vec<Record>> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_time().build()?;
        let left = Arc::new(AtomicUsize::new(clients.len() * each));
        let mut tasks = Vec::new();
        for number in 0..clients.len() * each {
            let (load, left) = (self.clone(), Arc::clone(&left));
            let client = clients[number / each].clone();
            tasks.push(runtime.spawn(async move {
                let records = load.wait(&client, number as u32).await;
                left.fetch_sub(1, Ordering::Release);
                records
            }));
        }
        self.wind_down(clients, &left);
        let mut all = Vec::new();
        for task in tasks {
            all.extend(runtime.block_on(task)?);
        }
        Ok(all)
    }

    fn block(&self, client: &Client, thread: u32) -> Vec<Record> {
        let mut records = Vec::new();
        while self.goes_on(&records) {
            let asked = Clock::now();
            let acquire = self.request(client).acquire();
            let mut record = begun(thread, asked);
            let guard = acquire.blocking_wait();
            let granted = Clock::now();
            record.ended = granted.as_nanos();
            if let Ok(guard) = guard {
                if !self.hold.is_zero() {
                    sleep_until(granted + self.hold);
                }
                record.released = Clock::now().as_nanos();
                drop(guard);
            }
            records.push(record);
        }
        records
    }

    async fn wait(&self, client: &Client, thread: u32) -> Vec<Record> {
        let mut records = Vec::new();
        while self.goes_on(&records) {
            let asked = Clock::now();
            let acquire = self.request(client).acquire();
            let mut record = begun(thread, asked);
            let guard = acquire.await;
            record.ended = Clock::now().as_nanos();
            if let Ok(guard) = guard {
                if !self.hold.is_zero() {
                    tokio::time::sleep(self.hold).await;
                }
                record.released = Clock::now().as_nanos();
                drop(guard);
            }
            records.push(record);
        }
        records
    }

    /// Waits until all contenders have come to their end. Whoever waits for too long is sent away
    /// by the end of the client.
    fn wind_down(&self, clients: &[Client], left: &AtomicUsize) {
        let is_over = || !self.is_once && Clock::now() >= self.end + self.grace;
        while left.load(Ordering::Acquire) > 0 && !is_over() {
            thread::park_timeout(CHECK_EVERY);
        }
        if !self.is_once {
            // All begin to end before any is waited for.
            let _ends: Vec<_> = clients.iter().map(|client| client.shutdown(SHUTDOWN)).collect();
            for client in clients {
                client.blocking_shutdown(SHUTDOWN);
            }
        }
    }
}

fn begun(thread: u32, asked: Instant) -> Record {
    let (asked, queued) = (asked.as_nanos(), Clock::now().as_nanos());
    Record { process: 0, thread, asked, queued, ended: 0, released: 0 }
}
