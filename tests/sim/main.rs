//! A deterministic simulator around the core: masters, clients and the network between them, in
//! simulated time.
//!
//! One seed decides everything that happens in a world: how many masters and clients there are, how
//! their clocks run and are set, how long bytes take and in which pieces they come, what clients
//! want, and what goes wrong. In its first life a world is unsafe: connections break with requests
//! on their way that are executed long after, the network partitions in one direction or both,
//! masters stall, refuse, restart with their memory or without, become replicas, clients sleep and
//! die. In its second life nothing goes wrong, and all must converge. [`checks`] says what must be
//! true at every step; worlds that leave the model of SAFETY.md are labelled, and there locks need
//! not exclude each other.
//!
//! * `REDBOLT_SIM_SEEDS=<count>` lives through more worlds, or fewer, than the default;
//!   `REDBOLT_SIM_FIRST=<seed>` begins with another seed than 0.
//! * `REDBOLT_SIM_SEED=<seed>` lives through one, and prints its options and what happens.
//!
//! Each seed is lived through twice, and both runs must have done the same, bit for bit.
//!
//! This target has its own `main` (`harness = false`), because the test harness would keep the sum
//! of what was seen to itself. It prints what the harness prints, for those who read that.

mod answer;
mod book;
mod chance;
mod checks;
mod client;
mod clock;
mod faults;
mod link;
mod liveness;
mod master;
mod net;
mod options;
mod runner;
#[cfg(redbolt_sabotage)]
mod saboteurs;
mod trace;
mod world;

use std::process::ExitCode;

use redbolt::Clock;

/// How many worlds there are unless somebody says otherwise: less than two minutes of two cores,
/// and seconds in a debug build.
const SEEDS: u64 = if cfg!(debug_assertions) { 500 } else { 50_000 };

const NAME: &str = if cfg!(redbolt_sabotage) {
    "every_saboteur_is_caught"
} else {
    "no_world_breaks_a_rule_and_all_converge"
};

/// The exit code of a failed test.
const FAILED: u8 = 101;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        println!("{NAME}: test\n\n1 test, 0 benchmarks");
        return ExitCode::SUCCESS;
    }
    // `cargo test <words>` wants the tests whose names have one of the words.
    let mut words = arguments.iter().filter(|argument| !argument.starts_with('-')).peekable();
    if words.peek().is_some() && !words.any(|word| NAME.contains(word.as_str())) {
        println!("\nrunning 0 tests\n");
        report("ok", [0, 0, 1], Clock::now());
        return ExitCode::SUCCESS;
    }
    println!("\nrunning 1 test");
    let began = Clock::now();
    let found = test();
    let verdict = if found.is_ok() { "ok" } else { "FAILED" };
    println!("test {NAME} ... {verdict}\n");
    let (passed, failed) = if found.is_ok() { (1, 0) } else { (0, 1) };
    report(verdict, [passed, failed, 0], began);
    match found {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::from(FAILED)
        }
    }
}

/// The line in which everybody looks for the result.
fn report(verdict: &str, [passed, failed, filtered]: [u32; 3], began: redbolt::time::Instant) {
    println!(
        "test result: {verdict}. {passed} passed; {failed} failed; 0 ignored; 0 measured; \
         {filtered} filtered out; finished in {:.2}s\n",
        (Clock::now() - began).as_secs_f64()
    );
}

/// What there is to say about a run that went well, or what was wrong.
fn test() -> Result<String, String> {
    if let Some(seed) = number("REDBOLT_SIM_SEED")? {
        #[cfg(redbolt_sabotage)]
        if let Ok(name) = std::env::var("REDBOLT_SIM_SABOTEUR") {
            return saboteurs::replay(&name, seed);
        }
        return runner::replay(seed);
    }
    let seeds = number("REDBOLT_SIM_SEEDS")?;
    #[cfg(redbolt_sabotage)]
    if seeds.is_none() {
        return saboteurs::catch_all();
    }
    let first = number("REDBOLT_SIM_FIRST")?.unwrap_or(0);
    runner::live_through(first..first.saturating_add(seeds.unwrap_or(SEEDS)))
}

/// A number in the environment.
fn number(name: &str) -> Result<Option<u64>, String> {
    let Ok(text) = std::env::var(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("{name}={text} is not a number"))
}
