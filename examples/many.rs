//! One lock on many resources: a transfer locks both accounts together, so two transfers never wait
//! for each other for ever.
//!
//! ```text
//! cargo run --example many --features embedded
//! cargo run --example many -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```

mod common;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use redbolt::{Client, Config};

fn main() -> ExitCode {
    common::run(example)
}

fn example(config: Config) -> Result<(), Box<dyn Error>> {
    let client = Client::new(config)?;
    let (from, to) = ("accounts/alpha", "accounts/beta");
    let guard = client.lock_all([from, to]).wait(Duration::from_secs(5)).blocking_acquire()?;
    // A request for only one of the accounts is refused. A query shows the holder.
    let refused = client.lock(to).blocking_try_acquire();
    println!("{to}: {}", refused.err().map_or_else(String::new, |error| error.to_string()));
    println!("{to}: {}", client.query(to).blocking_wait()?);
    // Another process can take over the lock. These parts are all that the process needs.
    let parts = guard.hand_over().blocking_wait()?;
    let adopted = client.adopt(&parts.resources, parts.token).wait(Duration::from_secs(1));
    let guard = adopted.blocking_acquire()?;
    println!("adopted, {:?} left", guard.remaining());
    println!("{}", guard.release().blocking_wait()?);
    Ok(())
}
