//! A world from its first step to its last: the wishes of the clients, the faults, and the check
//! that all is well at the end.

use std::time::Duration;

use redbolt::redlock::{LockId, RestartGuard};
use smallvec::SmallVec;

use crate::answer::{Face, Native};
use crate::book::{Orphan, State};
use crate::chance::Chance;
use crate::checks::{Checks, Rules, Violation};
use crate::client::{Client, Sleep};
use crate::clock::{Clock, MS, SECOND};
use crate::extras;
use crate::faults::Fault;
use crate::manner::Manner;
use crate::master::Node;
use crate::net::{Net, Weather};
use crate::options::Options;
use crate::scripts;
use crate::trace::Trace;
use crate::tricks::Trick;

/// The time at which a world begins. Whatever is older lies between zero and this, and whatever a
/// clock shows that is far behind.
const BIRTH: u64 = 10_000 * SECOND;

/// The most clients that a world has.
pub(crate) const CLIENTS_MAX: usize = 4;

/// The limit of steps, which no world reaches that comes to rest.
const STEPS_MAX: u64 = 1_000_000;

pub(crate) struct World {
    pub(crate) options: Options,
    pub(crate) net: Net,
    /// Decides what the world has besides.
    pub(crate) chance: Chance,
    pub(crate) clients: Vec<Client>,
    pub(crate) faults: u64,
    /// The time at which the last fault is over.
    pub(crate) faults_until: u64,
    pub(crate) grants: u64,
    pub(crate) extensions: u64,
    /// How often sets of clients that are gone began to take their resources one by one.
    pub(crate) stepped: u64,
    /// How many clients there have been so far.
    pub(crate) births: u8,
    /// Keys may lie where nobody will look for them: they are left to their ttls.
    pub(crate) is_littered: bool,
    /// Locks that were let go of and not adopted yet.
    orphans: Vec<Orphan>,
    steps: u64,
}

/// The sums over one world, and its hash.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Summary {
    /// A hash over all requests, replies and events.
    pub(crate) trace: u64,
    pub(crate) nanos: u64,
    pub(crate) steps: u64,
    pub(crate) faults: u64,
    pub(crate) grants: u64,
    pub(crate) extensions: u64,
    /// How often sets began to take their resources one by one.
    pub(crate) stepped: u64,
    /// How many fencing numbers clients were told, how many of them had to be in the order of
    /// holding, and how many of those behind a loss of numbers.
    pub(crate) numbers: [u64; 3],
    /// Whether the world left the model of SAFETY.md.
    pub(crate) is_outside: bool,
}

impl World {
    /// Returns the world of a seed.
    pub(crate) fn new(seed: u64, is_loud: bool) -> Self {
        let mut chance = Chance::new(seed);
        let options = Options::draw(seed, &mut chance);
        Self::with(options, chance, is_loud)
    }

    /// Returns a world with these options.
    pub(crate) fn with(options: Options, chance: Chance, is_loud: bool) -> Self {
        let trace = Trace::new(is_loud);
        trace.say(BIRTH, format_args!("{options}"));
        let mut weather = Weather::new(chance, options.clients, options.masters);
        weather.latency = options.latency;
        weather.distances = options.distances;
        weather.hiccups = options.hiccups;
        weather.splits = options.splits;
        weather.ghost_max = options.ghost_max;
        weather.turn = options.turn;
        let chance = &mut weather.chance;
        let nodes = (0..options.masters).map(|index| master(index, &options, chance)).collect();
        let clients = (0..options.clients).map(|name| {
            let rate = chance.around_zero(options.rate_max);
            let clock = Clock::new(BIRTH, chance.below(100 * SECOND), rate);
            Client::new(name, name as u8 + 1, &options, clock, chance)
        });
        let clients: Vec<_> = clients.collect();
        let config = &options.config;
        let need = config.check(options.masters).expect("the options are within the bounds");
        let rules = Rules {
            quorum: need.need(),
            drift: config.drift,
            max_ttl: options.max_ttl(),
            rate_max: options.rate_max,
            excludes: options.outside.is_none(),
            quarantines: options.outside.is_none(),
            fence_span: options.fence_span(),
        };
        let mut net = Net::new(BIRTH, weather, nodes, trace, Checks::new(rules));
        if let Some(slot) = options.misrouted {
            net.addresses[slot] = net.weather.chance.index(options.masters);
        }
        Self {
            births: clients.len() as u8,
            is_littered: options.misrouted.is_some(),
            orphans: Vec::new(),
            net,
            chance: extras::stream_of_world(options.seed),
            options,
            clients,
            faults: 0,
            faults_until: 0,
            grants: 0,
            extensions: 0,
            stepped: 0,
            steps: 0,
        }
    }

    /// Lives through the world, up to the first broken rule.
    pub(crate) fn run(mut self) -> Result<Summary, Violation> {
        self.be_unsafe()?;
        self.heal();
        self.be_alive()?;
        let sum = |count: fn(&Client) -> u64| self.clients.iter().map(count).sum::<u64>();
        Ok(Summary {
            trace: self.net.trace.hash(),
            nanos: self.net.now - BIRTH,
            steps: self.steps,
            faults: self.faults,
            grants: self.grants + sum(|client| client.grants),
            extensions: self.extensions + sum(|client| client.extensions),
            stepped: self.stepped + sum(|client| client.redlock.counters().stepped),
            numbers: self.net.checks.fences.counts(),
            is_outside: self.options.outside.is_some(),
        })
    }

    /// Lives the first life: clients want things, and now and then something goes wrong.
    fn be_unsafe(&mut self) -> Result<(), Violation> {
        let mut request_at = self.net.now;
        if self.options.is_young && self.net.weather.chance.one_in(2) {
            request_at += self.options.max_ttl() + SECOND;
        }
        let mut fault_at = request_at + self.options.fault_gap;
        let mut extra_at = self.next_extra(request_at);
        let mut requests = self.options.requests;
        while requests > 0 {
            self.advance(fault_at.min(request_at).min(extra_at))?;
            if self.net.now >= extra_at {
                self.extra();
                extra_at = self.next_extra(extra_at);
            }
            if self.net.now >= fault_at {
                self.fault();
                fault_at += 1 + self.net.weather.chance.below(2 * self.options.fault_gap);
            }
            if self.net.now >= request_at {
                self.request();
                request_at += 1 + self.net.weather.chance.below(2 * self.options.request_gap);
                requests -= 1;
            }
        }
        Ok(())
    }

    /// Lets some client want something.
    fn request(&mut self) {
        let net = &mut self.net;
        let chosen = net.weather.chance.index(self.clients.len());
        let client = &mut self.clients[chosen];
        if !client.is_awake() {
            return;
        }
        let chance = &mut net.weather.chance;
        let what = chance.below(if self.options.is_rich { 15 } else { 10 });
        let ttl = self.options.ttl(chance);
        match what {
            0..=3 => {
                let (resources, wait) = self.options.wish(chance);
                let resources = self.options.widen(resources, &mut self.chance);
                let mut manner = match self.options.is_rich {
                    true => Manner::draw(chance, client, resources, wait),
                    false => Manner::default(),
                };
                let fencers = self.options.fencers;
                if fencers.is_some_and(|all| all.wants(chosen, &mut self.chance)) {
                    manner = manner.fenced();
                }
                client.acquire(net, resources, &manner, ttl, wait);
            }
            4 => {
                let Some(id) = any(client.locks_in(State::Wanted), chance) else { return };
                client.cancel(net, id);
            }
            13 => {
                let resource = chance.index(self.options.resources);
                client.query(net, resource);
            }
            14 if !self.orphans.is_empty() => {
                let place = chance.index(self.orphans.len());
                let wait = chance.below(1_000);
                let orphan = self.orphans.swap_remove(place);
                client.acquire(net, orphan.resources, &Manner::adopting(orphan), ttl, wait);
            }
            _ => {
                let Some(id) = any(client.locks_in(State::Held), chance) else { return };
                let max_hold = client.redlock.config().max_hold;
                match what {
                    5..=7 => _ = client.extend(net, id, ttl),
                    10 | 11 => {
                        let hold = chance.below(4 * self.options.max_ttl());
                        let hold = Duration::from_nanos(hold).min(max_hold);
                        client.keep_alive(net, id, ttl, hold);
                    }
                    12 => {
                        let ahead = chance.below(ttl);
                        client.warn(net, id, ahead);
                    }
                    14 => {
                        // Without an adoption, the keys live until the ttl is over.
                        self.is_littered = true;
                        self.orphans.extend(client.disown(net, id));
                    }
                    _ => client.release(net, id),
                }
            }
        }
        self.want_more_numbers(chosen);
        self.clients[chosen].settle(&mut self.net);
        self.draw_a_number();
        self.disturb(chosen, what >= 4, ttl);
    }

    /// Disturbs a client that has just asked for something with this ttl. More often than by chance
    /// alone, requests that have just left become ghosts, or their replies wait until the validity
    /// is over.
    fn disturb(&mut self, chosen: usize, may_be_lost: bool, ttl: u64) {
        let net = &mut self.net;
        let client = &mut self.clients[chosen];
        let chance = &mut net.weather.chance;
        let may_be_lost = may_be_lost || self.options.resources > 3;
        if may_be_lost && chance.one_in(8) && self.options.has(Fault::Reset) {
            let node = chance.index(net.nodes.len());
            self.faults += u64::from(client.cut(net, node));
        } else if chance.one_in(8) && self.options.has(Fault::Pause) {
            let until = net.now + chance.below(2 * ttl * MS);
            client.sleep(net.now, until, Sleep::Pause);
            self.faults += 1;
        } else if self.options.has(Fault::Stop) && chance.one_in(8) {
            let until = net.now + chance.below(2 * ttl * MS);
            client.sleep(net.now, until, Sleep::Stop);
            self.faults += 1;
        }
    }

    /// Lives until `end`.
    pub(crate) fn live(&mut self, end: u64) -> Result<(), Violation> {
        while self.net.now < end {
            self.advance(end)?;
        }
        Ok(())
    }

    /// Goes on to the next moment at which anything happens, at most to `end`.
    pub(crate) fn advance(&mut self, end: u64) -> Result<(), Violation> {
        self.steps += 1;
        let mut arrivals = [u64::MAX; CLIENTS_MAX];
        let masters = self.net.nodes.iter().map(|node| node.next(&mut arrivals));
        let masters: SmallVec<[u64; 8]> = masters.collect();
        let clients = self.clients.iter().zip(arrivals);
        let clients = clients.map(|(client, arrival)| client.next(arrival));
        let clients: SmallVec<[u64; CLIENTS_MAX]> = clients.collect();
        let next = masters.iter().chain(&clients).copied().min().unwrap_or(end).min(end);
        self.net.now = next.max(self.net.now + 1);
        for index in due(&masters, self.net.now) {
            self.net.run_master(index);
            self.look();
        }
        for index in due(&clients, self.net.now) {
            self.clients[index].turn(&mut self.net);
            // The lock of one client must not rest on what the next client is about to undo.
            self.look();
        }
        // A check now and then is enough: what grows without a bound is found a little later too.
        if self.steps % 32 == 0 {
            self.clients.iter().for_each(|client| self.net.checks.memory(self.net.now, client));
        }
        if self.steps > STEPS_MAX {
            self.net.fail(format_args!("the world does not come to rest"));
        }
        self.net.checks.violation().map_or(Ok(()), Err)
    }

    /// Checks what must be true at every moment.
    fn look(&mut self) {
        let Self { net, clients, .. } = self;
        net.checks.exclusion(net.now, clients);
        net.checks.standing(net.now, &net.nodes, clients);
        for client in clients.iter() {
            client.check_book(net);
        }
    }
}

/// Returns the indices whose time has come.
fn due(times: &[u64], now: u64) -> impl Iterator<Item = usize> {
    times.iter().enumerate().filter(move |(_, time)| **time <= now).map(|(index, _)| index)
}

/// Makes a master as the options demand.
fn master(index: usize, options: &Options, chance: &mut Chance) -> Node {
    let rate = chance.around_zero(options.rate_max);
    let usual = chance.below(100 * SECOND) as i64;
    let error = options.fencers.map_or(usual, |fencers| fencers.error(index));
    let clock = Clock::new(BIRTH, BIRTH.saturating_add_signed(error), rate);
    let age = match options.is_young {
        true => chance.below(5 * SECOND),
        false => 3 * options.max_ttl() + 3 * SECOND + chance.below(100 * SECOND),
    };
    let started = clock.show(BIRTH) - Duration::from_nanos(age);
    let mut face = Face::new(index, started);
    let mut is_among = |how_many| how_many == 2 || (how_many == 1 && chance.one_in(2));
    let has_native = is_among(options.native);
    face.tracks = is_among(options.tracking);
    face.native = match has_native || options.extras.without_scripts.is_some() {
        true => scripts::native(index, options),
        false => Native::None,
    };
    face.refuses_scripts = options.extras.without_scripts.unwrap_or(0) >> index & 1 == 1;
    face.password = options.extras.has_logins.then_some(0);
    // Durability counts only if clients are told of it.
    let is_believed = options.config.restart_guard == RestartGuard::Durable;
    face.is_durable = is_among(options.durable) && is_believed;
    if options.evictor == Some(index) {
        face.begin_to_evict(0);
    }
    let age = if face.is_durable { BIRTH } else { age };
    let mut node = Node::new(index, BIRTH, age, clock, face);
    // Of young masters, half have never been seen by a client.
    if !options.is_young || index % 2 == 0 || node.face.is_durable {
        let stepped = node.step_ahead(BIRTH, options.step_max, chance);
        let of_wall = chance.around_zero(options.wall_error() as i64);
        let constants = (options.max_ttl(), options.masters);
        let prefixes = [0, 1].map(|client| options.extras.prefix(client));
        node.be_known(BIRTH, (age, stepped, of_wall), constants, &prefixes);
    }
    node.note_clock(BIRTH);
    node.born_as_told = options.born_as_told;
    node.is_blind = options.is_tricked(Trick::RaisedBlindly);
    node.strangers.are_deleted = options.is_tricked(Trick::StrangerDeleted);
    node
}

/// Returns any of the locks.
pub(crate) fn any(locks: impl Iterator<Item = LockId>, chance: &mut Chance) -> Option<LockId> {
    let mut chosen = None;
    for (before, id) in (1..).zip(locks) {
        if chance.one_in(before) {
            chosen = Some(id);
        }
    }
    chosen
}
