//! A master: the embedded one behind its links, with a clock, a process and a memory of its own.

mod losses;
mod service;

use bytes::BytesMut;
use redbolt::embedded::Session;
use redbolt::redlock::Token;

use crate::answer::Face;
use crate::chance::Chance;
use crate::clock::Clock;
use crate::former::Former;
use crate::link::Link;
use crate::store::Store;
use crate::strangers::Strangers;
use crate::witness::{is_hint, is_witness};

/// The most masters that a world has.
pub(crate) const MASTERS_MAX: usize = 7;

pub(crate) struct Node {
    pub(crate) index: usize,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) face: Face,
    pub(crate) links: Vec<Link>,
    /// The master executes nothing until then, and afterwards everything that came meanwhile.
    pub(crate) stalled_until: u64,
    /// The master accepts no connection until then.
    pub(crate) down_until: u64,
    /// The last loss of keys.
    pub(crate) forgot_at: u64,
    /// The last event that may have cost the master its keys, as far as a client can tell.
    pub(crate) suspect_at: u64,
    busy_until: u64,
    /// The sum of all steps forward of the clock.
    pub(crate) ahead: u64,
    /// The last vote under this name that somebody may have counted.
    granted_at: u64,
    /// The last time at which the name moved to another process.
    moved_at: u64,
    /// The process that had the name before, with its keys.
    former: Option<Box<Former>>,
    /// The file that the master has written last, and how far its clock was ahead then.
    pub(crate) file: Option<(Box<Store>, i64)>,
    /// The master has forgotten fencing numbers.
    pub(crate) lost_numbers: bool,
    /// The greatest distance of the clock from true time, in nanoseconds.
    pub(crate) error_max: u64,
    /// The clock is much farther away than `fence_skew` allows.
    pub(crate) is_far: bool,
    /// A number is accepted whatever the key holds: a saboteur.
    pub(crate) is_blind: bool,
    /// A witness is born when the client says that the one before was: a saboteur.
    pub(crate) born_as_told: bool,
    /// The keys that somebody may have written in this turn.
    pub(crate) touched: Vec<Vec<u8>>,
    /// Some client may have opted in for the key of a lock.
    pub(crate) is_cared_for: bool,
    pub(crate) strangers: Strangers,
    /// The replies of this turn.
    pub(crate) out: BytesMut,
}

impl Node {
    /// Returns a master that has run for `age`.
    pub(crate) fn new(index: usize, now: u64, age: u64, clock: Clock, face: Face) -> Self {
        Self {
            index,
            store: Store::empty(),
            clock,
            face,
            links: Vec::new(),
            stalled_until: 0,
            down_until: 0,
            forgot_at: 0,
            suspect_at: now.saturating_sub(age),
            busy_until: 0,
            ahead: 0,
            granted_at: 0,
            moved_at: 0,
            former: None,
            file: None,
            lost_numbers: false,
            error_max: 0,
            is_far: false,
            is_blind: false,
            born_as_told: false,
            touched: Vec::new(),
            is_cared_for: false,
            strangers: Strangers::default(),
            out: BytesMut::with_capacity(2_048),
        }
    }

    /// Returns how many keys are alive, without those of the witness.
    pub(crate) fn keys(&self, now: u64) -> usize {
        let strings = self
            .store
            .keys(0, self.clock.show(now))
            .filter(|key| !is_witness(key) && !is_hint(key));
        strings.count() + self.strangers.len()
    }

    pub(crate) fn holds(&self, now: u64, resource: &[u8], token: &Token) -> bool {
        self.store.get(0, resource, self.clock.show(now)) == Some(token.as_ref())
    }

    pub(crate) fn link(&mut self, id: u64) -> Option<&mut Link> {
        self.links.iter_mut().find(|link| link.id == id)
    }

    /// Ends all connections. The bytes under way to the master are gone.
    pub(crate) fn drop_links(&mut self, now: u64, is_silent: bool, chance: &mut Chance) {
        for link in self.links.iter_mut().filter(|link| link.is_served) {
            link.abandon(now, is_silent, chance);
        }
        self.links.retain(|link| !link.is_over());
    }

    /// Ends the connections of clients that take this master for another.
    pub(crate) fn drop_strays(&mut self, now: u64, chance: &mut Chance) {
        let strays = self.links.iter_mut().filter(|link| link.slot != self.index);
        for link in strays.filter(|link| link.is_served) {
            link.abandon(now, false, chance);
        }
    }

    /// Returns by how much the clock was set forward, at most `most`, before `now`.
    pub(crate) fn step_ahead(&mut self, now: u64, most: u64, chance: &mut Chance) -> u64 {
        self.set_clock(now, most, chance);
        self.ahead
    }

    /// Sets the clock, which is never more than `most` before its own time.
    pub(crate) fn set_clock(&mut self, now: u64, most: u64, chance: &mut Chance) {
        let ahead = chance.between(0, most);
        self.clock.step(now, ahead as i64 - self.ahead as i64);
        self.ahead = ahead;
    }

    /// Sets the clock as far as may be: `most` before its own time, or back.
    pub(crate) fn set_far(&mut self, now: u64, most: u64) {
        let ahead = if self.ahead > 0 { 0 } else { most };
        self.clock.step(now, ahead as i64 - self.ahead as i64);
        self.ahead = ahead;
    }

    /// Executes a command that belongs to no connection, and appends the reply to `out`.
    pub(crate) fn command(&mut self, now: u64, words: &[&[u8]]) {
        let at = self.clock.show(now);
        self.store.apply(at, &mut Session::default(), words, &mut self.out);
    }

    /// Returns the time of the next execution, and writes the time of the next reply for each
    /// client to `arrivals`.
    pub(crate) fn next(&self, arrivals: &mut [u64]) -> u64 {
        let mut next = u64::MAX;
        for link in &self.links {
            if let Some(due) = link.requests.next().filter(|_| link.is_served) {
                next = next.min(due);
            }
            if link.is_heard {
                let arrival = link.replies.next().unwrap_or(link.ends_at);
                arrivals[link.client] = arrivals[link.client].min(arrival);
            }
        }
        next.max(self.stalled_until).max(self.busy_until)
    }
}
