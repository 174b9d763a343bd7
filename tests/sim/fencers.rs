//! Clients that ask for fencing numbers (S13), and the clocks of the masters that draw them.
//!
//! Everything is drawn from a stream of its own, so that all other worlds do what they did before
//! there was any of this. In a third of the worlds some clients ask for numbers, most of the time,
//! on the same resources as the others, and anybody draws a new number for a lock that is held. The
//! clocks of the masters are as far from true time as `fence_skew` lets them be, to both sides. In
//! some worlds a few of them are much farther away: such a master takes no part.

use redbolt::embedded::Session;
use redbolt::redlock::{ACQUIRE_SET, Event, Fence, FenceBar, LockId, Token};
use redbolt::resp;
use redbolt::time::Instant;
use std::time::Duration;

use crate::book::{State, allowed};
use crate::chance::Chance;
use crate::checks::{Checks, Violation};
use crate::client::Client;
use crate::clock::{MS, SECOND};
use crate::fences::{Accept, Promise, Told};
use crate::link::Link;
use crate::manner::Manner;
use crate::master::{MASTERS_MAX, Node};
use crate::names::Resources;
use crate::net::Net;
use crate::options::Options;
use crate::request::{self, Asked, Numbered, Words, number, token_of};
use crate::world::{World, any};

/// Sets this stream apart from all others.
const STREAM: u64 = 0x2545_f491_4f6c_dd1d;

/// The least distance of a clock that is far away. No look can be so long under way.
const FAR: u64 = 1_000 * SECOND;

/// The least number of all.
const LEAST: u64 = 1 << 32;

/// How many trips a number takes at most: the first, and those in which masters are to accept
/// another number.
pub(crate) const TRIPS: u32 = 5;

/// What a world with fencing numbers has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fencers {
    /// The clients that ask for numbers, one bit for each place.
    clients: u8,
    /// One request in so many of theirs goes without.
    plain: u64,
    /// A number is drawn for a lock that is held behind one request in so many.
    draws: u64,
    /// The greatest distance from true time at which a clock begins.
    error_max: u64,
    /// How many masters may have a clock that is far away.
    far_max: usize,
    /// By master: the distance at which its clock begins.
    errors: [i64; MASTERS_MAX],
}

/// A question for a number, for a lock that is held.
#[derive(Clone, Copy)]
pub(crate) struct Draw {
    /// The time by which there is an answer.
    due: u64,
    since: u64,
}

/// What the caller knows of the number of a lock.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    is_wanted: bool,
    fence: Option<Fence>,
    draw: Option<Draw>,
}

impl Fencers {
    /// Returns how far the clock of a master is from true time when the world begins.
    pub(crate) fn error(&self, master: usize) -> i64 {
        self.errors[master]
    }

    /// Draws how far from true time a clock is set that is near.
    fn draw_error(&self, chance: &mut Chance) -> i64 {
        let most = self.error_max as i64;
        let any = chance.around_zero(most);
        chance.pick(&[-most, most, any])
    }

    /// Returns whether a client asks for a number.
    pub(crate) fn wants(&self, client: usize, chance: &mut Chance) -> bool {
        let is_fencer = self.clients >> client & 1 == 1;
        is_fencer && !chance.one_in(self.plain)
    }
}

impl Options {
    /// Lets some clients of some worlds ask for numbers. Comes behind everything that changes the
    /// steps of clocks.
    pub(crate) fn draw_fencers(&mut self) {
        let mut chance = Chance::new(self.seed ^ STREAM);
        if !chance.one_in(3) {
            return;
        }
        let near = chance.pick(&[500 * MS, SECOND, 2 * SECOND, 5 * SECOND]);
        self.config.fence_skew = Duration::from_nanos(near + self.step_max).min(SKEW_MAX);
        let need = self.config.check(self.masters).expect("the options are within the bounds");
        let spare = self.masters - need.need();
        let mut fencers = Fencers {
            clients: 1 + chance.below((1 << self.clients) - 1) as u8,
            plain: chance.pick(&[2, 6, 1_000]),
            draws: chance.between(2, 12),
            error_max: near / 4 * 3,
            far_max: if spare > 0 && chance.one_in(4) { 1 + chance.index(spare) } else { 0 },
            errors: [0; MASTERS_MAX],
        };
        for master in 0..self.masters {
            fencers.errors[master] = match master < fencers.far_max && chance.one_in(2) {
                true => far(&mut chance),
                false => fencers.draw_error(&mut chance),
            };
        }
        self.fencers = Some(fencers);
    }

    /// Returns how old the data of a master must be before its numbers count: older than two clocks
    /// can be apart, and a second for each of two scripts.
    pub(crate) fn fence_span(&self) -> u64 {
        let skew = self.config.fence_skew.as_nanos() as u64;
        let span = self.config.quarantine().as_nanos() as u64;
        self.fencers.map_or(span, |_| span.max(2 * (skew + SECOND)))
    }
}

/// The longest `fence_skew` that can be configured.
const SKEW_MAX: Duration = Duration::from_secs(600);

/// Draws the distance of a clock that is far away.
fn far(chance: &mut Chance) -> i64 {
    let distance = chance.between(FAR, 3 * FAR) as i64;
    if chance.one_in(2) { distance } else { -distance }
}

impl Node {
    /// Returns how far the clock is from true time.
    fn clock_error(&self, now: u64) -> u64 {
        self.error(now).unsigned_abs()
    }

    /// Keeps the greatest distance of the clock from true time, of a clock that is not far away.
    pub(crate) fn note_clock(&mut self, now: u64) {
        let error = self.clock_error(now);
        self.is_far = error >= FAR / 2;
        if !self.is_far {
            self.error_max = self.error_max.max(error);
        }
    }

    /// Executes a script about the number of a lock under the eyes of the checks. Returns `false`
    /// for any other request.
    pub(crate) fn observe_draw(
        &mut self,
        now: u64,
        link: &mut Link,
        words: &Words<'_>,
        checks: &mut Checks,
    ) -> bool {
        let Some(Numbered { what, keys, token, asked }) = Numbered::read(words) else {
            return false;
        };
        let start = self.out.len();
        if self.is_blind && what == request::Draw::Raises && keys.len() == 1 {
            self.raise_blindly(now, words);
        } else {
            self.reply(now, link, words, None);
        }
        let accepted = number_in(&self.out[start..]);
        let accepted = match what {
            request::Draw::Raises => accepted.map(|_| asked),
            _ => accepted,
        };
        self.questioned(now, link, (keys, token_of(token)), (start, accepted), checks);
        true
    }

    /// Tells the checks of a script about the number of a lock, and whether the master has accepted
    /// one.
    pub(crate) fn questioned(
        &self,
        now: u64,
        link: &mut Link,
        (keys, token): (&[&[u8]], Token),
        (start, accepted): (usize, Option<u64>),
        checks: &mut Checks,
    ) {
        let from = (link.client, link.slot);
        checks.numbers_asked(now, from, token, self.is_far);
        if self.out[start..].starts_with(b"-NOSCRIPT") {
            return;
        }
        let Some(number) = accepted else { return };
        if !keys.iter().all(|key| self.holds(now, key, &token)) {
            let index = self.index;
            let what = format!("{number} for {token}, which is not at its keys");
            checks.fail(now, format_args!("S13: master {index} accepted {what}"));
        }
        let vote = self.vote(now, token, checks);
        let end = link.replies.end() + self.out.len() as u64;
        link.numbers.push_back((end, Accept { number, vote }));
    }

    /// Answers a script about numbers as a master does that has data of another type under their
    /// name: whatever stands before the first look at the numbers is executed.
    pub(crate) fn answer_spoiled(&mut self, now: u64, session: &mut Session, words: &[&[u8]]) {
        let before = self.out.len();
        if let Some(Asked { keys, token, ttl }) = Asked::read(words) {
            let count = keys.len().to_string();
            let head = [&b"EVAL"[..], ACQUIRE_SET.text.as_bytes(), count.as_bytes()];
            self.execute(now, session, &[&head[..], keys, &[token, ttl]].concat());
            if self.out[before..].starts_with(b"$-1") {
                return;
            }
            self.out.truncate(before);
        }
        let wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
        resp::error(&mut self.out, wrong);
    }

    /// Accepts a number whatever the key holds: a saboteur. The master is shown a key that does.
    fn raise_blindly(&mut self, now: u64, words: &Words<'_>) {
        const OTHER: &[u8] = b"another key";
        let before = self.out.len();
        self.command(now, &[b"SET", OTHER, words[5]]);
        self.out.truncate(before);
        let mut blind = words.clone();
        blind[3] = OTHER;
        self.command(now, &blind);
        let at = self.clock.show(now);
        self.store.delete(0, OTHER, at);
    }
}

/// Returns the number in a reply to a request for a key, if the master has drawn one.
pub(crate) fn drawn_in(words: &Words<'_>, reply: &[u8]) -> Option<u64> {
    number_in(reply).filter(|number| takes_with_number(words) && *number >= LEAST)
}

/// Returns whether a request takes keys and draws a number.
pub(crate) fn takes_with_number(words: &Words<'_>) -> bool {
    Numbered::read(words).is_some_and(|read| matches!(read.what, request::Draw::Takes(_)))
}

/// Returns the number in a reply that is one, and more than zero.
fn number_in(reply: &[u8]) -> Option<u64> {
    let digits = reply.strip_prefix(b":")?.strip_suffix(b"\r\n")?;
    let is_number = digits.iter().all(u8::is_ascii_digit);
    Some(number(digits)).filter(|number| is_number && *number > 0)
}

impl World {
    /// Draws a number for some lock that is held, now and then.
    pub(crate) fn draw_a_number(&mut self) {
        let Some(fencers) = self.options.fencers else { return };
        let Self { net, chance, clients, .. } = self;
        if !chance.one_in(fencers.draws) {
            return;
        }
        let chosen = chance.index(clients.len());
        let client = &mut clients[chosen];
        if !client.is_awake() {
            return;
        }
        let Some(id) = any(client.locks_in(State::Held), chance) else { return };
        client.draw_fence(net, id);
        client.settle(net);
    }

    /// Returns the distance from true time that the clock of a master is given at a restart, if it
    /// is given another one.
    pub(crate) fn clock_at_restart(&mut self, master: usize) -> Option<i64> {
        let fencers = self.options.fencers?;
        let far_others = self.net.nodes.iter().enumerate();
        let far_others = far_others.filter(|(index, node)| *index != master && node.is_far).count();
        let chance = &mut self.chance;
        if !chance.one_in(2) {
            return None;
        }
        match far_others < fencers.far_max && chance.one_in(3) {
            true => Some(far(chance)),
            false => Some(fencers.draw_error(chance)),
        }
    }

    /// Keeps the greatest distance of the clocks from true time.
    pub(crate) fn note_clocks(&mut self) {
        if self.options.fencers.is_some() {
            let now = self.net.now;
            self.net.nodes.iter_mut().for_each(|node| node.note_clock(now));
        }
    }

    /// Returns whether each clock is within `fence_skew` of true time, or far away.
    fn clocks_are_near(&self) -> bool {
        let (now, skew) = (self.net.now, self.options.config.fence_skew.as_nanos() as u64);
        self.net.nodes.iter().all(|node| node.is_far || node.clock_error(now) <= skew)
    }

    /// Lets every client that asks for numbers have one, once the data of all masters is old
    /// enough. A master whose clock is far away is known to be, and no other is taken for one.
    pub(crate) fn numbers_are_had(&mut self) -> Result<(), Violation> {
        let Some(fencers) = self.options.fencers else { return Ok(()) };
        self.note_clocks();
        if !self.clocks_are_near() {
            return Ok(());
        }
        let ttl = self.options.max_ttl() / MS;
        for index in 0..self.clients.len() {
            if fencers.clients >> index & 1 == 0 {
                continue;
            }
            let grants = self.clients[index].grants;
            let end = self.net.now + 2 * self.options.fence_span() + 30 * SECOND;
            while self.net.now < end && self.clients[index].grants == grants {
                let Self { net, clients, .. } = self;
                let manner = Manner::default().fenced();
                clients[index].acquire(net, Resources::one(0), &manner, ttl, 0);
                clients[index].settle(net);
                while self.clients[index].first_in(State::Wanted).is_some() {
                    self.advance(end + SECOND)?;
                }
                let Self { net, clients, .. } = self;
                if let Some(id) = clients[index].first_in(State::Held) {
                    clients[index].release(net, id);
                    clients[index].settle(net);
                }
                if self.clients[index].grants == grants {
                    self.live(self.net.now + SECOND)?;
                }
            }
            // That has taken its time, in which clocks have drifted.
            if !self.clocks_are_near() {
                return Ok(());
            }
            let (net, client) = (&mut self.net, &self.clients[index]);
            if client.grants == grants {
                net.fail(format_args!("liveness: client {index} got no number"));
            }
            client.check_bars(net);
        }
        Ok(())
    }
}

impl Client {
    /// Asks for a new number for a lock that is held.
    fn draw_fence(&mut self, net: &mut Net, id: LockId) {
        let patience = self.redlock.config().close_timeout;
        let due = net.now + allowed(patience * TRIPS);
        if self.redlock.draw_fence(self.clock(net.now), id).is_err() {
            return;
        }
        let name = self.name;
        net.trace.say(net.now, format_args!("client {name} draws a number for {id:?}"));
        let since = net.now;
        let Some(lock) = self.known(net, id, State::Held) else { return };
        let (token, before) = (lock.token, lock.number.draw.replace(Draw { due, since }));
        if before.is_some() {
            net.fail(format_args!("S13: {id:?} draws twice at a time"));
        }
        net.checks.fences.draws(name, token);
    }

    /// Enters into the book with which number a lock was granted. A lock has a number exactly if
    /// the caller has asked for one.
    pub(crate) fn numbered(&mut self, net: &mut Net, id: LockId, fence: Option<Fence>) {
        let Some(lock) = self.known(net, id, State::Held) else { return };
        let is_wanted = lock.number.is_wanted;
        lock.number.fence = fence;
        if is_wanted != fence.is_some() {
            net.fail(format_args!("S13: {id:?} was granted with {fence:?}, asked: {is_wanted}"));
        }
        if let Some(fence) = fence {
            self.tell(net, id, fence, None);
        }
    }

    /// Enters the answer to a question for a number into the book.
    pub(crate) fn drawn(&mut self, net: &mut Net, event: &Event) {
        let (id, fence) = match *event {
            Event::Fenced { lock, fence } => (lock, Some(fence)),
            Event::FenceFailed { lock, .. } => (lock, None),
            _ => return,
        };
        let Some(lock) = self.known(net, id, State::Held) else { return };
        let draw = lock.number.draw.take();
        lock.number.fence = fence.or(lock.number.fence);
        match (draw, fence) {
            (None, _) => net.fail(format_args!("S13: {id:?} has a number that nobody wanted")),
            (Some(draw), Some(fence)) => self.tell(net, id, fence, Some(draw.since)),
            (Some(_), None) => {}
        }
    }

    /// Shows the checks a number that the client was told.
    fn tell(&self, net: &mut Net, id: LockId, fence: Fence, drawn_since: Option<u64>) {
        net.trace.add(&[fence.get()]);
        let now = net.now;
        let Some(lock) = self.lock(id) else { return };
        let (resources, token, since) = (lock.resources, lock.token, lock.since);
        if self.redlock.fence(id) != Some(fence) && self.redlock.token(id).is_some() {
            net.fail(format_args!("S13: {id:?} was told {fence}, and does not know of it"));
        }
        net.nodes.iter_mut().for_each(|node| node.note_clock(now));
        let rules = net.checks.rules;
        let skew = self.redlock.config().fence_skew.as_nanos() as u64;
        let is_forgotten = net.nodes.iter().any(|node| node.lost_numbers);
        let is_near = net.nodes.iter().all(|node| node.error_max <= skew);
        let promise = match is_forgotten && !(rules.quarantines && is_near) {
            true => Promise::Nothing,
            // Who believes for too long may be told after somebody else.
            false if !rules.excludes || self.is_excused(since) => Promise::Apart,
            false => Promise::Holding,
        };
        let (client, prefix, number) = (self.name, self.prefix, fence.get());
        let told =
            Told { client, prefix, resources, token, number, drawn_since, promise, is_forgotten };
        net.checks.told(now, &told);
    }

    /// Checks which masters the client takes for those whose clocks are far away.
    fn check_bars(&self, net: &mut Net) {
        if !net.checks.rules.quarantines {
            return;
        }
        let now: Instant = self.clock(net.now);
        for (index, id) in self.redlock.nodes().into_iter().enumerate() {
            let bar = self.redlock.node(now, id).and_then(|status| status.fence_bar);
            let is_off = bar == Some(FenceBar::ClockOff);
            let is_far = net.nodes[index].is_far;
            // A master whose data is too young is not asked for its clock.
            if (is_off && !is_far) || (bar.is_none() && is_far) {
                net.fail(format_args!("S13: the bar of {id:?} is {bar:?}, far: {is_far}"));
            }
        }
    }
}

impl Number {
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, fence: None, draw: None }
    }

    /// Returns the time by which the caller is told, if the caller waits for anything.
    pub(crate) fn due(&self) -> u64 {
        self.draw.map_or(u64::MAX, |draw| draw.due)
    }

    /// Gives a client that was asleep more time.
    pub(crate) fn excuse(&mut self, stopped: u64, due: u64) {
        if let Some(draw) = &mut self.draw {
            draw.due = (draw.due + stopped).max(due);
        }
    }
}
