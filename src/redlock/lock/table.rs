//! All locks of an engine, by slot, by id and by resource.
//!
//! Slots are created as they are needed up to `max_locks` and used again for ever, so that an
//! engine that has warmed up allocates nothing. The index by resource is a hash table whose chains
//! run through the slots themselves. The first lock of each resource is in it, and the others stand
//! in line behind that one. A lock that is on its way out stays in it until its slot is vacated,
//! because its release may not have left for every node.

use core::hash::Hasher;
use core::ops::{Index, IndexMut};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;

use super::{Links, Lock, NONE, Phase};
use crate::redlock::bounds::MAX_RESOURCE;
use crate::redlock::event::LockId;
use crate::redlock::token::{Nonce, Token};
use crate::redlock::wire::keys::Names;

pub(crate) struct Table {
    slots: Vec<Lock>,
    free: Vec<u32>,
    /// One more than the first slot of each chain, or 0: fresh memory is an empty table.
    buckets: Box<[u32]>,
    /// Kept from whoever chooses the resources, so that nobody can aim at one chain.
    seed: u64,
    max_locks: usize,
    /// How many slots are in the phase `Draining`.
    ended: usize,
    /// Tokens that were handed over, by slot. They are few.
    adopted: HashMap<u32, Token>,
}

impl Index<u32> for Table {
    type Output = Lock;

    #[inline]
    fn index(&self, slot: u32) -> &Lock {
        &self.slots[slot as usize]
    }
}

impl IndexMut<u32> for Table {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Lock {
        &mut self.slots[slot as usize]
    }
}

impl Table {
    pub(crate) fn new(max_locks: usize, seed: u64) -> Self {
        Self {
            slots: Vec::with_capacity(max_locks),
            free: Vec::with_capacity(max_locks),
            buckets: vec![0; max_locks.next_power_of_two()].into_boxed_slice(),
            seed,
            max_locks,
            ended: 0,
            adopted: HashMap::new(),
        }
    }

    /// How many slots are in use.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= self.max_locks
    }

    /// Whether slots are taken by locks that have ended.
    pub(crate) fn has_ended_locks(&self) -> bool {
        self.ended > 0
    }

    /// One more lock has ended, whose slot is yet to be vacated.
    pub(crate) fn count_ended(&mut self) {
        self.ended += 1;
    }

    /// The slot of a lock that has not ended.
    pub(crate) fn find(&self, id: LockId) -> Option<u32> {
        let slot = self.slot_of(id)?;
        let ended = matches!(self[slot].phase, Phase::Free | Phase::Lapsing | Phase::Draining);
        (!ended).then_some(slot)
    }

    /// The slot of a lock, which may have ended, as long as nobody else has it.
    pub(crate) fn slot_of(&self, id: LockId) -> Option<u32> {
        let lock = self.slots.get(id.slot as usize)?;
        (lock.generation == id.generation).then_some(id.slot)
    }

    pub(crate) fn id(&self, slot: u32) -> LockId {
        LockId { slot, generation: self[slot].generation }
    }

    /// Takes a slot that nobody uses. The caller has looked whether the table is full.
    pub(crate) fn claim(&mut self) -> u32 {
        debug_assert!(!self.is_full());
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        self.slots.push(Lock::free());
        (self.slots.len() - 1) as u32
    }

    /// Gives a slot back.
    pub(crate) fn vacate(&mut self, slot: u32) {
        self.ended -= usize::from(self[slot].phase == Phase::Draining);
        let lock = &mut self[slot];
        let is_named = lock.owed > 0 || lock.place.is_taken();
        assert!(!is_named, "a slot that is still named must not be reused");
        if lock.links.is_indexed {
            self.unlink(slot);
        }
        if self[slot].is_adopted {
            self.adopted.remove(&slot);
        }
        let lock = &mut self[slot];
        lock.phase = Phase::Free;
        lock.generation = lock.generation.wrapping_add(1);
        lock.resource.clear();
        if lock.resource.capacity() > MAX_RESOURCE {
            // The names of a set: few slots ever have one, and none is to keep it for ever.
            lock.resource.shrink_to_fit();
        }
        self.free.push(slot);
    }

    /// The lock in `slot` has a token that was handed over.
    pub(crate) fn adopt(&mut self, slot: u32, token: Token) {
        self[slot].is_adopted = true;
        self.adopted.insert(slot, token);
    }

    /// The token of the attempt with this `serial` for the lock in `slot`.
    #[inline]
    pub(crate) fn token(&self, slot: u32, nonce: &Nonce, serial: u64) -> Token {
        let own = || Token::of_attempt(nonce, serial);
        if self[slot].is_adopted {
            self.adopted.get(&slot).copied().unwrap_or_else(own)
        } else {
            own()
        }
    }

    /// The first lock of this resource, if there is any.
    pub(crate) fn first_of(&self, names: Names<'_>, hash: u32) -> Option<u32> {
        self.chain(names, hash).find(|slot| !self[*slot].phase.is_on_its_way_out())
    }

    /// A lock of this resource that is on its way out: its release may still wait somewhere.
    pub(crate) fn leaver(&self, names: Names<'_>, hash: u32) -> Option<u32> {
        self.chain(names, hash).find(|slot| self[*slot].phase.is_on_its_way_out())
    }

    /// The slots of this resource that are in the index.
    fn chain<'a>(&'a self, names: Names<'a>, hash: u32) -> impl Iterator<Item = u32> + 'a {
        let head = self.buckets[self.bucket(hash)].wrapping_sub(1);
        let next = move |slot: &u32| Some(self[*slot].links.bucket).filter(|next| *next != NONE);
        let slots = core::iter::successors(Some(head).filter(|head| *head != NONE), next);
        slots.filter(move |slot| {
            let lock = &self[*slot];
            lock.links.hash == hash && lock.names() == names
        })
    }

    pub(crate) fn hash(&self, resource: &[u8]) -> u32 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.seed);
        hasher.write(resource);
        // There are far fewer buckets than that.
        hasher.finish() as u32
    }

    /// Makes `slot` the first of its resource, which has none.
    pub(crate) fn lead(&mut self, slot: u32) {
        let bucket = self.bucket(self[slot].links.hash);
        let next = self.buckets[bucket].wrapping_sub(1);
        let links = &mut self[slot].links;
        links.bucket = next;
        links.last = slot;
        links.is_indexed = true;
        self.buckets[bucket] = slot + 1;
    }

    /// Puts `slot` at the end of the line that `first` leads.
    pub(crate) fn line_up(&mut self, first: u32, slot: u32) {
        let last = self[first].links.last;
        self[last].links.behind = slot;
        self[slot].links.before = last;
        self[first].links.last = slot;
    }

    /// Takes `slot` out of its line. If it was the first, the one behind it becomes the first and
    /// is returned.
    pub(crate) fn leave_line(&mut self, slot: u32) -> Option<u32> {
        let Links { hash, before, behind, last, .. } = self[slot].links;
        let links = &mut self[slot].links;
        (links.before, links.behind, links.last) = (NONE, NONE, NONE);
        if behind != NONE {
            self[behind].links.before = before;
        }
        if before == NONE {
            if behind == NONE {
                return None;
            }
            self.lead(behind);
            self[behind].links.last = last;
            return Some(behind);
        }
        self[before].links.behind = behind;
        if behind == NONE {
            // It was the last of the line: the first, which there is, must know its new end.
            if let Some(first) = self.first_of(self[slot].names(), hash) {
                self[first].links.last = before;
            }
        }
        None
    }

    /// Takes `slot` out of the index.
    fn unlink(&mut self, slot: u32) {
        let Links { hash, bucket: next, .. } = self[slot].links;
        self[slot].links = Links::UNLINKED;
        let bucket = self.bucket(hash);
        let mut at = self.buckets[bucket].wrapping_sub(1);
        if at == slot {
            self.buckets[bucket] = next.wrapping_add(1);
            return;
        }
        while at != NONE {
            if self[at].links.bucket == slot {
                self[at].links.bucket = next;
                return;
            }
            at = self[at].links.bucket;
        }
        unreachable!("a slot that says so is in the index");
    }

    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(table: &mut Table, resource: &[u8]) -> u32 {
        let slot = table.claim();
        let hash = table.hash(resource);
        table[slot].phase = Phase::Ready;
        table[slot].resource.extend_from_slice(resource);
        table[slot].links.hash = hash;
        match table.first_of(Names { count: 1, bytes: resource }, hash) {
            Some(first) => table.line_up(first, slot),
            None => table.lead(slot),
        }
        slot
    }

    #[test]
    fn an_id_is_spent_when_its_slot_is_vacated() {
        let mut table = Table::new(2, 1);
        let slot = add(&mut table, b"a");
        let id = table.id(slot);
        assert_eq!(table.find(id), Some(slot));
        table.leave_line(slot);
        table.vacate(slot);
        assert_eq!(table.find(id), None);
        assert_eq!(add(&mut table, b"a"), slot);
        assert_eq!(table.find(id), None);
    }

    #[test]
    fn lines_agree_with_a_model_under_random_use() {
        for seed in 0..300 {
            let mut rng = fastrand::Rng::with_seed(seed);
            // Few buckets and many resources, so that chains are long.
            let mut table = Table::new(64, seed);
            table.buckets = vec![0; 4].into_boxed_slice();
            let mut lines: Vec<Vec<u32>> = vec![Vec::new(); 12];
            for _ in 0..400 {
                let name = rng.usize(..lines.len());
                let resource = [b'r', name as u8];
                let names = Names { count: 1, bytes: &resource };
                if rng.bool() && !table.is_full() {
                    let slot = add(&mut table, &resource);
                    lines[name].push(slot);
                } else if !lines[name].is_empty() {
                    let place = rng.usize(..lines[name].len());
                    let slot = lines[name].remove(place);
                    let heir = table.leave_line(slot);
                    table[slot].phase = Phase::Draining;
                    table.count_ended();
                    let hash = table.hash(&resource);
                    assert_eq!(table.leaver(names, hash).is_some(), place == 0, "seed {seed}");
                    let expected = lines[name].first().copied().filter(|_| place == 0);
                    assert_eq!(heir, expected, "seed {seed}");
                    table.vacate(slot);
                }
                let hash = table.hash(&resource);
                let first = lines[name].first().copied();
                assert_eq!(table.first_of(names, hash), first, "seed {seed}");
            }
        }
    }
}
