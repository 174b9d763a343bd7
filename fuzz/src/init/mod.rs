//! `Init` over sockets, and servers that say anything about themselves.
//!
//! A script prepares masters and lets an operator visit the nodes, up to three times, with other
//! aims. Some replies are replaced, as in the target `handshake`, and some words of a witness or of
//! a time. The checks read what the servers have heard and said:
//!
//! * an order leaves only for a node whose words prove a standalone master that keeps its keys,
//!   and never for two nodes of the same process (S10);
//! * no order leaves for any node if all must be fit and one is not, and an inspection leaves no
//!   key behind (S11);
//! * no node is opened with other constants before every node has said that it is closed (S11);
//! * a node has what was wanted only if the node has answered the order, and is declared fresh
//!   only if the node has told of no keys but those of a witness (S11);
//! * a check of the nodes and the question who has a lock change nothing, and the end of a lock
//!   deletes no other value;
//! * the login is sent first, in `AUTH` and nowhere else, and no report shows the password.

mod server;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use bytes::BytesMut;
use redbolt::embedded::{Master, Memory, Options, Session};
use redbolt::redlock::{Login, StoredValue};
use redbolt::time::Instant;
use redbolt::{
    Address, Check, Clock, Config, Init, InitAction, InitError, InitNode, InitReport, Unlock, Who,
};

use self::server::{Heard, Plan, Times, attend};
use super::handshake::{PASSWORD, is_in};

/// The limit of visits.
const VISITS: usize = 3;

/// Longer than anybody must have left alone a node whose constants are changed.
const A_WHILE: Duration = Duration::from_secs(120);

/// The lock that is asked for and ended.
const RESOURCE: &str = "resource";

/// The longest wait for a server that says less than the target believes.
const PATIENCE: Duration = Duration::from_millis(300);

const TTLS: [u64; 3] = [10_000, 30_000, 60_000];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    Witness,
    Fresh,
    MaxTtl,
    Change,
}

struct World {
    masters: Vec<Mutex<Master>>,
    login: Login,
    prefix: Vec<u8>,
    restarts: u64,
    /// How far the clocks of the masters are ahead of ours.
    ahead: Duration,
}

/// Plays the script.
///
/// # Panics
///
/// Panics if a node is changed that has not proved what it must, or if a password is shown.
pub fn init(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let Ok(mut world) = World::new(&mut script) else { return };
    for _ in 0..VISITS {
        if script.is_empty() || world.visit(&mut script).is_err() {
            break;
        }
    }
    // A script that ends amid these choices has no more to say.
    let _ = world.ask(&mut script);
    let _ = world.unlock(&mut script);
}

impl World {
    fn new(script: &mut Unstructured<'_>) -> Result<Self> {
        let mut options = Options::default();
        // The masters have the databases 0 to 15.
        let mut login = Login::default().in_database(script.int_in_range(0..=16)?);
        if script.arbitrary()? {
            options = options.user("app", PASSWORD);
            login = Login::with_user("app", PASSWORD).in_database(login.database);
        }
        let count = script.int_in_range(1..=3)?;
        let master = |seed| Mutex::new(Master::new(seed, options.clone(), Clock::now()));
        Ok(Self {
            masters: (0..count).map(master).collect(),
            login,
            prefix: script.choose(&[&b""[..], b"locks:"])?.to_vec(),
            restarts: 0,
            ahead: Duration::ZERO,
        })
    }

    /// Lets an operator visit all nodes once, and checks what was said and done.
    fn visit(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        self.trouble(script)?;
        let aim = *script.choose(&[Aim::Witness, Aim::Fresh, Aim::MaxTtl, Aim::Change])?;
        let ttl = Duration::from_millis(*script.choose(&TTLS)?);
        // With more nodes than masters, two nodes are one process.
        let count = self.masters.len() + usize::from(script.ratio(1, 8)?);
        let plan = |node| Plan::choose(script, node % self.masters.len());
        let plans = (0..count).map(plan).collect::<Result<Vec<_>>>()?;
        let before = self.keys();
        let (result, heard) = self.run(plans, |nodes| self.init(aim, ttl, nodes).run());
        let after = self.keys();
        let is_changed = |master| heard.iter().any(|node| node.is_ordered && node.master == master);
        for (master, (before, after)) in before.into_iter().zip(after).enumerate() {
            assert!(before == after || is_changed(master), "an inspection leaves a key behind");
        }
        check(aim, ttl, &result, &heard);
        Ok(())
    }

    /// Lets an operator ask the nodes for what they know, which must change nothing.
    fn ask(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let ttl = Duration::from_millis(*script.choose(&TTLS)?);
        let before = self.keys();
        for is_check in [true, false] {
            let plan = |node| Plan::asked(script, node);
            let plans = (0..self.masters.len()).map(plan).collect::<Result<Vec<_>>>()?;
            let (shown, _) = self.run(plans, |nodes| {
                let config = self.config(ttl, nodes);
                if is_check {
                    format!("{:?}", Check::new(config).run())
                } else {
                    format!("{:?}", Who::new(config, [RESOURCE]).run())
                }
            });
            assert!(!is_in(shown.as_bytes(), PASSWORD.as_bytes()), "{shown}");
        }
        assert_eq!(before, self.keys(), "a question leaves a key behind");
        Ok(())
    }

    /// Ends a lock, which must delete nothing but the value that was named.
    fn unlock(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let (named, other) = (&b"token"[..], &b"other"[..]);
        let values = (0..self.masters.len()).map(|_| script.choose(&[named, other]).copied());
        let values = values.collect::<Result<Vec<_>>>()?;
        let plan = |node| Plan::asked(script, node);
        let plans = (0..self.masters.len()).map(plan).collect::<Result<Vec<_>>>()?;
        let (now, login) = (self.now(), self.login.clone());
        let key = [&self.prefix, RESOURCE.as_bytes()].concat();
        let masters = self.masters.iter_mut().map(|master| master.get_mut());
        for (master, value) in masters.zip(&values) {
            write(master.expect("no server has panicked"), &login, now, &key, value);
        }
        let before = self.keys();
        let (shown, _) = self.run(plans, |nodes| {
            let config = self.config(Duration::from_millis(TTLS[0]), nodes);
            format!("{:?}", Unlock::new(config, RESOURCE, StoredValue::new(named)).run())
        });
        assert!(!is_in(shown.as_bytes(), PASSWORD.as_bytes()), "{shown}");
        for ((before, after), value) in before.into_iter().zip(self.keys()).zip(values) {
            let least = before - usize::from(value == named && before > 0);
            assert!((least..=before).contains(&after), "more than the named value is gone");
        }
        Ok(())
    }

    /// Returns the time by the clocks of the masters.
    fn now(&self) -> Instant {
        Clock::now() + self.ahead
    }

    /// Does something to a master before a visit.
    fn trouble(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let place = script.int_in_range(0..=self.masters.len() - 1)?;
        let now = self.now();
        let master = self.masters[place].get_mut().expect("no server has panicked");
        match script.int_in_range(0..=7)? {
            0 => master.flush(),
            1 => write(master, &self.login, now, RESOURCE.as_bytes(), b"token"),
            choice @ 2..=3 => {
                let memory = if choice == 2 { Memory::Lost } else { Memory::Kept };
                self.restarts += 1;
                master.restart(1_000 + self.restarts, memory, now);
            }
            4..=5 => self.ahead += A_WHILE,
            _ => {}
        }
        Ok(())
    }

    /// Returns the number of keys of each master.
    fn keys(&mut self) -> Vec<usize> {
        let now = self.now();
        let masters = self.masters.iter_mut().map(|master| master.get_mut());
        masters.map(|master| master.expect("no server has panicked").len(now)).collect()
    }

    /// Visits the nodes while each is served by a thread.
    fn run<T>(&self, plans: Vec<Plan>, visit: impl FnOnce(&[TcpListener]) -> T) -> (T, Vec<Heard>) {
        let bind = |_: &Plan| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listeners = plans.iter().map(bind).collect::<std::io::Result<Vec<_>>>();
        let listeners = listeners.expect("there are free ports");
        let deeds = AtomicUsize::new(0);
        let times = Times { ahead: self.ahead, deeds: &deeds };
        let met: Vec<_> = plans.iter().map(|_| AtomicBool::new(false)).collect();
        thread::scope(|scope| {
            let nodes = plans.into_iter().zip(&listeners).zip(&met);
            let serve = |((plan, listener), met): ((Plan, _), _)| {
                scope.spawn(move || attend(listener, &self.masters[plan.master], plan, met, times))
            };
            let servers: Vec<_> = nodes.map(serve).collect();
            let result = visit(&listeners);
            // A server whom nobody has visited waits for ever.
            for (listener, met) in listeners.iter().zip(&met) {
                if !met.load(Ordering::Acquire) {
                    drop(TcpStream::connect(address(listener)));
                }
            }
            let join = |server: thread::ScopedJoinHandle<'_, Heard>| server.join();
            let heard: thread::Result<Vec<_>> = servers.into_iter().map(join).collect();
            (result, heard.expect("every server is content with what was sent"))
        })
    }

    fn init(&self, aim: Aim, ttl: Duration, listeners: &[TcpListener]) -> Init {
        let config = self.config(ttl, listeners);
        match aim {
            Aim::Witness => Init::new(config),
            Aim::Fresh => Init::new(config).fresh(),
            Aim::MaxTtl => Init::new(config).raise_max_ttl(),
            Aim::Change => Init::new(config).reconfigure(),
        }
    }

    fn config(&self, ttl: Duration, listeners: &[TcpListener]) -> Config {
        let node = |listener| {
            let address = address(listener);
            let address = Address::new(address.ip().to_string(), address.port());
            let address = address.and_then(|address| address.with_login(self.login.clone()));
            address.expect("an address of the loopback and a short login")
        };
        let mut config = Config::with_addresses(listeners.iter().map(node));
        config.redlock.max_ttl = ttl;
        config.redlock.prefix.clone_from(&self.prefix);
        config.redlock.connect_timeout = PATIENCE;
        config
    }
}

fn address(listener: &TcpListener) -> std::net::SocketAddr {
    listener.local_addr().expect("it is bound")
}

/// Writes a key that is no witness.
fn write(master: &mut Master, login: &Login, now: Instant, key: &[u8], value: &[u8]) {
    let (mut session, mut out) = (Session::default(), BytesMut::new());
    let database = login.database.to_string();
    let auth: &[&[u8]] = &[b"AUTH", b"app", PASSWORD.as_bytes()];
    for words in [auth, &[b"SELECT", database.as_bytes()], &[b"SET", key, value]] {
        master.apply(now, &mut session, words, &mut out);
    }
}

/// Checks a report against what the servers have heard and said.
fn check(
    aim: Aim,
    ttl: Duration,
    result: &std::result::Result<InitReport, InitError>,
    heard: &[Heard],
) {
    let shown = match result {
        Ok(report) => format!("{report} {report:?}"),
        Err(error) => format!("{error} {error:?}"),
    };
    assert!(!is_in(shown.as_bytes(), PASSWORD.as_bytes()), "{shown}");
    let report = match result {
        Ok(report) => report,
        // The machine has no thread left.
        Err(InitError::Io(_)) => return,
        Err(error) => error.report().expect("the configuration is within its bounds"),
    };
    assert_eq!(report.is_complete(), result.is_ok(), "{shown}");
    assert!(report.look_period() <= ttl, "{shown}");
    let is_ordered = heard.iter().any(|node| node.is_ordered);
    let is_refused = matches!(result, Err(InitError::Refused(_)));
    assert!(!is_refused || !is_ordered, "a node is changed although one is refused: {shown}");
    if is_ordered && aim != Aim::Witness {
        let are_fit = heard.iter().all(|node| node.is_proven);
        assert!(are_fit, "a node is changed although one is not fit: {shown}");
    }
    check_order(heard, &shown);
    let mut processes = Vec::new();
    for (node, heard) in report.nodes().iter().zip(heard) {
        check_node(node, heard, &shown);
        if heard.is_ordered {
            let process = heard.record.process().expect("it is proven");
            assert!(!processes.contains(&process), "one process is two nodes: {shown}");
            processes.push(process);
        }
    }
}

/// Checks that nobody was told to open before everybody had said that it is closed. A visit that
/// only opens finishes what an earlier one has begun.
fn check_order(heard: &[Heard], shown: &str) {
    let opened = heard.iter().filter_map(|node| node.opened).min();
    let Some(opened) = opened.filter(|_| heard.iter().any(|node| node.is_told_to_close)) else {
        return;
    };
    let are_closed = heard.iter().all(|node| node.closed.is_some_and(|closed| closed < opened));
    assert!(are_closed, "opened before all are closed: {shown}");
}

fn check_node(node: &InitNode, heard: &Heard, shown: &str) {
    assert!(!heard.is_ordered || heard.is_proven, "changed without a proof: {shown}");
    let Ok(action) = &node.result else { return };
    assert!(heard.is_proven && node.finding.is_some(), "fit without a proof: {shown}");
    match action {
        InitAction::Planned(_) | InitAction::Kept => {}
        InitAction::Nothing => assert!(!heard.is_ordered, "changed in silence: {shown}"),
        InitAction::Declared => {
            assert!(heard.has_obeyed, "done without an answer: {shown}");
            let most = if heard.has_witness { 2 } else { 0 };
            assert!(heard.keys.is_some_and(|keys| keys <= most), "not empty: {shown}");
        }
        _ => assert!(heard.has_obeyed, "done without an answer: {shown}"),
    }
}
