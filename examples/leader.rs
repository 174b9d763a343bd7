//! One of several processes leads. Here two candidates are tasks of one process, each with a client
//! of its own, and lead for two terms each.
//!
//! ```text
//! cargo run --example leader --features embedded
//! cargo run --example leader -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```
//!
//! A term ends before `max_hold` does, and the leader gives the lead back: that is planned, and no
//! reason for an alarm. To see a leader that loses the lead, make `TERM` 20 s and stop a majority
//! of the servers during a term: the alarm comes within `TTL`.

mod common;

use std::error::Error;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use redbolt::{Client, Clock, Config, Leadership};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// How long the others wait for a leader whose process has died.
const TTL: Duration = Duration::from_secs(3);

/// The longest time to lead. A leader that hangs must not lead for ever (S12).
const MAX_HOLD: Duration = Duration::from_secs(30);

/// The time after which a leader steps down, with room for one more step before `MAX_HOLD`.
const TERM: Duration = Duration::from_millis(300);

/// The pause before a candidate stands again, so that another one gets the lead.
const PAUSE: Duration = Duration::from_millis(250);

/// The time after which a candidate says that it waits.
const LONG: Duration = Duration::from_secs(5);

type AnyError = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    common::run(example)
}

pub(crate) fn example(config: Config) -> Result<(), Box<dyn Error>> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    runtime.block_on(elect(config)).map_err(|error| error as Box<dyn Error>)
}

async fn elect(config: Config) -> Result<(), AnyError> {
    let leaders = Arc::new(AtomicUsize::new(0));
    let mut candidates = JoinSet::new();
    for name in ["first", "second"] {
        let client = Client::new(config.clone())?;
        candidates.spawn(stand(name, client, Arc::clone(&leaders)));
    }
    while let Some(result) = candidates.join_next().await {
        result??;
    }
    Ok(())
}

/// Stands for the lead again and again. A service does so until the service ends.
async fn stand(name: &str, client: Client, leaders: Arc<AtomicUsize>) -> Result<(), AnyError> {
    let campaign = client.campaign("leader").ttl(TTL).max_hold(MAX_HOLD);
    for _ in 0..2 {
        // Waits for as long as others lead, or too few nodes are there. An error means that a
        // setting is out of bounds, that the client was shut down, or that it is overloaded.
        let mut election = pin!(campaign.elect());
        let leadership = tokio::select! {
            leadership = &mut election => leadership?,
            () = sleep(LONG) => {
                println!("{name} waits: somebody else leads, or too few nodes can vote");
                election.await?
            }
        };
        lead(name, leadership, &leaders).await?;
        sleep(PAUSE).await;
    }
    println!("{name} is done: {}", client.shutdown(Duration::from_secs(1)).await);
    Ok(())
}

/// Leads until the term is over or the lead is lost.
async fn lead(name: &str, leadership: Leadership, leaders: &AtomicUsize) -> Result<(), AnyError> {
    println!("{name} leads");
    if leaders.fetch_add(1, Ordering::SeqCst) > 0 {
        return Err("two lead at once".into());
    }
    tokio::select! {
        biased;
        // The work is dropped where it waits, and its next step never begins.
        _ = leadership.lost() => {}
        () = work(name, &leadership) => {}
    }
    leaders.fetch_sub(1, Ordering::SeqCst);
    if leadership.is_leader() {
        // The end that was planned. The next leader need not wait for the ttl.
        leadership.resign().await?;
        println!("{name} steps down");
    } else {
        let end = leadership.lost().await;
        if end.is_planned() {
            // A work that takes longer than a term may.
            println!("{name} has led for long: {end}");
        } else {
            eprintln!("ALARM: {name} leads no more: {end}");
        }
    }
    Ok(())
}

/// What only the leader does, step by step, until the term is over.
async fn work(name: &str, leadership: &Leadership) {
    let begin = Clock::now();
    // A task can be late, and so can a signal. The clock is not.
    while Clock::now() - begin < TERM && leadership.is_leader() {
        println!("{name} has the lead for another {:?}", leadership.remaining());
        sleep(TERM / 3).await;
    }
}
