//! Runs the cases, compares each with what the table says of it, and prints a row for each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model};

use crate::properties::{ALL_GRANTED, ALWAYS};
use crate::world::World;

/// What a case must come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Everything holds, in so many states, the last of them so many steps away.
    Holds {
        /// All states that can be reached.
        states: usize,
        /// The longest of the shortest ways to a state.
        depth: usize,
    },
    /// A property is violated, and the shortest counterexample has so many steps.
    Refuted {
        /// Which one.
        property: &'static str,
        /// The length of the shortest counterexample.
        steps: usize,
    },
}

/// What a run has found.
#[derive(Debug)]
pub struct Outcome {
    /// What it came to.
    pub result: Expected,
    /// States, those of a search that ended early too.
    pub states: usize,
    /// How many steps away the last of them is.
    pub depth: usize,
    /// Nothing that must happen is missing.
    pub is_alive: bool,
    /// Grants in one round trip, and in more.
    pub trips: (u64, u64),
    /// How long it took.
    pub took: Duration,
    /// The counterexample.
    pub trace: Vec<String>,
}

/// A run, and what it must come to.
pub struct Case {
    /// Its row in the table.
    pub name: &'static str,
    /// Masters and attempts.
    pub size: (usize, usize),
    /// What it must come to.
    pub expected: Expected,
    run: Box<dyn Fn() -> Outcome + Send + Sync>,
}

/// A world in which everything must hold.
pub fn holds<const N: usize, const A: usize>(
    name: &'static str,
    states: usize,
    depth: usize,
    world: fn() -> World<N, A>,
) -> Case {
    let expected = Expected::Holds { states, depth };
    Case { name, size: (N, A), expected, run: Box::new(move || check(world())) }
}

/// A world that must be refuted.
pub fn refuted<const N: usize, const A: usize>(
    name: &'static str,
    property: &'static str,
    steps: usize,
    world: fn() -> World<N, A>,
) -> Case {
    let expected = Expected::Refuted { property, steps };
    Case { name, size: (N, A), expected, run: Box::new(move || check(world())) }
}

/// Searches a world by breadth, on one thread, so that each run finds the same.
#[expect(clippy::disallowed_methods, reason = "a run says how long it took")]
fn check<const N: usize, const A: usize>(world: World<N, A>) -> Outcome {
    let begin = Instant::now();
    let checker =
        world.checker().threads(1).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let took = begin.elapsed();
    let tally = &checker.model().tally;
    tally.end_search();
    let trips = (tally.one_trip.load(Ordering::Relaxed), tally.two_trips.load(Ordering::Relaxed));
    let mut discoveries = checker.discoveries();
    let is_alive = discoveries.remove(ALL_GRANTED).is_some() && trips.0 > 0 && trips.1 > 0;
    let found = discoveries.into_iter().next();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth() - 1);
    let mut trace = Vec::new();
    let result = match found {
        None => Expected::Holds { states, depth },
        Some((_, path)) => {
            let path = path.into_vec();
            let last = &path[path.len() - 1].0;
            let is_wrong = |(bit, _): &&(u8, _)| last.wrong & bit != 0;
            let property = ALWAYS.iter().find(is_wrong).map_or("nothing", |(_, name)| name);
            let steps = path.len() - 1;
            trace.extend(path.iter().map(|(state, step)| match step {
                Some(step) => format!("{step:?}"),
                None => format!("{:?}", state.attempts),
            }));
            Expected::Refuted { property, steps }
        }
    };
    Outcome { result, states, depth, is_alive, trips, took, trace }
}

/// The names of the columns.
const HEAD: &str = concat!(
    "case                                            N, A    states  depth  seconds",
    "  one trip, more     result",
);

/// Runs all cases, the largest first, and prints them in their order. Returns how many came to
/// something else than they must.
#[expect(clippy::disallowed_methods, reason = "a run says how long it took")]
pub fn run(cases: &[Case]) -> usize {
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|index| match cases[*index].expected {
        Expected::Holds { states, .. } => usize::MAX - states,
        Expected::Refuted { .. } => usize::MAX,
    });
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (sender, receiver) = mpsc::channel();
    let mut outcomes: Vec<Option<Outcome>> = cases.iter().map(|_| None).collect();
    let mut printed = 0;
    let mut surprises = 0;
    let begin = Instant::now();
    println!("{HEAD}");
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, order, next) = (sender.clone(), &order, &next);
            scope.spawn(move || work(cases, order, next, &sender));
        }
        drop(sender);
        for (index, outcome) in receiver {
            outcomes[index] = Some(outcome);
            while let Some(Some(outcome)) = outcomes.get(printed) {
                surprises += usize::from(!print(&cases[printed], outcome));
                printed += 1;
            }
        }
    });
    let states: usize = outcomes.iter().flatten().map(|outcome| outcome.states).sum();
    println!(
        "{printed} of {} cases, {states} states, {:.1} s on {workers} threads, {} not as expected",
        cases.len(),
        begin.elapsed().as_secs_f64(),
        surprises + cases.len() - printed,
    );
    surprises + cases.len() - printed
}

fn work(cases: &[Case], order: &[usize], next: &AtomicUsize, done: &Sender<(usize, Outcome)>) {
    while let Some(index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
        // Whoever prints is there until the last worker has ended.
        let _ = done.send((*index, (cases[*index].run)()));
    }
}

/// Prints a row. Returns whether the case came to what it must.
fn print(case: &Case, outcome: &Outcome) -> bool {
    let result = match outcome.result {
        Expected::Holds { .. } => "holds".into(),
        Expected::Refuted { property, steps } => format!("{property} violated in {steps} steps"),
    };
    let is_proof = matches!(case.expected, Expected::Holds { .. });
    let surprise = if outcome.result != case.expected {
        format!(": NOT AS EXPECTED: {:?}", case.expected)
    } else if is_proof && !outcome.is_alive {
        ": NOT AS EXPECTED: not everybody is granted, or never in one trip, or never in two".into()
    } else {
        String::new()
    };
    println!(
        "{:<46}  {}, {}  {:>8}  {:>5}  {:>7.1}  {:>8}, {:<7}  {result}{surprise}",
        case.name,
        case.size.0,
        case.size.1,
        outcome.states,
        outcome.depth,
        outcome.took.as_secs_f64(),
        outcome.trips.0,
        outcome.trips.1,
    );
    surprise.is_empty()
}

/// Prints the counterexample of a case. Returns whether there is one.
pub fn trace(case: &Case) -> bool {
    let outcome = (case.run)();
    println!("{}: {:?}", case.name, outcome.result);
    outcome.trace.iter().for_each(|line| println!("  {line}"));
    !outcome.trace.is_empty()
}
