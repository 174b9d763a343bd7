//! Repair: nodes that lack the key of a held lock are given the key, so that the lock does not hang
//! on a bare quorum.
//!
//! A node can lack the key for several reasons: the node was not there, was in quarantine (S11),
//! still had the key of another owner, or came back empty. Such a node gets the key by `SET … NX`,
//! only while a majority confirms the lock, and never after the validity. The answer is no vote. A
//! later extension counts the node, as any other, if the key stands there within the validity (S7).
//!
//! A node whose connection died with our `SET` on its way is left alone: its refusal could mean our
//! own key.

use super::Redlock;
use crate::redlock::millis::Millis;
use crate::redlock::node::batch::Flush;
use crate::redlock::node::request::{Expected, Intent, Request, SetRequest};
use crate::redlock::node_set::{NodeId, NodeSet};
#[cfg(redbolt_sabotage)]
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::answer::Vote;
use crate::time::Instant;

impl Redlock {
    /// Sends the key of a held lock to the nodes that lack the key and can take it now.
    pub(super) fn repair(&mut self, now: Instant, slot: u32) {
        self.repair_at(now, slot, self.nodes());
    }

    /// Does the same for those of `nodes` that lack the key.
    pub(super) fn repair_at(&mut self, now: Instant, slot: u32, nodes: NodeSet) {
        let lock = &self.table[slot];
        let missing = nodes.without(lock.presence.anywhere());
        if missing.is_empty() || !self.config.repair || now >= lock.valid_until {
            return;
        }
        let is_set = lock.is_set();
        let can_take = |id: &NodeId| {
            let node = &self.nodes[*id];
            node.can_take(now) && (!is_set || node.runs_scripts())
        };
        let missing: NodeSet = missing.into_iter().filter(can_take).collect();
        if missing.is_empty() {
            return;
        }
        let ttl = self.repair_ttl(now, slot);
        let serial = lock.serial;
        let form = lock.set_form();
        let request = Request::Set(SetRequest { slot, serial, intent: Intent::Repair, form });
        self.encode_set_command(slot, form, ttl);
        for id in missing {
            // The release of a lock before can wait on any node.
            self.flush_batch(now, id, Flush::Now);
            let node = &mut self.nodes[id];
            node.send(&self.scratch, Expected { request, sent: now });
            node.counters.repaired += 1;
        }
        self.table[slot].begin_repair(missing);
    }

    /// Returns the ttl of a key that a node gets later than the others.
    pub(super) fn repair_ttl(&self, now: Instant, slot: u32) -> Millis {
        let left = self.table[slot].valid_until - now;
        Millis::of(left + self.config.drift.of(left))
    }

    /// Handles the answer of a node to a repair. If the lock was given up meanwhile, its release is
    /// behind the `SET` on the same connection already.
    pub(super) fn handle_repair(
        &mut self,
        now: Instant,
        id: NodeId,
        request: SetRequest,
        vote: Vote,
    ) {
        let slot = request.slot;
        if self.table[slot].repaired(id, request.serial, vote) {
            #[cfg(redbolt_sabotage)]
            if vote == Vote::Granted && self.config.is_sabotaged(Saboteur::RepairCounts) {
                self.table[slot].forge_answer(id);
            }
            if matches!(vote, Vote::Refused | Vote::Failed) {
                self.repair_later(now, slot);
            }
            self.count_extension(slot, now);
        }
        self.recycle(slot);
    }
}
