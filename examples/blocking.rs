//! Threads that take turns: each works in three steps while it holds the lock.
//!
//! ```text
//! cargo run --example blocking --features embedded
//! cargo run --example blocking -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```

mod common;

use std::error::Error;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use redbolt::{Client, Config, LockError};

fn main() -> ExitCode {
    common::run(example)
}

fn example(config: Config) -> Result<(), Box<dyn Error>> {
    let client = Client::new(config)?;
    let threads: Vec<_> = (1..=4)
        .map(|number| {
            let client = client.clone();
            thread::spawn(move || turn(&client, number))
        })
        .collect();
    for thread in threads {
        match thread.join() {
            Ok(result) => result?,
            Err(_) => return Err("a thread panicked".into()),
        }
    }
    // The last releases have one second to arrive.
    println!("{}", client.blocking_shutdown(Duration::from_secs(1)));
    Ok(())
}

fn turn(client: &Client, number: u32) -> Result<(), LockError> {
    let request = client.lock("report").ttl(Duration::from_secs(10)).wait(Duration::from_secs(5));
    let guard = request.blocking_acquire()?;
    // Work that must not happen twice checks the lock before every step.
    for step in 1..=3 {
        if !guard.is_held() {
            println!("thread {number}: the lock has run out before step {step}");
            break;
        }
        println!("thread {number}: step {step}, {:?} left", guard.remaining());
    }
    // The guard is dropped here, which releases the lock. A panic drops the guard as well.
    Ok(())
}
