//! The command line of `redbolt bench`: the settings of a run and their bounds.

use std::ffi::OsString;
use std::time::Duration;

use clap::builder::OsStringValueParser;
use redbolt::Config;
use redbolt::redlock::{LONGEST_TTL, MIN_TTL, RestartGuard};

use crate::choice::one_of;
use crate::failure::Failure;
use crate::settings::{ASKS, NodeArgs, Override};
use crate::{duration, number};

/// The most locks in flight: more than any set of masters works on at once, so that more locks
/// would only wait.
const MOST_IN_FLIGHT: u32 = 100_000;

/// The most threads: more than two processors can use.
const MOST_THREADS: u32 = 4096;

/// The most resources for which several engines contend: each has a list of its own.
const MOST_DIVIDED: u32 = 1_000_000;

/// The most engines: as many as a client has threads at most.
const MOST_ENGINES: u32 = Config::MAX_THREADS as u32;

/// The most locks that are held; they take 256 MB.
const MOST_HELD: u32 = 1_000_000;

/// The longest run. Latencies are counted up to an hour, so a schedule must not run for longer.
const LONGEST_RUN: Duration = Duration::from_secs(3600);
const SHORTEST_RUN: Duration = Duration::from_millis(100);

/// The most starts a second: more than one thread makes.
const MOST_STARTS: u32 = 1_000_000;

/// How long the load runs before anything is counted: connections come up, tables and caches warm.
pub(crate) const WARM_UP: Duration = Duration::from_millis(200);

/// Shown below the options by `-h`.
const AFTER: &str = "\
Examples:
  redbolt bench                                      # on this machine
  redbolt bench --nodes db1,db2,db3 --seconds 10s
  redbolt bench --config /etc/redbolt.toml --client --threads 16

--help has all details, and the exit codes.";

/// Shown below the options by `--help`.
const AFTER_LONG: &str = "\
Examples:
  redbolt bench                                      # on this machine
  redbolt bench --nodes db1,db2,db3 --seconds 10s
  redbolt bench --config /etc/redbolt.toml --client --threads 16

A cycle acquires one lock and releases it at once. By default no two cycles want the same resource,
as in a service that locks one order, job or user after another; with --resources they contend.
Without nodes, five masters run on this machine for as long as the measurement: valkey-server or
redis-server processes where one is on the PATH, else masters inside this process.

Durations are written like 250us, 20ms, 30s, 1.5m. An option that is a bare number is in seconds; a
variable and the file need the unit.
SIGINT ends a run early, with its figures.
Given nodes have all settings that the variables REDBOLT_... and the file of --config name, as the
library documents them at Config::from_env; what the measurement itself needs is set by the options.
Masters that are started for the measurement have the settings of the options alone; they are
declared fresh.
Exit codes: 0 measured, 64 wrong usage, 69 no quorum of nodes, 70 anything else.";

/// What goes through a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This number of threads that block.
    Threads(usize),
    /// This number of tasks, on a runtime of two threads.
    Tasks(usize),
    /// This number of locks that are only kept alive.
    Hold(usize),
}

/// The settings of a run. Their values have been checked against their bounds.
#[derive(clap::Args)]
#[command(after_help = AFTER, after_long_help = AFTER_LONG)]
pub(crate) struct Args {
    #[command(flatten)]
    nodes: NodeArgs,

    /// How many locks are wanted or held at any moment
    #[arg(long, value_name = "N", default_value = "512", allow_hyphen_values = true)]
    #[arg(value_parser = number::between(1, MOST_IN_FLIGHT))]
    in_flight: u32,

    /// How long to measure
    #[arg(long, value_name = "DURATION", default_value = "5s", allow_hyphen_values = true)]
    #[arg(value_parser = duration::between(SHORTEST_RUN, LONGEST_RUN))]
    pub(crate) seconds: Duration,

    /// After how long an unreleased lock ends by itself
    #[arg(long, value_name = "DURATION", default_value = "30s", allow_hyphen_values = true)]
    #[arg(value_parser = duration::between(MIN_TTL, LONGEST_TTL))]
    pub(crate) ttl: Duration,

    /// Contend: every cycle wants one of K resources
    ///
    /// Contend: every cycle wants one of K resources, picked at random, instead of one that
    /// no other cycle wants
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    #[arg(value_parser = number::between(1, u32::MAX), verbatim_doc_comment)]
    pub(crate) resources: Option<u32>,

    /// Ask for a fencing number with every lock
    ///
    /// Ask for a fencing number with every lock, and count the trips behind the first
    #[arg(long, verbatim_doc_comment)]
    pub(crate) fenced: bool,

    /// Ask all nodes, or a majority first [default: all]
    ///
    /// Ask all nodes, or a majority first and the others only in doubt; when this is absent,
    /// all, or REDBOLT_ASK for given nodes
    #[arg(long, value_name = "NODES", verbatim_doc_comment)]
    #[arg(value_parser = one_of(ASKS, OsStringValueParser::new()), hide_possible_values = true)]
    ask: Option<OsString>,

    /// Start R locks a second, whether or not others are done
    ///
    /// Start R locks a second, whether or not earlier ones are done, and count latency from
    /// when each should have started; without it, one starts whenever one ends
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    #[arg(value_parser = number::between(1, MOST_STARTS), verbatim_doc_comment)]
    pub(crate) rate: Option<u32>,

    /// How many engines bear the load, without sharing
    ///
    /// How many engines bear the load, each with a thread and connections of its own; they
    /// divide the resources, as the threads of a client do, the locks in flight and the rate
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    #[arg(value_parser = number::between(1, MOST_ENGINES), verbatim_doc_comment)]
    pub(crate) engines: u32,

    /// Go through a client, as services do
    ///
    /// Go through a client, as services do: threads that acquire a lock and drop its guard
    #[arg(long, verbatim_doc_comment, conflicts_with_all = ["in_flight", "rate"])]
    client: bool,

    /// With --client: how many threads
    #[arg(long, value_name = "N", default_value = "64", requires = "client")]
    #[arg(allow_hyphen_values = true, value_parser = number::between(1, MOST_THREADS))]
    threads: u32,

    /// With --client: wait for the answer to every release
    ///
    /// With --client: wait for the answer to every release, instead of dropping the guard
    #[arg(long, requires = "client")]
    pub(crate) confirm: bool,

    /// With --client: so many tasks of a runtime instead of threads
    #[arg(long, value_name = "N", requires = "client", conflicts_with = "threads")]
    #[arg(allow_hyphen_values = true, value_parser = number::between(1, MOST_IN_FLIGHT))]
    tasks: Option<u32>,

    /// With --client: only hold so many locks, and keep them alive
    #[arg(long, value_name = "N", requires = "client", conflicts_with_all = ["threads", "tasks"])]
    #[arg(allow_hyphen_values = true, value_parser = number::between(1, MOST_HELD))]
    hold: Option<u32>,

    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(crate) json: bool,

    /// Look for replies this long before sleeping [default: 0s]
    ///
    /// Look for replies this long before sleeping; when this is absent, 0s, or
    /// REDBOLT_BUSY_POLL for given nodes
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    #[arg(value_parser = duration::between(Duration::ZERO, Config::MAX_BUSY_POLL))]
    #[arg(verbatim_doc_comment)]
    busy_poll: Option<Duration>,
}

impl Args {
    /// What goes through a client; `None` for a run without a client.
    pub(crate) fn crowd(&self) -> Option<Kind> {
        let kind = match (self.tasks, self.hold) {
            (Some(tasks), _) => Kind::Tasks(tasks as usize),
            (None, Some(hold)) => Kind::Hold(hold as usize),
            (None, None) => Kind::Threads(self.threads as usize),
        };
        self.client.then_some(kind)
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight as usize
    }

    /// Returns what is wrong with the number of engines, where the load cannot be divided so.
    fn check_engines(&self) -> Result<(), String> {
        let engines = self.engines;
        let refused = |option: &str, value: u32, bound: &str| {
            let value = number::grouped(value.into());
            Err(format!("{option} is {value}, at {bound} is possible with --engines {engines}"))
        };
        match self.resources {
            _ if engines == 1 => return Ok(()),
            Some(count) if !self.client && count > MOST_DIVIDED => {
                let bound = format!("most {}", number::grouped(MOST_DIVIDED.into()));
                return refused("--resources", count, &bound);
            }
            _ => {}
        }
        let least = format!("least {engines}");
        match self.rate {
            Some(rate) if rate < engines => refused("--rate", rate, &least),
            _ if !self.client && self.in_flight < engines => {
                refused("--in-flight", self.in_flight, &least)
            }
            _ => Ok(()),
        }
    }

    /// The settings of an engine for the given nodes; `None` when none are given.
    pub(crate) fn config(&self) -> Result<Option<Config>, Failure> {
        self.check_engines().map_err(Failure::usage)?;
        let sources = self.nodes.sources().map_err(Failure::usage)?;
        let config = self.nodes.config(&sources, self.overrides()).map_err(Failure::usage)?;
        let Some(config) = config else { return Ok(None) };
        let check = self.nodes.check_ttl("--ttl", self.ttl, &config, Some(&sources));
        check.map_err(Failure::usage)?;
        Ok(Some(self.apply(config)))
    }

    /// The settings of an engine for local nodes.
    pub(crate) fn local_config(&self, addresses: &[String]) -> Result<Config, Failure> {
        // The addresses were printed from socket addresses: only an option can be wrong.
        let config = self.nodes.local_config(addresses, self.overrides());
        let mut config = config.map_err(Failure::usage)?;
        // The nodes were started for this run: nobody can have held a lock on them, and nobody else
        // locks there.
        config.redlock.restart_guard = RestartGuard::On;
        if !self.nodes.has_max_ttl() {
            config.redlock.max_ttl = config.redlock.max_ttl.max(self.ttl);
        }
        self.nodes.check_ttl("--ttl", self.ttl, &config, None).map_err(Failure::usage)?;
        Ok(self.apply(config))
    }

    /// Whether the option says that a majority is asked first.
    pub(crate) fn asks_majority(&self) -> bool {
        self.ask.as_ref().is_some_and(|ask| ask == "majority")
    }

    fn overrides(&self) -> [Override; 2] {
        [
            Override::duration("--busy-poll", "REDBOLT_BUSY_POLL", self.busy_poll),
            Override::text("--ask", "REDBOLT_ASK", self.ask.clone()),
        ]
    }

    fn apply(&self, mut config: Config) -> Config {
        config.threads = self.engines as usize;
        // A cycle is over when a quorum has answered. Its place in the table is free only when
        // every node has, and a node that hangs keeps as many places as its pipeline has requests.
        let stragglers = config.nodes.len() * config.redlock.max_pipeline;
        let wanted = match self.crowd() {
            None => self.in_flight(),
            Some(Kind::Threads(count) | Kind::Tasks(count)) => 2 * count,
            Some(Kind::Hold(count)) => count,
        };
        config.redlock.max_locks = wanted + stragglers;
        config
    }
}
