//! A test of your own code without a server: the masters run inside the test.
//!
//! ```text
//! cargo run --example testing --features embedded
//! ```
//!
//! In a real test suite, `main` would be a test function.

use std::time::Duration;

use redbolt::embedded::Server;
use redbolt::{Client, Config, LockError, RestartGuard};

/// The code under test: does a job, unless another client is doing the same job.
fn run_once(client: &Client, job: &str, work: impl FnOnce()) -> Result<bool, LockError> {
    match client.lock(job).ttl(Duration::from_secs(30)).blocking_try_acquire() {
        Ok(_guard) => {
            work();
            Ok(true)
        }
        Err(error) if error.is_contended() => Ok(false),
        Err(error) => Err(error),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut masters = (0..3).map(|_| Server::start()).collect::<Result<Vec<_>, _>>()?;
    let mut config = Config::new(masters.iter().map(Server::url))?;
    // These masters are new and have forgotten no lock, so they may vote at once.
    config.redlock.restart_guard = RestartGuard::Off;
    let client = Client::new(config)?;
    // The first request waits for the connections.
    drop(client.lock("warm-up").wait(Duration::from_secs(5)).blocking_acquire()?);

    assert!(run_once(&client, "nightly", || println!("working"))?);
    let _other = client.lock("nightly").blocking_acquire()?;
    assert!(!run_once(&client, "nightly", || unreachable!("somebody else is at it"))?);

    // One master dies. Two of three are still a majority.
    drop(masters.pop());
    let guard = client.lock("weekly").wait(Duration::from_secs(5)).blocking_acquire()?;
    println!("weekly is held: {}", guard.is_held());
    Ok(())
}
