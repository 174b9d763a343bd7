//! Clients that ask for fencing numbers (S13), and the clocks of the masters that draw them.
//!
//! Everything is drawn from a stream of its own, so that all other worlds do what they did before
//! there was any of this. In a third of the worlds some clients ask for numbers, most of the time,
//! on the same resources as the others, and anybody draws a new number for a lock that is held. The
//! clocks of the masters are as far from true time as `fence_skew` lets them be, to both sides. In
//! some worlds a few of them are much farther away: such a master takes no part.

use std::time::Duration;

use crate::answer::Mood;
use crate::book::State;
use crate::chance::Chance;
use crate::checks::Violation;
use crate::clock::{MS, SECOND};
use crate::manner::Manner;
use crate::master::MASTERS_MAX;
use crate::names::{RESOURCES, Resources};
use crate::options::Options;
use crate::world::{World, any};

/// Sets this stream apart from all others.
const STREAM: u64 = 0x2545_f491_4f6c_dd1d;

/// The least distance of a clock that is far away. No look can be so long under way.
pub(crate) const FAR: u64 = 1_000 * SECOND;

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
        // Locks on several resources are asked for at once.
        self.resources = self.resources.max(chance.pick(&[1, 3, RESOURCES.len()]));
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

impl World {
    /// Asks for more numbers before anything leaves, now and then, and gives some of them up at
    /// once. What leaves together goes in one script call.
    pub(crate) fn want_more_numbers(&mut self, chosen: usize) {
        let Some(fencers) = self.options.fencers else { return };
        let Self { net, chance, clients, options, .. } = self;
        if fencers.clients >> chosen & 1 == 0 || !chance.one_in(4) {
            return;
        }
        let client = &mut clients[chosen];
        for resource in 0..options.resources {
            let (ttl, wait) = (options.ttl(chance), chance.below(1_000));
            let wait = chance.pick(&[0, wait]);
            let manner = Manner::default().fenced();
            client.acquire(net, Resources::one(resource), &manner, ttl, wait);
        }
        client.hear(net);
        if chance.one_in(3) {
            if let Some(id) = any(client.locks_in(State::Wanted), chance) {
                client.cancel(net, id);
            }
        }
    }

    /// Lets clients ask for numbers, for as long as they may, while the hash of a master is no
    /// hash. The master takes the keys, and says nothing but an error.
    pub(crate) fn meet_a_spoiled_hash(&mut self) -> Result<(), Violation> {
        let Some(fencers) = self.options.fencers else { return Ok(()) };
        let Self { net, chance, clients, options, .. } = self;
        if !chance.one_in(2) {
            return Ok(());
        }
        let until = net.now + SECOND;
        let face = &mut net.nodes[chance.index(options.masters)].face;
        (face.mood, face.mood_until) = (Mood::Spoiled, until);
        let ttl = options.max_ttl() / MS;
        for (index, client) in clients.iter_mut().enumerate() {
            if fencers.clients >> index & 1 == 1 && client.is_awake() {
                client.acquire(net, Resources::one(0), &Manner::default().fenced(), ttl, 0);
                client.settle(net);
            }
        }
        self.live(until)
    }

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

    /// Returns whether two trips to the masters fit into the half of a validity in which a lock is
    /// granted. Masters whose clocks are more than a second apart never draw the same number.
    fn second_trips_fit(&self) -> bool {
        let Options { turn, config, .. } = &self.options;
        let ttl = Duration::from_nanos(self.options.max_ttl());
        let half = ttl.saturating_sub(config.drift.of(ttl)).as_nanos() as u64 / 2;
        half > 2 * (5 * self.options.farthest() + 3 * turn)
    }

    /// Lets every client that asks for numbers have one, once the data of all masters is old
    /// enough. A master whose clock is far away is known to be, and no other is taken for one.
    pub(crate) fn numbers_are_had(&mut self) -> Result<(), Violation> {
        let Some(fencers) = self.options.fencers else { return Ok(()) };
        self.note_clocks();
        if !self.clocks_are_near() || !self.second_trips_fit() {
            return Ok(());
        }
        let ttl = self.options.max_ttl() / MS;
        for index in 0..self.clients.len() {
            if fencers.clients >> index & 1 == 0 {
                continue;
            }
            let grants = self.clients[index].grants;
            let end = self.net.now + 2 * self.options.fence_span() + 30 * SECOND;
            let mut tries = 0;
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
                    // Not always at the moment at which a look has the only place of a pipeline.
                    tries += 1;
                    self.live(self.net.now + SECOND + tries * 37 * MS)?;
                }
            }
            // That has taken its time, in which clocks have drifted.
            if !self.clocks_are_near() {
                return Ok(());
            }
            let (net, client) = (&mut self.net, &self.clients[index]);
            if client.grants == grants {
                let ids = client.redlock.nodes().into_iter();
                let status = |id| client.redlock.node(client.clock(net.now), id);
                let bars: Vec<_> = ids.filter_map(status).map(|node| node.fence_bar).collect();
                net.fail(format_args!("liveness: client {index} got no number: {bars:?}"));
            }
            client.check_bars(net);
        }
        Ok(())
    }
}
