//! `redbolt bench --client`: many threads or tasks through one `Client`, as services have them.
//!
//! A cycle acquires a lock, drops its guard, and goes on with the next. `workers` has the cycles of
//! threads and tasks, `hold` the locks that are only kept alive, `figures` what is printed.

mod figures;
mod hold;
mod workers;

use std::io;
use std::time::Duration;

use redbolt::{Client, Config};

use self::figures::Figures;
use super::args::Args;
use super::masters::Masters;
use super::signals::Signals;
use super::{Failure, connect};

/// How long the last releases may take to arrive.
const GOODBYE: Duration = Duration::from_secs(5);

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// So many threads that block.
    Threads(usize),
    /// So many tasks on a runtime of two threads.
    Tasks(usize),
    /// So many locks that are kept alive and nothing else.
    Hold(usize),
}

/// The report.
pub(super) fn bench(
    args: &Args,
    kind: Kind,
    masters: &Masters,
    config: Config,
    signals: &Signals,
) -> Result<String, Failure> {
    let nodes = config.nodes.len();
    // Says what is wrong with the nodes in the words of the engine.
    drop(connect(config.clone())?);
    let client = Client::new(config)?;
    settle(&client, nodes)?;
    let crowd = match kind {
        Kind::Threads(count) => workers::threads(&client, args, count, signals)?,
        Kind::Tasks(count) => workers::tasks(&client, args, count, signals)?,
        Kind::Hold(count) => hold::hold(&client, args, count, signals)?,
    };
    let is_clean = client.shutdown(GOODBYE);
    let figures = Figures { kind, nodes, servers: masters.kind().to_owned(), is_clean, crowd };
    Ok(if args.json { figures.object() } else { figures.table() })
}

/// Waits until the connections are up: the first lock asks all nodes.
fn settle(client: &Client, nodes: usize) -> Result<(), Failure> {
    for _ in 0..100 {
        let reports = client.nodes().wait().map_err(Failure::software)?;
        let ready = reports.iter().filter(|node| node.state == redbolt::NodeState::Ready).count();
        if ready == nodes {
            return Ok(());
        }
        // A lock that nobody else wants takes a round trip, or the time of a connection.
        let name = format!("bench/settle/{:p}", client);
        let _ = client.lock(name).wait(Duration::from_millis(100)).acquire();
    }
    Ok(())
}

/// The processor time of this process so far, embedded masters included.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    // The kernel counts from the start of the process, so it is not negative.
    Duration::try_from(time).unwrap_or_default()
}

fn broken(error: io::Error) -> Failure {
    Failure::software(error)
}
