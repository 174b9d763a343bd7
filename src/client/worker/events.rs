//! The events of the engine, passed on to the callers who wait for them.

use std::sync::Arc;

use super::Worker;
use crate::client::cause::LockErrorKind;
use crate::client::lock_error::{ClientClosed, NodeReasons};
use crate::client::notice::LockNoticeKind;
use crate::client::oneshot::Oneshot;
use crate::client::release::ReleaseReport;
use crate::client::sync::lock;
use crate::engine::reason;
use crate::redlock::{
    AcquireError, DrawError, Event, ExtendError, Fence, LockId, LostReason, NodeId, NodeOutcome,
    NodeState, ReleaseOutcome,
};
use crate::time::Instant;

impl Worker {
    pub(super) fn take_events(&mut self) {
        // The clock is read once for all locks that one read from the nodes has granted.
        let mut now = None;
        while let Some(event) = self.engine.next_event() {
            match event {
                Event::Acquired { lock, valid_until, fence } => {
                    let now = *now.get_or_insert_with(|| self.engine.now());
                    self.acquired(now, lock, valid_until, fence);
                }
                Event::AcquireFailed { lock, error } => self.acquire_failed(lock, error),
                Event::Extended { lock, valid_until } => {
                    let is_last = self.engine.end_reason(lock) == LostReason::MaxHold;
                    let Some(entry) = self.entry(lock) else { continue };
                    entry.ticket.set_last(is_last);
                    entry.ticket.extend(valid_until);
                    if let Some(answer) = entry.extension.take() {
                        self.complete(&answer, Ok(valid_until));
                    }
                }
                Event::Shortened { lock, valid_until } => {
                    let is_last = self.engine.end_reason(lock) == LostReason::MaxHold;
                    let Some(entry) = self.entry(lock) else { continue };
                    entry.ticket.set_last(is_last);
                    let wakers = entry.ticket.shorten(valid_until);
                    self.wakers.extend(wakers);
                }
                Event::ExtendFailed { lock, error } => self.extend_failed(lock, error),
                Event::Released { lock, outcome } => {
                    let answer = self.take_entry(lock).and_then(|entry| entry.release);
                    if let Some(answer) = answer {
                        self.released(&answer, outcome);
                    }
                }
                Event::Lost { lock, reason } => self.lost(lock, reason),
                Event::Expiring { lock, reason, .. } => {
                    let wakers = self.entry(lock).map(|entry| entry.ticket.warn(reason));
                    self.wakers.extend(wakers.unwrap_or_default());
                }
                Event::Queried { query, holder, .. } => {
                    if let Some(question) = self.queries.remove(&query) {
                        self.complete(&question.answer, Ok(*holder));
                    }
                }
                Event::Fenced { lock, fence } => {
                    if let Some(entry) = self.entry(lock) {
                        entry.ticket.set_fence(fence);
                        self.drawn(lock, Ok(fence));
                    }
                }
                Event::FenceFailed { lock, error } => self.draw_failed(lock, error),
                Event::Node(node) => self.tell(node),
            }
        }
    }

    fn acquired(&mut self, now: Instant, id: LockId, valid_until: Instant, fence: Option<Fence>) {
        let Some(entry) = self.entry(id) else { return };
        let ticket = Arc::clone(&entry.ticket);
        let order = &ticket.order;
        if let Some(token) = self.engine.peek_token(id) {
            // No other code sets the token.
            let _ = ticket.token.set(token);
        }
        if let Some(fence) = fence {
            ticket.set_fence(fence);
        }
        ticket.hold(valid_until);
        match ticket.outcome.complete(Ok(())) {
            Ok(waker) => {
                self.wakers.extend(waker);
                let wait = now - ticket.requested;
                self.wait.record(wait);
                self.engine.waited(wait);
            }
            Err(_) => {
                // Nobody waits for the lock any more.
                self.wakers.extend(ticket.end(LockNoticeKind::Released));
                let _ = self.engine.release(id);
                return;
            }
        }
        // Both settings were checked before, so only a lock that has ended already is refused here,
        // and its end has an event of its own.
        if let Some(max_hold) = order.max_hold {
            let _ = self.engine.keep_alive(id, order.ttl, max_hold);
            ticket.set_last(self.engine.end_reason(id) == LostReason::MaxHold);
        }
        if !order.ahead.is_zero() {
            let _ = self.engine.warn(id, order.ahead);
        }
    }

    fn released(
        &mut self,
        answer: &Oneshot<Result<ReleaseReport, ClientClosed>>,
        outcome: ReleaseOutcome,
    ) {
        let is_out = |id: &NodeId| {
            self.engine.node(*id).is_none_or(|status| status.state != NodeState::Ready)
        };
        let out = outcome.unconfirmed.into_iter().filter(is_out).collect();
        let report = ReleaseReport::new(outcome, out, Arc::clone(&self.addresses));
        self.complete(answer, Ok(report));
    }

    fn acquire_failed(&mut self, id: LockId, error: AcquireError) {
        let Some(entry) = self.take_entry(id) else { return };
        let order = &entry.ticket.order;
        let error = if self.is_stopping {
            order.error(LockErrorKind::Closed(None))
        } else {
            let nodes = self.node_reasons(&error.at_nodes());
            order.error(LockErrorKind::Acquire(error)).with_nodes(nodes)
        };
        self.complete(&entry.ticket.outcome, Err(error));
    }

    fn extend_failed(&mut self, id: LockId, error: ExtendError) {
        let Some(entry) = self.entry(id) else { return };
        let Some(answer) = entry.extension.take() else { return };
        let ticket = Arc::clone(&entry.ticket);
        let nodes = self.node_reasons(&error.at_nodes());
        let error = ticket.order.error(LockErrorKind::Extend(error)).with_nodes(nodes);
        self.complete(&answer, Err(error));
    }

    fn draw_failed(&mut self, id: LockId, error: DrawError) {
        let Some(entry) = self.entry(id) else { return };
        let ticket = Arc::clone(&entry.ticket);
        let nodes = self.node_reasons(&error.at_nodes());
        let error = ticket.order.error(LockErrorKind::Draw(error)).with_nodes(nodes);
        self.drawn(id, Err(error));
    }

    /// Returns the addresses of the nodes for an error, and what is wrong with each node that has
    /// neither agreed nor refused.
    fn node_reasons(&self, outcomes: &[(NodeId, NodeOutcome)]) -> NodeReasons {
        let mut reasons = Vec::new();
        for (node, outcome) in outcomes {
            // Where somebody else holds the lock, nothing is wrong and nothing is allocated.
            let text = |status| reason(*outcome, &status, &self.addresses);
            let found = self.engine.node(*node).map(text);
            if let Some(text) = found.filter(|text| !text.is_empty()) {
                reasons.resize(reasons.len().max(node.index()), String::new());
                reasons.push(text);
            }
        }
        NodeReasons { addresses: Arc::clone(&self.addresses), reasons }
    }

    fn lost(&mut self, id: LockId, reason: LostReason) {
        let Some(entry) = self.take_entry(id) else { return };
        // There may be little time left: the wakers of this lock are called before all others, and
        // now instead of at the end of the turn.
        for waker in entry.ticket.end(LockNoticeKind::Lost(reason)) {
            self.wakers.push_front(waker);
        }
        self.wake();
        let call = lock(&entry.ticket.order.on_lost).take();
        if let Some(call) = call {
            let notice = entry.ticket.order.notice(LockNoticeKind::Lost(reason));
            self.call_on_lost(call, notice);
        }
    }
}
