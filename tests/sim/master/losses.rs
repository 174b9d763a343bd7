//! What costs a master its keys: a restart, another process under its name, an eviction.

use super::Node;
use crate::chance::Chance;
use crate::former::Former;
use crate::names;
use crate::store::Store;

impl Node {
    /// Lets a new process take over at `up_at`, with the keys or without.
    pub(crate) fn restart(&mut self, now: u64, up_at: u64, keeps_keys: bool) {
        self.down_until = up_at;
        (self.stalled_until, self.face.mood_until) = (0, 0);
        self.face.begin_process(self.clock.show(up_at));
        if self.face.is_durable {
            return;
        }
        self.suspect_at = up_at;
        if !keeps_keys {
            self.forget(now);
        }
    }

    /// Lets another process take over the name: an empty one that has run for as long.
    pub(crate) fn be_spared(&mut self, now: u64, chance: &mut Chance) {
        self.drop_links(now, chance.one_in(2), chance);
        self.face.be_replaced_by_spare();
        (self.stalled_until, self.face.mood_until) = (0, 0);
        self.suspect_at = now;
        self.forget(now);
    }

    /// Lets the name move to the process that had it before, or to a spare. Two moves are at least
    /// `apart` from each other.
    pub(crate) fn move_name(&mut self, now: u64, apart: u64, chance: &mut Chance) {
        if self.face.is_durable || now < self.moved_at + apart {
            return;
        }
        self.moved_at = now;
        let spare = || Box::new(Former::spare(&self.face, now));
        let mut other = self.former.take().unwrap_or_else(spare);
        self.drop_links(now, chance.one_in(2), chance);
        other.swap(&mut self.store, &mut self.strangers, &mut self.face);
        // The one that comes back lacks the votes that the other gave in between.
        let lacks = other.suspect_at.max(self.granted_at);
        other.suspect_at = self.suspect_at;
        (self.suspect_at, self.forgot_at) = (lacks, lacks);
        self.lost_numbers = true;
        self.former = Some(other);
    }

    /// Lets a new process take over at `up_at`, with an older file: the witness is there, and no
    /// lock is.
    pub(crate) fn restore(&mut self, now: u64, up_at: u64) {
        let at = self.clock.show(now);
        for key in (0..names::COUNT).flat_map(names::both_keys) {
            self.store.delete(0, key, at);
        }
        self.restart(now, up_at, true);
        self.forgot_at = now;
    }

    /// Deletes all keys, and nothing else.
    pub(crate) fn forget(&mut self, now: u64) {
        self.store = Store::empty();
        self.strangers.forget();
        (self.forgot_at, self.lost_numbers) = (now, true);
    }

    /// Deletes some locks. Returns how many.
    ///
    /// The witness stays: a master that runs out of memory evicts keys with a ttl, and a replica
    /// lacks what was written last.
    pub(crate) fn evict(&mut self, now: u64, chance: &mut Chance) -> u64 {
        self.forgot_at = now;
        let at = self.clock.show(now);
        let mut evicted = 0;
        for resource in 0..names::COUNT {
            if chance.one_in(2) {
                for key in names::both_keys(resource) {
                    evicted += u64::from(self.store.delete(0, key, at));
                }
            }
        }
        evicted
    }
}
