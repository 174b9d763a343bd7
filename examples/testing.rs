//! A test of your own code without a server: the masters run inside the test.
//!
//! ```text
//! cargo run --example testing --features embedded
//! ```
//!
//! In a real test suite, `main` would be a test function.

use std::time::Duration;

use redbolt::embedded::{Cluster, Memory};
use redbolt::{Client, LockError};

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
    let cluster = Cluster::start(3)?;
    let client = cluster.client()?;
    let other = cluster.client()?;

    assert!(run_once(&client, "nightly", || println!("working"))?);
    let guard = other.lock("nightly").wait(Duration::from_secs(5)).blocking_acquire()?;
    assert!(!run_once(&client, "nightly", || unreachable!("somebody else is at it"))?);
    println!("the keys of the second master: {}", cluster.node(1)?.keys().len());
    drop(guard);

    // One master hangs. Two of three are still a majority.
    cluster.node(0)?.pause();
    let guard = client.lock("weekly").wait(Duration::from_secs(5)).blocking_acquire()?;
    println!("weekly is held: {}", guard.is_held());

    // Two hang. The error says what became of the request at each of them.
    cluster.node(1)?.pause();
    let error = run_once(&client, "monthly", || unreachable!("no majority")).unwrap_err();
    println!("monthly: {error}");
    cluster.nodes().iter().for_each(|node| node.resume());

    // A crash of all masters, without persistence: a lock that is kept alive notices.
    let request = client.lock("leader").ttl(Duration::from_secs(1)).wait(Duration::from_secs(5));
    let leader = request.keep_alive_for(Duration::from_secs(60)).blocking_acquire()?;
    for node in cluster.nodes() {
        node.restart(Memory::Lost)?;
    }
    let notice = leader.lost().blocking_wait();
    println!("leader: {notice}");
    assert!(notice.is_lost());
    Ok(())
}
