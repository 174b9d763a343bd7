//! What must be true of a client that asks again at once for what it has just released.
//!
//! Nobody comes in between: the release and the next `SET` of such a client arrive together. Its
//! attempts are hardly ever refused, so it sees nobody else, unless those who wait leave a mark.
//! Then each of them is served, soon after a tenure: a mark is left after half of one or less, the
//! question for it comes eight times in a tenure, and the next lock is left to others.

use crate::book::State;
use crate::checks::Violation;
use crate::clock::{MS, SECOND};
use crate::manner::Manner;
use crate::names::Resources;
use crate::world::World;

/// The time within which the one who waits must have had the lock: so many tenures, and this long.
/// Whoever is served by chance alone often waits for longer.
const TENURES: u64 = 4;
const SLACK: u64 = 10 * SECOND;

/// How long the requests wait.
const PATIENCE: u64 = 120 * SECOND;

/// The longest way to a master with which that is promised: the pauses of who leaves a resource to
/// others grow with the way to the masters, and so do the pauses between two looks.
const FARTHEST: u64 = 5 * MS;

const WANTED: Resources = Resources(1);

impl World {
    pub(crate) fn nobody_starves(&mut self) -> Result<(), Violation> {
        let config = &self.options.config;
        let never_leaves = config.tenure_gap.is_zero() || config.max_locks < 8;
        let same = |other: &usize| self.clients[*other].prefix == self.clients[0].prefix;
        let patient = (1..self.clients.len()).find(same);
        let Some(patient) = patient.filter(|_| !never_leaves) else { return Ok(()) };
        if self.options.farthest() > FARTHEST {
            return Ok(());
        }
        let (tenure, ttl) = (config.tenure.as_nanos() as u64, self.options.max_ttl() / MS);
        let hold = (tenure / 8).clamp(MS / 10, 50 * MS);
        let served = self.clients[patient].grants;
        self.want(0, ttl);
        let end = self.net.now + PATIENCE;
        self.live_until(end, |world| world.clients[0].first_in(State::Held).is_some())?;
        self.want(patient, ttl);
        let end = self.net.now + TENURES * tenure + SLACK;
        let mut until = self.net.now + hold;
        while self.net.now < end && self.clients[patient].grants == served {
            if self.net.now >= until && self.has_again(ttl) {
                until = self.net.now + hold;
            }
            self.advance(if self.net.now < until { until.min(end) } else { end })?;
        }
        if self.clients[patient].grants == served {
            self.net.fail(format_args!("liveness: client {patient} starves behind client 0"));
        }
        // Whoever has the lock leaves the way to the other.
        let end = self.net.now + PATIENCE;
        while self.net.now < end && self.clients.iter().any(|client| !client.locks.is_empty()) {
            self.give_back();
            self.advance(end)?;
        }
        Ok(())
    }

    /// Lets each client release what it has.
    pub(crate) fn give_back(&mut self) {
        let Self { net, clients, .. } = self;
        for client in clients {
            if let Some(id) = client.first_in(State::Held) {
                client.release(net, id);
                client.settle(net);
            }
        }
    }

    fn want(&mut self, index: usize, ttl: u64) {
        let Self { net, clients, .. } = self;
        clients[index].acquire(net, WANTED, &Manner::default(), ttl, PATIENCE / MS);
        clients[index].settle(net);
    }

    /// Lets the greedy client release what it has, and ask again in the same turn. Returns `false`
    /// if it has nothing.
    fn has_again(&mut self, ttl: u64) -> bool {
        let Self { net, clients, .. } = self;
        let Some(id) = clients[0].first_in(State::Held) else { return false };
        clients[0].release(net, id);
        self.want(0, ttl);
        true
    }
}
