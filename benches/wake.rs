//! Two threads that wake each other: what a hand-off there and back costs without a lock.
//!
//! ```text
//! cargo bench --bench wake                          wherever the scheduler puts them
//! taskset --cpu-list 0 cargo bench --bench wake     both on one processor
//! ```
//!
//! A request through a `Client` crosses over to the engine's thread and back. What that costs at
//! least is for the machine to say: on some a processor that sleeps takes tens of microseconds to
//! be woken.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use redbolt::Clock;

fn main() {
    let rounds = if env::args().any(|arg| arg == "--bench") { 100_000 } else { 10 };
    let turn = Arc::new(AtomicU32::new(0));
    let (first, seen) = (thread::current(), Arc::clone(&turn));
    let second = thread::spawn(move || {
        for round in 0..rounds {
            wait_for(&seen, 2 * round + 1);
            seen.store(2 * round + 2, Ordering::Release);
            first.unpark();
        }
    });
    let mut times = Vec::new();
    for round in 0..rounds {
        let start = Clock::now();
        turn.store(2 * round + 1, Ordering::Release);
        second.thread().unpark();
        wait_for(&turn, 2 * round + 2);
        times.push(Clock::now() - start);
    }
    second.join().expect("it does not panic");
    times.sort_unstable();
    println!("{:.1} µs there and back at the median", times[times.len() / 2].as_secs_f64() * 1e6);
}

fn wait_for(turn: &AtomicU32, wanted: u32) {
    while turn.load(Ordering::Acquire) != wanted {
        thread::park();
    }
}
