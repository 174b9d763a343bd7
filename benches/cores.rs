//! The core alone on several threads at once: what engines that share nothing lose to each other.
//!
//! ```text
//! cargo bench --bench cores        on one thread, on two, and so on, up to all processors
//! ```
//!
//! Each thread has a state machine of its own, over five nodes that all grant, without any socket.
//! Where the processor time of a cycle does not grow with the threads, a further core is worth as
//! much as the first.

#[path = "common/cycles.rs"]
mod cycles;
#[path = "common/rig.rs"]
mod rig;

use std::env;
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use cycles::{Cycles, GROUP};
use libtest_mimic::{Arguments, Trial};
use redbolt::Clock;
use rustix::time::{ClockId, clock_gettime};

const NODES: usize = 5;

/// How long each number of threads is measured, and how often, in turn with the others.
const LENGTH: Duration = Duration::from_millis(500);
const ROUNDS: usize = 9;

fn main() -> ExitCode {
    if env::args().any(|arg| arg == "--bench") {
        measure();
        return ExitCode::SUCCESS;
    }
    let trials = vec![
        Trial::test("two_threads_run_cycles_at_once", || {
            assert_eq!(run(2, Duration::ZERO).len(), 2);
            Ok(())
        }),
        // More than a second of the core's time, as in a measurement of some milliseconds.
        Trial::test("a_measurement_can_go_on_for_long", || {
            let mut cycles = Cycles::new(NODES, 1);
            let count: usize = (0..10_000).map(|_| cycles.run()).sum();
            assert_eq!(count, 10_000);
            Ok(())
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn measure() {
    let most = thread::available_parallelism().map_or(1, usize::from);
    let counts: Vec<_> = (0..).map(|power| 1 << power).take_while(|&count| count < most).collect();
    let counts = [counts, vec![most]].concat();
    let mut found = vec![Vec::new(); counts.len()];
    for _ in 0..ROUNDS {
        for (count, found) in counts.iter().zip(&mut found) {
            let threads = run(*count, LENGTH);
            let cycles: u64 = threads.iter().map(|thread| thread.cycles).sum();
            let cpu: Duration = threads.iter().map(|thread| thread.cpu).sum();
            let rate: f64 = threads.iter().map(Thread::rate).sum();
            found.push([rate, cpu.as_secs_f64() * 1e9 / cycles as f64]);
        }
    }
    for (count, found) in counts.iter().zip(found) {
        let median = |of: usize| {
            let mut all: Vec<_> = found.iter().map(|figures| figures[of]).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let (rate, nanos) = (median(0), median(1));
        println!("{count:2} threads: {rate:9.0} cycles/s, {nanos:5.0} ns of processor each");
    }
}

/// What one thread has done.
struct Thread {
    cycles: u64,
    wall: Duration,
    cpu: Duration,
}

impl Thread {
    fn rate(&self) -> f64 {
        self.cycles as f64 / self.wall.as_secs_f64()
    }
}

/// Runs cycles on this number of threads, all at the same time.
fn run(threads: usize, length: Duration) -> Vec<Thread> {
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        let spawn = |_| scope.spawn(|| run_one(&start, length));
        let threads: Vec<_> = (0..threads).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    })
}

fn run_one(start: &Barrier, length: Duration) -> Thread {
    let mut all = Cycles::new(NODES, GROUP);
    start.wait();
    let (begin, cpu) = (Clock::now(), cpu_time());
    let mut cycles = 0;
    loop {
        cycles += all.run() as u64;
        let wall = Clock::now() - begin;
        if wall >= length {
            return Thread { cycles, wall, cpu: cpu_time().saturating_sub(cpu) };
        }
    }
}

/// The processor time of this thread so far.
#[expect(clippy::disallowed_methods, reason = "processor time is no time of a clock")]
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The kernel counts from the start of the thread, so the time is not negative.
    Duration::try_from(time).unwrap_or_default()
}
