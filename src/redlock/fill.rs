//! Fill-in and repair: nodes that miss the key of a held lock are given it, so that the lock does
//! not hang on a bare quorum.
//!
//! A node can miss it because it was not there, or in quarantine (S11), or still had another's key
//! when it was asked, or came back empty. It gets the key by `SET … NX`, as long as a majority
//! confirms us, and never after the validity. No vote comes of it: only an extension later on,
//! within the validity, counts what stands there, as for any other node (S7).
//!
//! A node whose connection died with our `SET` on its way is left alone: a refusal of it could mean
//! our own key.

use super::attempt::Vote;
use super::command::Form;
use super::lock::Phase;
use super::machine::Redlock;
use super::millis::Millis;
use super::nodes::{NodeId, NodeSet};
use super::pipeline::{Expected, What};
use super::sabotage::Saboteur;
use crate::time::Instant;

impl Redlock {
    /// Sends the key of a held lock to the nodes that miss it and can take it now.
    pub(super) fn fill_in(&mut self, now: Instant, slot: u32) {
        let lock = &self.table[slot];
        let missing = self.nodes().without(lock.known_to());
        if missing.is_empty() || !self.config.fill_in || now >= lock.valid_until {
            return;
        }
        let worth = |id: &NodeId| {
            let node = &self.nodes[id.index()];
            node.is_ready()
                && node.pipeline.len() < self.config.max_pipeline
                && !node.is_unhealthy()
                && !node.is_stalled(now)
        };
        let missing: NodeSet = missing.into_iter().filter(worth).collect();
        if missing.is_empty() {
            return;
        }
        let ttl = self.rest_of(now, slot);
        let (serial, is_set) = (lock.serial, lock.keys > 1);
        let what = if is_set { What::FillAll(Form::Sha) } else { What::Fill };
        self.encode_set_command(slot, Form::Sha, ttl);
        for id in missing {
            let node = &mut self.nodes[id.index()];
            node.outbox.buffer().extend_from_slice(&self.scratch);
            node.pipeline.push(Expected { what, slot, serial, sent: now });
            node.counters.filled += 1;
        }
        let lock = &mut self.table[slot];
        lock.owed += missing.len() as u32;
        // From now on the token may exist there: a release goes there as well (S5).
        lock.exists = lock.exists.union(missing);
        lock.filling = lock.filling.union(missing);
    }

    /// The ttl of a key that is given to a node later than to the others.
    pub(super) fn rest_of(&self, now: Instant, slot: u32) -> Millis {
        let left = self.table[slot].valid_until - now;
        Millis::of(left + self.config.drift.of(left))
    }

    /// A node answered a fill-in. Once the lock is given up, its release is behind on the same
    /// connection already.
    pub(super) fn handle_fill(&mut self, now: Instant, id: NodeId, request: Expected, vote: Vote) {
        let slot = request.slot;
        let lock = &mut self.table[slot];
        lock.owed -= 1;
        if lock.phase == Phase::Held && lock.serial == request.serial {
            lock.filling.remove(id);
            match vote {
                Vote::Granted if self.config.is_sabotaged(Saboteur::FillCounts) => {
                    lock.round.agreed.insert(id);
                }
                Vote::Granted | Vote::Unclear => {}
                Vote::Refused | Vote::Failed => {
                    lock.exists.remove(id);
                    self.try_later(now, slot);
                }
            }
            self.count_extension(slot, now);
        }
        self.recycle(slot);
    }

    /// The connection died with a fill-in on its way: the token may come to exist (S6).
    pub(super) fn orphan_fill(&mut self, now: Instant, id: NodeId, request: Expected) {
        let lock = &mut self.table[request.slot];
        lock.owed -= 1;
        let may_exist = matches!(lock.phase, Phase::Held | Phase::Lapsing);
        if may_exist && lock.serial == request.serial {
            lock.filling.remove(id);
            lock.exists.remove(id);
            lock.ghosts.insert(id);
            self.show_to_others(now, request.slot);
        }
        self.recycle(request.slot);
    }
}
