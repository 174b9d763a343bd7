//! The processes of a run: five masters, the clients, and their log.
//!
//! All are on the leash of [`Process`], so none outlives the test.

use std::env;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::log::{Log, Tail};
use crate::order::{Habit, Order, VARIABLE};
use crate::support::clocks::Clocks;
use crate::support::process::{Folder, Process};
use crate::support::servers::Node;
use crate::support::until;

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
    /// Whether nodes that may have forgotten locks are kept from voting.
    pub(crate) guarded: bool,
    pub(crate) max_ttl: Duration,
    pub(crate) step: Duration,
    pub(crate) clients: usize,
    pub(crate) seed: u64,
}

pub(crate) struct Fleet {
    // The order of the fields is the order of dropping: clients first, so that none of them reports
    // the end of its nodes.
    pub(crate) clients: Vec<Client>,
    pub(crate) nodes: Vec<Node>,
    clocks: Option<Clocks>,
    pub(crate) log: Log,
    rules: Rules,
    /// How many clients there have been so far.
    born: u32,
}

impl Fleet {
    pub(crate) fn start(rules: Rules) -> Self {
        let clocks = Clocks::new(NODES);
        let start = |node| clocks.as_ref().map_or_else(Node::start, |clocks| clocks.start(node));
        let nodes = (0..NODES).map(start).collect();
        let log = Log::create(log_path());
        let mut fleet = Self { clients: Vec::new(), nodes, clocks, log, rules, born: 0 };
        for _ in 0..rules.clients {
            let client = fleet.bear();
            fleet.clients.push(client);
        }
        fleet
    }

    pub(crate) fn tail(&self) -> Tail {
        Tail::of(&self.log)
    }

    /// Kills a client and puts a new one in its place, which knows nothing of the old locks.
    pub(crate) fn replace(&mut self, index: usize) {
        let heir = self.bear();
        self.clients[index] = heir;
    }

    /// Kills the first `nodes` nodes at once and starts them again, empty.
    pub(crate) fn restart(&mut self, nodes: usize) {
        thread::scope(|scope| {
            for node in self.nodes.iter_mut().take(nodes) {
                scope.spawn(|| node.restart());
            }
        });
    }

    /// Sets the clock of a node ahead of the right time. Returns false if clocks cannot be set.
    pub(crate) fn set_clock(&self, node: usize, ahead: Duration) -> bool {
        self.clocks.as_ref().inspect(|clocks| clocks.set(node, ahead)).is_some()
    }

    /// Returns by how much clocks may be stepped.
    pub(crate) fn step(&self) -> Duration {
        self.rules.step
    }

    /// Fails the test if a client has ended by itself.
    pub(crate) fn check_clients(&mut self) {
        for client in &mut self.clients {
            assert!(!client.has_ended(), "client {} has ended: {}", client.number, client.words());
        }
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

    fn bear(&mut self) -> Client {
        self.born += 1;
        let Rules { habit, guarded, max_ttl, step, seed, .. } = self.rules;
        let order = Order {
            client: self.born,
            seed: seed.wrapping_add(u64::from(self.born)),
            habit,
            guarded,
            max_ttl,
            step,
            nodes: self.nodes.iter().map(Node::addr).collect(),
            log: self.log.path().to_owned(),
        };
        Client::start(&order)
    }
}

pub(crate) struct Client {
    process: Process,
    folder: Folder,
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
        let process = Process::spawn(&folder, Path::new("env"), &args);
        Self { process: process.expect("sh is there"), folder, number: order.client }
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
