//! What a master does with the requests that arrive, under the eyes of the checks.

use std::time::Duration;

use redbolt::redlock::Token;
use redbolt::time::Instant;
use smallvec::SmallVec;

use super::Node;
use crate::checks::{Checks, Vote};
use crate::drawing;
use crate::link::{Leaving, Link};
use crate::names::Resources;
use crate::net::Weather;
use crate::request::{self, Asked, Named, Words, number, token_of};
use crate::scripts::is_try;
use crate::stops::Look;
use crate::strangers::NO_STRING;
use crate::thrift::Use;
use crate::trace::Trace;
use crate::tracking;
use crate::witness::{Call, is_hint, is_witness};

impl Node {
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
        if !self.touched.is_empty() {
            let to = (self.index, &mut links[..]);
            tracking::tell_touched(now, weather, checks, to, &self.touched);
            self.touched.clear();
            let mut cared_for = links.iter().flat_map(|link| &link.cared_for);
            self.is_cared_for = cared_for.any(|key| !is_witness(key));
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
            checks.thrift.executed += u64::from(!is_of_look(&words));
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
        let is_aside = matches!(Named::read(words).keys, [key] if is_hint(key));
        if look.is_some() || is_try(words) || is_aside {
            // The keys of the witness and hints are no locks, and a try touches none.
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

/// Returns whether a request only asks whether the data of the master is what it was.
fn is_of_look(words: &[&[u8]]) -> bool {
    matches!(words[0], b"SCRIPT" | b"INFO" | b"COMMAND" | b"CONFIG") || Call::read(words).is_some()
}
