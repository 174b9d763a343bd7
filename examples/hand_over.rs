//! A process that works under a lock hands the lock to its successor, as in a rolling restart, and
//! nobody else gets the lock in between.
//!
//! ```text
//! cargo run --example hand_over --features embedded
//! cargo run --example hand_over -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```
//!
//! The process starts the successor, which is the same program, and tells the successor of the lock
//! by one line in a pipe. **One process adopts a lock, and once**: two that adopt the same token
//! both hold the lock. A pipe delivers a line once, to one process. A file or a queue that is read
//! twice does not.

mod common;

use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader, Write, stdin};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use redbolt::{Client, Config, Guard, Handover, LockError};

/// The first argument of the successor. The second one is the nodes.
const SUCCESSOR: &str = "successor";

const RESOURCE: &str = "reports";

/// How long the successor may take from the hand-over to the adoption: nobody keeps the lock alive
/// meanwhile.
const TTL: Duration = Duration::from_secs(10);

/// The longest time to work under the lock in one process (S12).
const MAX_HOLD: Duration = Duration::from_secs(60);

/// For how long a successor waits for a lock that nobody hands over.
const WAIT: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    if args.next().as_deref() != Some(SUCCESSOR) {
        return common::run(example);
    }
    let nodes = args.next().unwrap_or_default();
    let config = Config::new(nodes.split(',')).map_err(Into::into);
    match config.and_then(|config| succeed(config, BufReader::new(stdin()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the successor has failed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The first process.
fn example(config: Config) -> Result<(), Box<dyn Error>> {
    let nodes: Vec<_> = config.nodes.iter().map(ToString::to_string).collect();
    let mut successor = None;
    precede(config, || {
        let mut command = Command::new(env::current_exe()?);
        let command = command.args([SUCCESSOR, &nodes.join(",")]).stdin(Stdio::piped());
        // The pipe ends with this process, whatever ends it.
        successor.insert(command.spawn()?).stdin.take().ok_or_else(|| "no pipe".into())
    })?;
    let status = successor.map(|mut process| process.wait()).transpose()?;
    if status.is_some_and(|status| status.success()) {
        Ok(())
    } else {
        Err("the successor has failed".into())
    }
}

/// Works under the lock, starts the successor, and hands the lock over.
pub(crate) fn precede<W: Write>(
    config: Config,
    start: impl FnOnce() -> Result<W, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let client = Client::new(config)?;
    let request = client.lock(RESOURCE).ttl(TTL).wait(WAIT).keep_alive_for(MAX_HOLD);
    let guard = request.blocking_acquire()?;
    work("the first process", &guard);
    // Renewals keep the lock alive while the successor starts.
    let mut pipe = start()?;
    // The line gets a whole ttl for its way.
    guard.extend(TTL).blocking_wait()?;
    // From here on this process neither keeps the lock alive nor releases it. If the line does not
    // arrive, the ttl ends the lock.
    let handover = guard.hand_over().blocking_wait()?;
    writeln!(pipe, "{}", handover.to_text())?;
    println!("the first process has handed the lock over");
    client.blocking_shutdown(Duration::from_secs(1));
    Ok(())
}

/// Adopts the lock from the line in the pipe, and goes on with the work.
pub(crate) fn succeed(config: Config, mut pipe: impl BufRead) -> Result<(), Box<dyn Error>> {
    let client = Client::new(config)?;
    // The first process may die before it hands the lock over, so that the successor stands in line
    // as everybody else does. The adoption goes ahead of this request.
    let waiting = client.lock(RESOURCE).ttl(TTL).wait(WAIT).keep_alive_for(MAX_HOLD).acquire();
    let mut line = String::new();
    pipe.read_line(&mut line)?;
    // Without its end, a line says that the first process has died.
    let guard = match line.strip_suffix('\n') {
        Some(text) => {
            let guard = adopt(&client, &text.parse()?)?;
            // The request could have stayed: its turn would come after the release.
            drop(waiting);
            guard
        }
        None => waiting.blocking_wait()?,
    };
    work("the successor", &guard);
    println!("the successor: {}", guard.release().blocking_wait()?);
    println!("the successor: {}", client.blocking_shutdown(Duration::from_secs(1)));
    Ok(())
}

fn adopt(client: &Client, handover: &Handover) -> Result<Guard, LockError> {
    let request = client.adopt(&handover.resources, handover.token).ttl(TTL);
    let guard = request.wait(TTL / 2).keep_alive_for(MAX_HOLD).blocking_acquire()?;
    println!("the successor has adopted the lock");
    Ok(guard)
}

fn work(who: &str, guard: &Guard) {
    for step in 1..=2 {
        if guard.is_held() {
            println!("{who}: step {step}, {:?} left", guard.remaining());
        }
    }
}
