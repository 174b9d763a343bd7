//! The callers who wait for the nodes, answered as soon as the nodes are ready or the time is over.

use core::mem;
use std::sync::Arc;

use super::Worker;
use crate::client::ready::ReadyError;
use crate::client::report::NodeReport;
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
        for (mut settling, answer) in mem::take(&mut self.settling) {
            if Arc::strong_count(&answer) == 1 {
                // The caller has dropped the wait, which may have been without end.
                continue;
            }
            let until = settling.until(now, readiness.is_quorate());
            let is_tried = readiness.is_quorate() && readiness.untried == 0;
            if !is_tried && now < until {
                next = next.min(until);
                self.settling.push((settling, answer));
            } else if readiness.is_quorate() {
                self.complete(&answer, Ok(()));
            } else {
                let nodes = NodeReport::all(&self.engine, &self.addresses);
                let error = ReadyError::NoQuorum { need: readiness.need, nodes };
                self.complete(&answer, Err(error));
            }
        }
        Some(next).filter(|next| *next < Instant::FAR_FUTURE)
    }
}
