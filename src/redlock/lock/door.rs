//! What a request has seen at the door of its resource, while it waits.

use core::time::Duration;

use super::listeners::Listening;
use crate::redlock::token::NONCE_LEN;
use crate::redlock::xxh64::xxh64;
use crate::time::Instant;

/// After so many looks that have shown the same token, one goes to another node.
const SAME_LOOKS: u32 = 4;

/// The time between two looks of a request that was woken once, and how often that doubles.
const LEAST_REST: Duration = Duration::from_micros(200);
const MOST_DOUBLINGS: u32 = 16;

/// The shortest time between two marks.
const LEAST_MARK: Duration = Duration::from_millis(100);

/// The length of a usual pause, in fourths.
const USUAL: u64 = 4;

/// The most fourths that a pause gets longer, one for each owner that can be expected.
const MOST_MORE: u64 = 20;

/// The looks of one request.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Door {
    /// The number of the last look, and whether it asks to be told what happens to the key.
    number: u32,
    opts_in: bool,
    /// When the last look left, and how often the request was woken while the token was the same.
    looked: Instant,
    woken: u32,
    /// The token that was seen last, as a hash.
    token: u64,
    /// How many looks have shown this token one after the other, and since when.
    same: u32,
    since: Instant,
    /// How many owners the request has seen.
    owners: u32,
    /// The nonce of the last token, as a hash: all locks of one engine have the same. Since when no
    /// other engine was seen.
    engine: u64,
    alone_since: Instant,
    /// When the request may leave its next mark.
    mark_at: Instant,
    /// How many owners the request can expect to see before its turn; zero if nothing is known.
    expected: u32,
    /// How often the lock may still be passed on before others have their turn; `None` for as often
    /// as its tenure lasts.
    turns: Option<u32>,
    /// Where the request listens meanwhile.
    pub(super) listening: Option<Listening>,
    /// Where the request had listened until its last look, without a word.
    pub(super) unheard: Option<Listening>,
}

impl Door {
    /// A look leaves, which opts in for the key or does not.
    pub(crate) fn look(&mut self, now: Instant, number: u32, opts_in: bool) {
        (self.looked, self.number, self.opts_in) = (now, number, opts_in);
    }

    /// The request is woken while the token may be the same.
    pub(crate) fn wake(&mut self) {
        self.woken = self.woken.saturating_add(1);
    }

    /// Returns the earliest time for the next look. The first pushes about a token are looked after
    /// at once. With each the time between two looks doubles, up to `most`: a key that somebody
    /// writes all the time costs no more than one at which nobody tells anything.
    pub(crate) fn rests_until(&self, most: Duration) -> Instant {
        let rest = LEAST_REST.saturating_mul(1 << self.woken.min(MOST_DOUBLINGS));
        self.looked + rest.min(most)
    }

    /// Returns whether the last look has opted in for the key.
    pub(crate) fn opts_in(&self) -> bool {
        self.opts_in
    }

    /// Returns whether the answer to the look with this `number` is awaited.
    pub(crate) fn is_current(&self, number: u32) -> bool {
        self.number == number
    }

    /// Takes note of the token that stands at the door.
    pub(crate) fn saw(&mut self, now: Instant, token: &[u8]) {
        if self.knows(token) {
            self.same = self.same.saturating_add(1);
            return;
        }
        (self.token, self.same, self.since, self.woken) = (xxh64(token, 0), 1, now, 0);
        let engine = xxh64(token.get(..NONCE_LEN).unwrap_or(token), 0);
        if self.engine != engine {
            (self.engine, self.alone_since) = (engine, now);
        }
        self.owners = self.owners.saturating_add(1);
    }

    /// Returns for how long one engine has kept the resource to itself, if it is time for a mark:
    /// lock has followed lock for `patience`, and no other engine was seen in between. The time
    /// from one mark to the next is as long as all that.
    pub(crate) fn is_impatient(&mut self, now: Instant, patience: Duration) -> Option<Duration> {
        let alone = now - self.alone_since;
        let is_same_lock = self.since == self.alone_since;
        if is_same_lock || alone < patience || now < self.mark_at {
            return None;
        }
        self.mark_at = now + alone.max(LEAST_MARK);
        Some(alone)
    }

    /// Returns whether this token was seen last.
    pub(crate) fn knows(&self, token: &[u8]) -> bool {
        self.owners > 0 && self.token == xxh64(token, 0)
    }

    /// Returns for how long all looks have shown the same token, if there were several.
    pub(crate) fn unchanged(&self, now: Instant) -> Duration {
        if self.same >= SAME_LOOKS { now - self.since } else { Duration::ZERO }
    }

    /// Returns where the request listens.
    pub(crate) fn listening(&self) -> Option<&Listening> {
        self.listening.as_ref()
    }

    /// Returns the same to be changed.
    pub(crate) fn listening_mut(&mut self) -> Option<&mut Listening> {
        self.listening.as_mut()
    }

    /// Remembers where the request has listened until its last look, without a word.
    pub(crate) fn heard_nothing(&mut self, unheard: Option<Listening>) {
        self.unheard = unheard;
    }

    /// Returns where that was, once.
    pub(crate) fn take_unheard(&mut self) -> Option<Listening> {
        self.unheard.take()
    }

    /// Returns whether the next look goes to another node than the usual one: the first of the
    /// order, or the one that tells. Pauses of who is told are long, so every second look does.
    pub(crate) fn is_for_next(&self) -> bool {
        let every = if self.listening.is_some() { 2 } else { SAME_LOOKS };
        self.same > 0 && self.same % every == 0
    }

    /// Takes over what the former lock of the same engine has seen.
    pub(crate) fn await_owners(&mut self, owners: u32) {
        self.expected = owners;
    }

    /// Returns whether others are known to contend.
    pub(crate) fn is_wary(&self) -> bool {
        self.expected > 0 || self.owners > 0
    }

    /// Returns how many others contend, as far as this request has seen: those who have had the
    /// lock while it waited. A request that was lucky does not forget what the one before has seen.
    pub(crate) fn crowd(&self) -> u32 {
        self.owners.max(self.expected - self.expected.div_ceil(4))
    }

    /// Returns how many are at the door at least, as far as the request can know.
    pub(crate) fn company(&self) -> u32 {
        self.owners.max(self.expected)
    }

    /// Begins a tenure, in which the lock goes to so many others of this engine.
    pub(crate) fn begin_tenure(&mut self, turns: u32) {
        self.turns = Some(turns);
    }

    /// Goes on with the tenure of the lock before.
    pub(crate) fn go_on(&mut self, before: &Self) {
        self.turns = before.turns;
    }

    /// The lock was passed on.
    pub(crate) fn passed(&mut self) {
        self.turns = self.turns.map(|turns| turns.saturating_sub(1));
    }

    /// Returns whether all have had the lock who stood in line when the tenure began.
    pub(crate) fn is_tenure_over(&self) -> bool {
        self.turns == Some(0)
    }

    /// Returns the length of pauses, in fourths: four for a request that knows nothing of others.
    /// Pauses are longer for a request whose engine has just had the lock, and shorter for one that
    /// has seen more owners than it could expect.
    pub(crate) fn quarters(&self) -> u32 {
        let (expected, owners) = (u64::from(self.expected), u64::from(self.owners));
        let quarters = match expected.checked_sub(owners) {
            _ if expected == 0 => USUAL,
            Some(left) => USUAL + expected.min(MOST_MORE) * left / expected,
            None => (USUAL * expected / owners).max(1),
        };
        // At most 24.
        quarters as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_nanos(1);

    #[test]
    fn owners_are_told_apart_by_their_tokens() {
        let mut door = Door::default();
        assert_eq!((door.crowd(), door.is_for_next()), (0, false));
        for (token, owners) in [(b"a", 1), (b"a", 1), (b"b", 2), (b"b", 2), (b"a", 3)] {
            door.saw(NOW, token);
            assert_eq!(door.crowd(), owners, "{}", token.escape_ascii());
        }
    }

    #[test]
    fn every_fourth_look_that_shows_the_same_token_is_followed_by_one_elsewhere() {
        let mut door = Door::default();
        let mut looks = (0..9).map(|_| {
            door.saw(NOW, b"a");
            door.is_for_next()
        });
        assert!(looks.by_ref().take(3).all(|is_for_next| !is_for_next));
        assert_eq!(looks.collect::<Vec<_>>(), [true, false, false, false, true, false]);
    }

    #[test]
    fn who_has_just_had_the_lock_looks_less_often_and_who_waits_too_long_more_often() {
        // owners expected, owners seen, length of the pauses in fourths
        let rows = [
            (0, 0, 4),
            (0, 9, 4),
            (1, 0, 5),
            (1, 1, 4),
            (4, 0, 8),
            (4, 2, 6),
            (4, 4, 4),
            (4, 8, 2),
            (4, 1_000, 1),
            (40, 0, 24),
            (40, 20, 14),
            (40, 40, 4),
            (u32::MAX, 0, 24),
            (u32::MAX, u32::MAX, 4),
            (1, u32::MAX, 1),
        ];
        for (expected, owners, quarters) in rows {
            let door = Door { expected, owners, ..Door::default() };
            assert_eq!(door.quarters(), quarters, "{expected} {owners}");
        }
    }

    #[test]
    fn a_tenure_ends_when_those_have_had_their_turn_who_stood_in_line() {
        let mut door = Door::default();
        door.passed();
        assert!(!door.is_tenure_over(), "nobody else is known to wait");
        door.begin_tenure(2);
        for is_over in [false, true, true] {
            door.passed();
            assert_eq!(door.is_tenure_over(), is_over);
        }
        let mut next = Door::default();
        next.go_on(&door);
        assert!(next.is_tenure_over());
    }

    #[test]
    fn what_was_seen_before_fades() {
        let crowd = |expected, owners| Door { expected, owners, ..Door::default() }.crowd();
        let rows = [(100, 0, 75), (100, 90, 90), (1, 0, 0), (0, 0, 0), (3, 0, 2), (4, 0, 3)];
        for (expected, owners, found) in rows {
            assert_eq!(crowd(expected, owners), found, "{expected} {owners}");
        }
    }
}
