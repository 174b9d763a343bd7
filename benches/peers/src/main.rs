//! redbolt beside its peers: other Redlocks, and bare sockets that send canned bytes.
//!
//! ```text
//! redbolt-peers measure <contestant> --nodes <list> [--in-flight N] [--rate R] …   one CSV row
//! redbolt-peers trace <contestant> --trace <file> --nodes <list> …               one line of JSON
//! redbolt-peers header                                                            its columns
//! redbolt-peers table <record.csv>                             medians, ratios, and the aims
//! redbolt-peers chart <record.csv>                             the same as SVG, beside it
//! ```
//!
//! `run.sh` starts the servers, interleaves the contestants and calls these commands; `trace.sh`
//! does so for transactions of several locks. A
//! contestant that does not hold every lock it reports, or leaves a key behind, ends with an error
//! instead of a row.

mod aims;
mod args;
mod chart;
mod contestants;
mod meter;
mod names;
mod nodes;
mod plan;
mod record;
mod row;
mod table;
mod trace;

use std::process::ExitCode;

fn main() -> ExitCode {
    match args::run(std::env::args().skip(1)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
