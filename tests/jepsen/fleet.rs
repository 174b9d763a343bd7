//! The processes of a run: five names with masters behind them, the clients, and their log.
//!
//! All are on the leash of [`Process`], so none outlives the test.

use std::env;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::redlock::RestartGuard;

use crate::checker::Terms;
use crate::client::{Mail, REQUESTS};
use crate::home::{Files, Home};
use crate::log::{LINKS, Log, Tail};
use crate::order::{Body, Habit, Order, RETRY, VARIABLE};
use crate::register::Register;
use crate::secrets::Secrets;
use crate::support::clocks::Clocks;
use crate::support::process::{Folder, Process};
use crate::support::until;
use crate::watch::Watch;

/// The name of the test that runs a client: a test process with an order becomes a client there.
pub(crate) const ENTRANCE: &str = "no_two_clients_believe_in_the_same_lock";

/// The time that processes may take to end on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) const NODES: usize = 5;
pub(crate) const MAJORITY: usize = NODES / 2 + 1;

/// The settings that all clients of a run have in common.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) habit: Habit,
    /// The rule for nodes that may have forgotten locks.
    pub(crate) guard: RestartGuard,
    /// Whether clients have no right to be told that keys are gone.
    pub(crate) is_deaf: bool,
    pub(crate) files: [Files; NODES],
    pub(crate) has_spares: bool,
    pub(crate) max_ttl: Duration,
    pub(crate) step: Duration,
    /// How far the clocks of nodes may be from true time, as fencing numbers need to know.
    pub(crate) skew: Duration,
    /// How far the clocks of nodes are ahead from the start, in milliseconds.
    pub(crate) ahead: [u64; NODES],
    /// How many clients there are with an engine, and how many with a crowd.
    pub(crate) bodies: [usize; 2],
    pub(crate) seed: u64,
}

pub(crate) struct Fleet {
    // The order of the fields is the order of dropping: clients first, so that none of them reports
    // the end of its nodes.
    pub(crate) clients: Vec<Client>,
    pub(crate) homes: Vec<Home>,
    _register: Register,
    /// All answers come through this process.
    _watch: Watch,
    clocks: Option<Clocks>,
    pub(crate) log: Arc<Log>,
    pub(crate) secrets: Secrets,
    pub(crate) rules: Rules,
    /// How many clients there have been so far.
    born: u32,
}

impl Rules {
    pub(crate) fn terms(&self) -> Terms {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).expect("a few seconds");
        Terms {
            nodes: NODES,
            quorum: MAJORITY,
            rate: 5_000,
            step: nanos(self.step),
            retry_max: nanos(RETRY),
            settles: nanos(self.settles()),
            shuts_down: nanos(Order::shuts_down()),
        }
    }

    /// Returns the time after which no client owes anything to a node that is well. A token is
    /// looked for until its ttl has passed, at ever longer intervals.
    pub(crate) fn settles(&self) -> Duration {
        Order::timeouts() + 2 * self.max_ttl
    }

    /// Returns the longest time for which a node that may have forgotten locks does not vote.
    pub(crate) fn span(&self) -> Duration {
        let max_ttl = u64::try_from(self.max_ttl.as_millis()).expect("a few seconds");
        2 * self.max_ttl - Duration::from_nanos(self.terms().validity(max_ttl))
    }

    /// Returns the longest time for which a node that may have forgotten numbers draws none: twice
    /// the distance of a clock, and a second for each of two scripts.
    pub(crate) fn number_span(&self) -> Duration {
        self.span().max(2 * (self.skew + Duration::from_secs(1)))
    }

    /// Returns the time in which every client is granted a lock once all is well. At first the
    /// nodes are connected to, and serve a quarantine, at worst two, one for each of two looks that
    /// find something amiss. Then each lock that is wanted may have its turn, for a whole ttl.
    pub(crate) fn served_within(&self) -> Duration {
        let clients: usize = self.bodies.iter().sum();
        let locks = u32::try_from(clients * REQUESTS).expect("a few dozens");
        Order::timeouts() + 2 * self.number_span() + locks * self.max_ttl
    }

    fn order(&self, client: u32, body: Body, nodes: &[String], log: &Path) -> Order {
        let Self { habit, guard, is_deaf, max_ttl, step, skew, seed, .. } = *self;
        let (nodes, log) = (nodes.to_vec(), log.to_owned());
        let seed = seed.wrapping_add(u64::from(client));
        Order { client, seed, body, habit, guard, is_deaf, max_ttl, step, skew, nodes, log }
    }
}

impl Fleet {
    pub(crate) fn start(rules: Rules) -> Self {
        let clocks = Clocks::new(NODES);
        for (node, ahead) in rules.ahead.into_iter().enumerate() {
            _ = clocks.as_ref().map(|clocks| clocks.set(node, Duration::from_millis(ahead)));
        }
        let log = Arc::new(Log::create(log_path()));
        let secrets = Secrets::create(log.path());
        let start = |(number, &files): (usize, &Files)| {
            Home::start(number, files, rules.has_spares, clocks.as_ref(), &log)
        };
        let homes: Vec<_> = rules.files.iter().enumerate().map(start).collect();
        if rules.is_deaf {
            homes.iter().for_each(Home::add_deaf_user);
        }
        let mut fleet = Self {
            clients: Vec::new(),
            homes,
            _register: Register::start(&log),
            _watch: Watch::over(LINKS, Log::open(log.path().to_owned())),
            clocks,
            log,
            secrets,
            rules,
            born: 0,
        };
        for (body, count) in [Body::Engine, Body::Client].into_iter().zip(rules.bodies) {
            for _ in 0..count {
                let client = fleet.bear(body);
                fleet.clients.push(client);
            }
        }
        fleet
    }

    pub(crate) fn tail(&self) -> Tail {
        Tail::of(&self.log)
    }

    /// Kills a client and puts a new one in its place, which knows nothing of the old locks.
    pub(crate) fn replace(&mut self, index: usize) {
        let heir = self.bear(self.clients[index].body);
        self.clients[index] = heir;
    }

    /// Kills the first `nodes` nodes at once and starts them again.
    pub(crate) fn restart(&mut self, nodes: usize) {
        thread::scope(|scope| {
            for home in self.homes.iter_mut().take(nodes) {
                scope.spawn(|| home.node.restart());
            }
        });
    }

    /// Deletes all keys of the first `nodes` nodes.
    pub(crate) fn flush(&self, nodes: usize) {
        for home in self.homes.iter().take(nodes) {
            home.node.command(&[b"FLUSHALL"]);
        }
    }

    pub(crate) fn has_clocks(&self) -> bool {
        self.clocks.is_some()
    }

    /// Sets the clock of a node ahead of the right time. Returns false if clocks cannot be set.
    pub(crate) fn set_clock(&self, node: usize, ahead: Duration) -> bool {
        self.clocks.as_ref().inspect(|clocks| clocks.set(node, ahead)).is_some()
    }

    /// Fails the test if a client has ended by itself.
    pub(crate) fn check_clients(&mut self) {
        for client in &mut self.clients {
            assert!(!client.has_ended(), "client {} has ended: {}", client.number, client.words());
        }
    }

    /// Lets some time pass, such as a span, in which every lock ends that was granted before.
    pub(crate) fn pass(&mut self, long: Duration) {
        until(long, || {
            self.check_clients();
            false
        });
    }

    /// Ends all clients in good order.
    pub(crate) fn finish(&mut self) {
        self.log.close();
        for client in &mut self.clients {
            let ended = until(PATIENCE, || client.has_ended());
            assert!(ended, "client {} does not come to an end: {}", client.number, client.words());
            let status = client.process.exited().expect("it has ended");
            assert!(status.success(), "client {}: {status}: {}", client.number, client.words());
        }
    }

    /// Removes the files of a run without a finding.
    pub(crate) fn remove_files(&self) {
        self.secrets.remove();
        Mail::remove(self.log.path());
        self.log.remove();
    }

    fn bear(&mut self, body: Body) -> Client {
        self.born += 1;
        let nodes: Vec<_> = self.homes.iter().map(|home| home.link.addr()).collect();
        Client::start(&self.rules.order(self.born, body, &nodes, self.log.path()))
    }
}

pub(crate) struct Client {
    process: Process,
    folder: Folder,
    body: Body,
    pub(crate) number: u32,
}

impl Client {
    /// Starts this test binary once more. `env` sets the variable and then becomes the binary.
    fn start(order: &Order) -> Self {
        let binary = env::current_exe().expect("the test has a path");
        let binary = binary.to_str().expect("the path is text");
        let order_variable = format!("{VARIABLE}={order}");
        let args = [&order_variable, binary, "--exact", ENTRANCE, "--nocapture"];
        let args = args.map(str::to_owned);
        let folder = Folder::new();
        let process = Process::spawn(&folder, Path::new("env"), &args).expect("sh is there");
        Self { process, folder, body: order.body, number: order.client }
    }

    pub(crate) fn stop(&self) {
        self.process.stop();
    }

    pub(crate) fn cont(&self) {
        self.process.signal(rustix::process::Signal::CONT);
    }

    fn has_ended(&mut self) -> bool {
        self.process.exited().is_some()
    }

    /// Returns the output of the client, such as a panic.
    fn words(&self) -> String {
        self.folder.log()
    }
}

/// Returns a path outside of the folder of a process, because a failed run leaves its log behind.
fn log_path() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("jepsen-{}-{number}.log", process::id());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
