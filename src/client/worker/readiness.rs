//! The callers who wait for the nodes, answered as soon as the nodes are ready or the time is over.

use core::mem;
use std::sync::Arc;

use super::Worker;
use crate::client::ready::{ReadyError, Wanted};
use crate::client::report::NodeReport;
use crate::net::callback;
use crate::time::Instant;

impl Worker {
    /// Answers the callers whose wait is over. Returns the next moment at which one is.
    pub(super) fn answer_settled(&mut self) -> Option<Instant> {
        if self.settling.is_empty() {
            return None;
        }
        let now = self.engine.now();
        let readiness = self.engine.readiness();
        let mut next = Instant::FAR_FUTURE;
        for mut waiter in mem::take(&mut self.settling) {
            if Arc::strong_count(&waiter.answer) == 1 {
                // The caller has dropped the wait, which may have been without end. The waker of a
                // task that polled is still there, and may drop the task.
                callback::discard(waiter.answer);
                continue;
            }
            let are_there = match waiter.wanted {
                Wanted::Quorum => readiness.is_quorate(),
                Wanted::All => readiness.ready == self.addresses.len(),
            };
            let until = waiter.settling.until(now, are_there);
            let is_tried = are_there && readiness.untried == 0;
            if !is_tried && now < until {
                next = next.min(until);
                self.settling.push(waiter);
            } else if are_there {
                self.complete(&waiter.answer, Ok(()));
            } else {
                let nodes = NodeReport::all(&self.engine, &self.addresses);
                let error = match waiter.wanted {
                    Wanted::Quorum => ReadyError::NoQuorum { need: readiness.need, nodes },
                    Wanted::All => ReadyError::NotAll { nodes },
                };
                self.complete(&waiter.answer, Err(error));
            }
        }
        Some(next).filter(|next| *next < Instant::FAR_FUTURE)
    }
}
