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
//!
//! The successor has the configuration of the first process, and gets it in variables: clients with
//! different quorums or longest ttls do not exclude each other. Where both read `Config::from_env`,
//! there is nothing to do, because a process inherits the variables of its parent.

mod common;

use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader, Write, stdin};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use redbolt::time::format_duration;
use redbolt::{Address, Client, Config, Guard, Handover, LockError};

/// The argument of the successor.
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
    if env::args().nth(1).as_deref() != Some(SUCCESSOR) {
        return common::run(example);
    }
    let config = Config::from_env().map_err(Into::into);
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
    let variables = variables(&config);
    let mut successor = None;
    precede(config, || {
        let mut command = Command::new(env::current_exe()?);
        // This process has read no variable, so the successor reads none but these.
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("REDBOLT_") {
                command.env_remove(name);
            }
        }
        let command = command.arg(SUCCESSOR).envs(variables).stdin(Stdio::piped());
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

/// Returns a configuration as variables: the nodes with their logins, which everybody could read in
/// an argument, and all settings in which two examples can differ.
pub(crate) fn variables(config: &Config) -> [(&'static str, String); 4] {
    let nodes: Vec<_> = config.nodes.iter().map(url).collect();
    let settings = &config.redlock;
    // An empty variable leaves the default.
    let node_timeout = settings.node_timeout.map_or_else(String::new, format_duration);
    [
        ("REDBOLT_NODES", nodes.join(",")),
        ("REDBOLT_RESTART_GUARD", settings.restart_guard.to_string()),
        ("REDBOLT_NODE_TIMEOUT", node_timeout),
        ("REDBOLT_RECONNECT_MAX", format_duration(settings.reconnect_max)),
    ]
}

/// Returns an address with its login, which `Display` leaves out. Every byte of a login may be
/// percent-encoded.
fn url(node: &Address) -> String {
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let login = node.login();
    let user = login.username.as_deref().map_or_else(String::new, encode);
    match login.password.as_deref().map(encode) {
        Some(password) => format!("redis://{user}:{password}@{node}"),
        None => format!("redis://{node}"),
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
    let request = client.adopt(&handover.resources, handover.token).with_fence(handover.fence);
    let guard = request.ttl(TTL).wait(TTL / 2).keep_alive_for(MAX_HOLD).blocking_acquire()?;
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
