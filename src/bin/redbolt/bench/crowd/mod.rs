//! `redbolt bench --client`: many threads or tasks through one `Client`, as services have them.
//!
//! A cycle acquires a lock, drops its guard, and goes on with the next lock. `workers` has the
//! cycles of threads and tasks, `hold` the locks that are only kept alive, `figures` the report.

mod figures;
mod hold;
mod processor;
mod workers;

use redbolt::{Client, Config};

use self::figures::Figures;
use crate::bench::args::{Args, Kind};
use crate::bench::nodes::connect::{CONNECT_TIMEOUT, connect};
use crate::bench::nodes::masters::Masters;
use crate::bench::outcome::Outcome;
use crate::bench::signals::Signals;
use crate::failure::Failure;

/// Measures, and returns the report.
pub(super) fn bench(
    args: &Args,
    kind: Kind,
    masters: &Masters,
    config: Config,
    signals: &Signals,
) -> Result<(String, Outcome), Failure> {
    let (nodes, engines) = (config.nodes.len(), config.threads);
    // An engine of its own says what is wrong with the nodes, if anything is.
    drop(connect(config.clone())?);
    let client = Client::new(config)?;
    // The first lock is to ask all nodes.
    client.ready(CONNECT_TIMEOUT).blocking_wait().map_err(Failure::no_quorum)?;
    let crowd = match kind {
        Kind::Threads(count) => workers::threads(&client, args, count, signals)?,
        Kind::Tasks(count) => workers::tasks(&client, args, count, signals)?,
        Kind::Hold(count) => hold::hold(&client, args, count, signals)?,
    };
    let outcome = Outcome::of(crowd.cycles, &crowd.failures, signals);
    let figures = Figures { kind, nodes, engines, servers: masters.kind().to_owned(), crowd };
    Ok((if args.json { figures.object() } else { figures.table() }, outcome))
}
