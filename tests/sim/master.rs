//! A master: the embedded one behind its links, with a clock, a process and a memory of its own.

use std::time::Duration;

use bytes::BytesMut;
use redbolt::embedded::Session;
use redbolt::redlock::Token;
use redbolt::time::Instant;
use smallvec::SmallVec;

use crate::answer::Face;
use crate::chance::Chance;
use crate::checks::{Checks, Vote};
use crate::clock::Clock;
use crate::drawing;
use crate::former::Former;
use crate::link::{Leaving, Link};
use crate::names::{self, Resources};
use crate::net::Weather;
use crate::request::{self, Asked, Named, Words, number, token_of};
use crate::scripts::is_try;
use crate::stops::Look;
use crate::store::Store;
use crate::strangers::{NO_STRING, Strangers};
use crate::thrift::Use;
use crate::trace::Trace;
use crate::tracking;
use crate::witness::{Call, is_witness};

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
    /// Somebody has written the witness in this turn: that without a prefix, that with one.
    pub(crate) is_written: [bool; 2],
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
            is_written: [false; 2],
            strangers: Strangers::default(),
            out: BytesMut::with_capacity(2_048),
        }
    }

    /// Returns how many keys are alive, without those of the witness.
    pub(crate) fn keys(&self, now: u64) -> usize {
        let strings = self.store.keys(0, self.clock.show(now)).filter(|key| !is_witness(key));
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

    /// Lets a new process take over at `up_at`, with the keys or without.
    pub(crate) fn restart(&mut self, now: u64, up_at: u64, keeps_keys: bool) {
        self.down_until = up_at;
        (self.stalled_until, self.face.mood_until) = (0, 0);
        self.face.begin_process(self.clock.show(up_at));
        if self.face.is_durable {
            return;
        }
        self.suspect_at = up_at;
        if !keeps_keys {
            self.forget(now);
        }
    }

    /// Lets another process take over the name: an empty one that has run for as long.
    pub(crate) fn be_spared(&mut self, now: u64, chance: &mut Chance) {
        self.drop_links(now, chance.one_in(2), chance);
        self.face.be_replaced_by_spare();
        (self.stalled_until, self.face.mood_until) = (0, 0);
        self.suspect_at = now;
        self.forget(now);
    }

    /// Lets the name move to the process that had it before, or to a spare. Two moves are at least
    /// `apart` from each other.
    pub(crate) fn move_name(&mut self, now: u64, apart: u64, chance: &mut Chance) {
        if self.face.is_durable || now < self.moved_at + apart {
            return;
        }
        self.moved_at = now;
        let spare = || Box::new(Former::spare(&self.face, now));
        let mut other = self.former.take().unwrap_or_else(spare);
        self.drop_links(now, chance.one_in(2), chance);
        other.swap(&mut self.store, &mut self.strangers, &mut self.face);
        // The one that comes back lacks the votes that the other gave in between.
        let lacks = other.suspect_at.max(self.granted_at);
        other.suspect_at = self.suspect_at;
        (self.suspect_at, self.forgot_at) = (lacks, lacks);
        self.lost_numbers = true;
        self.former = Some(other);
    }

    /// Lets a new process take over at `up_at`, with an older file: the witness is there, and no
    /// lock is.
    pub(crate) fn restore(&mut self, now: u64, up_at: u64) {
        let at = self.clock.show(now);
        for key in (0..names::COUNT).flat_map(names::both_keys) {
            self.store.delete(0, key, at);
        }
        self.restart(now, up_at, true);
        self.forgot_at = now;
    }

    /// Deletes all keys, and nothing else.
    pub(crate) fn forget(&mut self, now: u64) {
        self.store = Store::empty();
        self.strangers.forget();
        (self.forgot_at, self.lost_numbers) = (now, true);
    }

    /// Deletes some locks. Returns how many.
    ///
    /// The witness stays: a master that runs out of memory evicts keys with a ttl, and a replica
    /// lacks what was written last.
    pub(crate) fn evict(&mut self, now: u64, chance: &mut Chance) -> u64 {
        self.forgot_at = now;
        let at = self.clock.show(now);
        let mut evicted = 0;
        for resource in 0..names::COUNT {
            if chance.one_in(2) {
                for key in names::both_keys(resource) {
                    evicted += u64::from(self.store.delete(0, key, at));
                }
            }
        }
        evicted
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

    /// Executes the requests that have arrived, beginning with any of the connections.
    pub(crate) fn run(
        &mut self,
        now: u64,
        weather: &mut Weather,
        trace: &mut Trace,
        checks: &mut Checks,
    ) {
        self.busy_until = now + weather.turn;
        let mut links = core::mem::take(&mut self.links);
        let first = if links.len() > 1 { weather.chance.index(links.len()) } else { 0 };
        for index in 0..links.len() {
            let place = (first + index) % links.len();
            let link = &mut links[place];
            if link.is_served && link.requests.arrive(now) {
                self.serve(now, link, trace, checks);
                if link.is_heard {
                    weather.reply(now, self.index, link, &self.out);
                }
                self.out.clear();
            }
        }
        for (is_written, of_tenant) in self.is_written.iter_mut().zip([false, true]) {
            if core::mem::take(is_written) {
                tracking::tell_written(now, weather, self.index, links.iter_mut(), of_tenant);
            }
        }
        links.retain(|link| !link.is_over());
        self.links = links;
    }

    /// Executes the whole requests that have arrived on a link.
    fn serve(&mut self, now: u64, link: &mut Link, trace: &mut Trace, checks: &mut Checks) {
        // Taken out of the link, because the checks need the link meanwhile.
        let mut requests = core::mem::take(&mut link.requests);
        let mut done = 0;
        loop {
            let (leaving, waiting) = (requests.leaving(done), &requests.waiting()[done..]);
            let Some((words, used)) = request::read(waiting) else { break };
            let before = self.out.len();
            self.observe(now, link, &words, leaving, checks);
            let (request, reply) = (&waiting[..used], &self.out[before..]);
            trace.add(&[now, self.index as u64, link.id]);
            trace.add_bytes(request);
            trace.add_bytes(reply);
            if trace.is_loud() && !matches!(words[0], b"SCRIPT" | b"INFO" | b"COMMAND") {
                // Of a look, the script and `INFO` are left out.
                let is_look = Call::read(&words).is_some();
                let told = if is_look { &words[3..] } else { &words[..] };
                let end = reply.iter().position(|byte| is_look && *byte == b'$');
                let reply = &reply[..end.unwrap_or(reply.len())];
                let told = told.join(&b' ');
                let (request, reply) = (told.escape_ascii(), reply.escape_ascii());
                let ghost = if link.is_heard { "" } else { ", a ghost" };
                let (index, client, id) = (self.index, link.client, link.id);
                let told = format!("master {index}: {request} -> {reply}");
                trace.say(now, format_args!("{told} (client {client}, link {id}{ghost})"));
            }
            done += used;
        }
        requests.take(done);
        link.requests = requests;
    }

    /// Executes a request under the eyes of the checks.
    fn observe(
        &mut self,
        now: u64,
        link: &mut Link,
        words: &Words<'_>,
        leaving: Leaving,
        checks: &mut Checks,
    ) {
        let Leaving { offered_at, sent_at } = leaving;
        let start = self.out.len();
        let look = Call::read(words);
        if look.is_some() || is_try(words) {
            // The keys of the witness are no locks, and a try touches none.
            self.reply(now, link, words, look);
            return self.told_time(now, link, start, offered_at);
        }
        if let Some(Asked { keys, token, ttl }) = Asked::read(words) {
            self.reply(now, link, words, None);
            if self.out[start..].starts_with(b"-NOSCRIPT") {
                // The client will send the command again in another form.
                return;
            }
            let vote = self.vote(now, token_of(token), checks);
            self.given(now, link);
            let ttl = Duration::from_millis(number(ttl));
            let from = (link.client, link.slot);
            checks.asked(now, from, vote.token, Resources::of_keys(keys), sent_at, ttl);
            checks.used(now, from, &vote.token, Use::Other);
            let drawn = drawing::drawn_in(words, &self.out[start..]);
            if drawn.is_some() || &self.out[start..] == b"+OK\r\n" {
                let end = link.replies.end() + self.out.len() as u64;
                link.votes.push_back((end, vote));
            }
            if drawing::takes_with_number(words) {
                self.questioned(now, link, (keys, vote.token), (start, drawn), checks);
            }
            return;
        }
        if self.observe_draw(now, link, words, checks)
            || self.observe_together(now, link, words, sent_at, checks)
        {
            return;
        }
        checks.thrift.looked(link.client, words);
        let named = Named::read(words);
        let what = if named.extends { Use::Other } else { Use::Release };
        for token in named.tokens {
            checks.used(now, (link.client, link.slot), &token_of(token), what);
        }
        if named.keys.is_empty() {
            return self.reply(now, link, words, None);
        }
        let before = self.values(now, &named);
        self.reply(now, link, words, None);
        let after = self.values(now, &named);
        for (index, (old, new)) in before.into_iter().zip(after).enumerate() {
            // A group may name a key more than once, each time with another token.
            let names_old = old.is_some_and(|old| named.has(named.keys[index], old.as_ref()));
            checks.compared(now, link.client, names_old, old, new);
            let reply = &self.out[start..];
            let is_agreed = named.extends
                && if named.is_set { reply == b":1\r\n" } else { matches!(reply[0], b':' | b'*') };
            if let Some(token) = new.filter(|_| is_agreed && names_old) {
                let vote = Vote { extended_at: Some(sent_at), ..self.vote(now, token, checks) };
                self.given(now, link);
                link.votes.push_back((link.replies.end() + self.out.len() as u64, vote));
            }
        }
    }

    /// Records a look that the reply behind `start` answers, if it is the answer to one.
    fn told_time(&self, now: u64, link: &mut Link, start: usize, offered_at: Instant) {
        if self.out[start..].starts_with(b"*12\r\n") {
            let (process, time) = (self.face.process, self.clock.show(now));
            let end = link.replies.end() + self.out.len() as u64;
            link.looks.push_back((end, Look { at: now, time, process, offered_at }));
        }
    }

    /// Records when a vote was given that somebody may count. Nobody hears what a ghost is told.
    pub(crate) fn given(&mut self, now: u64, link: &Link) {
        if link.is_heard {
            self.granted_at = now;
        }
    }

    /// Returns the vote that an agreement of the master is worth.
    pub(crate) fn vote(&self, now: u64, token: Token, checks: &Checks) -> Vote {
        let max_ttl = checks.rules.max_ttl;
        // Without a guard, no word of the master is too old to be believed.
        let is_fit = match checks.rules.quarantines {
            true => self.face.may_vote(now, max_ttl),
            false => !self.face.may_evict(now, max_ttl),
        };
        let suspect_at = self.suspect_at;
        Vote { token, master: self.index, is_fit, suspect_at, extended_at: None }
    }

    fn values(&self, now: u64, named: &Named<'_>) -> SmallVec<[Option<Token>; 8]> {
        let at = self.clock.show(now);
        let value = |key: &&[u8]| match self.strangers.has(key) {
            true => Some(NO_STRING),
            false => self.store.get(0, key, at).map(token_of),
        };
        named.keys.iter().map(value).collect()
    }
}
