//! What must be true of a set whose resources other clients want one by one, all the time.
//!
//! A set is granted whole or not at all, and the moment at which all of its resources are free may
//! never come by itself. So the set takes one resource after the other, and keeps those that it
//! has. Then it waits for each of them no longer than a single lock would.

use std::time::Duration;

use redbolt::redlock::LockId;

use crate::book::State;
use crate::checks::Violation;
use crate::clock::{MS, SECOND};
use crate::manner::Manner;
use crate::names::Resources;
use crate::world::World;

/// How many resources the set has.
const SIZE: usize = 3;

/// How many requests of each other client there are for each resource, at any moment. So a resource
/// goes from one to the next, and is hardly ever free.
const LINE: usize = 2;

/// How often the set is granted.
const TURNS: u64 = 5;

/// How long each request waits, and the average wait of the set that is allowed.
const PATIENCE: u64 = 120 * SECOND;

/// How long a client may keep a lock, at least: so many tenures, and this long.
const HOLD_TENURES: u32 = 8;
const HOLD: Duration = Duration::from_secs(4);

/// The longest way to a master with which a bound is promised.
const FARTHEST: u64 = 5 * MS;

/// The requests of one client for one of the resources.
struct Single {
    client: usize,
    resource: usize,
    /// The lock that the client has, and when it gives that back.
    held: Option<LockId>,
    until: u64,
}

impl World {
    /// One client wants a set again and again, and the others want each of its resources.
    pub(crate) fn a_set_is_granted_beside_single_locks(&mut self) -> Result<(), Violation> {
        let config = &self.options.config;
        let has_room = config.max_locks >= 4 * (SIZE + 1) && config.max_pipeline > SIZE;
        // No lock lives longer, and so no step.
        let has_time = config.max_hold >= HOLD_TENURES * config.tenure + HOLD;
        let runs_scripts = self.options.extras.without_scripts.is_none();
        let has_gap = 2 * config.tenure_gap >= config.retry_max;
        let others = (1..self.clients.len())
            .filter(|client| self.clients[*client].prefix == self.clients[0].prefix);
        let mut singles: Vec<_> = others
            .flat_map(|client| (0..SIZE).map(move |resource| (client, resource)))
            .map(|(client, resource)| Single { client, resource, held: None, until: 0 })
            .collect();
        let is_near = self.options.farthest() <= FARTHEST;
        if !(has_room && has_time && runs_scripts && has_gap && is_near) || singles.is_empty() {
            return Ok(());
        }
        let tenure = config.tenure.as_nanos() as u64;
        let hold = (tenure / 8).clamp(MS / 10, 20 * MS).min(self.options.max_ttl() / 4);
        let (start, mut granted) = (self.net.now, 0);
        let end = start + TURNS * PATIENCE;
        while granted < TURNS && self.net.now < end {
            let mut next = end;
            for single in &mut singles {
                self.go_on_with(single, hold);
                next = next.min(if single.held.is_some() { single.until } else { end });
            }
            granted += u64::from(self.go_on_with_set());
            self.advance(next)?;
        }
        if granted < TURNS {
            let passed = Duration::from_nanos(self.net.now - start);
            let what = format!("a set was granted {granted} times of {TURNS} within {passed:?}");
            self.net.fail(format_args!("liveness: {what}"));
        }
        // Whatever is left then ends with the world, as in every other one.
        while self.net.now < end && self.clients.iter().any(|client| !client.locks.is_empty()) {
            self.give_back();
            self.advance(end)?;
        }
        Ok(())
    }

    /// Lets a client give one resource back in time, and ask again.
    fn go_on_with(&mut self, single: &mut Single, hold: u64) {
        let ttl = self.options.max_ttl() / MS;
        let Self { net, clients, .. } = self;
        let client = &mut clients[single.client];
        let wanted = Resources::one(single.resource);
        let is_wanted = |id: &LockId| client.lock(*id).is_some_and(|lock| lock.resources == wanted);
        let held = client.locks_in(State::Held).find(is_wanted);
        let waiting = client.locks_in(State::Wanted).filter(is_wanted).count();
        if held != single.held {
            (single.held, single.until) = (held, net.now + hold);
        }
        for _ in waiting + usize::from(held.is_some())..LINE {
            client.acquire(net, wanted, &Manner::default(), ttl, PATIENCE / MS);
        }
        if let Some(id) = held.filter(|_| net.now >= single.until) {
            client.release(net, id);
        }
        client.settle(net);
    }

    /// Lets the first client give its set back, or ask for it. Returns whether it had the set.
    fn go_on_with_set(&mut self) -> bool {
        let ttl = self.options.max_ttl() / MS;
        let Self { net, clients, .. } = self;
        let client = &mut clients[0];
        let held = client.first_in(State::Held);
        if let Some(id) = held {
            client.release(net, id);
        } else if client.first_in(State::Wanted).is_none() {
            let wanted = Resources((1 << SIZE) - 1);
            client.acquire(net, wanted, &Manner::default(), ttl, PATIENCE / MS);
        }
        client.settle(net);
        held.is_some()
    }
}
