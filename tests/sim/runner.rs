//! Many worlds on all cores, enough of them lived through twice to see that equal seeds make equal
//! worlds.

use core::fmt;
use core::ops::Range;
use std::panic::{UnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::checks::Violation;
use crate::world::{Summary, World};

/// The number of seeds that a thread takes at a time.
const STRIDE: u64 = 16;

/// How many worlds of a run are lived through twice, before most are lived through once.
const TWICE: u64 = 50_000;

/// Behind those, one in so many is lived through twice. Code that does not do the same twice shows
/// in thousands of worlds, and a night is better spent on new ones.
const THEN_ONE_IN: u64 = 16;

/// The sum over many worlds.
#[derive(Default)]
struct Sum {
    seeds: u64,
    nanos: u64,
    steps: u64,
    faults: u64,
    grants: u64,
    extensions: u64,
    stepped: u64,
    numbers: [u64; 3],
    outside: u64,
}

impl Sum {
    fn add(&mut self, summary: &Summary) {
        self.seeds += 1;
        self.nanos += summary.nanos;
        self.steps += summary.steps;
        self.faults += summary.faults;
        self.grants += summary.grants;
        self.extensions += summary.extensions;
        self.stepped += summary.stepped;
        self.numbers.iter_mut().zip(summary.numbers).for_each(|(sum, number)| *sum += number);
        self.outside += u64::from(summary.is_outside);
    }

    fn merge(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.nanos += other.nanos;
        self.steps += other.steps;
        self.faults += other.faults;
        self.grants += other.grants;
        self.extensions += other.extensions;
        self.stepped += other.stepped;
        self.numbers.iter_mut().zip(other.numbers).for_each(|(sum, number)| *sum += number);
        self.outside += other.outside;
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seeds, nanos, steps, faults, grants, extensions, stepped, numbers, outside } =
            self;
        let [told, held, forgotten] = numbers;
        let hours = *nanos as f64 / 3.6e12;
        writeln!(
            f,
            "seen: {steps} steps, {extensions} extensions, {outside} seeds outside the model"
        )?;
        writeln!(f, "seen: {stepped} times a set that took its resources one by one")?;
        let held = format!("{held} in the order of holding, {forgotten} of them behind a loss");
        writeln!(f, "seen: {told} fencing numbers, {held}")?;
        write!(f, "sim: {seeds} seeds, {hours:.1} simulated hours, {faults} faults, ")?;
        write!(f, "{grants} grants, 0 violations")
    }
}

/// Lives through the worlds of these seeds.
pub(crate) fn live_through(seeds: Range<u64>) -> Result<String, String> {
    let next = AtomicU64::new(seeds.start);
    let found = Mutex::new(None::<(u64, Violation)>);
    let total = Mutex::new(Sum::default());
    let work = || {
        let mut sum = Sum::default();
        loop {
            let first = next.fetch_add(STRIDE, Ordering::Relaxed);
            if first >= seeds.end {
                break;
            }
            for seed in first..seeds.end.min(first + STRIDE) {
                let is_doubled = seed - seeds.start < TWICE || seed % THEN_ONE_IN == 0;
                let lived = if is_doubled { twice(seed) } else { live(seed, false) };
                match lived {
                    Ok(summary) => sum.add(&summary),
                    Err(violation) => {
                        // The other threads take no more seeds, and the least seed found so far is
                        // reported.
                        next.store(seeds.end, Ordering::Relaxed);
                        let mut found = lock(&found);
                        if found.as_ref().is_none_or(|(other, _)| seed < *other) {
                            *found = Some((seed, violation));
                        }
                    }
                }
            }
        }
        lock(&total).merge(&sum);
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..cores).for_each(|_| _ = scope.spawn(work)));
    if let Some((seed, violation)) = lock(&found).take() {
        return Err(complaint(seed, &violation));
    }
    let sum = lock(&total);
    // A world in which nothing happens has no violations either.
    let Sum { seeds, faults, grants, extensions, .. } = *sum;
    if seeds >= 100 && seeds > faults.min(grants).min(extensions) {
        return Err(format!("too little happens in these worlds:\n{sum}"));
    }
    Ok(sum.to_string())
}

/// Lives through a seed twice, and checks that both runs do the same.
fn twice(seed: u64) -> Result<Summary, Violation> {
    let first = live(seed, false)?;
    let second = live(seed, false)?;
    if first != second {
        let what = format!("not deterministic: {first:?}, then {second:?}");
        return Err(Violation { at: 0, what });
    }
    Ok(first)
}

/// Lives through one world, and prints what happens.
pub(crate) fn replay(seed: u64) -> Result<String, String> {
    let summary = live(seed, true).map_err(|violation| complaint(seed, &violation))?;
    let mut sum = Sum::default();
    sum.add(&summary);
    Ok(sum.to_string())
}

fn live(seed: u64, is_loud: bool) -> Result<Summary, Violation> {
    contained(|| World::new(seed, is_loud).run())
}

/// Runs a world, and turns a panic of the code under test into a violation.
pub(crate) fn contained(
    world: impl FnOnce() -> Result<Summary, Violation> + UnwindSafe,
) -> Result<Summary, Violation> {
    catch_unwind(world).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Violation { at: 0, what: format!("panic: {}", text.unwrap_or("without a word")) })
    })
}

fn complaint(seed: u64, violation: &Violation) -> String {
    let Violation { at, what } = violation;
    let at = *at as f64 / 1e9;
    let options = World::new(seed, false).options;
    format!(
        "{options}\n\nat {at:.6} s: {what}\n\nTo see it again:\n\
         REDBOLT_SIM_SEED={seed} cargo test --release --test sim\n\n\
         sim: seed {seed} breaks a rule"
    )
}

/// Locks a mutex. No thread panics while it holds one.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
