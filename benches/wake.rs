//! Two threads that wake each other: the cost of a hand-off there and back, without a lock.
//!
//! ```text
//! cargo bench --bench wake                          wherever the scheduler puts them
//! taskset --cpu-list 0 cargo bench --bench wake     both on one processor
//! ```
//!
//! A request through a `Client` goes to the engine's thread and back. The machine sets the least
//! cost of that way: on some machines a sleeping processor needs tens of microseconds to wake up.

use std::env;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use libtest_mimic::{Arguments, Trial};
use redbolt::Clock;

fn main() -> ExitCode {
    if env::args().any(|arg| arg == "--bench") {
        println!("{:.1} µs there and back at the median", median_us(100_000));
        return ExitCode::SUCCESS;
    }
    let trial = Trial::test("two_threads_wake_each_other", || {
        median_us(10);
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

/// Returns the median time of a wake-up there and one back, in microseconds.
fn median_us(rounds: u32) -> f64 {
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
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn wait_for(turn: &AtomicU32, wanted: u32) {
    while turn.load(Ordering::Acquire) != wanted {
        thread::park();
    }
}
