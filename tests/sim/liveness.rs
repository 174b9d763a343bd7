//! The second life of a world, without faults: all must converge.

use std::time::Duration;

use redbolt::redlock::{NodeId, NodeState};

use crate::book::{State, allowed};
use crate::checks::Violation;
use crate::client::{Client, Sleep};
use crate::clock::{MS, SECOND};
use crate::link::Link;
use crate::manner::Manner;
use crate::master::Node;
use crate::names::Resources;
use crate::net::Net;
use crate::options::Outside;
use crate::world::World;

/// The time after the last fault within which nothing must be left of released locks. A node that
/// needed another configuration is looked at after 30 s; the longest ttl is 60 s.
const CLEAN_AFTER: u64 = 40 * SECOND;

/// The time within which every client must have had a lock, one after another.
const SERVED_AFTER: u64 = 30 * SECOND;

impl World {
    /// Lives the second life: nothing goes wrong any more, and everything must converge.
    pub(crate) fn be_alive(&mut self) -> Result<(), Violation> {
        // Most worlds skip the times in which only looks are left to come.
        let is_patient = self.net.weather.chance.one_in(8);
        self.meet_a_spoiled_hash()?;
        self.become_clean(is_patient)?;
        self.nothing_left();
        // By then every client has looked at every master, and knows whom not to trust.
        let seen = self.net.now + self.options.config.quarantine().as_nanos() as u64 / 2;
        // By then masters that have forgotten locks are trusted again.
        let end = self.net.now + 2 * self.options.max_ttl() + self.options.step_max;
        self.live_until(end, |world| {
            let is_over = world.is_trusting() && world.has_no_revived_key();
            !is_patient && world.net.now >= seen && is_over
        })?;
        self.everybody_is_served()?;
        self.first_attempts_succeed()?;
        self.nobody_is_missed()?;
        self.numbers_are_had()?;
        // One in a few is enough, because most worlds are alike by now.
        if self.options.seed % 4 == 0 {
            self.lines_are_served()?;
        }
        if self.options.seed % 4 == 1 {
            self.nobody_starves()?;
        }
        // These worlds are long.
        if self.options.seed % 16 == 2 {
            self.rivals_take_turns()?;
        }
        if self.options.seed % 16 == 10 {
            self.sets_in_turn_leave_what_they_share()?;
        }
        if self.options.seed % 16 == 6 {
            self.a_set_is_granted_beside_single_locks()?;
        }
        let end = self.net.now + 2 * self.options.max_ttl() + self.options.step_max;
        self.live_until(end, |world| !is_patient && world.rest() == Some(0))?;
        // A password that was changed last was noticed after the world had become clean.
        if self.clients.iter().any(|client| client.waits_for_a_node(self.net.now)) {
            self.become_clean(is_patient)?;
        }
        self.nothing_remembered();
        self.net.checks.thrift(self.net.now);
        self.net.checks.violation().map_or(Ok(()), Err)
    }

    /// Lives until nothing is left that time alone would remove.
    fn become_clean(&mut self, is_patient: bool) -> Result<(), Violation> {
        // A lock that is lost because a clock stood still, or looks as if, keeps its keys until its
        // validity ends. In other worlds, time alone must not remove what is left.
        let has_stopped = self.clients.iter().any(|client| client.stops.has_any());
        let may_lapse = has_stopped || self.options.outside.is_some();
        let lapse = self.options.max_ttl() + self.options.max_ttl() / 8 + self.options.step_max;
        let end = self.net.now + if may_lapse { CLEAN_AFTER.max(lapse) } else { CLEAN_AFTER };
        // Who has not looked since the last fault may think that all is well, and must not sleep.
        let seen = self.faults_until + self.options.config.quarantine().as_nanos() as u64;
        let sleep = self.net.weather.chance.pick(&[Sleep::Pause, Sleep::Suspend]);
        while self.net.now < end {
            let mut until = self.net.now + self.pause();
            match self.rest() {
                Some(0) if self.net.now >= self.faults_until => return Ok(()),
                // A link may be clogged that nobody has used since.
                Some(0) => {}
                // A client that slept until a node is to be tried again does then what is due.
                Some(wait) if !is_patient && self.net.now >= seen => {
                    let now = self.net.now;
                    until = end.min(now + wait);
                    self.clients.iter_mut().for_each(|client| client.sleep(now, until, sleep));
                }
                _ => {}
            }
            self.live_giving_back(until.min(end))?;
        }
        Ok(())
    }

    /// Lives until `end`, or until it is found earlier that the world `is_done`.
    pub(crate) fn live_until(
        &mut self,
        end: u64,
        is_done: impl Fn(&Self) -> bool,
    ) -> Result<(), Violation> {
        while self.net.now < end && !is_done(self) {
            self.live(end.min(self.net.now + self.pause()))?;
        }
        Ok(())
    }

    /// Returns the time between two looks at a world.
    fn pause(&self) -> u64 {
        (self.options.max_ttl() / 8).clamp(50 * MS, SECOND)
    }

    /// Returns whether every client believes every master, and the next look shortens no lock.
    pub(crate) fn is_trusting(&self) -> bool {
        let (now, max_ttl) = (self.net.now, self.options.config.max_ttl);
        self.clients.iter().all(|client| client.knows_its_stops(now, max_ttl))
            && self.clients.iter().all(|client| {
                let statuses = client.redlock.nodes().into_iter();
                let mut statuses =
                    statuses.map(|node| client.redlock.node(client.clock(self.net.now), node));
                statuses.all(|status| status.is_some_and(|status| status.state == NodeState::Ready))
            })
    }

    /// Returns `false` while there are keys that had ended, until a clock was set back by more than
    /// it may be.
    fn has_no_revived_key(&self) -> bool {
        let now = self.net.now;
        self.options.outside != Some(Outside::Steps)
            || self.net.nodes.iter().all(|node| node.keys(now) == 0)
    }

    /// Releases all locks, and those that are still to come.
    fn live_giving_back(&mut self, end: u64) -> Result<(), Violation> {
        while self.net.now < end {
            for client in &mut self.clients {
                client.give_back(&mut self.net);
            }
            self.advance(end)?;
        }
        Ok(())
    }

    /// Returns `None` while something is left of any lock, or of a dead connection; otherwise the
    /// time after which the last node is tried again that needed another configuration, which is 0
    /// once all clients are connected to all masters. Without a fault, a clean world stays clean.
    pub(crate) fn rest(&self) -> Option<u64> {
        let now = self.net.now;
        let is_alive = |link: &Link| link.is_served && link.is_heard;
        let is_clean = |node: &Node| node.links.iter().all(is_alive) && node.keys(now) == 0;
        let rests = self.clients.iter().map(|client| client.rest(now));
        let rest = rests.reduce(|a, b| Some(a?.max(b?))).flatten();
        rest.filter(|_| self.net.nodes.iter().all(is_clean))
    }

    /// Lets every client want the same lock at the same time, keep the lock for a moment, extend
    /// and release the lock; all of that must succeed.
    fn everybody_is_served(&mut self) -> Result<(), Violation> {
        let (ttl, wait) = (self.options.max_ttl() / MS, SERVED_AFTER / MS);
        let before = |client: &Client| (client.grants, client.extensions);
        let before: Vec<_> = self.clients.iter().map(before).collect();
        for client in &mut self.clients {
            client.acquire(&mut self.net, Resources::one(0), &Manner::default(), ttl, wait);
            client.settle(&mut self.net);
        }
        let end = self.net.now + SERVED_AFTER;
        while self.net.now < end && self.clients.iter().any(|client| !client.locks.is_empty()) {
            for (client, (_, extensions)) in self.clients.iter_mut().zip(&before) {
                if let Some(id) = client.first_in(State::Held) {
                    let is_done = client.extensions > *extensions;
                    if is_done || !client.extend(&mut self.net, id, ttl) {
                        client.release(&mut self.net, id);
                    }
                    client.settle(&mut self.net);
                }
            }
            self.advance(end)?;
        }
        for (client, (grants, _)) in self.clients.iter().zip(before) {
            let name = client.name;
            if !client.locks.is_empty() {
                self.net.fail(format_args!("liveness: client {name} still waits"));
            }
            if client.grants == grants {
                self.net.fail(format_args!("liveness: client {name} got no lock"));
            }
        }
        Ok(())
    }

    /// Checks that nothing is left of released locks, although their ttls may not have ended.
    fn nothing_left(&mut self) {
        let mut dropped = 0;
        for client in &self.clients {
            let name = client.name;
            if !client.locks.is_empty() {
                self.net.fail(format_args!("client {name} waits for an event"));
            }
            if client.redlock.in_use() > 0 {
                self.net.fail(format_args!("client {name} leaked a slot"));
            }
            dropped += client.cleanup_dropped(self.net.now);
        }
        // A full cleanup list leaves keys to their ttls, and says so; so does a client that died. A
        // clock that was set back revives keys that had ended.
        let is_excused = self.is_littered || self.options.outside == Some(Outside::Steps);
        let keys: usize = self.net.nodes.iter().map(|node| node.keys(self.net.now)).sum();
        if dropped == 0 && !is_excused && keys > 0 {
            self.net.fail(format_args!("S6: {keys} keys are left on the masters"));
        }
    }

    /// Checks that, after every ttl, there is neither a key nor a token to look for.
    fn nothing_remembered(&mut self) {
        let keys: usize = self.net.nodes.iter().map(|node| node.keys(self.net.now)).sum();
        if keys > 0 {
            self.net.fail(format_args!("{keys} keys have outlived their ttls"));
        }
        for client in &self.clients {
            client.check_rest(&mut self.net);
        }
    }
}

impl Client {
    /// Releases all held locks of the client, and cancels all wanted ones.
    fn give_back(&mut self, net: &mut Net) {
        // A lock that is released can be passed on to one that is wanted.
        while let Some(id) = self.first_in(State::Held) {
            self.release(net, id);
            self.settle(net);
        }
        while let Some(id) = self.first_in(State::Wanted) {
            self.cancel(net, id);
            self.settle(net);
        }
    }

    /// Returns `None` if the client has something to do, or waits for an answer, or has no session
    /// with some master; otherwise the time after which the last node is tried again that needed
    /// another configuration.
    fn rest(&self, now: u64) -> Option<u64> {
        let Self { redlock, .. } = self;
        if !self.locks.is_empty() || redlock.in_use() > 0 || redlock.cleanup() > 0 {
            return None;
        }
        let waits = redlock.nodes().into_iter().map(|node| {
            let status = redlock.node(self.clock(now), node)?;
            if status.in_flight > status.looks {
                return None;
            }
            match status.state {
                NodeState::Ready | NodeState::Quarantined => Some(Duration::ZERO),
                NodeState::Misconfigured => status.retry_in.filter(|wait| !wait.is_zero()),
                _ => None,
            }
        });
        let wait = waits.reduce(|a, b| Some(a?.max(b?))).flatten()?;
        // The clock of the client may be slow.
        Some(allowed(wait)).filter(|_| !wait.is_zero()).or(Some(0))
    }

    /// Returns whether a node is tried again only later, because it needed another configuration.
    pub(crate) fn waits_for_a_node(&self, now: u64) -> bool {
        let statuses = self.redlock.nodes().into_iter();
        let mut statuses = statuses.filter_map(|node| self.redlock.node(self.clock(now), node));
        statuses.any(|status| status.state == NodeState::Misconfigured)
    }

    fn cleanup_dropped(&self, now: u64) -> u64 {
        let nodes = self.redlock.nodes().into_iter();
        let statuses = nodes.filter_map(|node| self.redlock.node(self.clock(now), node));
        statuses.map(|status| status.counters.cleanup_dropped).sum()
    }

    fn check_rest(&self, net: &mut Net) {
        let (name, now) = (self.name, self.clock(net.now));
        if self.redlock.cleanup() > 0 {
            net.fail(format_args!("S6: client {name} looks for tokens for ever"));
        }
        for node in (0..net.nodes.len()).filter_map(NodeId::new) {
            let waits =
                self.redlock.node(now, node).is_none_or(|status| status.in_flight > status.looks);
            if waits {
                net.fail(format_args!("client {name} waits for {node:?} for ever"));
            }
        }
    }
}
