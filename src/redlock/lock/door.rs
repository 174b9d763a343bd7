//! What a request has seen at the door of its resource, while it waits.

mod data;
mod first;
mod knock;
mod peeks;
mod tenure;
pub(crate) mod ticket;
pub(crate) mod turn;

use core::mem;
use core::time::Duration;

use self::peeks::Peeks;
use self::ticket::Ticket;
use super::engines::Engines;
use super::listeners::Listening;
use super::runs::{ask_every, place};
use crate::redlock::node_set::NodeSet;
use crate::redlock::token::NONCE_LEN;
use crate::redlock::xxh64::xxh64;
use crate::time::Instant;

/// After so many looks that have shown the same token, one goes to another node.
const SAME_LOOKS: u32 = 4;

/// After so many looks at the usual node, some seconds with the usual pauses, one goes to another
/// node, whatever they have shown: a node that lies must not keep everybody out.
const USUAL_LOOKS: u32 = 64;

/// The time between two looks of a request that was woken once, and how often that doubles.
const LEAST_REST: Duration = Duration::from_micros(200);
const MOST_DOUBLINGS: u32 = 16;

/// By how many tokens an owner that comes again and again is ahead of others at the most.
const MOST_AHEAD: u8 = 3;

/// The shortest time between two marks.
const LEAST_MARK: Duration = Duration::from_millis(100);

/// One of so many marks goes to another voter than the first.
const MARKS_A_TURN: u8 = 2;

/// The looks of one request.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Door {
    /// The number of the last look, whether it asks to be told what happens to the key, whether it
    /// is one behind a long owner at a node that tells, and whether it has gone to another node
    /// than the usual one.
    number: u32,
    opts_in: bool,
    is_long: bool,
    is_elsewhere: bool,
    /// How many looks have gone to the usual node since one has gone elsewhere.
    usual_looks: u32,
    /// When the last look left, and how often the request was woken while the token was the same.
    looked: Instant,
    woken: u32,
    /// The token that was seen last, as a hash, and the one before. How often the usual node has
    /// shown that one again: a token stands for one attempt, so the other one was elsewhere.
    token: u64,
    before: u64,
    returns: u32,
    /// Whether the last look has shown the one before again.
    has_returned: bool,
    /// The nodes whose key is data that are no lock, and for how long that is believed.
    with_data: NodeSet,
    data_until: Instant,
    /// Whether the last look has repeated the one before, and whether the next one does so.
    is_again: bool,
    looks_again: bool,
    /// How many looks have shown this token one after the other, since when, and until when the
    /// token is known to have been there.
    same: u32,
    since: Instant,
    until: Instant,
    /// Since when looks had shown the token before.
    before_since: Instant,
    /// How often the request has seen another engine have the lock, and which engines.
    runs: u32,
    seen: Engines,
    /// The nonce of the last token, as a hash: all locks of one engine have the same.
    engine: u64,
    /// The engine that seems to keep the resource to itself, since when, and by how many tokens it
    /// is ahead of all others.
    keeper: u64,
    alone_since: Instant,
    ahead: u8,
    /// How many marks the request has left, whether one of them while this token was there, and
    /// when it may leave the next one behind others.
    marks: u8,
    has_marked: bool,
    mark_at: Instant,
    /// The engines that were known when this engine had the lock before, for how long it had the
    /// lock, and since when the request waits for its next turn. Empty if nothing is known.
    known: Engines,
    held: Duration,
    waits_since: Instant,
    /// How often the request was called to its turn, and before when it is not called again.
    calls: u32,
    call_at: Instant,
    /// Whether the request knocks when its pause is over, instead of looking.
    will_knock: bool,
    /// Whether the request has knocked since it looked.
    has_knocked: bool,
    /// The nodes that granted the last attempt before the request knocked, and when that began.
    before_knock: (NodeSet, Instant),
    /// What is known of the tickets behind a token, that token, and before when the request does
    /// not go first again.
    ticket: Ticket,
    ticket_token: u64,
    first_at: Instant,
    /// What the request reads at other nodes while it pauses.
    peeks: Peeks,
    /// How often the lock may still be passed on before others have their turn; `None` for as often
    /// as its tenure lasts.
    passes_left: Option<u32>,
    /// Where the request listens meanwhile.
    pub(super) listening: Option<Listening>,
    /// Where the request had listened until its last look, without a word.
    pub(super) unheard: Option<Listening>,
}

impl Door {
    /// A look leaves, which opts in for the key or does not.
    pub(crate) fn look(&mut self, now: Instant, number: u32, opts_in: bool, is_long: bool) {
        self.forget_data(now);
        self.is_elsewhere = self.is_for_another();
        self.usual_looks = if self.is_elsewhere { 0 } else { self.usual_looks.saturating_add(1) };
        self.is_again = mem::take(&mut self.looks_again);
        (self.looked, self.number, self.opts_in, self.is_long) = (now, number, opts_in, is_long);
        self.has_knocked = false;
    }

    /// The next look repeats the last one, to listen, and shows no more than that one has shown.
    pub(crate) fn look_again(&mut self) {
        self.looks_again = true;
    }

    /// Returns whether the last look began after this.
    pub(crate) fn has_looked_since(&self, since: Instant) -> bool {
        self.looked >= since
    }

    /// The request is woken while the token may be the same.
    pub(crate) fn wake(&mut self) {
        self.woken = self.woken.saturating_add(1);
    }

    /// A node tells that the key was touched: the token was there until now.
    pub(crate) fn told(&mut self, now: Instant) {
        self.until = now;
    }

    /// Returns the earliest time for the next look. The first pushes about a token are looked after
    /// at once. With each the time between two looks doubles, up to `most`: for a key that somebody
    /// writes all the time, that is how often a request looks.
    pub(crate) fn rests_until(&self, most: Duration) -> Instant {
        let rest = LEAST_REST.saturating_mul(1 << self.woken.min(MOST_DOUBLINGS));
        self.looked + rest.min(most)
    }

    /// Returns whether the last look was one behind a long owner, at a node that tells.
    pub(crate) fn is_long(&self) -> bool {
        self.is_long
    }

    /// Returns whether the last look has opted in for the key.
    pub(crate) fn opts_in(&self) -> bool {
        self.opts_in
    }

    /// Returns whether the request listens, and for long.
    pub(crate) fn listens_for_long(&self) -> bool {
        self.listening.is_some() && self.is_long
    }

    /// Returns whether the answer to the look with this `number` is awaited.
    pub(crate) fn is_current(&self, number: u32) -> bool {
        self.number == number
    }

    /// Takes note of the token that stands at the door.
    pub(crate) fn saw(&mut self, now: Instant, token: &[u8]) {
        self.until = now;
        if self.knows(token) {
            self.same = self.same.saturating_add(u32::from(!self.is_again));
            self.has_returned = false;
            return;
        }
        let hash = xxh64(token, 0);
        let returns = self.before == hash && !self.is_elsewhere;
        self.returns = self.returns.wrapping_add(u32::from(returns));
        self.has_returned = returns;
        self.before = mem::replace(&mut self.token, hash);
        self.before_since = mem::replace(&mut self.since, now);
        (self.same, self.woken, self.has_marked) = (1, 0, false);
        // Its owner can be one who died at this door, and then nobody has the lock.
        self.is_long = false;
        let engine = xxh64(token.get(..NONCE_LEN).unwrap_or(token), 0);
        if self.runs == 0 && self.known.is_empty() {
            self.waits_since = now;
        }
        if self.runs == 0 || self.engine != engine {
            self.runs = self.runs.saturating_add(1);
            self.engine = engine;
        }
        self.seen.insert(engine);
        self.count_keeper(now, engine);
    }

    /// Counts one more token of an engine. Those who lose against an owner that comes again and
    /// again leave tokens here for a moment, and do not end that the owner is alone. A few tokens
    /// in a row do, of whomever.
    fn count_keeper(&mut self, now: Instant, engine: u64) {
        if self.keeper == engine && self.ahead > 0 {
            self.ahead = (self.ahead + 1).min(MOST_AHEAD);
        } else if self.ahead > 1 {
            self.ahead -= 1;
        } else {
            (self.keeper, self.ahead, self.alone_since) = (engine, 1, now);
        }
    }

    /// Returns for how long one engine has kept the resource to itself, if it is time for a mark:
    /// no other one had it for half of a tenure or a fourth of the rest of the wait, or for an
    /// eighth of a tenure if no other one is known at all. The time from one mark to the next is as
    /// long as all that.
    ///
    /// While a token stays there is one mark, if this engine had turns before and takes them with
    /// that one alone: mostly a single owner has the lock, who minds no marks.
    pub(crate) fn is_kept_out(
        &mut self,
        now: Instant,
        tenure: Duration,
        left: Duration,
    ) -> Option<Duration> {
        let (alone, is_one) = (now - self.alone_since, self.company() == 1);
        let long = if is_one { ask_every(tenure) } else { tenure / 2 };
        let is_due = if self.since == self.alone_since {
            is_one && !self.is_new() && !self.has_marked && alone >= long
        } else {
            alone >= long.min(left / 4) && now >= self.mark_at
        };
        if !is_due {
            return None;
        }
        (self.has_marked, self.mark_at) = (true, now + alone.max(LEAST_MARK));
        self.marks = self.marks.wrapping_add(1);
        Some(alone)
    }

    /// Returns the [`place`] of the voter at which the request leaves its last mark.
    pub(crate) fn mark_place(&self) -> usize {
        place(self.marks.saturating_sub(1), MARKS_A_TURN)
    }

    /// Returns whether one lock was all that this request has seen of others, for `patience` and
    /// longer: that of a single owner, or of a whole line.
    pub(crate) fn was_kept_out(&self, patience: Duration) -> bool {
        let is_same_lock = self.since == self.alone_since;
        self.runs == 1 && is_same_lock && self.until - self.since >= patience
    }

    /// Returns whether looks have shown one owner behind another since then.
    pub(crate) fn has_changed_hands(&self, since: Instant) -> bool {
        self.before_since > since
    }

    /// Returns the token that was seen last, as a hash.
    pub(crate) fn token(&self) -> u64 {
        self.token
    }

    /// Returns the same, and the token that was seen before.
    pub(crate) fn last_tokens(&self) -> [u64; 2] {
        [self.token, self.before]
    }

    /// Returns whether this token was seen last.
    pub(crate) fn knows(&self, token: &[u8]) -> bool {
        self.runs > 0 && self.token == xxh64(token, 0)
    }

    /// Returns for how long all looks have shown the same token, if there were several.
    pub(crate) fn unchanged(&self, now: Instant) -> Duration {
        if self.same >= SAME_LOOKS { now - self.since } else { Duration::ZERO }
    }

    pub(crate) fn peeks(&self) -> &Peeks {
        &self.peeks
    }

    pub(crate) fn peeks_mut(&mut self) -> &mut Peeks {
        &mut self.peeks
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

    /// Returns to which of so many other nodes the next look goes, and `None` for the usual node:
    /// the first of the order, or the one that tells. As long as two nodes show the same, the owner
    /// is there, and may have no key at a third one; after many looks, a third one is asked all the
    /// same.
    pub(crate) fn elsewhere(&self, others: usize) -> Option<usize> {
        let place = self.returns.wrapping_add(self.same / USUAL_LOOKS) as usize;
        (self.is_for_another() && others > 0).then(|| place % others)
    }

    /// Returns whether the next look goes to another node than the usual one. Pauses of who is told
    /// for long are long, so every second look does. Two in a row do not: where the other node has
    /// no key, an attempt at all nodes follows on each look.
    fn is_for_another(&self) -> bool {
        if self.looks_again {
            return self.is_elsewhere;
        }
        let every = if self.listens_for_long() { 2 } else { SAME_LOOKS };
        let is_due = (self.same > 0 && self.same % every == 0) || self.usual_looks >= USUAL_LOOKS;
        is_due && !self.is_elsewhere
    }

    /// Returns whether looks here and elsewhere have shown the same for some time. True for every
    /// eighth such look.
    pub(crate) fn is_long_the_same(&self) -> bool {
        self.same > 0 && self.same % (2 * SAME_LOOKS) == 0
    }

    /// Lets the request wait for the next turn of its engine, which has had the lock for the time
    /// `held` while these others wanted it.
    pub(crate) fn await_turn(&mut self, now: Instant, known: Engines, held: Duration) {
        (self.known, self.held, self.waits_since) = (known, held, now);
    }

    /// Goes on with the wait of the request before, which has not had the lock.
    pub(crate) fn go_on_waiting(&mut self, before: &Self) {
        let Self { listening, unheard, passes_left, .. } = *self;
        let peeks = Peeks::default();
        *self = Self { listening, unheard, passes_left, peeks, ..*before };
        (self.will_knock, self.looks_again) = (false, false);
    }

    /// Returns whether others are known to contend.
    pub(crate) fn is_wary(&self) -> bool {
        self.runs > 0 || !self.known.is_empty()
    }

    /// Returns who contends, as far as this request has seen, or one before. Those of whom it has
    /// seen nothing are forgotten one by one: a request that was lucky has seen few.
    pub(crate) fn crowd(&self, rng: &mut fastrand::Rng) -> Engines {
        self.seen.union(self.others_known(self.known.faded(rng)))
    }

    /// Returns the engines of `known` that count beside those that were seen: one of which nothing
    /// was known is among these.
    fn others_known(&self, known: Engines) -> Engines {
        if self.seen.is_empty() { known } else { known.without(Engines::SOMEBODY) }
    }

    /// Returns how many others contend, as far as the request can know.
    pub(crate) fn company(&self) -> u32 {
        self.seen.union(self.others_known(self.known)).count()
    }
}

#[cfg(test)]
mod tests;
