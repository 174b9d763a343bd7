//! All locks of an engine, by slot, by id and by resource.
//!
//! Slots are created when they are needed, up to `max_locks`, and used again for ever, so a warm
//! engine allocates nothing. The index by resource is a hash table whose chains run through the
//! slots. The first lock of each resource is in the index, and the other locks stand in line behind
//! it. A lock on its way out stays in the index until its slot is vacated, because its release may
//! not have left for every node. A slot whose lock has events that the owner has not taken is not
//! used again before they are taken, so every event finds the names of its lock.

mod doors;
mod hash;
mod line;
mod pass;
#[cfg(test)]
mod tests;

use core::ops::{Index, IndexMut};
use std::collections::HashMap;

use self::hash::SecretHash;
use super::claims::Claims;
use super::door::Door;
use super::draws::Draws;
use super::listeners::Listeners;
use super::{Links, Lock, NONE, Phase};
use crate::redlock::event::LockId;
use crate::redlock::options::AcquireOptions;
use crate::redlock::token::{Nonce, Token};
use crate::redlock::wire::keys::Names;

/// The slots of all locks, and the index by resource.
pub(crate) struct Table {
    slots: Vec<Lock>,
    /// The slot of each index of a [`LockId`]. Indexes and slots are the same until a lock is
    /// passed on: then the ids change their slots, and the lock on the nodes stays in its own.
    slot_of: Vec<u32>,
    free: Vec<u32>,
    /// The first slot of each chain, plus one; 0 is an empty chain, so fresh memory is an empty
    /// table.
    buckets: Box<[u32]>,
    /// Secret from clients that choose resources: nobody can aim at one chain.
    hash: SecretHash,
    max_locks: usize,
    /// The number of slots in the phase `Draining`.
    ended: usize,
    /// The number of vacated slots whose events the owner has not taken yet.
    untold: usize,
    /// The vacated slot of a large set whose last event was taken last, or [`NONE`].
    last_told: u32,
    /// The slots of locks without a last event that may have others which wait for the owner.
    parked: Vec<u32>,
    /// The options of the locks that have any, by slot, and the tokens that this engine did not
    /// draw. Most locks have neither, and pay nothing here.
    options: HashMap<u32, AcquireOptions>,
    /// The numbers that were drawn for locks with a fence, by slot. Such a lock has options.
    draws: HashMap<u32, Draws>,
    /// What requests have seen at the door, by slot: of those alone that others have kept waiting.
    doors: HashMap<u32, Door>,
    /// Those of them that are told when the resource may be free.
    listeners: Listeners,
    claims: Claims,
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
            slot_of: Vec::with_capacity(max_locks),
            free: Vec::with_capacity(max_locks),
            buckets: vec![0; max_locks.next_power_of_two()].into_boxed_slice(),
            hash: SecretHash::new(seed),
            max_locks,
            ended: 0,
            untold: 0,
            last_told: NONE,
            parked: Vec::new(),
            options: HashMap::new(),
            draws: HashMap::new(),
            doors: HashMap::new(),
            listeners: Listeners::default(),
            claims: Claims::new(seed),
        }
    }

    /// Returns the number of slots in use.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len() - self.untold
    }

    /// Returns the number of slots that exist, in use or not.
    pub(crate) fn slots(&self) -> u32 {
        // Slots are numbered with 32 bits.
        self.slots.len() as u32
    }

    /// Returns `true` if `max_locks` slots are in use.
    pub(crate) fn is_full(&self) -> bool {
        self.len() >= self.max_locks
    }

    /// Returns `true` if there is a slot for another lock.
    pub(crate) fn has_room(&self) -> bool {
        !self.free.is_empty() || self.slots.len() < self.max_locks
    }

    /// Takes note that the last event of a lock waits for the owner.
    #[inline]
    pub(crate) fn tell(&mut self, id: LockId) {
        let slot = self.slot_of[id.index as usize];
        self[slot].is_untold = true;
    }

    /// Takes note that the owner has taken the last event of a lock.
    #[inline]
    pub(crate) fn told(&mut self, id: LockId) {
        self.slot_told(self.slot_of[id.index as usize]);
    }

    /// Takes note that the owner has taken the last event of the lock in `slot`.
    #[inline]
    fn slot_told(&mut self, slot: u32) {
        let lock = &mut self[slot];
        lock.is_untold = false;
        if lock.phase == Phase::Free {
            self.untold -= 1;
            self.free.push(slot);
            if self[slot].has_large_names() {
                // The owner reads the event now.
                self.last_told = slot;
            }
        }
    }

    /// Takes note that no event will be the last of the lock in `slot`, which may have events that
    /// wait for the owner.
    pub(crate) fn park(&mut self, slot: u32) {
        self[slot].is_untold = true;
        self.parked.push(slot);
    }

    /// Takes note that no event of any lock waits for the owner.
    #[inline]
    pub(crate) fn all_told(&mut self) {
        while let Some(slot) = self.parked.pop() {
            self.slot_told(slot);
        }
    }

    /// Drops the names of the large set whose last event was taken last.
    #[inline]
    pub(crate) fn forget_told(&mut self) {
        if self.last_told != NONE {
            let slot = core::mem::replace(&mut self.last_told, NONE);
            if self[slot].phase == Phase::Free {
                self[slot].forget_names();
            }
        }
    }

    /// Returns the slots of the locks that expect refusals of a failed attempt.
    pub(crate) fn awaiting(&self) -> Vec<u32> {
        let slots = self.slots.iter().zip(0..);
        slots.filter(|(lock, _)| lock.presence.is_awaiting()).map(|(_, slot)| slot).collect()
    }

    /// Returns `true` if all locks have ended, whether or not replies are owed to them.
    pub(crate) fn has_only_ended_locks(&self) -> bool {
        self.ended == self.len()
    }

    /// Returns `true` if some slots belong to locks that have ended.
    pub(crate) fn has_ended_locks(&self) -> bool {
        self.ended > 0
    }

    /// Counts one more lock that has ended, whose slot is still in use.
    pub(crate) fn count_ended(&mut self) {
        self.ended += 1;
    }

    /// Returns the slot of a lock that has not ended.
    pub(crate) fn find(&self, id: LockId) -> Option<u32> {
        let slot = self.slot_of(id)?;
        let ended = matches!(self[slot].phase, Phase::Free | Phase::Lapsing | Phase::Draining);
        (!ended).then_some(slot)
    }

    /// Returns the slot of a lock, ended or not, until another lock gets the slot.
    pub(crate) fn slot_of(&self, id: LockId) -> Option<u32> {
        let slot = *self.slot_of.get(id.index as usize)?;
        (self[slot].generation == id.generation).then_some(slot)
    }

    /// Returns the keys of a lock, ended or not, until another lock gets the slot. No keys for a
    /// lock that is not known any more.
    pub(crate) fn names_of(&self, id: LockId) -> Names<'_> {
        let Some(&slot) = self.slot_of.get(id.index as usize) else { return Names::NONE };
        let lock = &self[slot];
        let is_vacated = lock.phase == Phase::Free;
        let generation = id.generation.wrapping_add(u32::from(is_vacated));
        // A vacated slot without names had those of a large set.
        if lock.generation == generation && !lock.resource.is_empty() {
            lock.names()
        } else {
            Names::NONE
        }
    }

    /// Returns the id of the lock in a slot.
    pub(crate) fn id(&self, slot: u32) -> LockId {
        let Lock { index, generation, .. } = self[slot];
        LockId { index, generation }
    }

    /// Takes an unused slot. The caller has checked that the table is not full.
    pub(crate) fn claim(&mut self) -> u32 {
        if let Some(slot) = self.free.pop() {
            self[slot].resource.clear();
            return slot;
        }
        assert!(self.has_room(), "more than max_locks are in use");
        let slot = self.slots();
        self.slots.push(Lock::free(slot));
        self.slot_of.push(slot);
        slot
    }

    /// Frees a slot.
    pub(crate) fn vacate(&mut self, slot: u32) {
        self.ended -= usize::from(self[slot].phase == Phase::Draining);
        let lock = &mut self[slot];
        debug_assert!(!lock.presence.is_awaiting(), "an answer that is awaited is owed");
        let is_named = lock.owed > 0 || lock.place.is_taken();
        assert!(!is_named, "a slot that is still named must not be reused");
        if lock.links.is_indexed() {
            self.unlink(slot);
        }
        if self[slot].has_options {
            self.forget_options(slot);
        }
        if !self.doors.is_empty() {
            self.forget_door(slot);
        }
        let lock = &mut self[slot];
        lock.phase = Phase::Free;
        lock.generation = lock.generation.wrapping_add(1);
        // The names stay for those who read the last event of the lock.
        if lock.is_untold {
            self.untold += 1;
            return;
        }
        if lock.has_large_names() {
            lock.forget_names();
        }
        self.free.push(slot);
    }

    /// Gives options to the lock in `slot`, whose resources are set.
    pub(crate) fn set_options(&mut self, slot: u32, options: AcquireOptions) {
        let Self { slots, claims, .. } = self;
        let lock = &mut slots[slot as usize];
        lock.has_options = true;
        if let Some(token) = &options.token {
            claims.claim(lock.names(), token);
        }
        self.options.insert(slot, options);
    }

    /// Returns the options of the lock in `slot`, if there are any.
    #[inline]
    pub(crate) fn options(&self, slot: u32) -> Option<&AcquireOptions> {
        if self[slot].has_options { self.look_up_options(slot) } else { None }
    }

    #[cold]
    fn look_up_options(&self, slot: u32) -> Option<&AcquireOptions> {
        self.options.get(&slot)
    }

    #[cold]
    fn forget_options(&mut self, slot: u32) {
        let Self { slots, options, draws, claims, .. } = self;
        draws.remove(&slot);
        let token = options.remove(&slot).and_then(|options| options.token);
        if let Some(token) = token {
            claims.end(slots[slot as usize].names(), &token);
        }
    }

    /// Returns the numbers that were drawn for the lock in `slot`, if there are any.
    #[cold]
    pub(crate) fn draws(&self, slot: u32) -> Option<&Draws> {
        self.draws.get(&slot).filter(|_| self[slot].has_options)
    }

    /// Returns the same to be changed.
    #[cold]
    pub(crate) fn draws_mut(&mut self, slot: u32) -> Option<&mut Draws> {
        if self[slot].has_options { self.draws.get_mut(&slot) } else { None }
    }

    /// Makes room for the numbers that are drawn for the lock in `slot`.
    #[cold]
    pub(crate) fn expect_draws(&mut self, slot: u32) -> &mut Draws {
        if !self[slot].has_options {
            self.set_options(slot, AcquireOptions::new());
        }
        self.draws.entry(slot).or_default()
    }

    /// Returns the tokens that this engine did not draw.
    pub(crate) fn claims(&self) -> &Claims {
        &self.claims
    }

    /// Records that the token of the lock in `slot` must not be used again, unless this engine has
    /// drawn the token, and so uses it once in any case.
    pub(crate) fn spend_token(&mut self, slot: u32) {
        let token = self.options(slot).and_then(|options| options.token);
        if let Some(token) = token {
            let Self { slots, claims, .. } = self;
            claims.spend(slots[slot as usize].names(), &token);
        }
    }

    /// Returns the token of the attempt with this `serial` for the lock in `slot`.
    #[inline]
    pub(crate) fn token(&self, slot: u32, nonce: &Nonce, serial: u64) -> Token {
        let own = || Token::of_attempt(nonce, serial);
        self.options(slot).and_then(|options| options.token).unwrap_or_else(own)
    }

    /// Returns the first lock of this resource, if there is any.
    pub(crate) fn first_of(&self, names: Names<'_>, hash: u32) -> Option<u32> {
        self.chain(names, hash).find(|slot| !self[*slot].phase.is_on_its_way_out())
    }

    /// Returns a lock of this resource that is on its way out. Its release may still wait for some
    /// node.
    pub(crate) fn predecessor(&self, names: Names<'_>, hash: u32) -> Option<u32> {
        self.chain(names, hash).find(|slot| self[*slot].phase.is_on_its_way_out())
    }

    /// Returns the slots of this resource in the index.
    fn chain<'a>(&'a self, names: Names<'a>, hash: u32) -> impl Iterator<Item = u32> + 'a {
        let head = self.buckets[self.bucket(hash)].wrapping_sub(1);
        let next = move |slot: &u32| Some(self[*slot].links.bucket).filter(|next| *next != NONE);
        let slots = core::iter::successors(Some(head).filter(|head| *head != NONE), next);
        slots.filter(move |slot| {
            let lock = &self[*slot];
            lock.links.hash == hash && lock.names() == names
        })
    }

    /// Returns the hash of a resource.
    pub(crate) fn hash(&self, resource: &[u8]) -> u32 {
        self.hash.of(resource)
    }

    /// Removes `slot` from the index.
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

    /// Returns the bucket of a hash.
    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }
}
