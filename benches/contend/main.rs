//! Contention: what a resource costs that many want at once, and how evenly it is shared.
//!
//! ```text
//! benches/contend.sh [scenario] [--option value …]      starts five servers, then the driver
//! cargo bench --bench contend -- house --nodes 127.0.0.1:7401,…
//! ```
//!
//! The scenarios are `house`, `processes`, `engines`, `idle` and `sets`; `benches/contend.sh` says
//! what each of them measures. `proxy` only stands in front of nodes, for other scripts. The load
//! is made by the public `Client` alone. Each file knows one subject: `load` asks for locks and
//! notes when, `record` is what was noted, `figures` is what follows from that, `worker` and
//! `children` are the two ends of a process, `census` counts the commands of the servers, `proxy`
//! stands for a distance, and `peer` for others that lock.

mod args;
mod census;
mod children;
mod figures;
mod house;
mod idle;
mod load;
mod peer;
mod processes;
mod proxy;
mod record;
mod report;
mod sets;
mod tests;
mod worker;

use std::env;
use std::error::Error;
use std::process::ExitCode;

use args::Args;
use libtest_mimic::Arguments;

/// What can go wrong in a benchmark is said and ends it.
type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const SCENARIOS: &str = "the scenarios are house, processes, engines, idle and sets; \
                         the head of benches/contend.sh explains them and their options";

fn main() -> ExitCode {
    let words: Vec<_> = env::args().skip(1).collect();
    if !words.iter().any(|word| word == "--bench") {
        return libtest_mimic::run(&Arguments::from_args(), tests::all()).exit_code();
    }
    let words: Vec<_> = words.into_iter().filter(|word| word != "--bench").collect();
    match words.split_first().map_or(Ok(()), |(scenario, rest)| run(scenario, rest)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("contend: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Without a scenario there is nothing to do, so that a plain `cargo bench` needs no servers. A
/// word alone is what another bench is to choose by.
fn run(name: &str, words: &[String]) -> Outcome {
    match find(name) {
        Some((scenario, options)) => scenario(&Args::parse(name, options, words)?),
        None if name == "--help" => {
            println!("{SCENARIOS}");
            Ok(())
        }
        None if words.is_empty() => Ok(()),
        None => Err(format!("no scenario is called {name:?}; {SCENARIOS}").into()),
    }
}

/// What a scenario does, and the options that it has besides `--nodes`.
type Scenario = (fn(&Args) -> Outcome, &'static [&'static str]);

fn find(name: &str) -> Option<Scenario> {
    let contenders = &[
        "seconds",
        "hold",
        "ttl",
        "rtt",
        "processes",
        "clients",
        "threads",
        "records",
        "peer",
        "etcd",
        "worker",
    ];
    let scenario: Scenario = match name {
        "house" => (house::run, &["seconds", "hold", "ttl", "rtt", "threads", "tasks"]),
        "processes" => (|args| processes::run(args, &processes::PROCESSES), contenders),
        "engines" => (|args| processes::run(args, &processes::ENGINES), contenders),
        "idle" => {
            (idle::run, &["seconds", "ttl", "rtt", "processes", "waiters", "rounds", "kills"])
        }
        "sets" => (sets::run, &["seconds", "hold", "ttl", "sizes", "clients", "sets"]),
        "worker" => (worker::run, &["hold", "ttl", "clients", "threads", "resource", "peer"]),
        "proxy" => (proxy::run, &["rtt"]),
        _ => return None,
    };
    Some(scenario)
}
