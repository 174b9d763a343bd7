//! `redbolt bench --client`: many threads or tasks through one `Client`, as services have them.
//!
//! A cycle acquires a lock, drops its guard, and goes on with the next lock. `workers` has the
//! cycles of threads and tasks, `hold` the locks that are only kept alive, `figures` the report.

mod figures;
mod hold;
mod processor;
mod workers;

use std::time::Duration;

use redbolt::{Client, Config};

use self::figures::Figures;
use super::args::{Args, Kind};
use super::connect::{CONNECT_TIMEOUT, connect};
use super::failure::Failure;
use super::masters::Masters;
use super::signals::Signals;

/// How long the last releases may take to arrive.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Measures, and returns the report.
pub(super) fn bench(
    args: &Args,
    kind: Kind,
    masters: &Masters,
    config: Config,
    signals: &Signals,
) -> Result<String, Failure> {
    let nodes = config.nodes.len();
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
    let is_clean = client.blocking_shutdown(SHUTDOWN_TIMEOUT).is_complete();
    let figures = Figures { kind, nodes, servers: masters.kind().to_owned(), is_clean, crowd };
    Ok(if args.json { figures.object() } else { figures.table() })
}
