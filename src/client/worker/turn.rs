//! The loop of the worker.
//!
//! In one turn the worker takes the commands, hands them to the engine, writes, wakes the callers
//! whose results are there, and sleeps until something happens. Results are handed out after the
//! write, so that the servers work while threads wake up.

use core::time::Duration;
use std::io;

use super::Worker;
use crate::client::failure::ClientFailure;

/// The maximum number of times in a row that the mailbox is emptied before the servers get their
/// turn.
const MAX_TAKES: usize = 4;

impl Worker {
    /// Works until the thread is told to stop, or the system fails. Then every waiting caller is
    /// told.
    pub(in crate::client) fn run(mut self) {
        while !self.is_stopping {
            if let Err(error) = self.turn() {
                // No node can cause such an error. Dropping the worker closes everything.
                self.end.set_failure(ClientFailure::System(error.kind()));
                return;
            }
        }
    }

    fn turn(&mut self) -> io::Result<()> {
        self.take_events();
        self.hand_out()?;
        let mut may_sleep = false;
        for _ in 0..MAX_TAKES {
            self.mailbox.take(&mut self.spare);
            if self.spare.is_empty() {
                // Only a thread that has found the mailbox empty may sleep.
                may_sleep = true;
                break;
            }
            self.commands.extend(self.spare.drain(..));
            self.run_commands();
            if self.end_within.is_some() {
                return self.shut_down();
            }
            self.hand_out()?;
        }
        // Also when the mailbox is never empty: a wait ends in time under any load.
        let next = self.answer_settled();
        self.wake();
        let until_next = next.map(|at| at - self.engine.now());
        self.engine.turn(if may_sleep { until_next } else { Some(Duration::ZERO) })?;
        self.mailbox.woke_up();
        Ok(())
    }
}
