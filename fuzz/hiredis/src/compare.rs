//! Whether our parser and the reader of hiredis agree. `fuzz/hiredis.sh compare` runs this.

mod corpus;
mod differential;
mod hiredis;
mod mutate;
mod reasons;

#[path = "../../../tests/resp/notation.rs"]
mod notation;
#[path = "../../src/tree.rs"]
#[allow(dead_code, reason = "the fuzz targets ask for more")]
mod tree;

use std::process::ExitCode;

use differential::{Tally, compare};
use fastrand::Rng;
use mutate::mutated;

/// How many mutations of each input are compared, unless the caller says otherwise.
const MUTATIONS: usize = 200;

fn main() -> ExitCode {
    let mutations = std::env::args().nth(1).map_or(Ok(MUTATIONS), |count| count.parse());
    let Ok(mutations) = mutations else {
        eprintln!("usage: compare [mutations of each input]");
        return ExitCode::FAILURE;
    };
    compare_all(mutations)
}

/// Compares all inputs, and so many mutations of each, which are the same in every run.
fn compare_all(mutations: usize) -> ExitCode {
    let inputs = corpus::all();
    let mut tally = Tally::default();
    let mut rng = Rng::with_seed(1);
    println!(
        "{} inputs and {mutations} mutations of each, in whole and byte by byte",
        inputs.len()
    );
    for (name, input) in &inputs {
        for mutation in 0..=mutations {
            let other = &inputs[rng.usize(..inputs.len())].1;
            let bytes = if mutation == 0 { input.clone() } else { mutated(&mut rng, input, other) };
            if let Err(difference) = compare(&bytes, &mut tally) {
                eprintln!("{name}, mutation {mutation}: {}", bytes.escape_ascii());
                eprintln!("{difference}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{tally}");
    ExitCode::SUCCESS
}
