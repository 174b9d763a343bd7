//! The second life of a world, without faults: all must converge.

use redbolt::redlock::{NodeId, NodeState};

use crate::book::{Resources, State};
use crate::checks::Violation;
use crate::client::Client;
use crate::clock::{MS, SECOND};
use crate::manner::Manner;
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
        let healed = self.net.now;
        // Bytes of dead connections are late by a second at most. Where every ttl is short, most
        // worlds are clean soon, and the looks of half a minute would find nothing new.
        let soon = 2 * SECOND + 2 * self.options.max_ttl();
        self.live_giving_back(healed + soon.min(CLEAN_AFTER))?;
        while self.net.now < healed + CLEAN_AFTER && !self.is_clean() {
            self.live_giving_back((self.net.now + SECOND).min(healed + CLEAN_AFTER))?;
        }
        self.nothing_left();
        // By then masters that have forgotten locks are trusted again.
        self.live(self.net.now + 2 * self.options.max_ttl())?;
        self.everybody_is_served()?;
        self.live(self.net.now + 2 * self.options.max_ttl() + self.options.step_max)?;
        self.nothing_remembered();
        self.net.checks.violation().map_or(Ok(()), Err)
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

    /// Returns whether nothing is left of any lock, and all clients are connected to all masters.
    fn is_clean(&self) -> bool {
        let now = self.net.now;
        self.net.nodes.iter().all(|node| node.keys(now) == 0)
            && self.clients.iter().all(|client| client.is_at_rest(now))
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
        let mut is_changed = false;
        while let Some(id) = self.first_in(State::Held) {
            self.release(net, id);
            is_changed = true;
        }
        while let Some(id) = self.first_in(State::Wanted) {
            self.cancel(net, id);
            self.settle(net);
        }
        if is_changed {
            self.settle(net);
        }
    }

    /// Returns whether the client has nothing to do, and a session with every master.
    fn is_at_rest(&self, now: u64) -> bool {
        let is_connected = |node| {
            let status = self.redlock.node(self.clock(now), node);
            status.is_some_and(|s| matches!(s.state, NodeState::Ready | NodeState::Quarantined))
        };
        self.locks.is_empty()
            && self.redlock.in_use() == 0
            && self.redlock.cleanup() == 0
            && self.redlock.nodes().into_iter().all(is_connected)
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
