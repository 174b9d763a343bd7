//! What a child of the process tries with the engine of its parent.

use std::io;
use std::time::Duration;

use redbolt::OtherProcess;

use super::{Client, Stage};
use crate::client::{child, pause_between_children};
use crate::support::now;

/// How long the child listens to the sockets of its parent.
const LISTENS: Duration = Duration::from_millis(5);

impl Client {
    /// Splits the process if the time has come.
    pub(super) fn split(&mut self) {
        if now() < self.splits || self.order.is_clinging() {
            return;
        }
        self.splits = now() + pause_between_children(&mut self.rng);
        let held = self.requests.iter().filter(|(_, request)| request.stage == Stage::Held);
        let held: Vec<_> = held.map(|(lock, _)| *lock).collect();
        let (engine, ttl) = (&mut self.engine, self.order.max_ttl);
        child::bear(&self.log, self.order.client, |tell| {
            for lock in held {
                tell(("to look at a lock", !engine.is_held(lock)));
                tell(("to give a lock away", engine.disown(lock).is_err()));
                // Commands are only noted, and are refused at their first way out.
                _ = engine.extend(lock, ttl);
                tell(("to extend a lock", is_refused(engine.poll(Some(LISTENS)))));
                _ = engine.release(lock);
                tell(("to release a lock", is_refused(engine.poll(Some(LISTENS)))));
            }
            _ = engine.acquire("r0", ttl, ttl);
            tell(("to acquire a lock", is_refused(engine.poll(Some(LISTENS)))));
            _ = engine.query("r0");
            tell(("to ask for a holder", is_refused(engine.flush())));
            tell(("to drain", is_refused(engine.drain(LISTENS).map(drop))));
        });
    }
}

fn is_refused(result: io::Result<()>) -> bool {
    let error = result.err().and_then(io::Error::into_inner);
    error.is_some_and(|error| error.is::<OtherProcess>())
}
