//! What must be true of lines of waiters in the second life, when nothing goes wrong any more.
//!
//! Several requests of each client for one lock are there at once. All of them are served, those
//! of one client in the order of their arrival ([`Client::check_order`]). The first holder hands
//! the lock to another client, which has the lock next, although everybody waits for it. A client
//! whose tenure is over leaves the lock alone for half a gap at least. Which client is next is
//! decided by the nodes, so nothing more can be promised between clients.

use redbolt::redlock::NodeState;
use redbolt::time::Instant;

use crate::book::State;
use crate::checks::Violation;
use crate::client::Client;
use crate::clock::{MS, SECOND};
use crate::manner::Manner;
use crate::names::{self, Resources};
use crate::tricks::Trick;
use crate::world::{CLIENTS_MAX, World};

/// The time within which all of them must have had the lock.
const SERVED_AFTER: u64 = 120 * SECOND;

const WANTED: Resources = Resources(1);

/// Locks of one client that follow one another.
#[derive(Clone, Copy, Default)]
struct Chain {
    /// The beginning of the first of them, and the end of the last one, by the client's clock.
    since: Option<Instant>,
    released_at: Option<Instant>,
    /// How many attempts the client had made by then.
    attempts: u64,
}

impl World {
    pub(crate) fn lines_are_served(&mut self) -> Result<(), Violation> {
        let (ttl, wait) = (self.options.max_ttl() / MS, SERVED_AFTER / MS);
        let has_room = self.options.config.max_locks >= 8;
        let each = if has_room { 3 } else { 1 };
        // A lock that has ended keeps its place until far masters have answered.
        self.live_until(self.net.now + SERVED_AFTER, |world| {
            let has_place = |client: &Client| {
                client.redlock.in_use() + each as usize <= client.redlock.config().max_locks
            };
            world.clients.iter().all(has_place)
        })?;
        let mut wanted: Vec<u64> = self.clients.iter().map(|client| client.grants + each).collect();
        for _ in 0..each {
            for client in &mut self.clients {
                client.acquire(&mut self.net, WANTED, &Manner::default(), ttl, wait);
                client.settle(&mut self.net);
            }
        }
        let mut chains = [Chain::default(); CLIENTS_MAX];
        let mut may_hand_over = has_room && self.options.max_ttl() > 40 * self.options.farthest();
        let end = self.net.now + SERVED_AFTER;
        while self.net.now < end && self.clients.iter().any(|client| !client.locks.is_empty()) {
            for index in 0..self.clients.len() {
                if self.clients[index].first_in(State::Held).is_none() {
                    continue;
                }
                self.check_turn(index, &mut chains[index]);
                let heir = self.heir(index).filter(|_| core::mem::take(&mut may_hand_over));
                if let Some(heir) = heir {
                    wanted[heir] += 1;
                    // Neither goes on: the heir gets what another one had meanwhile.
                    (chains[index], chains[heir]) = Default::default();
                    self.bequeath(index, heir, ttl, wait);
                } else {
                    self.give_up(index, &mut chains[index]);
                }
            }
            self.advance(end)?;
        }
        for (client, wanted) in self.clients.iter().zip(wanted) {
            let Client { name, grants, .. } = *client;
            if grants != wanted || !client.locks.is_empty() {
                let what = format!("client {name} was served {grants} times, not {wanted}");
                self.net.fail(format_args!("liveness: {what}"));
            }
        }
        Ok(())
    }

    /// Returns the client to which this one can hand its lock: another one with the same keys, for
    /// which a quorum of the nodes with the token votes and can be asked at once: a pipeline may
    /// have room for a single request. Else the lock has to end by its ttl.
    fn heir(&self, from: usize) -> Option<usize> {
        let (net, giver) = (&self.net, &self.clients[from]);
        let token = giver.first_in(State::Held).and_then(|id| giver.lock(id))?.token;
        let key = names::key(giver.prefix, WANTED.iter().next()?);
        let votes = |heir: &Client| {
            let at = heir.clock(net.now);
            let room = heir.redlock.config().max_pipeline;
            let is_ready = |id| {
                let status = heir.redlock.node(at, id);
                status.is_some_and(|is| is.state == NodeState::Ready && is.in_flight < room)
            };
            let ids = heir.redlock.nodes().into_iter().filter(|id| is_ready(*id));
            ids.filter(|id| net.nodes[id.index()].holds(net.now, key, &token)).count()
        };
        let mut others = self.clients.iter().filter(|client| client.name != from);
        let heir = others.find(|client| {
            client.prefix == giver.prefix && votes(client) >= net.checks.rules.quorum
        });
        heir.map(|client| client.name)
    }

    /// Lets one client hand its lock to another.
    fn bequeath(&mut self, from: usize, heir: usize, ttl: u64, wait: u64) {
        let Self { net, clients, .. } = self;
        let Some(id) = clients[from].first_in(State::Held) else { return };
        let Some(orphan) = clients[from].disown(net, id) else { return };
        clients[from].settle(net);
        if self.options.is_tricked(Trick::HeirTooLate) {
            net.nodes.iter_mut().for_each(|node| node.forget(net.now));
        }
        clients[heir].acquire(net, WANTED, &Manner::adopting(orphan), ttl, wait);
        clients[heir].settle(net);
    }

    /// Checks that a client which has the lock has left the lock to others before, if it was time
    /// to, and that nobody waits to whom the lock was handed.
    fn check_turn(&mut self, index: usize, chain: &mut Chain) {
        let Self { net, clients, options, .. } = self;
        let is_heir = |client: &Client| {
            let heirs = client.locks_in(State::Wanted).filter_map(|id| client.lock(id));
            client.prefix == clients[index].prefix && heirs.into_iter().any(|lock| lock.is_adopted)
        };
        if clients.iter().any(is_heir) {
            net.fail(format_args!("client {index} has a lock that was handed to another"));
        }
        let held = clients[index].first_in(State::Held).and_then(|id| clients[index].lock(id));
        let Some(since) = held.map(|lock| lock.since) else { return };
        let attempts = net.checks.thrift.made(index, WANTED);
        let (Some(first), Some(released_at)) = (chain.since, chain.released_at) else {
            chain.since = Some(since);
            return;
        };
        // An attempt that has failed ends the tenure, because somebody else was there. A lock that
        // is passed on takes none.
        let is_next = attempts <= chain.attempts + 1;
        let half = options.config.tenure_gap / 2;
        if !is_next || since - released_at >= half {
            chain.since = Some(since);
        } else if released_at - first >= options.config.tenure {
            let over = released_at - first;
            net.fail(format_args!("tenure: client {index} goes on after {over:?}"));
        }
    }

    /// Releases the lock that a client has.
    fn give_up(&mut self, index: usize, chain: &mut Chain) {
        let Self { net, clients, .. } = self;
        let client = &mut clients[index];
        let Some(id) = client.first_in(State::Held) else { return };
        chain.attempts = net.checks.thrift.made(index, WANTED);
        chain.released_at = Some(client.clock(net.now));
        client.release(net, id);
        client.settle(net);
    }
}
