//! Tokens that may exist on a node although nobody holds them any more (S6).
//!
//! A connection that dies with a `SET` on its way leaves an open question. The server may have
//! executed the `SET`, or may still execute it: a server that was only stopped finds the bytes in
//! its socket. So the token is compared and deleted after the reconnect, and again at growing
//! intervals, until the token was found and deleted or its ttl has passed on any clock.

use core::time::Duration;

use crate::redlock::timers::Timers;
use crate::redlock::token::Token;
use crate::redlock::wire::keys::Names;
use crate::redlock::wire::keys::Resource;
use crate::time::Instant;

/// How many tokens may be on their way to a node at the same time: cleanup must not hold up locks.
const WINDOW: usize = 64;

/// The pause between the first and the second check.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The tokens to be cleaned up on one node.
pub(crate) struct Cleanup {
    /// Requests on their way name their places, so no entry moves.
    places: Vec<Option<Unresolved>>,
    free: Vec<u32>,
    /// The next check of each token that is not on its way.
    due: Timers,
    in_flight: usize,
    /// The place at which the search for an entry to forget begins. Places fill up in order, so
    /// going round them meets the oldest entry first.
    hand: usize,
    max: usize,
}

/// A token that may exist.
pub(crate) struct Unresolved {
    resource: Resource,
    keys: u8,
    pub(crate) token: Token,
    serial: u64,
    /// How long the key lives, from the moment at which the server executes the `SET`.
    lifetime: Duration,
    next_at: Instant,
    /// The moment from which the key cannot exist any more. Known only after the first check: until
    /// then the server may be stopped, with the bytes of the dead connection still to be read.
    gone_at: Instant,
    pause: Duration,
    in_flight: bool,
}

impl Unresolved {
    pub(crate) fn names(&self) -> Names<'_> {
        Names { count: self.keys, bytes: &self.resource }
    }
}

impl Cleanup {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
            due: Timers::with_capacity(0),
            in_flight: 0,
            hand: 0,
            max,
        }
    }

    /// Returns the number of tokens on the list.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Adds a token, which is checked for the first time at `first_check`. Returns `false` if the
    /// list was full, and the oldest entry had to be forgotten.
    pub(crate) fn add(
        &mut self,
        first_check: Instant,
        names: Names<'_>,
        token: Token,
        serial: u64,
        lifetime: Duration,
    ) -> bool {
        let is_full = self.len() >= self.max;
        if is_full {
            self.forget_oldest();
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            (self.places.len() - 1) as u32
        });
        self.places[place as usize] = Some(Unresolved {
            resource: Resource::from_slice(names.bytes),
            keys: names.count,
            token,
            serial,
            lifetime,
            next_at: first_check,
            gone_at: Instant::FAR_FUTURE,
            pause: FIRST_PAUSE,
            in_flight: false,
        });
        self.due.set(place, first_check);
        !is_full
    }

    /// Removes the oldest entry that is not on its way.
    fn forget_oldest(&mut self) {
        // At most a window of entries is on its way, so one step more finds another entry. If all
        // entries are on their way, the list grows by the window at most.
        for _ in 0..=WINDOW {
            let place = self.hand % self.places.len();
            self.hand = place + 1;
            if self.places[place].as_ref().is_some_and(|entry| !entry.in_flight) {
                return self.forget(place as u32);
            }
        }
    }

    /// Returns the time at which the next check is due.
    pub(crate) fn due_at(&self) -> Instant {
        // While the window is full, no check is due: each reply makes room, and leads back here.
        let next = if self.in_flight < WINDOW { self.due.next() } else { None };
        next.unwrap_or(Instant::FAR_FUTURE)
    }

    /// Takes the tokens that are due, as many as may be on their way. Calls `send` with the place,
    /// the serial and the number of keys of each token.
    pub(crate) fn take_due(&mut self, now: Instant, mut send: impl FnMut(u32, u64, u8)) {
        while self.in_flight < WINDOW {
            let Some(place) = self.due.pop(now) else { return };
            let Some(entry) = &mut self.places[place as usize] else { continue };
            if entry.gone_at <= now {
                self.forget(place);
            } else if entry.next_at > now {
                let next_at = entry.next_at.min(entry.gone_at);
                self.due.set(place, next_at);
            } else {
                entry.in_flight = true;
                self.in_flight += 1;
                send(place, entry.serial, entry.keys);
            }
        }
    }

    /// Returns the entry at a place.
    pub(crate) fn get(&self, place: u32) -> Option<&Unresolved> {
        self.places.get(place as usize)?.as_ref()
    }

    /// Forgets a token that the node has deleted.
    pub(crate) fn settled(&mut self, place: u32, serial: u64) {
        if self.request_ended(place, serial).is_some() {
            self.forget(place);
        }
    }

    /// Plans the next check of a token that the node did not have at `now`, or could not check.
    pub(crate) fn retry_later(&mut self, now: Instant, place: u32, serial: u64) {
        let Some(entry) = self.request_ended(place, serial) else { return };
        entry.gone_at = entry.gone_at.min(now + entry.lifetime);
        entry.next_at = now + entry.pause;
        entry.pause = entry.pause.saturating_mul(2);
        let next_at = entry.next_at.min(entry.gone_at);
        self.due.set(place, next_at);
    }

    /// Plans a check after the reconnect: the connection died with the request on its way, or
    /// before the request left.
    pub(crate) fn lost(&mut self, now: Instant, place: u32, serial: u64) {
        if let Some(entry) = self.request_ended(place, serial) {
            entry.next_at = now;
            self.due.set(place, now);
        }
    }

    /// Ends the request about an entry. Returns the entry, or `None` if the request was about
    /// another.
    fn request_ended(&mut self, place: u32, serial: u64) -> Option<&mut Unresolved> {
        let entry = self.places.get_mut(place as usize)?.as_mut()?;
        if entry.serial != serial || !entry.in_flight {
            return None;
        }
        entry.in_flight = false;
        self.in_flight -= 1;
        Some(entry)
    }

    /// Removes an entry that no request names.
    fn forget(&mut self, place: u32) {
        self.due.clear(place);
        if self.places[place as usize].take().is_some() {
            self.free.push(place);
        }
    }
}

#[cfg(test)]
mod tests;
