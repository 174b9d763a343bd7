//! The core between a caller, a network and servers that do whatever the bytes say.
//!
//! The bytes are a script: requests, time that passes or jumps, connections that open, close or
//! take no bytes, servers that restart, forget, evict or refuse, two nodes that are one process,
//! and replies that are right, replaced, damaged, doubled, endless or invented. The checks are made
//! from outside, on the bytes in both directions:
//!
//! * every accepted request has one event, by its deadline if the core is told the time;
//! * a lock, of one resource or of several, is granted only after a quorum of nodes answered `+OK`
//!   to the `SET` of its own token, and until no later than the ttl allows from before that `SET`
//!   left; a lock is extended, by request or by keep-alive, only after a quorum agreed to that
//!   extension, and for no longer in all than `max_hold`; a lock is adopted only by extensions as
//!   well;
//! * a lock has a fencing number exactly if the caller has asked for one or has brought one to an
//!   adoption, and each draw has one answer; a number was accepted, as exactly that, by a quorum,
//!   and is larger than those before as far as the nodes that accepted it have told the truth;
//! * a token is asked for once, or at other nodes a second time where a majority is asked first,
//!   and repairs on further nodes end with the validity;
//! * the caller believes in no lock after its validity, and in no two locks on one resource;
//! * nothing grows beyond its bound, and everything that is drained gets empty.
//!
//! At the end of the script all connections end, and every request must end by itself.
//!
//! The servers may lie, so this target says nothing about the beliefs of two clients: that is the
//! subject of the simulator.

mod accepted;
mod caller;
mod hearing;
mod lock;
mod network;
mod node;
mod numbers;
mod order;
mod request;

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use redbolt::embedded::Options;
use redbolt::redlock::{Ask, Event, LockId, Login, NodeId, Redlock, RedlockConfig, RestartGuard};
use redbolt::time::Instant;

use self::caller::Caller;
use self::network::Network;

/// The limit of steps: as many as a script of a few kilobytes can have.
const STEPS: usize = 2_000;

/// The limit of turns that are due one after the other. One step takes a few seconds at most, and
/// each lock and each node is due every few milliseconds at most.
const TURNS: usize = 50_000;

struct World {
    redlock: Redlock,
    now: Instant,
    caller: Caller,
    network: Network,
}

/// Plays the script.
///
/// # Panics
///
/// Panics if the core breaks a promise.
pub fn core(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let Ok(mut world) = World::new(&mut script) else { return };
    for _ in 0..STEPS {
        if script.is_empty() || world.step(&mut script).is_err() {
            break;
        }
        world.look();
    }
    world.end();
}

impl World {
    fn new(script: &mut Unstructured<'_>) -> Result<Self> {
        let (is_hasty, is_exact) = (script.ratio(1, 4)?, script.ratio(1, 4)?);
        let has_clock = script.ratio(1, 2)?;
        let count = script.int_in_range(1..=5)?;
        let mut config = RedlockConfig::default();
        config.max_ttl = Duration::from_secs(2);
        config.max_hold = Duration::from_secs(3);
        if is_hasty {
            // Silent nodes are given up before the locks are.
            config.close_timeout = Duration::from_millis(100);
        }
        if is_exact {
            // Nodes that have forgotten draw numbers soon.
            config.fence_skew = Duration::ZERO;
        }
        config.max_locks = script.int_in_range(1..=8)?;
        config.max_pipeline = script.int_in_range(1..=6)?;
        config.max_cleanup = script.int_in_range(1..=6)?;
        config.quorum = script.ratio(1, 4)?.then_some(count);
        config.repair = script.ratio(3, 4)?;
        config.prefix = script.choose(&[&b""[..], b"locks:"])?.to_vec();
        config.restart_guard = *script.choose(&[
            RestartGuard::On,
            RestartGuard::Strict,
            RestartGuard::Durable,
            RestartGuard::Off,
            RestartGuard::Off,
        ])?;
        // Drawn with another setting, so that older inputs mean what they have meant.
        if config.restart_guard != RestartGuard::Off && config.max_cleanup % 2 == 0 {
            config.ask = Ask::Majority;
        }
        let (mut options, mut login) = (Options::default().fresh(true), Login::default());
        if script.ratio(1, 4)? {
            options = options.user("app", "secret");
            login = Login::with_user("app", "secret").in_database(script.int_in_range(0..=1)?);
        }
        let has_twins = count > 1 && script.ratio(1, 6)?;
        let redlock = Redlock::new(config, vec![login; count], 7, [b'n'; 12]);
        Ok(Self {
            redlock: redlock.expect("the configuration is within its bounds"),
            now: Instant::from_nanos(3_600_000_000_000),
            caller: Caller::default(),
            network: Network::new(count, &options, has_twins, has_clock),
        })
    }

    /// Takes one step of the script.
    fn step(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let node = script.int_in_range(0..=self.redlock.nodes().len() - 1)?;
        let short = Duration::from_micros(u64::from(script.arbitrary::<u16>()?));
        match script.int_in_range(0..=15)? {
            0..=3 => self.request(script)?,
            4 => self.pass(short),
            5 => self.pass(short * 64),
            6 => self.go_to_deadline(),
            // The machine slept, or the process did: the next event comes late.
            7 => self.jump(short * 1_000),
            8 => self.redlock.handle_timeout(self.now),
            9 | 10 => self.network.change(self.now, &mut self.redlock, node, script)?,
            11 => self.network.trouble(self.now, &mut self.redlock, node, script)?,
            12..=14 => self.network.answer(self.now, &mut self.redlock, node, script)?,
            _ => self.network.serve(self.now, &mut self.redlock),
        }
        Ok(())
    }

    fn request(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        self.caller.request(self.now, &mut self.redlock, script)?;
        if let Some(token) = self.caller.begun_draw() {
            self.network.begin_draw(token);
        }
        Ok(())
    }

    /// Lets time pass, and calls the core at every deadline.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        for _ in 0..TURNS {
            match self.redlock.poll_timeout() {
                Some((at, _)) if at <= end => self.turn(at.max(self.now)),
                _ => return self.turn(end),
            }
        }
        panic!("something is due all the time");
    }

    fn turn(&mut self, now: Instant) {
        self.now = now;
        self.redlock.handle_timeout(now);
        let next = self.redlock.poll_timeout();
        assert!(next.is_none_or(|(at, _)| at > now), "what was due is due again: {next:?}");
        self.look();
    }

    fn go_to_deadline(&mut self) {
        if let Some((at, _)) = self.redlock.poll_timeout() {
            self.turn(at.max(self.now));
        }
    }

    /// Lets time pass without a word to the core.
    fn jump(&mut self, time: Duration) {
        self.now = self.now + time;
        self.caller.late(self.now, &self.redlock);
    }

    /// Carries out the actions of the core, takes its events, and checks everything visible.
    fn look(&mut self) {
        self.network.obey(self.now, &mut self.redlock);
        while let Some(event) = self.redlock.poll_event() {
            match event {
                Event::Acquired { lock, valid_until, fence } => {
                    self.check_grant(lock, valid_until);
                    if let Some(fence) = fence.filter(|_| !self.caller.is_adopted(lock)) {
                        self.check_number(lock, fence);
                    }
                }
                Event::Fenced { lock, fence } => self.check_number(lock, fence),
                Event::Extended { lock, valid_until } => self.check_extension(lock, valid_until),
                _ => {}
            }
            self.caller.hear(self.now, &self.redlock, event);
        }
        // The caller may answer an event with requests, which leave at once.
        self.network.obey(self.now, &mut self.redlock);
        assert!(self.redlock.poll_action().is_none() && !self.redlock.has_event());
        self.network.check_sets(self.now, &self.caller, self.redlock.config());
        self.caller.check(self.now, &self.redlock);
        self.check_bounds();
        self.caller.forget();
    }

    /// Checks that the votes have come, and that the validity counts from before the requests.
    fn check_grant(&self, lock: LockId, valid_until: Instant) {
        // A lock that was lost in the same call has no token any more.
        let Some(token) = self.redlock.peek_token(lock) else { return };
        if let Some(valid_before) = self.caller.passed(&token) {
            return assert!(valid_until <= valid_before, "{lock:?} was passed on with more");
        }
        let drift = self.redlock.config().drift;
        if self.caller.is_adopted(lock) {
            let votes = self.network.extensions(&token, Instant::ZERO, valid_until, drift);
            return assert!(votes >= self.need(), "{lock:?} is adopted with {votes} votes");
        }
        let votes = self.network.votes(&token);
        assert!(votes >= self.need(), "{lock:?} is granted with {votes} votes");
        let asked = self.network.asked_at(&token).expect("who voted was asked");
        let latest = drift.valid_until(asked, self.caller.ttl(lock));
        assert!(valid_until <= latest, "{lock:?} is valid for longer than its ttl");
    }

    /// Checks that the nodes agreed to this extension, and that it lasts as long as the caller
    /// believes.
    fn check_extension(&self, lock: LockId, valid_until: Instant) {
        let Some(token) = self.redlock.peek_token(lock) else { return };
        let start = self.caller.extension_start(lock);
        // An extension shorter than the remaining validity changes nothing.
        let is_worth_it = self.caller.valid_until(&token).is_none_or(|before| valid_until > before);
        let least = if is_worth_it { valid_until } else { Instant::ZERO };
        let drift = self.redlock.config().drift;
        let votes = self.network.extensions(&token, start, least, drift);
        assert!(votes >= self.need(), "{lock:?} is extended with {votes} votes");
    }

    /// Returns how many votes are needed, counted here and not asked of the core.
    fn need(&self) -> usize {
        let majority = self.redlock.nodes().len() / 2 + 1;
        self.redlock.config().quorum.unwrap_or(majority)
    }

    fn check_bounds(&self) {
        let config = self.redlock.config();
        assert!(self.redlock.in_use() <= config.max_locks, "more locks than max_locks");
        for node in self.redlock.nodes() {
            let status = self.redlock.node(self.now, node).expect("it is configured");
            // A group of requests that name a token keeps the token a little longer.
            assert!(status.cleanup <= config.max_cleanup + 64, "{} tokens", status.cleanup);
            // One `SET` and one release for each place of the pipeline, one release and one
            // extension for each lock, the window of the cleanup, and a handshake.
            let most = 2 * config.max_pipeline + 3 * config.max_locks + 64 + 16;
            assert!(status.in_flight <= most, "{} requests on the way", status.in_flight);
            // Unsent requests are among them, so this bounds the unsent bytes as well.
            assert_eq!(status.in_flight, self.network.owed(node), "replies owed by {node}");
        }
        self.network.check();
    }

    /// Cuts all connections for good, and checks that all requests end by themselves.
    fn end(&mut self) {
        self.redlock.handle_timeout(self.now);
        self.network.refuse(self.now, &mut self.redlock);
        self.look();
        self.caller.give_back(self.now, &mut self.redlock);
        for _ in 0..STEPS {
            self.look();
            // A lock whose loss is reported ahead of its end stays until then.
            if self.caller.is_done() && self.redlock.in_use() == 0 {
                break;
            }
            self.network.refuse(self.now, &mut self.redlock);
            self.go_to_deadline();
        }
        assert!(self.caller.is_done(), "a request has no event");
        assert_eq!(self.redlock.in_use(), 0, "a lock is left over");
    }
}

/// Returns the node at this place.
fn id(index: usize) -> NodeId {
    NodeId::new(index).expect("there are few nodes")
}
