//! Many threads that hand their requests to the one that owns the engine.
//!
//! The engine has nothing that threads share but its waker, which is a counter of the kernel. What
//! can go wrong is that somebody's request lies in the channel while the engine sleeps for ever.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use redbolt::{Engine, Event, LockId};

use crate::owner::{PATIENCE, TTL, config};
use crate::support::servers::Cluster;

const THREADS: usize = 16;
const REQUESTS: usize = 40;

/// A request: its number, whether it is taken back at once, and where its outcome goes.
struct Request {
    number: usize,
    is_cancelled: bool,
    outcome: Sender<&'static str>,
}

/// FAULTS 67: many threads submit and cancel, and each request has exactly one outcome.
#[test]
fn no_request_of_many_threads_is_lost_or_answered_twice() {
    let cluster = Cluster::start(3);
    let mut engine = Engine::new(config(cluster.addrs())).expect("an engine can be made");
    let (requests, inbox) = channel();
    let callers: Vec<_> = (0..THREADS)
        .map(|caller| {
            let (requests, waker) = (requests.clone(), engine.waker());
            thread::spawn(move || {
                for round in 0..REQUESTS {
                    let (outcome, answer) = channel();
                    let number = caller * REQUESTS + round;
                    let is_cancelled = number % 5 == 0;
                    requests.send(Request { number, is_cancelled, outcome }).expect("it lives");
                    waker.wake();
                    let first = answer.recv_timeout(PATIENCE).expect("an outcome");
                    let expected = if is_cancelled { "failed" } else { "released" };
                    assert_eq!(first, expected);
                    assert!(answer.recv().is_err(), "a second outcome");
                }
                // The owner looks for who is left.
                drop(requests);
                waker.wake();
            })
        })
        .collect();
    drop(requests);
    serve(&mut engine, &inbox);
    callers.into_iter().for_each(|caller| caller.join().expect("no caller panics"));
    assert!(engine.drain(PATIENCE).expect("polling works"));
}

/// The loop of the owner: it sleeps without a limit, so that a wake-up that is lost is a hang.
fn serve(engine: &mut Engine, inbox: &Receiver<Request>) {
    let mut callers: HashMap<LockId, Sender<&'static str>> = HashMap::new();
    loop {
        loop {
            match inbox.try_recv() {
                Ok(request) => {
                    let resource = format!("r{}", request.number % 7);
                    let lock = engine.acquire(resource, TTL, PATIENCE).expect("in bounds");
                    callers.insert(lock, request.outcome);
                    if request.is_cancelled {
                        engine.cancel(lock).expect("it is not held yet");
                    }
                }
                Err(std::sync::mpsc::TryRecvError::Empty) => break,
                Err(_) if callers.is_empty() => return,
                Err(_) => break,
            }
        }
        while let Some(event) = engine.next_event() {
            let (lock, outcome) = match event {
                Event::Acquired { lock, .. } => {
                    engine.release(lock).expect("it is held");
                    continue;
                }
                Event::AcquireFailed { lock, .. } => (lock, "failed"),
                Event::Released { lock, .. } => (lock, "released"),
                Event::Node(_) => continue,
                other => panic!("{other:?}"),
            };
            let caller = callers.remove(&lock).expect("a request has one last event");
            // Dropped behind it, so that the caller sees that there is no second one.
            caller.send(outcome).expect("the caller waits");
        }
        engine.poll(None).expect("polling works");
    }
}

/// FAULTS 66: the engine goes while others wake it.
#[test]
fn a_waker_outlives_its_engine() {
    let engine = Engine::new(config(["127.0.0.1:1"])).expect("an engine can be made");
    let waker = engine.waker();
    let (started, is_started) = channel();
    let wakers: Vec<_> = (0..4)
        .map(|_| {
            let (waker, started) = (waker.clone(), started.clone());
            thread::spawn(move || {
                for round in 0..10_000 {
                    waker.wake();
                    if round == 100 {
                        started.send(()).expect("the test waits");
                    }
                }
            })
        })
        .collect();
    is_started.recv_timeout(PATIENCE).expect("a thread is at it");
    drop(engine);
    wakers.into_iter().for_each(|thread| thread.join().expect("waking does not panic"));
}
