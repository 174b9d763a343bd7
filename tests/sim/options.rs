//! The kind of a world: drawn once per seed, and printed before anything happens.
//!
//! Each world has some kinds of faults and not others, and its own sizes and times (a swarm).
//! Worlds in which everything can happen are all alike, and rare combinations need other faults to
//! be absent.

use core::fmt;
use std::time::Duration;

use redbolt::redlock::{Drift, RedlockConfig, RestartGuard};

use crate::askers::Askers;
use crate::chance::Chance;
use crate::clock::{MS, SECOND};
use crate::distance::Distances;
use crate::extras::{self, Extras};
use crate::faults::{Fault, Kind};
use crate::fencers::Fencers;
use crate::names::{RESOURCES, Resources};
use crate::tricks::Trick;

/// Something that a world may do against the model of SAFETY.md. Locks need not exclude each other
/// there; all other checks stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outside {
    /// Clocks run faster and slower than ρ allows (FAULTS 34).
    Rates,
    /// Clocks are set by more than ε.
    Steps,
    /// Masters lose keys without saying so, because they are full or somebody deletes them.
    Losses,
    /// Masters crash without their memory, and clients are told to trust them (S11).
    Trust,
}

pub(crate) struct Options {
    pub(crate) seed: u64,
    pub(crate) outside: Option<Outside>,
    pub(crate) masters: usize,
    pub(crate) clients: usize,
    pub(crate) resources: usize,
    pub(crate) config: RedlockConfig,
    /// The greatest error of a clock, in parts per million.
    pub(crate) rate_max: i64,
    /// The greatest step by which a clock is set forward or back; in nanoseconds, as all times.
    pub(crate) step_max: u64,
    pub(crate) latency: u64,
    pub(crate) distances: Option<Distances>,
    pub(crate) hiccups: u64,
    pub(crate) splits: u64,
    pub(crate) ghost_max: u64,
    pub(crate) turn: u64,
    /// The number of requests before all faults end, and the average time between two of them.
    pub(crate) requests: u64,
    pub(crate) request_gap: u64,
    pub(crate) fault_gap: u64,
    /// The possible faults, the more frequent ones more often.
    pub(crate) faults: Vec<Fault>,
    /// How many of the masters have `DELIFEQ`: none, some, all.
    pub(crate) native: u64,
    /// How many of the masters tell their clients at once that their keys are gone: none, some,
    /// all.
    pub(crate) tracking: u64,
    /// How many of the masters keep their keys through every restart: none, some, all.
    pub(crate) durable: u64,
    /// The master that may evict keys, and says so.
    pub(crate) evictor: Option<usize>,
    /// The node whose address leads to a master chosen at random.
    pub(crate) misrouted: Option<usize>,
    /// The node whose name moves from process to process and back. While one name does, every other
    /// node can be asked.
    pub(crate) mover: Option<usize>,
    /// The world lives around the ends of its spans.
    pub(crate) is_edgy: bool,
    /// The masters have just been started.
    pub(crate) is_young: bool,
    /// Clients keep locks alive, take sets, hand locks over, have tries, pauses and tokens of their
    /// own, and ask for holders.
    pub(crate) is_rich: bool,
    /// Clients look for what is due before they read.
    pub(crate) is_timely: bool,
    /// Clients read a clock that stops in suspend: the driver's way to break S9.
    pub(crate) clock_stops: bool,
    /// Witnesses are born when a client says: the script's way to break S11.
    pub(crate) born_as_told: bool,
    /// What the world around the core does against the rules.
    pub(crate) trick: Option<Trick>,
    pub(crate) extras: Extras,
    /// The clients that ask a majority of the masters first.
    pub(crate) askers: Askers,
    /// Some clients ask for fencing numbers.
    pub(crate) fencers: Option<Fencers>,
}

impl Options {
    pub(crate) fn draw(seed: u64, chance: &mut Chance) -> Self {
        let outside = [Outside::Rates, Outside::Steps, Outside::Losses, Outside::Trust];
        let outside = chance.one_in(8).then(|| chance.pick(&outside));
        // With one or two masters every single vote counts, so that a mistake shows at once.
        let masters = chance.pick(&[1, 1, 2, 2, 3, 3, 3, 4, 5, 5, 7]);
        let latency = chance.pick(&[20_000, 200_000, MS, MS, 8 * MS]);
        let turn = chance.pick(&[0, 0, 20_000, 200_000, 2 * MS]);
        let is_long = chance.one_in(4);
        let max_ttl = if is_long { 60 * SECOND } else { chance.magnitude(100 * MS, 3 * SECOND) };
        let drift = draw_drift(max_ttl, chance);
        let mut config = draw_config(masters, max_ttl, drift, 5 * latency + 3 * turn, chance);
        config.restart_guard = draw_guard(outside, is_long, chance);
        // Many locks at once on few round trips make requests leave in large groups.
        let is_crowded = chance.one_in(25);
        let gap_least = if is_crowded { latency / 8 } else { latency };
        let gap_most = if is_crowded { (2 * latency).max(4 * MS) } else { 300 * MS };
        let request_gap = chance.magnitude(gap_least, gap_most);
        let (rate, step) = (i64::from(drift.rate_ppm), drift.step.as_nanos() as u64);
        // Moves that are a span apart take their time. A single master has nobody to ask whether
        // the deployment was idle.
        let may_move = !is_long && outside.is_none() && masters > 1 && chance.one_in(6);
        let mover = may_move.then(|| chance.index(masters));
        let tracking = chance.below(3);
        // A flush is harmless only where all are told of it. Who asks the others whether they were
        // idle must not find that they have forgotten.
        let has_guard = config.restart_guard != RestartGuard::Off;
        let may_flush = tracking == 2 && has_guard && outside.is_none() && mover.is_none();
        let kind = draw_kind(may_move, outside, chance);
        let mut options = Self {
            seed,
            outside,
            masters,
            clients: chance.pick(&[1, 2, 2, 2, 3, 3, 4]),
            resources: if is_crowded { RESOURCES.len() } else { chance.pick(&[1, 1, 2, 3]) },
            config,
            rate_max: if outside == Some(Outside::Rates) { (20 * rate).min(100_000) } else { rate },
            step_max: if outside == Some(Outside::Steps) { step + max_ttl } else { step },
            latency,
            distances: None,
            hiccups: chance.pick(&[0, 0, 10, 100]),
            splits: chance.pick(&[0, 3, 30]),
            ghost_max: chance.pick(&[20 * MS, 200 * MS, SECOND]),
            turn,
            requests: draw_requests(is_crowded, chance),
            request_gap,
            fault_gap: request_gap * chance.between(1, if is_crowded { 5 } else { 15 }),
            faults: Fault::draw(outside, step > 0, may_flush, kind, chance),
            native: chance.below(3),
            tracking,
            durable: chance.below(3),
            evictor: (masters > 2 && chance.one_in(12)).then(|| chance.index(masters)),
            misrouted: (kind == Kind::Usual && chance.one_in(12)).then(|| chance.index(masters)),
            mover,
            is_edgy: false,
            is_young: chance.one_in(4),
            is_rich: chance.one_in(2),
            is_timely: chance.one_in(2),
            clock_stops: false,
            born_as_told: false,
            trick: None,
            extras: Extras::draw(kind, &mut extras::stream_of_options(seed)),
            askers: Askers::default(),
            fencers: None,
        };
        if !is_long && !is_crowded && outside.is_none() && kind != Kind::Stops {
            options.draw_edge(chance);
        }
        options.draw_apart(kind)
    }

    /// Draws what has streams of its own, behind everything else.
    fn draw_apart(mut self, kind: Kind) -> Self {
        self.draw_distances(kind);
        self.draw_scripts(kind);
        self.draw_fencers();
        self.askers = Askers::draw(self.seed, &self.config);
        self
    }

    /// Draws a ttl in milliseconds. Short ttls end during an extension or a release.
    pub(crate) fn ttl(&self, chance: &mut Chance) -> u64 {
        let most = self.max_ttl() / MS;
        if chance.one_in(3) { most } else { chance.magnitude(10, most) }
    }

    /// Draws the wanted resources, and the milliseconds to wait for them.
    pub(crate) fn wish(&self, chance: &mut Chance) -> (Resources, u64) {
        let mut resources = Resources::one(chance.index(self.resources));
        if self.is_rich && chance.one_in(3) {
            for _ in 0..2 {
                resources.0 |= Resources::one(chance.index(self.resources)).0;
            }
        }
        let waits = [0, chance.below(50), chance.below(2_000)];
        (resources, chance.pick(&waits))
    }

    pub(crate) fn max_ttl(&self) -> u64 {
        self.config.max_ttl.as_nanos() as u64
    }

    /// Returns the least time between two moves of a name: a span by the clock of the process that
    /// comes back, however slow the clock is and set back meanwhile.
    pub(crate) fn apart(&self) -> u64 {
        let span = self.fence_span();
        span + 2 * span * self.rate_max.unsigned_abs() / 1_000_000 + self.step_max
    }

    /// Returns for how long after the end of an idle time a master that comes back may pass for one
    /// that was idle, too: by so much one handshake may be longer than another.
    pub(crate) fn leeway(&self) -> u64 {
        let most = self.config.connect_timeout.min(self.config.quarantine() / 6).as_nanos() as u64;
        most + self.step_max
    }

    /// Returns the least time that a client can take for a round trip: what one direction takes at
    /// least, by a slow clock. Nothing, if clocks stand still.
    pub(crate) fn least_round_trip(&self) -> u64 {
        if self.has(Fault::Stop) { 0 } else { self.latency * 2 / 5 }
    }

    /// Returns by how much the wall clock of a client is wrong that begins.
    pub(crate) fn first_wall_error(&self, chance: &mut Chance) -> i64 {
        if self.is_edgy { chance.around_zero(2 * self.max_ttl() as i64) } else { 0 }
    }

    /// Returns by how much the wall clocks of clients may be wrong.
    pub(crate) fn wall_error(&self) -> u64 {
        if self.has(Fault::Wall) { 2 * self.max_ttl() } else { 0 }
    }

    /// Returns whether the world has this kind of fault.
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }
}

fn draw_kind(may_move: bool, outside: Option<Outside>, chance: &mut Chance) -> Kind {
    let may_stop = !may_move && outside.is_none() && chance.one_in(6);
    let usual = if may_stop { Kind::Stops } else { Kind::Usual };
    if may_move { Kind::Moves } else { usual }
}

fn draw_guard(outside: Option<Outside>, is_long: bool, chance: &mut Chance) -> RestartGuard {
    match chance.below(8) {
        _ if outside == Some(Outside::Trust) => RestartGuard::Off,
        // A world with long ttls would have to wait for a minute.
        0 if !is_long => RestartGuard::Strict,
        1 | 2 => RestartGuard::Durable,
        _ => RestartGuard::On,
    }
}

/// Draws the number of requests. Many short worlds beat a few long ones, but not in everything.
fn draw_requests(is_crowded: bool, chance: &mut Chance) -> u64 {
    match chance.below(100) {
        0 => 1_000,
        _ if is_crowded => 500,
        _ => chance.between(20, 120),
    }
}

fn draw_drift(max_ttl: u64, chance: &mut Chance) -> Drift {
    let rate_ppm = chance.pick(&[5_000, 5_000, 500, 20_000]);
    let step = if chance.one_in(3) { chance.below(max_ttl / 4) } else { 0 };
    Drift::new(rate_ppm, Duration::from_nanos(step))
}

/// Draws small limits and short times, so that worlds meet all of them.
fn draw_config(
    masters: usize,
    max_ttl: u64,
    drift: Drift,
    round_trip: u64,
    chance: &mut Chance,
) -> RedlockConfig {
    let mut config = RedlockConfig::default();
    config.max_ttl = Duration::from_millis(max_ttl / MS);
    config.drift = drift;
    // A configuration may demand more than a majority.
    config.quorum = chance.one_in(6).then(|| masters / 2 + 1 + chance.index(masters.div_ceil(2)));
    if chance.one_in(4) {
        config.max_hold = config.max_ttl.mul_f64(1.0 + chance.below(20) as f64 / 10.0);
    }
    // A lock of the longest ttl waits long enough for a master that is well.
    let round_trip = Duration::from_nanos(round_trip.max(MS));
    if config.node_timeout(config.max_ttl) < round_trip || chance.one_in(4) {
        config.node_timeout = Some(round_trip.mul_f64(1.0 + chance.below(30) as f64 / 10.0));
    }
    let mut ms = |least, most| Duration::from_millis(chance.between(least, most));
    config.close_timeout = ms(60, 400).max(config.node_timeout(config.max_ttl));
    config.connect_timeout = ms(300, 500);
    config.release_timeout = ms(10, 200);
    config.reconnect_max = ms(20, 300);
    (config.tenure, config.tenure_gap) = (ms(1, 2_000), ms(0, 50));
    config.retry_max = ms(5, 100);
    config.repair = !chance.one_in(5);
    config.lost_lead = Duration::from_micros(chance.below(2_000));
    config.max_locks = chance.between(2, 48) as usize;
    config.max_pipeline = chance.between(1, 64) as usize;
    config.max_cleanup = if chance.one_in(2) { 4096 } else { chance.between(1, 200) as usize };
    config
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, masters, clients, resources, config, requests, faults, .. } = self;
        let RedlockConfig { max_ttl, drift, quorum, node_timeout, max_locks, max_pipeline, .. } =
            config;
        let guard = config.restart_guard;
        let times = [self.latency, self.turn, self.ghost_max, self.request_gap, self.fault_gap];
        let [latency, turn, ghost_max, request_gap, fault_gap] = times.map(Duration::from_nanos);
        writeln!(f, "world {seed}: {masters} masters, {clients} clients, {resources} resources")?;
        match self.outside {
            Some(outside) => writeln!(f, "  OUTSIDE THE MODEL: {outside:?}")?,
            None => writeln!(f, "  inside the model")?,
        }
        writeln!(f, "  max_ttl {max_ttl:?}, {drift:?}, quorum {quorum:?}, guard {guard:?}")?;
        writeln!(f, "  clocks: up to {} ppm, steps up to {} ns", self.rate_max, self.step_max)?;
        writeln!(f, "  node_timeout {node_timeout:?}, close_timeout {:?}", config.close_timeout)?;
        writeln!(f, "  max_locks {max_locks}, max_pipeline {max_pipeline}")?;
        writeln!(f, "  latency {latency:?}, turn {turn:?}, ghosts up to {ghost_max:?}")?;
        writeln!(f, "  {:?}", self.distances)?;
        writeln!(f, "  one in: hiccups {}, splits {}", self.hiccups, self.splits)?;
        writeln!(f, "  {requests} requests every {request_gap:?}, faults every {fault_gap:?}")?;
        let Self { native, tracking, durable, evictor, misrouted, mover, .. } = self;
        writeln!(f, "  native {native}, tracking {tracking}, durable {durable}")?;
        writeln!(f, "  evictor {evictor:?}, misrouted {misrouted:?}, mover {mover:?}")?;
        writeln!(f, "  at the edge of a span {}, besides {:?}", self.is_edgy, self.extras)?;
        let Self { askers, fencers, .. } = self;
        writeln!(f, "  fence_skew {:?}, {fencers:?}, {askers:?}", config.fence_skew)?;
        writeln!(f, "  young {}, timely {}, rich {}", self.is_young, self.is_timely, self.is_rich)?;
        write!(f, "  faults {faults:?}")
    }
}
