//! The engine alone, in a thread with one task: acquire a lock, work, release the lock.
//!
//! ```text
//! cargo run --example engine --features embedded
//! cargo run --example engine -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```

mod common;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use redbolt::{Config, Engine, Event, LockId};

const TTL: Duration = Duration::from_secs(10);
const WAIT: Duration = Duration::from_secs(2);

/// The time that the last releases have to arrive.
const GOODBYE: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    common::run(example)
}

fn example(config: Config) -> Result<(), Box<dyn Error>> {
    let mut engine = Engine::new(config)?;
    let lock = engine.acquire("orders/42", TTL, WAIT)?;
    loop {
        engine.poll(None)?;
        while let Some(event) = engine.next_event() {
            match event {
                Event::Acquired { .. } => {
                    work(&engine, lock);
                    engine.release(lock)?;
                }
                Event::AcquireFailed { error, .. } => {
                    // Failed attempts can leave keys on nodes. Draining lets their releases arrive.
                    engine.drain(GOODBYE)?;
                    return Err(error.into());
                }
                Event::Lost { reason, .. } => return Err(reason.to_string().into()),
                Event::Released { outcome, .. } => {
                    // A quorum no longer has the lock. The other nodes answer during the drain.
                    println!("released, confirmed by {} nodes so far", outcome.released.len());
                    engine.drain(GOODBYE)?;
                    return Ok(());
                }
                Event::Node(node) => {
                    let (address, status) = (engine.address(node), engine.node(node));
                    if let (Some(address), Some(status)) = (address, status) {
                        println!("{address}: {status}");
                    }
                }
                _ => {}
            }
        }
    }
}

/// Works, and checks the lock before every step that must not happen twice.
fn work(engine: &Engine, lock: LockId) {
    for step in 1..=3 {
        if !engine.is_held(lock) {
            println!("the lock has run out before step {step}");
            return;
        }
        println!("step {step}, {:?} left", engine.remaining(lock));
    }
}
