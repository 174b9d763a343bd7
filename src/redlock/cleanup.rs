//! Tokens that may exist on a node although nobody holds them any more (S6).
//!
//! A connection that dies with a `SET` on its way leaves an open question: the server may have
//! executed it, or may yet, when it was only stopped and finds the bytes in its socket. So the
//! token is compared and deleted after the reconnect, and again at growing intervals, until it was
//! found and deleted or its ttl has passed on any clock.

use core::time::Duration;

use super::lock::Resource;
use crate::time::Instant;

/// How many of them may be on the way to a node at once: cleaning up must not hold up locks.
const WINDOW: usize = 64;

/// After how long the deletion is tried for the second time.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The tokens to be cleaned up on one node.
pub(super) struct Cleanup {
    /// Places are named by requests on their way, so they do not move.
    places: Vec<Option<Ghost>>,
    free: Vec<u32>,
    in_flight: usize,
    /// No ghost is due before this.
    next_at: Instant,
    max: usize,
}

/// A token that may exist.
pub(super) struct Ghost {
    pub(super) resource: Resource,
    pub(super) serial: u64,
    /// How long the key lives from the moment that the server executes the `SET`.
    lifetime: Duration,
    next_at: Instant,
    /// When the key cannot exist any more; known after the first look, because only then it is
    /// known that the server runs and has read what the dead connection left it.
    gone_at: Instant,
    pause: Duration,
    in_flight: bool,
}

impl Cleanup {
    pub(super) fn new(max: usize) -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
            in_flight: 0,
            next_at: Instant::FAR_FUTURE,
            max,
        }
    }

    /// How many tokens wait.
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Remembers a token that is to be looked for at `first_look`; false when the list was full and
    /// another had to be forgotten for it.
    pub(super) fn add(
        &mut self,
        first_look: Instant,
        resource: &[u8],
        serial: u64,
        lifetime: Duration,
    ) -> bool {
        let ghost = Ghost {
            resource: Resource::from_slice(resource),
            serial,
            lifetime,
            next_at: first_look,
            gone_at: Instant::FAR_FUTURE,
            pause: FIRST_PAUSE,
            in_flight: false,
        };
        self.next_at = self.next_at.min(first_look);
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(ghost);
            return true;
        }
        if self.places.len() < self.max {
            self.places.push(Some(ghost));
            return true;
        }
        // Serials grow with time: the oldest token is the one closest to the end of its ttl.
        let idle = self.places.iter_mut().flatten().filter(|ghost| !ghost.in_flight);
        if let Some(oldest) = idle.min_by_key(|ghost| ghost.serial) {
            *oldest = ghost;
        }
        false
    }

    /// When the list wants to be looked at.
    pub(super) fn due_at(&self) -> Instant {
        self.next_at
    }

    /// Takes the places of the tokens that are due, as many as may be on the way, and calls `send`
    /// with each.
    pub(super) fn take_due(&mut self, now: Instant, mut send: impl FnMut(u32, &Ghost)) {
        if self.next_at > now {
            return;
        }
        for place in 0..self.places.len() {
            if self.in_flight >= WINDOW {
                // The replies make room, and each of them leads back here.
                self.next_at = Instant::FAR_FUTURE;
                return;
            }
            let Some(ghost) = &mut self.places[place] else { continue };
            if ghost.gone_at <= now {
                self.forget(place as u32);
            } else if !ghost.in_flight && ghost.next_at <= now {
                ghost.in_flight = true;
                self.in_flight += 1;
                send(place as u32, ghost);
            }
        }
        self.schedule();
    }

    /// The token at a place that is on its way.
    pub(super) fn get(&self, place: u32) -> Option<&Ghost> {
        self.places.get(place as usize)?.as_ref()
    }

    /// The node deleted the key, or will never let us: nothing is left to do.
    pub(super) fn settled(&mut self, place: u32) {
        self.landed(place);
        self.forget(place);
        self.schedule();
    }

    /// The node did not have the token at `now`, or could not say: look again later.
    pub(super) fn again(&mut self, now: Instant, place: u32) {
        self.landed(place);
        if let Some(Some(ghost)) = self.places.get_mut(place as usize) {
            ghost.gone_at = ghost.gone_at.min(now + ghost.lifetime);
            ghost.next_at = now + ghost.pause;
            ghost.pause = ghost.pause.saturating_mul(2);
        }
        self.schedule();
    }

    /// The connection died with the request on its way.
    pub(super) fn lost(&mut self, now: Instant, place: u32) {
        self.landed(place);
        if let Some(Some(ghost)) = self.places.get_mut(place as usize) {
            ghost.next_at = now;
        }
        self.schedule();
    }

    fn landed(&mut self, place: u32) {
        if let Some(Some(ghost)) = self.places.get_mut(place as usize)
            && ghost.in_flight
        {
            ghost.in_flight = false;
            self.in_flight -= 1;
        }
    }

    fn forget(&mut self, place: u32) {
        if let Some(entry) = self.places.get_mut(place as usize)
            && entry.take().is_some()
        {
            self.free.push(place);
        }
    }

    fn schedule(&mut self) {
        let waiting = self.places.iter().flatten().filter(|ghost| !ghost.in_flight);
        let next = waiting.map(|ghost| ghost.next_at.min(ghost.gone_at)).min();
        self.next_at = next.unwrap_or(Instant::FAR_FUTURE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(1);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn due(cleanup: &mut Cleanup, now: Instant) -> Vec<u64> {
        let mut serials = Vec::new();
        cleanup.take_due(now, |_, ghost| serials.push(ghost.serial));
        serials
    }

    #[test]
    fn a_token_is_looked_for_until_its_ttl_has_passed_since_the_first_look() {
        let mut cleanup = Cleanup::new(8);
        assert!(cleanup.add(at(0), b"r", 1, TTL));
        // The node was down for an hour; only now does anybody look.
        let mut now = at(3_600_000);
        let first = now;
        let mut looks = 0;
        while cleanup.len() > 0 {
            for _ in due(&mut cleanup, now) {
                looks += 1;
                cleanup.again(now, 0);
            }
            if cleanup.len() > 0 {
                assert!(cleanup.due_at() > now);
                now = cleanup.due_at();
            }
        }
        assert_eq!(now, first + TTL);
        assert_eq!(looks, 5, "at 0, 50, 150, 350 and 750 ms");
    }

    #[test]
    fn a_token_that_was_found_is_forgotten() {
        let mut cleanup = Cleanup::new(8);
        cleanup.add(at(0), b"r", 1, TTL);
        assert_eq!(due(&mut cleanup, at(0)), [1]);
        assert_eq!(due(&mut cleanup, at(0)), [0; 0], "it is on its way");
        cleanup.settled(0);
        assert_eq!(cleanup.len(), 0);
        assert_eq!(cleanup.due_at(), Instant::FAR_FUTURE);
    }

    #[test]
    fn a_full_list_forgets_the_oldest() {
        let mut cleanup = Cleanup::new(2);
        assert!(cleanup.add(at(0), b"a", 1, TTL));
        assert!(cleanup.add(at(0), b"b", 2, TTL));
        assert!(!cleanup.add(at(0), b"c", 3, TTL));
        let mut serials = due(&mut cleanup, at(0));
        serials.sort_unstable();
        assert_eq!(serials, [2, 3]);
    }

    #[test]
    fn a_request_lost_with_its_connection_is_due_again() {
        let mut cleanup = Cleanup::new(2);
        cleanup.add(at(0), b"a", 1, TTL);
        assert_eq!(due(&mut cleanup, at(0)), [1]);
        cleanup.lost(at(5), 0);
        assert_eq!(due(&mut cleanup, at(5)), [1]);
    }

    #[test]
    fn no_more_are_on_the_way_than_the_window_and_replies_open_it() {
        let mut cleanup = Cleanup::new(200);
        for serial in 0..100 {
            cleanup.add(at(0), b"a", serial, TTL);
        }
        assert_eq!(due(&mut cleanup, at(0)).len(), WINDOW);
        assert_eq!(due(&mut cleanup, at(0)).len(), 0);
        cleanup.settled(0);
        assert_eq!(due(&mut cleanup, at(0)).len(), 1);
    }
}
