//! Ada holds the lock and stands still for longer than the lock lasts. Ben takes the lock and
//! writes. Ada goes on where she was, and the storage refuses what she writes.

use std::error::Error;
use std::time::Duration;

use redbolt::{Client, Config, Fence, Guard};

use super::storage::{Storage, StorageError};

/// Short, because the story waits for the end of the first lock.
const TTL: Duration = Duration::from_millis(300);

/// For Ben, who works without a pause.
const LONG_TTL: Duration = Duration::from_secs(10);

const WAIT: Duration = Duration::from_secs(10);

pub(crate) fn tell(config: Config, storage: &dyn Storage) -> Result<(), Box<dyn Error>> {
    let (ada, ben) = (Client::new(config.clone())?, Client::new(config)?);

    let (guard_of_ada, fence_of_ada) = take(&ada, TTL)?;
    let seen_by_ada = storage.mark_and_read(fence_of_ada)?;
    println!("ada  has {fence_of_ada} and reads {seen_by_ada:?}");
    // A collector of garbage, a full disk, a laptop that is closed.
    guard_of_ada.lost().blocking_wait();

    let (guard_of_ben, fence_of_ben) = take(&ben, LONG_TTL)?;
    let seen_by_ben = storage.mark_and_read(fence_of_ben)?;
    println!("ben  has {fence_of_ben} and reads {seen_by_ben:?}");
    storage.write(fence_of_ben, "bread")?;
    println!("ben  has written");

    // Ada does not know yet. A look at `is_held` here would tell her; a look before the pause has
    // told her that all is well.
    match storage.write(fence_of_ada, "milk") {
        Err(StorageError::Late) => println!("ada  is refused: {}", StorageError::Late),
        Err(error) => return Err(error.into()),
        Ok(()) => return Err("ada has written late".into()),
    }
    let stored = storage.look()?;
    println!("the storage has {stored:?}");
    drop(guard_of_ben);
    ben.blocking_shutdown(Duration::from_secs(1));
    if stored == "bread" { Ok(()) } else { Err("ben's text is gone".into()) }
}

fn take(client: &Client, ttl: Duration) -> Result<(Guard, Fence), Box<dyn Error>> {
    let guard = client.lock("orders/42").ttl(ttl).wait(WAIT).fenced().blocking_acquire()?;
    let fence = guard.fence().ok_or("a request with `fenced` gives a number")?;
    Ok((guard, fence))
}
