//! Testing one's own code without a server: masters inside the test.
//!
//! ```text
//! cargo run --example testing --features embedded
//! ```
//!
//! In a test `main` would be the test.

use std::time::Duration;

use redbolt::embedded::Server;
use redbolt::{Client, Config, LockError, RestartGuard};

/// The code under test: it does a job unless somebody else is at it.
fn run_once(client: &Client, job: &str, work: impl FnOnce()) -> Result<bool, LockError> {
    match client.lock(job).ttl(Duration::from_secs(30)).try_acquire() {
        Ok(_guard) => {
            work();
            Ok(true)
        }
        Err(error) if error.is_held() => Ok(false),
        Err(error) => Err(error),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut masters = (0..3).map(|_| Server::start()).collect::<Result<Vec<_>, _>>()?;
    let mut config = Config::new(masters.iter().map(Server::url))?;
    // These masters are new: no lock can have been forgotten.
    config.redlock.restart_guard = RestartGuard::Off;
    let client = Client::new(config)?;
    // The first request waits for the connections.
    drop(client.lock("warm-up").wait(Duration::from_secs(5)).acquire()?);

    assert!(run_once(&client, "nightly", || println!("working"))?);
    let _other = client.lock("nightly").acquire()?;
    assert!(!run_once(&client, "nightly", || unreachable!("somebody else is at it"))?);

    // A master dies. Two of three are a majority.
    drop(masters.pop());
    let guard = client.lock("weekly").wait(Duration::from_secs(5)).acquire()?;
    println!("weekly is held: {}", guard.is_held());
    Ok(())
}
