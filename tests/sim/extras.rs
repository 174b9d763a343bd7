//! What some worlds have besides: keys of strangers, logins, prefixes, hand-overs among waiters.
//!
//! All of it is drawn from two streams of random numbers of its own. Two thirds of the worlds have
//! nothing of it, and do what they did before there was any.

use crate::book::State;
use crate::chance::Chance;
use crate::clock::MS;
use crate::faults::Kind;
use crate::manner::Manner;
use crate::names::{self, Resources, TENANT};
use crate::options::Options;
use crate::world::{World, any};

/// Sets these streams apart from the one that decides everything else.
const STREAM: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a world has besides.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Extras {
    /// Strangers have keys under the names of locks.
    pub(crate) has_strangers: bool,
    /// Locks change hands while others wait for them.
    pub(crate) has_heirs: bool,
    /// Some masters have `DELEX` where they would have `DELIFEQ`.
    pub(crate) has_delex: bool,
    /// Masters ask for a password, which changes.
    pub(crate) has_logins: bool,
    /// Every other client has a prefix, and so keys and witnesses of its own.
    pub(crate) has_tenants: bool,
    /// Some locks have up to sixteen resources.
    pub(crate) has_wide_sets: bool,
    /// Masters refuse scripts, each from the beginning whose bit is set, and others later. Every
    /// master has `DELIFEQ` or `DELEX` then. The stream of this is that of [`crate::scripts`].
    pub(crate) without_scripts: Option<u8>,
}

/// Returns the stream that decides which extras the world of a seed has.
pub(crate) fn stream_of_options(seed: u64) -> Chance {
    Chance::new(seed ^ STREAM)
}

/// Returns the stream that decides when extras happen to the world of a seed, and to whom. The
/// negation sets the stream apart from that of the options, which would begin with the same draws.
pub(crate) fn stream_of_world(seed: u64) -> Chance {
    Chance::new(!seed ^ STREAM)
}

impl Extras {
    pub(crate) fn draw(kind: Kind, chance: &mut Chance) -> Self {
        if !chance.one_in(3) {
            return Self::default();
        }
        // What a node tells of its clock, and of the time for which others were there, must reach
        // the client in these worlds.
        let is_open = kind == Kind::Usual;
        Self {
            has_strangers: chance.one_in(2),
            has_heirs: chance.one_in(2),
            has_delex: chance.one_in(2),
            has_logins: chance.one_in(3) && is_open,
            has_tenants: chance.one_in(3) && is_open,
            has_wide_sets: chance.one_in(4),
            without_scripts: None,
        }
    }

    /// Returns whether something happens to the world because of its extras.
    fn has_any_event(self) -> bool {
        self.has_strangers || self.has_heirs || self.has_logins
    }

    /// Returns the prefix of the client in this place.
    pub(crate) fn prefix(self, client: usize) -> &'static [u8] {
        if self.has_tenants && client % 2 == 1 { TENANT } else { b"" }
    }
}

impl Options {
    /// Adds resources to a wish, in a world that has large sets.
    pub(crate) fn widen(&self, resources: Resources, chance: &mut Chance) -> Resources {
        if !self.extras.has_wide_sets || !chance.one_in(4) {
            return resources;
        }
        let more = (0..chance.between(1, 15)).map(|_| Resources::one(chance.index(20)).0);
        Resources(more.fold(resources.0, |all, one| all | one))
    }
}

impl World {
    /// Returns the time of the next event of this kind: never, in most worlds.
    pub(crate) fn next_extra(&mut self, now: u64) -> u64 {
        if !self.options.extras.has_any_event() {
            return u64::MAX;
        }
        now + 1 + self.chance.below(16 * self.options.request_gap)
    }

    /// Lets one such event happen.
    pub(crate) fn extra(&mut self) {
        let Extras { has_strangers, has_heirs, has_logins, .. } = self.options.extras;
        match self.chance.below(8) {
            0..=2 if has_strangers => self.let_stranger_come(),
            3 if has_strangers => self.let_strangers_go(),
            4..=6 if has_heirs => self.hand_over(),
            7 if has_logins => self.change_login(),
            _ => return,
        }
        self.faults += 1;
    }

    fn let_stranger_come(&mut self) {
        let Self { net, chance, options, .. } = self;
        let master = chance.index(net.nodes.len());
        let resource = chance.index(options.resources);
        let key = names::key(options.extras.prefix(chance.index(2)), resource);
        let node = &mut net.nodes[master];
        let came = node.let_stranger_come(net.now, key, options.max_ttl() / MS, chance);
        net.trace.say(net.now, format_args!("stranger on {master}, resource {resource}: {came}"));
    }

    pub(crate) fn let_strangers_go(&mut self) {
        let now = self.net.now;
        self.net.nodes.iter_mut().for_each(|node| node.let_strangers_go(now));
        self.net.trace.say(now, format_args!("all strangers go"));
    }

    /// Lets a lock change hands, at once, while clients wait for the lock.
    fn hand_over(&mut self) {
        let Self { net, chance, clients, options, .. } = self;
        let (from, to) = (chance.index(clients.len()), chance.index(clients.len()));
        if !clients[from].is_awake() || !clients[to].is_awake() {
            return;
        }
        let Some(id) = any(clients[from].locks_in(State::Held), chance) else { return };
        let Some(resources) = clients[from].lock(id).map(|lock| lock.resources) else { return };
        for _ in 0..chance.below(4) {
            let waiter = chance.index(clients.len());
            let (ttl, wait) = (options.ttl(chance), chance.below(2_000));
            if clients[waiter].is_awake() {
                clients[waiter].acquire(net, resources, &Manner::default(), ttl, wait);
                clients[waiter].settle(net);
            }
        }
        // Nobody can adopt, and the keys live until the ttl is over.
        self.is_littered = true;
        let Some(orphan) = clients[from].disown(net, id) else { return };
        clients[from].settle(net);
        let (ttl, wait) = (options.ttl(chance), chance.below(1_000));
        clients[to].acquire(net, resources, &Manner::adopting(orphan), ttl, wait);
        clients[to].settle(net);
    }
}
