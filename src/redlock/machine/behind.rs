//! What follows when the clock of this machine has fallen behind those of the nodes.
//!
//! `node/pace.rs` compares the clocks. A hypervisor that pauses, saves or moves a machine stops the
//! clock of the machine too, and no clock of the machine tells.

use core::time::Duration;

use super::Redlock;
use crate::redlock::error::LostReason;
use crate::redlock::event::Event;
use crate::redlock::lock::Phase;
use crate::redlock::sabotage::Saboteur;
use crate::time::Instant;

impl Redlock {
    /// Shortens all validities if our clock has fallen behind those of a majority of the nodes.
    pub(super) fn catch_up(&mut self, now: Instant) {
        let Some(lost) = self.nodes.catch_up(now) else { return };
        if self.config.is_sabotaged(Saboteur::LostTimeIgnored) {
            return;
        }
        for slot in 0..self.table.slots() {
            self.shorten(now, slot, lost);
        }
    }

    /// Takes this much off the validity of a lock, because the keys end that much earlier.
    ///
    /// Nobody knows when the clock stood still, so a lock that was granted later loses validity for
    /// nothing. What waits for the end of a key is left alone: a longer wait does no harm.
    fn shorten(&mut self, now: Instant, slot: u32, by: Duration) {
        let lead = self.config.lost_lead;
        let is_full = self.has_unread_events();
        let id = self.table.id(slot);
        let lock = &mut self.table[slot];
        match lock.phase {
            // The votes count only within the validity.
            Phase::Attempt | Phase::Adoption => lock.valid_until = lock.valid_until - by,
            Phase::Held => {
                let valid_until = lock.valid_until - by;
                lock.valid_until = valid_until;
                // An extension under way counts from earlier, but not from before the boot.
                let is_young = lock.round.pending && Instant::ZERO + by > lock.round.started;
                lock.round.started = lock.round.started - by;
                // The queue of events always has room for the end of a lock, and not for more.
                if now + lead >= valid_until || is_young || is_full {
                    return self.lost(now, slot, LostReason::ClockBehind);
                }
                if !lock.renewal.ttl.is_zero() {
                    lock.renewal.renew_at = now;
                    // Else the renewal would only do this, and wait for another third.
                    self.give_to_spare(now, slot);
                }
                self.emit(Event::Shortened { lock: id, valid_until });
                self.schedule_held(slot);
            }
            _ => {}
        }
    }
}
