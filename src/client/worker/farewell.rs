//! The end of the thread: everything is given back, and nobody waits in vain.

use core::mem;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use super::{Command, Worker};
use crate::client::error::{Closed, KeepError, LockError, Refusal};
use crate::client::signal::Notice;
use crate::redlock::RequestError;

/// How often those who wait are looked after while the client shuts down.
const NAP: Duration = Duration::from_millis(20);

impl Worker {
    /// Gives everything back, for at most as long as was asked for.
    pub(super) fn shut_down(&mut self) -> io::Result<()> {
        // Nothing comes after these, which may ask for more time.
        self.commands.extend(self.inlet.queue.close());
        self.obey_all();
        self.is_stopping = true;
        let held: Vec<_> =
            self.entries.iter().map(|(id, entry)| (*id, Arc::clone(&entry.ticket))).collect();
        for (id, ticket) in held {
            self.wakers.extend(ticket.end(Notice::Closed));
            if self.engine.release(id) == Err(RequestError::NotHeld) {
                let _ = self.engine.cancel(id);
            }
            self.take_events();
        }
        let end = self.engine.now() + self.end_within.unwrap_or_default();
        loop {
            // Who has lost a lock, or waits for one, is told before the servers are waited for.
            self.hand_out()?;
            let left = end - self.engine.now();
            let is_done = self.engine.drain(left.min(NAP))?;
            self.inlet.done(is_done);
            self.take_events();
            if is_done || left.is_zero() {
                return Ok(());
            }
        }
    }

    /// Tells everybody who still waits that nobody will answer.
    fn close(&mut self) {
        let rest = self.inlet.queue.close();
        for command in mem::take(&mut self.commands).into_iter().chain(rest) {
            self.refuse(command);
        }
        for (_, entry) in mem::take(&mut self.entries) {
            self.wakers.extend(entry.ticket.end(Notice::Closed));
            self.complete(&entry.ticket.outcome, Err(LockError::Closed));
            if let Some(slot) = entry.extension {
                self.complete(&slot, Err(KeepError::Closed));
            }
            if let Some(slot) = entry.release {
                self.complete(&slot, Err(Closed));
            }
        }
        for (_, slot) in mem::take(&mut self.queries) {
            self.complete(&slot, Err(Refusal::Closed));
        }
        for slot in self.inlet.ended() {
            self.complete(&slot, self.inlet.is_done());
        }
        self.wake();
    }

    fn refuse(&mut self, command: Command) {
        match command {
            Command::Acquire(ticket) => self.complete(&ticket.outcome, Err(LockError::Closed)),
            Command::Extend { slot, .. } => self.complete(&slot, Err(KeepError::Closed)),
            Command::Release { slot: Some(slot), .. } => self.complete(&slot, Err(Closed)),
            Command::Query { slot, .. } => self.complete(&slot, Err(Refusal::Closed)),
            Command::Nodes(slot) => self.complete(&slot, Err(Refusal::Closed)),
            Command::Disown { slot, .. } => self.complete(&slot, Err(Refusal::Closed)),
            Command::Cancel(_)
            | Command::Watch(_)
            | Command::Shutdown(_)
            | Command::Release { slot: None, .. } => {}
        }
    }
}

/// However the thread ends, nobody waits for it in vain.
impl Drop for Worker {
    fn drop(&mut self) {
        self.close();
    }
}
