//! The engine inside tokio, without a thread of its own. One task owns the engine, and other tasks
//! send requests to it. Eighty tasks count to eighty together, one at a time.
//!
//! ```text
//! cargo run --example async_fd --features embedded
//! cargo run --example async_fd -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```
//!
//! `AsyncFd` tells when the descriptor of the engine becomes readable: a node has answered, or a
//! deadline of the engine has come. So the task needs no timer.

mod common;

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Clock, Config, Engine, Event, LockId};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{self, JoinSet};

const TTL: Duration = Duration::from_secs(10);
const WAIT: Duration = Duration::from_secs(20);
const TASKS: u64 = 80;

type AnyError = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    common::run(example)
}

pub(crate) fn example(config: Config) -> Result<(), Box<dyn Error>> {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_io().build()?;
    let counting = runtime.block_on(count_together(Engine::new(config)?));
    let count = counting.map_err(|error| error as Box<dyn Error>)?;
    println!("{TASKS} tasks have counted to {count}");
    if count == TASKS { Ok(()) } else { Err("two tasks had the lock at once".into()) }
}

async fn count_together(engine: Engine) -> Result<u64, AnyError> {
    let (locks, requests) = mpsc::unbounded_channel();
    let server = task::spawn(serve(engine, requests));
    let count = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        tasks.spawn(count_one(locks.clone(), Arc::clone(&count)));
    }
    while let Some(result) = tasks.join_next().await {
        result??;
    }
    // Nobody can send a request any more, so the server ends as soon as all locks are released.
    drop(locks);
    server.await??;
    Ok(count.load(Ordering::Relaxed))
}

async fn count_one(locks: Locks, count: Arc<AtomicU64>) -> Result<(), AnyError> {
    let held = acquire(&locks, "counter").await?;
    // Two steps: without a lock, counts would be lost.
    let seen = count.load(Ordering::Relaxed);
    task::yield_now().await;
    if held.is_held() {
        count.store(seen + 1, Ordering::Relaxed);
    }
    Ok(())
}

/// The way to the task that owns the engine.
type Locks = mpsc::UnboundedSender<Request>;

enum Request {
    Acquire { resource: String, answer: Answer, locks: Locks },
    Release(LockId),
}

type Answer = oneshot::Sender<Result<Held, AnyError>>;

/// A lock, released when dropped.
struct Held {
    lock: LockId,
    valid_until: Instant,
    locks: Locks,
}

impl Held {
    fn is_held(&self) -> bool {
        Clock::now() < self.valid_until
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Where the server has ended, the lock ends with its ttl.
        let _ = self.locks.send(Request::Release(self.lock));
    }
}

async fn acquire(locks: &Locks, resource: &str) -> Result<Held, AnyError> {
    let (answer, answered) = oneshot::channel();
    let (resource, sender) = (resource.to_owned(), locks.clone());
    locks.send(Request::Acquire { resource, answer, locks: sender })?;
    answered.await?
}

/// Owns the engine until nobody wants locks any more.
async fn serve(engine: Engine, mut requests: mpsc::UnboundedReceiver<Request>) -> io::Result<()> {
    // Dropped at the end, this takes the descriptor out of the loop before the engine closes it.
    let mut engine = watch(engine)?;
    let mut waiting = Waiting::default();
    let mut is_open = true;
    // The first turn of the engine starts to connect.
    engine.get_mut().poll(Some(Duration::ZERO))?;
    while is_open || engine.get_ref().in_use() > 0 {
        tokio::select! {
            ready = engine.readable_mut() => {
                let mut ready = ready?;
                // Cleared first: whatever comes from here on makes the descriptor ready again.
                ready.clear_ready();
                ready.get_inner_mut().poll(Some(Duration::ZERO))?;
            }
            request = requests.recv(), if is_open => match request {
                Some(request) => waiting.handle(engine.get_mut(), request),
                None => is_open = false,
            },
        }
        // Requests that are there already leave in the same write.
        while let Ok(request) = requests.try_recv() {
            waiting.handle(engine.get_mut(), request);
        }
        waiting.answer(engine.get_mut());
        engine.get_mut().flush()?;
    }
    Ok(())
}

/// Registers the descriptor of the engine with the loop of tokio.
///
/// Since tokio 1.54 the unsafe `register_with_interest` is meant to take the place of this call. It
/// demands that the descriptor stays the same as long as the engine lives, which an engine promises
/// in its documentation. This repository has no unsafe code, not even here.
#[expect(deprecated, reason = "the other call is unsafe")]
fn watch(engine: Engine) -> io::Result<AsyncFd<Engine>> {
    AsyncFd::with_interest(engine, Interest::READABLE)
}

/// Who waits for which lock.
#[derive(Default)]
struct Waiting(HashMap<LockId, (Answer, Locks)>);

impl Waiting {
    fn handle(&mut self, engine: &mut Engine, request: Request) {
        match request {
            Request::Acquire { resource, answer, locks } => {
                match engine.acquire(resource, TTL, WAIT) {
                    Ok(lock) => drop(self.0.insert(lock, (answer, locks))),
                    // A task that waits no more needs no answer, here and below.
                    Err(error) => drop(answer.send(Err(error.into()))),
                }
            }
            // An error says that the lock has ended already.
            Request::Release(lock) => drop(engine.release(lock)),
        }
    }

    /// Passes on all that the engine has to tell.
    fn answer(&mut self, engine: &mut Engine) {
        while let Some(event) = engine.next_event() {
            match event {
                Event::Acquired { lock, valid_until, .. } => {
                    if let Some((answer, locks)) = self.0.remove(&lock) {
                        // Sent to nobody, the lock is dropped, and so released.
                        drop(answer.send(Ok(Held { lock, valid_until, locks })));
                    }
                }
                Event::AcquireFailed { lock, error } => {
                    if let Some((answer, _)) = self.0.remove(&lock) {
                        drop(answer.send(Err(error.into())));
                    }
                }
                _ => {}
            }
        }
    }
}
