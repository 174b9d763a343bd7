//! How many instructions the hot path takes, compared with a committed budget.
//!
//! ```text
//! cargo bench --bench instructions               compares; fails when one costs too much
//! cargo bench --bench instructions -- --write    makes what it costs now the budget
//! ```
//!
//! On a shared machine, times say little about a few percent. Instructions, counted by callgrind,
//! are the same every time. The counts depend on the compiler and on the features of the processor,
//! so the budget names both, and on another machine nothing is compared.
//!
//! As a test, the program runs each operation once and counts nothing.

mod budget;
mod callgrind;
#[path = "../common/cycles.rs"]
mod cycles;
#[path = "../common/flow.rs"]
mod flow;
#[path = "../common/replies.rs"]
mod replies;
#[path = "../common/rig.rs"]
mod rig;
mod work;

use std::env;
use std::process::ExitCode;

use budget::{Budget, Verdict};
use libtest_mimic::{Arguments, Trial};
use work::WORK;

fn main() -> ExitCode {
    let args: Vec<_> = env::args().skip(1).collect();
    match &args[..] {
        // Callgrind counts the instructions of this process.
        [command, name, rounds] if command == callgrind::COMMAND => {
            let rounds = rounds.parse().expect("the number of rounds");
            println!("{}", work::find(name).run(rounds));
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    if !args.iter().any(|arg| arg == "--bench") {
        return rehearse();
    }
    if !callgrind::is_there() {
        println!("instructions: left out, because there is no valgrind on the PATH");
        return ExitCode::SUCCESS;
    }
    if args.iter().any(|arg| arg == "--write") {
        Budget::measure().write();
        return ExitCode::SUCCESS;
    }
    compare()
}

/// Tests that every operation works, and that the budget has a line for each.
fn rehearse() -> ExitCode {
    let mut trials: Vec<_> = WORK
        .iter()
        .map(|work| {
            Trial::test(work.name, || {
                assert!(work.run(1) > 0);
                assert!(Budget::read().of(work.name).is_some(), "the budget lacks {}", work.name);
                Ok(())
            })
        })
        .collect();
    trials.push(Trial::test("verdicts_allow_three_percent", || {
        budget::check_verdicts();
        Ok(())
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn compare() -> ExitCode {
    let (budget, found) = (Budget::read(), Budget::measure());
    if budget.machine != found.machine {
        println!("instructions: not compared, because the budget is for another machine:");
        println!("    budget: {}\n    here:   {}", budget.machine, found.machine);
        return ExitCode::SUCCESS;
    }
    let mut code = ExitCode::SUCCESS;
    for (name, count) in &found.counts {
        let allowed = budget.of(name).unwrap_or_default();
        let verdict = Verdict::of(*count, allowed);
        println!("{name:<20} {count:>12.2} of {allowed:>12.2} instructions: {verdict}");
        if verdict == Verdict::Over {
            code = ExitCode::FAILURE;
        }
    }
    code
}
