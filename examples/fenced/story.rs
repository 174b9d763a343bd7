//! The older holder has the lock, and stands still for longer than the lock lasts. The newer holder
//! takes the lock and writes. The older one goes on with what it has read, and the storage refuses
//! what it writes.

use std::error::Error;
use std::time::Duration;

use redbolt::{Client, Config, Fence, Guard};

use super::storage::{Storage, StorageError};

/// Short, because the story waits for the end of the first lock.
const TTL: Duration = Duration::from_millis(300);

/// For the newer holder, which works without a pause.
const LONG_TTL: Duration = Duration::from_secs(10);

const WAIT: Duration = Duration::from_secs(10);

pub(crate) fn tell(config: Config, storage: &dyn Storage) -> Result<(), Box<dyn Error>> {
    let (older, newer) = (Client::new(config.clone())?, Client::new(config)?);

    let (older_guard, older_fence) = take(&older, TTL)?;
    let older_read = storage.mark_and_read(older_fence)?;
    println!("the older holder has {older_fence} and reads {older_read:?}");
    // A collector of garbage, a full disk, a laptop that is closed.
    older_guard.lost().blocking_wait();

    let (newer_guard, newer_fence) = take(&newer, LONG_TTL)?;
    let newer_read = storage.mark_and_read(newer_fence)?;
    println!("the newer holder has {newer_fence} and reads {newer_read:?}");
    storage.write(newer_fence, "bread")?;
    println!("the newer holder has written");

    // The older holder does not know yet. A look at `is_held` here would tell; a look before the
    // pause has told that all is well.
    match storage.write(older_fence, "milk") {
        Err(StorageError::Late) => println!("the older holder is refused: {}", StorageError::Late),
        Err(error) => return Err(error.into()),
        Ok(()) => return Err("the older holder has written late".into()),
    }
    let stored = storage.look()?;
    println!("the storage has {stored:?}");
    drop(newer_guard);
    newer.blocking_shutdown(Duration::from_secs(1));
    if stored == "bread" { Ok(()) } else { Err("the text of the newer holder is gone".into()) }
}

fn take(client: &Client, ttl: Duration) -> Result<(Guard, Fence), Box<dyn Error>> {
    let guard = client.lock("orders/42").ttl(ttl).wait(WAIT).fenced().blocking_acquire()?;
    let fence = guard.fence().ok_or("a request with `fenced` gives a number")?;
    Ok((guard, fence))
}
