//! The core, between a caller, a network and servers that do whatever the bytes say.
//!
//! The bytes are a script: requests, passing time, connections that come and go, replies that are
//! right, damaged or invented. What is checked is looked at from outside: every request has one
//! event, a lock is granted only after a quorum of nodes said `+OK` since it was asked for, nobody
//! believes in a lock after its validity, and nothing grows beyond its bound. When the script is
//! over nobody connects any more, and every request must end by itself.

mod caller;
mod network;

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use redbolt::redlock::{Config, Event, Login, NodeId, Redlock, RestartGuard};
use redbolt::time::Instant;

use self::caller::Caller;
use self::network::Network;

/// As many steps as a script of a few kilobytes can have.
const STEPS: usize = 2_000;

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
/// If the core breaks a promise.
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
        let count = script.int_in_range(1..=5)?;
        let mut config = Config::default();
        config.max_ttl = Duration::from_secs(2);
        config.max_hold = Duration::from_secs(20);
        config.max_locks = script.int_in_range(1..=8)?;
        config.max_pipeline = script.int_in_range(1..=6)?;
        config.max_cleanup = script.int_in_range(1..=6)?;
        config.restart_guard = *script.choose(&[
            RestartGuard::On,
            RestartGuard::Strict,
            RestartGuard::Durable,
            RestartGuard::Off,
            RestartGuard::Off,
        ])?;
        let redlock = Redlock::new(config, vec![Login::default(); count], 7, [b'n'; 12]);
        Ok(Self {
            redlock: redlock.expect("the configuration is within its bounds"),
            now: Instant::from_nanos(3_600_000_000_000),
            caller: Caller::default(),
            network: Network::new(count),
        })
    }

    /// One step of the script.
    fn step(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let node = script.int_in_range(0..=self.redlock.nodes().len() - 1)?;
        match script.int_in_range(0..=9)? {
            0..=2 => self.caller.request(self.now, &mut self.redlock, script)?,
            3 => self.pass(Duration::from_micros(u64::from(script.arbitrary::<u16>()?))),
            4 => self.pass(Duration::from_millis(u64::from(script.arbitrary::<u16>()?))),
            5 => self.go_to_deadline(),
            6 => self.network.change(self.now, &mut self.redlock, node, script)?,
            _ => self.network.answer(self.now, &mut self.redlock, node, script)?,
        }
        Ok(())
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now + time;
        self.redlock.handle_timeout(self.now);
    }

    /// Goes to what is due next.
    fn go_to_deadline(&mut self) {
        if let Some((at, _)) = self.redlock.poll_timeout() {
            self.pass(at - self.now);
            let next = self.redlock.poll_timeout();
            assert!(next.is_none_or(|(at, _)| at > self.now), "what was due is due again");
        }
    }

    /// Does what the core wants, hears what it tells, and checks what can be seen of it.
    fn look(&mut self) {
        self.network.obey(self.now, &mut self.redlock);
        while let Some(event) = self.redlock.poll_event() {
            if let Event::Acquired { lock, .. } = event {
                let asked = self.caller.asked_at(lock);
                let (oks, need) = (self.network.granted_since(asked), self.redlock.quorum().need());
                assert!(oks >= need, "granted with {oks} of {need} votes");
            }
            self.caller.hear(self.now, &self.redlock, event);
        }
        self.network.obey(self.now, &mut self.redlock);
        self.caller.check(self.now, &self.redlock);
        self.check_bounds();
    }

    fn check_bounds(&self) {
        let config = self.redlock.config();
        assert!(self.redlock.in_use() <= config.max_locks, "more locks than max_locks");
        for node in self.redlock.nodes() {
            let status = self.redlock.node(self.now, node).expect("it is configured");
            // A window of requests that name a token keeps it a little longer.
            assert!(status.cleanup <= config.max_cleanup + 64, "{} tokens", status.cleanup);
            // One `SET` and one release for each place of the pipeline, then one release and one
            // extension for each lock, the cleanup's window, and a handshake.
            let most = 2 * config.max_pipeline + 3 * config.max_locks + 64 + 16;
            assert!(status.in_flight <= most, "{} requests on the way", status.in_flight);
        }
        self.network.check();
    }

    /// Nobody answers any more. Everything that was asked for ends by itself.
    fn end(&mut self) {
        for node in 0..self.redlock.nodes().len() {
            self.network.cut(self.now, &mut self.redlock, node);
        }
        self.look();
        self.caller.give_back(self.now, &mut self.redlock);
        for _ in 0..STEPS {
            self.look();
            if self.caller.is_done() {
                break;
            }
            self.network.refuse(self.now, &mut self.redlock);
            self.go_to_deadline();
        }
        self.look();
        assert!(self.caller.is_done(), "a request has no event");
        assert_eq!(self.redlock.in_use(), 0, "a lock is left over");
    }
}

/// The node at this place.
fn id(index: usize) -> NodeId {
    NodeId::new(index).expect("there are few nodes")
}
