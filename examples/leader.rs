//! One of several processes leads. Here two candidates are tasks of one process, each with a client
//! of its own, and lead for two terms each.
//!
//! ```text
//! cargo run --example leader --features embedded
//! cargo run --example leader -- 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 --new
//! ```
//!
//! A term ends before `max_hold` does, and the leader gives the lead back: that is planned, and no
//! reason for an alarm. To see a leader step down at once, stop a majority of the servers during
//! the run.

mod common;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use redbolt::{Client, Clock, Config, Guard};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// How long the others wait for a leader whose process has died.
const TTL: Duration = Duration::from_secs(3);

/// The longest time to lead. A leader that hangs must not lead for ever (S12).
const MAX_HOLD: Duration = Duration::from_secs(30);

/// The time after which a leader steps down, with room for one more step before `MAX_HOLD`.
const TERM: Duration = Duration::from_millis(300);

/// How long one request waits for the lead. The next request follows.
const WAIT: Duration = Duration::from_secs(5);

/// The pause before a candidate stands again, so that another one gets the lead.
const PAUSE: Duration = Duration::from_millis(250);

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
    let mut terms = 0;
    while terms < 2 {
        let request = client.lock("leader").ttl(TTL).wait(WAIT).keep_alive_for(MAX_HOLD);
        match request.await {
            Ok(guard) => {
                terms += 1;
                lead(name, guard, &leaders).await?;
            }
            // Somebody else has led all the time. This is what most candidates see.
            Err(error) if error.is_contended() => {}
            Err(error) => eprintln!("{name} cannot stand: {error}"),
        }
        sleep(PAUSE).await;
    }
    println!("{name} is done: {}", client.shutdown(Duration::from_secs(1)).await);
    Ok(())
}

/// Leads until the term is over or the lock is lost.
async fn lead(name: &str, guard: Guard, leaders: &AtomicUsize) -> Result<(), AnyError> {
    println!("{name} leads");
    if leaders.fetch_add(1, Ordering::SeqCst) > 0 {
        return Err("two lead at once".into());
    }
    tokio::select! {
        biased;
        // The work is dropped where it waits, and its next step never begins.
        _ = guard.lost() => {}
        () = work(name, &guard) => {}
    }
    leaders.fetch_sub(1, Ordering::SeqCst);
    if guard.is_held() {
        // The end that was planned. The next leader need not wait for the ttl.
        guard.release().await?;
        println!("{name} steps down");
    } else {
        let end = guard.lost().await;
        if end.is_planned() {
            // A work that takes longer than the lock may be held.
            println!("{name} has led for long: {end}");
        } else {
            eprintln!("ALARM: {name} leads no more: {end}");
        }
    }
    Ok(())
}

/// What only the leader does, step by step, until the term is over.
async fn work(name: &str, guard: &Guard) {
    let begin = Clock::now();
    // A task can be late, and so can a signal. The clock is not.
    while Clock::now() - begin < TERM && guard.is_held() {
        println!("{name} has the lead for another {:?}", guard.remaining());
        sleep(TERM / 3).await;
    }
}
