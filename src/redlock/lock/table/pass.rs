//! Two locks of the same resource change their slots: the lock on the nodes stays where it is, and
//! gets another owner.

use super::Table;
use crate::redlock::lock::{Lock, NONE, Renewal};

impl Table {
    /// Returns the lock that stands in line directly behind the first one.
    pub(crate) fn behind(&self, first: u32) -> Option<u32> {
        Some(self[first].links.behind).filter(|behind| *behind != NONE)
    }

    /// Gives the held lock in `slot` to the request in `next`, which leaves the line behind it. The
    /// id and the wishes of the request move to `slot`, and the id of the former owner to `next`.
    ///
    /// Whatever the nodes know or still owe names `slot`, and stays: the token, the votes, the
    /// nodes with the token, the answers on their way. So no reply can reach the wrong lock.
    pub(crate) fn pass(&mut self, slot: u32, next: u32) {
        self.leave_line(next);
        if self[slot].has_options {
            self.forget_options(slot);
        }
        if let Some(options) = self.options.remove(&next) {
            self.options.insert(slot, options);
        }
        self.forget_door(next);
        let Some([lock, wish]) = self.two(slot, next) else { return };
        core::mem::swap(&mut lock.index, &mut wish.index);
        core::mem::swap(&mut lock.generation, &mut wish.generation);
        core::mem::swap(&mut lock.is_untold, &mut wish.is_untold);
        lock.has_options = core::mem::take(&mut wish.has_options);
        lock.take_wishes(wish);
        let (own, former) = (lock.index, wish.index);
        self.slot_of[own as usize] = slot;
        self.slot_of[former as usize] = next;
    }

    /// Returns two different slots, both to be changed.
    fn two(&mut self, one: u32, other: u32) -> Option<[&mut Lock; 2]> {
        let (low, high) = (one.min(other) as usize, one.max(other) as usize);
        let (left, right) = self.slots.split_at_mut_checked(high)?;
        let (low, high) = (left.get_mut(low)?, right.first_mut()?);
        Some(if one < other { [low, high] } else { [high, low] })
    }
}

impl Lock {
    /// Takes over what the caller of `wish` has asked for.
    fn take_wishes(&mut self, wish: &Self) {
        // What a node may keep the key for does not get shorter.
        self.ttl = self.ttl.max(wish.ttl);
        (self.wait_until, self.deadline) = (wish.wait_until, wish.deadline);
        (self.retries, self.last_try) = (wish.retries, wish.last_try);
        self.is_warned = false;
        self.renewal = Renewal { renew_at: self.renewal.renew_at, ..Renewal::NONE };
    }
}
