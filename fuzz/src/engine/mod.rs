//! The whole engine over sockets, and servers that lie.
//!
//! The servers stand in the same thread as the engine, on ports of the loopback, and have their
//! turn when the script says so. They refuse, hang up, stop reading, write byte by byte, lie, or
//! write without end. The time is that of the machine, so a finding may need more than one try to
//! be seen again; the target `core` has the same conversations in a time of its own. Checked is:
//!
//! * every accepted request ends in one event, and nothing is left when all have;
//! * a lock is granted only after a quorum of servers has written `+OK` to the `SET` of its token,
//!   for no longer than its ttl, and is believed only until then;
//! * a lock has a fencing number exactly if one was asked for or brought, and each number that was
//!   drawn was written by a quorum of servers;
//! * no event shows the password;
//! * no server with a bad certificate is told anything, where servers speak TLS.

mod numbers;
mod peer;
#[cfg(feature = "tls")]
mod secure;
mod trouble;
mod wire;

use std::collections::BTreeMap;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
#[cfg(feature = "tls")]
use redbolt::NodeState;
use redbolt::embedded::{Master, Options};
use redbolt::redlock::{Event, LockId, Login, QueryId, RestartGuard, Token};
use redbolt::time::Instant;
use redbolt::{Address, Clock, Config, Engine};

use self::numbers::Number;
use self::peer::Peer;
#[cfg(feature = "tls")]
use self::secure::Face;

/// The limit of steps, and of those that wait.
const STEPS: usize = 300;
const WAITS: usize = 10;

/// The turns at the end, of a few milliseconds each, after which only a hang can be the reason.
const LAST_TURNS: usize = 4_000;

/// The turns of a millisecond after which servers with TLS are known, on a machine that is not too
/// busy.
#[cfg(feature = "tls")]
const FIRST_TURNS: usize = 100;

const PASSWORD: &str = "J-secret-Z";
const RESOURCES: [&str; 3] = ["a", "b", "c"];

struct World {
    engine: Engine,
    peers: Vec<Peer>,
    masters: Vec<Master>,
    locks: BTreeMap<LockId, Lock>,
    queries: Vec<QueryId>,
    waits: usize,
    restarts: u64,
    /// The servers speak TLS.
    #[cfg(feature = "tls")]
    is_secure: bool,
}

struct Lock {
    ttl: Duration,
    is_adopted: bool,
    /// The end of the validity of a held lock.
    valid_until: Option<Instant>,
    has_extension: bool,
    number: Number,
}

/// Plays the script.
///
/// # Panics
///
/// Panics if the engine breaks a promise.
pub fn engine(data: &[u8]) {
    let mut script = Unstructured::new(data);
    if let Ok(world) = World::new(&mut script, false) {
        world.play(script);
    }
}

/// Plays the script with servers that speak TLS.
///
/// # Panics
///
/// Panics if the engine breaks a promise.
#[cfg(feature = "tls")]
pub fn tls(data: &[u8]) {
    let mut script = Unstructured::new(data);
    if let Ok(mut world) = World::new(&mut script, true) {
        world.meet();
        world.play(script);
    }
}

impl World {
    fn play(mut self, mut script: Unstructured<'_>) {
        for _ in 0..STEPS {
            if script.is_empty() || self.step(&mut script).is_err() {
                break;
            }
            self.hear();
        }
        self.end();
    }

    fn new(script: &mut Unstructured<'_>, is_secure: bool) -> Result<Self> {
        let count = script.int_in_range(1..=3)?;
        let has_login = script.ratio(1, 3)?;
        let guard =
            *script.choose(&[RestartGuard::Off, RestartGuard::On, RestartGuard::Durable])?;
        let peers: Vec<_> = (0..count).map(|index| Peer::new(index % 2 == 0)).collect();
        let mut options = Options::default().fresh(true);
        let mut login = Login::default();
        if has_login {
            options = options.user("app", PASSWORD);
            login = Login::with_user("app", PASSWORD);
        }
        let address = |peer: &Peer| {
            let address = Address::new(peer.address().ip().to_string(), peer.address().port());
            let address = address.and_then(|address| address.with_login(login.clone()));
            let address = address.expect("an address of the loopback and a short login");
            if is_secure { secured(address) } else { address }
        };
        let mut config = Config::with_addresses(peers.iter().map(address));
        let millis = Duration::from_millis;
        config.redlock.max_ttl = millis(200);
        config.redlock.max_hold = millis(300);
        config.redlock.restart_guard = guard;
        config.redlock.node_timeout = Some(millis(2));
        config.redlock.connect_timeout = millis(20);
        config.redlock.close_timeout = millis(20);
        config.redlock.release_timeout = millis(5);
        config.redlock.reconnect_max = millis(1);
        config.redlock.retry_max = millis(1);
        config.redlock.max_locks = 6;
        config.redlock.max_pipeline = script.int_in_range(1..=4)?;
        config.redlock.max_cleanup = 2;
        let master = |seed| Master::new(seed, options.clone(), Clock::now());
        Ok(Self {
            engine: Engine::new(config).expect("the configuration is within its bounds"),
            peers,
            masters: (0..count as u64).map(master).collect(),
            locks: BTreeMap::new(),
            queries: Vec::new(),
            waits: 0,
            restarts: 0,
            #[cfg(feature = "tls")]
            is_secure,
        })
    }

    /// Has all servers show good certificates, and waits for the engine to log in everywhere. A
    /// thread of the engine reads their CA.
    #[cfg(feature = "tls")]
    fn meet(&mut self) {
        for (index, peer) in self.peers.iter_mut().enumerate() {
            peer.show(Face::Good { is_old: index == 1 });
        }
        for _ in 0..FIRST_TURNS {
            let is_ready = |state| matches!(state, NodeState::Ready | NodeState::Quarantined);
            if self.engine.nodes().all(|(_, _, node)| is_ready(node.state)) {
                return;
            }
            self.serve();
            self.turn(Duration::from_millis(1));
        }
    }

    /// Takes one step of the script.
    fn step(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let index = script.int_in_range(0..=self.peers.len() - 1)?;
        match script.int_in_range(0..=15)? {
            0..=2 => self.request(script)?,
            3 if self.waits < WAITS => {
                self.waits += 1;
                self.turn(Duration::from_millis(1));
            }
            3..=5 => self.turn(Duration::ZERO),
            6 => self.trouble(index, script)?,
            // Everybody does what he should.
            7..=9 => self.serve(),
            _ => {
                self.peers[index].accept();
                let lie = self.lie(index, script)?;
                self.peers[index].serve(Clock::now(), &mut self.masters[index], lie);
            }
        }
        Ok(())
    }

    /// Lets the engine write, and every server answer honestly.
    fn serve(&mut self) {
        for (peer, master) in self.peers.iter_mut().zip(&mut self.masters) {
            peer.accept();
            peer.serve(Clock::now(), master, None);
        }
        self.turn(Duration::ZERO);
    }

    fn turn(&mut self, timeout: Duration) {
        self.engine.poll(Some(timeout)).expect("no node causes an error here");
    }

    /// Makes one request, which the engine may refuse.
    fn request(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let any = script.int_in_range(0..=self.locks.len().saturating_sub(1))?;
        let lock = self.locks.keys().nth(any).copied();
        let ttl = Duration::from_millis(script.int_in_range(9..=201)?);
        let wait = Duration::from_millis(script.int_in_range(0..=3)?);
        let resource = *script.choose(&RESOURCES)?;
        let mut number = Number::default();
        let (result, is_adopted) = match (script.int_in_range(0..=15)?, lock) {
            (0, Some(id)) => {
                let is_asked = self.engine.extend(id, ttl).is_ok();
                let lock = self.locks.get_mut(&id).expect("it is chosen from them");
                assert!(!is_asked || !lock.has_extension, "two extensions at once");
                lock.has_extension |= is_asked;
                lock.ttl = lock.ttl.max(ttl);
                return Ok(());
            }
            (choice @ 1..=3, Some(id)) => {
                // Refused where the lock is not in the right state.
                let _ = if choice == 3 { self.engine.cancel(id) } else { self.engine.release(id) };
                return Ok(());
            }
            (4, Some(id)) => {
                if self.engine.keep_alive(id, ttl, Duration::from_millis(250)).is_ok() {
                    let lock = self.locks.get_mut(&id).expect("it is chosen from them");
                    lock.ttl = lock.ttl.max(ttl);
                }
                return Ok(());
            }
            (5, _) => {
                self.queries.extend(self.engine.query(resource));
                return Ok(());
            }
            (6, _) => {
                let token = Token::from_bytes([b'?'; 20]);
                number = Number::brings(script)?;
                (self.engine.adopt_with(&[resource], token, ttl, wait, &number.options()), true)
            }
            (8, Some(id)) => {
                self.draw(id);
                return Ok(());
            }
            (choice @ (9 | 10), _) => {
                number = Number::FENCED;
                let resources = if choice == 9 { &RESOURCES[..] } else { &[resource] };
                (self.engine.acquire_with(resources, ttl, wait, &number.options()), false)
            }
            (7, _) => (self.engine.acquire_all(&RESOURCES, ttl, wait), false),
            _ => (self.engine.acquire(resource, ttl, wait), false),
        };
        if let Ok(id) = result {
            let (valid_until, has_extension) = (None, false);
            let lock = Lock { ttl, is_adopted, valid_until, has_extension, number };
            assert!(self.locks.insert(id, lock).is_none(), "{id:?} is given out twice");
        }
        Ok(())
    }

    /// Takes all events, and checks them.
    fn hear(&mut self) {
        // Servers can have answered what they have not read.
        self.peers.iter_mut().for_each(Peer::read);
        while let Some(event) = self.engine.next_event() {
            let shown = self.engine.display(&event).to_string();
            assert!(!shown.contains(PASSWORD), "{shown}");
            self.check(&event);
        }
        assert!(self.engine.in_use() <= 6, "more locks than max_locks");
        for (id, lock) in &self.locks {
            let before = Clock::now();
            if self.engine.is_held(*id) {
                let end = lock.valid_until.expect("a lock is believed before its event");
                assert!(before < end, "{id:?} is believed after its end");
            }
        }
    }

    fn check(&mut self, event: &Event) {
        let now = Clock::now();
        match *event {
            Event::Acquired { lock: id, valid_until, fence } => {
                self.numbered(id, fence);
                let lock = self.locks.get_mut(&id).expect("a lock that lives");
                assert_eq!(lock.valid_until.replace(valid_until), None, "acquired twice");
                assert!(valid_until < now + lock.ttl, "{id:?} is valid for longer than its ttl");
                let Some(token) = self.engine.peek_token(id).filter(|_| !lock.is_adopted) else {
                    return;
                };
                let voted = |peer: &&Peer| peer.granted.contains(&token);
                let votes = self.peers.iter().filter(voted).count();
                assert!(votes > self.peers.len() / 2, "{id:?} is granted with {votes} votes");
            }
            Event::Extended { lock: id, valid_until } => {
                let lock = self.locks.get_mut(&id).expect("a lock that lives");
                assert!(valid_until < now + lock.ttl, "{id:?} is extended for longer than asked");
                lock.has_extension = false;
                lock.valid_until = Some(valid_until);
            }
            Event::ExtendFailed { lock, .. } => {
                let lock = self.locks.get_mut(&lock).expect("a lock that lives");
                lock.has_extension = false;
            }
            Event::Fenced { lock, fence } => self.drawn(lock, Some(fence)),
            Event::FenceFailed { lock, .. } => self.drawn(lock, None),
            Event::AcquireFailed { lock: id, .. }
            | Event::Released { lock: id, .. }
            | Event::Lost { lock: id, .. } => {
                let lock = self.locks.remove(&id).expect("a lock that lives");
                assert!(!lock.has_extension, "an extension has no event");
                assert!(!self.engine.is_held(id), "{id:?} is believed after its end");
            }
            Event::Queried { query, .. } => {
                let place = self.queries.iter().position(|open| *open == query);
                self.queries.swap_remove(place.expect("it was asked, and has no answer"));
            }
            _ => {}
        }
    }

    /// Gives everything back, and waits until every request has ended by itself.
    fn end(&mut self) {
        for id in self.locks.keys().copied().collect::<Vec<_>>() {
            // Either one or the other is possible, or its event is on the way.
            if self.engine.release(id).is_err() {
                let _ = self.engine.cancel(id);
            }
        }
        for _ in 0..LAST_TURNS {
            self.hear();
            if self.locks.is_empty() && self.queries.is_empty() && self.engine.in_use() == 0 {
                return;
            }
            self.turn(Duration::from_millis(5));
        }
        panic!("{} locks and {} queries have no event", self.locks.len(), self.queries.len());
    }
}

/// Returns the address of a server with TLS.
#[cfg(feature = "tls")]
fn secured(address: Address) -> Address {
    let tls = redbolt::Tls::new().with_ca(secure::ca());
    address.with_tls(tls).expect("a path is short")
}

#[cfg(not(feature = "tls"))]
fn secured(address: Address) -> Address {
    address
}
