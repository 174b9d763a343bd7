//! A new fencing number for a lock that is held (S13): for one that was adopted, or was requested
//! without a number.

use super::Redlock;
use super::line::Needs;
use crate::redlock::error::DrawError;
use crate::redlock::event::{Event, LockId};
use crate::redlock::fence::Fence;
use crate::redlock::lock::Phase;
use crate::redlock::lock::votes::Votes;
use crate::redlock::node::request::{Intent, SetRequest};
use crate::redlock::node_set::NodeId;
use crate::redlock::request_error::RequestError;
use crate::redlock::wire::command::{Call, SetForm};
use crate::redlock::wire::fencing::{Drawn, Fencing};
use crate::time::Instant;

impl Redlock {
    /// Draws a new fencing number for a held lock (S13): larger than all numbers that anybody has
    /// got before for the resource. A lock that was requested without a number gets one. The former
    /// owner of a lock that was adopted is shut out as soon as this number is in the storage.
    ///
    /// The request ends in one [`Event::Fenced`] or [`Event::FenceFailed`], or with the lock: in
    /// [`Event::Released`] or [`Event::Lost`]. After a failure the lock keeps the number that it
    /// has. A node that does not answer delays the end for no longer than
    /// [`close_timeout`](crate::redlock::RedlockConfig::close_timeout).
    ///
    /// The cost: one script call on each node that may have the token, and a second one where the
    /// numbers of a quorum differ.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError::NotHeld`] and [`RequestError::UnknownLock`] as
    /// [`release`](Self::release) does, [`RequestError::DrawPending`] while another draw is under
    /// way, and [`RequestError::Full`] if too many events wait to be taken.
    pub fn draw_fence(&mut self, now: Instant, lock: LockId) -> Result<(), RequestError> {
        let slot = self.find_held(now, lock)?;
        if self.table.draws(slot).is_some_and(|draws| draws.asked.is_some()) {
            return Err(RequestError::DrawPending);
        }
        if self.has_unread_events() {
            return Err(RequestError::Full { max: self.config.max_locks });
        }
        self.give_to_spare(now, slot);
        let nodes = self.table[slot].presence.anywhere();
        let can_draw = |id: &NodeId| self.nodes[*id].has_room_to_draw(&self.config);
        let nodes = nodes.into_iter().filter(can_draw).collect();
        let (nodes, serial) = (self.fit_quorum(now, nodes), self.next_serial());
        let proposal = self.propose(now, slot);
        self.table.expect_draws(slot).begin_held(now, proposal, serial, nodes);
        self.encode_fencing(slot, Call::Sha, Fencing::Draw { proposal });
        let form = SetForm::Fenced(Call::Sha);
        self.send_question(now, nodes, SetRequest { slot, serial, intent: Intent::Draw, form });
        self.count_draws(now, slot);
        Ok(())
    }

    /// Handles the answer of a node that was asked to draw for a lock that is held.
    pub(super) fn handle_draw(
        &mut self,
        now: Instant,
        id: NodeId,
        request: SetRequest,
        drawn: Drawn,
    ) {
        let SetRequest { slot, serial, .. } = request;
        let drawn = self.settle_question(now, id, request, drawn);
        let is_held = self.table[slot].phase == Phase::Held;
        let draws = self.table.draws_mut(slot).filter(|_| is_held);
        let late = draws.and_then(|draws| {
            let is_current = draws.answered(id, serial, drawn);
            let late = match drawn {
                Drawn::Number(fence) if is_current => draws.raise_late(id, fence),
                _ => None,
            };
            is_current.then_some(late)
        });
        if let Some(late) = late {
            if let Some((serial, number)) = late {
                let nodes = core::iter::once(id).collect();
                self.send_raise(now, nodes, slot, serial, number);
            }
            self.count_draws(now, slot);
        }
        self.recycle(slot);
    }

    /// Reports the number that was drawn for a lock that is held.
    pub(super) fn drawn(&mut self, slot: u32, fence: Fence) {
        let lock = self.table.id(slot);
        if let Some(draws) = self.table.draws_mut(slot) {
            (draws.fence, draws.asked) = (Some(fence), None);
        }
        self.emit(Event::Fenced { lock, fence });
    }

    /// Ends a draw for a lock that is held. The lock keeps the number that it has, if any.
    pub(super) fn draw_failed(&mut self, now: Instant, slot: u32) {
        let lock = self.table.id(slot);
        let asked = self.table.draws_mut(slot).and_then(|draws| draws.asked.take());
        let votes = asked.map_or_else(Votes::default, |asked| asked.votes);
        let error = DrawError::NoQuorum(self.outcomes(now, &votes, Needs::Fences));
        self.emit(Event::FenceFailed { lock, error });
    }
}
