//! Work of unknown length: renewals keep the lock, and the work stops when the lock is lost.
//!
//! ```text
//! cargo run --example keep_alive --features embedded
//! cargo run --example keep_alive -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```
//!
//! To see the warning and then the loss, stop a majority of the servers during the run.

mod common;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use redbolt::{Client, Config};

const TTL: Duration = Duration::from_secs(3);

/// The longest time to keep the lock. A holder that hangs must not hold for ever (S12).
const MAX_HOLD: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    common::run(example)
}

fn example(config: Config) -> Result<(), Box<dyn Error>> {
    let client = Client::new(config)?;
    client.on_node(|node| println!("{node}"))?;
    let request = client.lock("leader").ttl(TTL).wait(Duration::from_secs(5));
    let request = request.keep_alive_for(MAX_HOLD).warn_before(TTL / 3);
    // The client's own thread calls this closure: use it for a flag or a metric, not for work.
    let guard = request.on_lost(|reason| eprintln!("lost: {reason}")).blocking_acquire()?;
    let mut lost = guard.lost();
    let mut expiring = guard.expiring();
    println!("we lead");
    loop {
        // In place of a step of the work, this example waits for the loss of the lock.
        if let Some(notice) = lost.blocking_wait_timeout(Duration::from_millis(500)) {
            println!("we lead no more: {notice}");
            return Ok(());
        }
        if let Some(notice) = expiring.blocking_wait_timeout(Duration::ZERO) {
            let why =
                if notice.is_planned() { "the lock is near its end" } else { "renewals fail" };
            println!("{why}: time to save what there is");
            expiring = guard.expiring();
        }
        println!("{:?} left", guard.remaining());
    }
}
