//! The command line of `redbolt bench`: the settings of a run and their bounds.
//!
//! [`values`] parses what is neither a number nor a duration alone, [`check`] says what does not go
//! together, and [`text`] is what the help says below the options.

pub(crate) mod check;
mod text;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueHint;
use clap::builder::OsStringValueParser;
use redbolt::Config;
use redbolt::redlock::{LONGEST_TTL, MIN_TTL, RestartGuard};

use self::values::Rates;
use super::load::demand::{Arrivals, Demand, Resources};
use super::load::names::LEAST_LEN;
use super::plan::{Level, MOST_ROUNDS};
use super::trace;
use crate::choice::one_of;
use crate::failure::Failure;
use crate::settings::{ASKS, NodeArgs, Override};
use crate::{duration, number};

/// The most locks in flight: more than any set of masters works on at once, so that more locks
/// would only wait.
const MOST_IN_FLIGHT: u32 = 100_000;

/// The most threads: more than two processors can use.
const MOST_THREADS: u32 = 4096;

/// The most engines: as many as a client has threads at most.
const MOST_ENGINES: u32 = Config::MAX_THREADS as u32;

/// The most locks that are kept alive; they take 256 MB.
const MOST_KEPT: u32 = 1_000_000;

/// The longest resource. Together with the longest prefix it is the longest key of a lock.
const LONGEST_KEY: u32 = 2048;

/// The longest measurement of one load. Latencies are counted up to an hour, so a schedule must not
/// run for longer.
const LONGEST_RUN: Duration = Duration::from_secs(3600);
const SHORTEST_RUN: Duration = Duration::from_millis(100);

/// How long one load is measured, where there is one, and where there are several.
const ONE_RUN: Duration = Duration::from_secs(5);
const ONE_OF_MANY: Duration = Duration::from_secs(1);

/// How often each load is measured, where rounds are compared.
const ROUNDS: u32 = 5;

const ARRIVALS: [&str; 2] = ["even", "poisson"];

/// What goes through a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This number of threads that block.
    Threads(usize),
    /// This number of tasks, on a runtime of two threads.
    Tasks(usize),
    /// This number of locks that are only kept alive.
    KeepAlive(usize),
}

/// The settings of a run. Their values have been checked against their bounds.
#[derive(clap::Args)]
#[command(after_help = text::AFTER, after_long_help = text::AFTER_LONG)]
pub(crate) struct Args {
    #[command(flatten)]
    nodes: NodeArgs,

    /// How many locks are wanted or held at any moment
    #[arg(long, value_name = "N", default_value = "512", allow_hyphen_values = true)]
    #[arg(value_parser = number::between(1, MOST_IN_FLIGHT))]
    in_flight: u32,

    /// Measure 1, 2, 4, … up to --in-flight, and find the knee
    ///
    /// Measure 1, 2, 4, … locks in flight up to --in-flight, and find the knee; with --client,
    /// so many threads or tasks
    #[arg(long, conflicts_with = "rate", verbatim_doc_comment)]
    sweep: bool,

    /// How long to measure each load [default: 5s, or 1s of several]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    #[arg(value_parser = duration::between(SHORTEST_RUN, LONGEST_RUN))]
    seconds: Option<Duration>,

    /// How long the load runs before anything is counted
    #[arg(long, value_name = "DURATION", default_value = "200ms", allow_hyphen_values = true)]
    #[arg(value_parser = duration::between(Duration::ZERO, LONGEST_RUN))]
    pub(crate) warm_up: Duration,

    /// How often to measure each load [default: 1, or 5]
    ///
    /// How often to measure each load, one round of all loads after another; 5 with --sweep, a
    /// range of rates, --baseline or --against, else 1
    #[arg(long, value_name = "N", allow_hyphen_values = true, verbatim_doc_comment)]
    #[arg(value_parser = number::between(1, MOST_ROUNDS))]
    rounds: Option<u32>,

    /// After how long an unreleased lock ends by itself
    #[arg(long, value_name = "DURATION", default_value = "30s", allow_hyphen_values = true)]
    #[arg(value_parser = duration::between(MIN_TTL, LONGEST_TTL))]
    pub(crate) ttl: Duration,

    /// Hold each lock for so long before its release
    #[arg(long, value_name = "DURATION", default_value = "0s", allow_hyphen_values = true)]
    #[arg(value_parser = duration::between(Duration::ZERO, LONGEST_TTL))]
    hold: Duration,

    /// Extend so many of the locks once, in percent
    #[arg(long, value_name = "PERCENT", default_value = "0", allow_hyphen_values = true)]
    #[arg(value_parser = values::percent)]
    extend: u32,

    /// Contend: every cycle wants one of K resources
    ///
    /// Contend: every cycle wants one of K resources, picked at random, instead of one that
    /// no other cycle wants; zipf:K or zipf:K:EXPONENT picks some more often than others
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    #[arg(value_parser = values::resources, verbatim_doc_comment)]
    resources: Option<Resources>,

    /// The length of the resources in bytes
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true)]
    #[arg(value_parser = number::between(LEAST_LEN, LONGEST_KEY))]
    key_len: Option<u32>,

    /// Draw resources, gaps and extensions as the run with this seed
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    #[arg(value_parser = number::between(0, u32::MAX))]
    seed: Option<u32>,

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
    /// when each should have started; without it, one starts whenever one ends. A range such as
    /// 1k..200k measures each rate, twice the one before, until one is too much
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    #[arg(value_parser = values::rates, verbatim_doc_comment)]
    rate: Option<Rates>,

    /// With --rate: even or poisson gaps between starts
    #[arg(long, value_name = "GAPS", default_value = "even", requires = "rate")]
    #[arg(value_parser = one_of(ARRIVALS, values::arrivals), hide_possible_values = true)]
    arrivals: Arrivals,

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
    #[arg(long, verbatim_doc_comment, conflicts_with = "in_flight")]
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
    #[arg(long, value_name = "N", requires = "client")]
    #[arg(conflicts_with_all = ["threads", "tasks", "sweep", "rate", "resources", "hold"])]
    #[arg(conflicts_with_all = ["extend", "confirm", "warm_up"])]
    #[arg(allow_hyphen_values = true, value_parser = number::between(1, MOST_KEPT))]
    keep_alive: Option<u32>,

    /// Write report.html, run.json, series.csv and acquire.hlog into DIR
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,

    /// Compare with the run.json of an earlier run
    ///
    /// Compare with the run.json of an earlier run, and exit with 1 if this one is worse
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, verbatim_doc_comment)]
    pub(crate) baseline: Option<PathBuf>,

    /// With --baseline: how much worse is not worse, in percent
    #[arg(long, value_name = "PERCENT", default_value = "5", requires = "baseline")]
    #[arg(value_parser = values::percent, allow_hyphen_values = true)]
    pub(crate) tolerance: u32,

    /// Measure bare sockets beside the engine: raw
    ///
    /// Measure bare sockets beside the engine, in the same rounds: raw, which sends prepared
    /// bytes over one connection for each node, to all nodes also where the engine asks a
    /// majority first, and decides nothing
    #[arg(long, value_name = "WHAT", verbatim_doc_comment, hide_possible_values = true)]
    #[arg(value_parser = one_of(["raw"], values::raw))]
    #[arg(conflicts_with_all = ["client", "rate", "resources", "hold", "extend", "fenced"])]
    against: Option<()>,

    #[command(flatten)]
    trace: trace::args::Options,

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
        let kind = match (self.tasks, self.keep_alive) {
            (Some(tasks), _) => Kind::Tasks(tasks as usize),
            (None, Some(locks)) => Kind::KeepAlive(locks as usize),
            (None, None) => Kind::Threads(self.threads as usize),
        };
        self.client.then_some(kind)
    }

    /// The transactions that are run instead of cycles.
    pub(crate) fn trace(&self) -> Option<trace::args::Trace> {
        self.trace.trace(self.hold, self.seed)
    }

    /// The locks in flight at most, or the workers of a client.
    pub(crate) fn in_flight(&self) -> usize {
        match self.crowd() {
            None => self.in_flight as usize,
            Some(Kind::Threads(count) | Kind::Tasks(count) | Kind::KeepAlive(count)) => count,
        }
    }

    pub(crate) fn is_sweep(&self) -> bool {
        self.sweep
    }

    /// The loads to measure, from the least to the most.
    pub(crate) fn levels(&self) -> Vec<Level> {
        let most = self.in_flight();
        if let Some(rates) = self.rate {
            let level = |rate| Level { in_flight: most, rate: Some(rate) };
            return rates.all().into_iter().map(level).collect();
        }
        let least = if self.sweep { self.engines as usize } else { most };
        let twice = |&count: &usize| count.checked_mul(2);
        let below = std::iter::successors(Some(least), twice).take_while(|&count| count < most);
        below.chain([most]).map(|in_flight| Level { in_flight, rate: None }).collect()
    }

    /// How often each load is measured.
    pub(crate) fn rounds(&self) -> u32 {
        let are_compared = self.baseline.is_some() || self.has_raw();
        let rounds = if self.has_levels() || are_compared { ROUNDS } else { 1 };
        self.rounds.unwrap_or(rounds)
    }

    /// Whether bare sockets are measured as well.
    pub(crate) fn has_raw(&self) -> bool {
        self.against.is_some()
    }

    /// How long each load is measured.
    pub(crate) fn seconds(&self) -> Duration {
        let usual = if self.has_levels() || self.has_raw() { ONE_OF_MANY } else { ONE_RUN };
        self.seconds.unwrap_or(usual)
    }

    fn has_levels(&self) -> bool {
        self.sweep || self.rate.is_some_and(|rates| rates.from < rates.to)
    }

    pub(crate) fn seed(&self) -> Option<u32> {
        self.seed
    }

    /// What is demanded at a level; `seed` decides what is drawn.
    pub(crate) fn demand(&self, level: Level, seed: u64) -> Demand {
        Demand {
            in_flight: level.in_flight,
            rate: level.rate,
            arrivals: self.arrivals,
            resources: self.resources.unwrap_or(Resources::Own),
            key_len: self.key_len.map(|len| len as usize),
            ttl: self.ttl,
            hold: self.hold,
            extend_percent: self.extend,
            is_fenced: self.fenced,
            confirms: self.confirm,
            seed,
        }
    }

    /// The settings of an engine for the given nodes; `None` when none are given.
    pub(crate) fn config(&self) -> Result<Option<Config>, Failure> {
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
            Some(Kind::KeepAlive(count)) => count,
        };
        config.redlock.max_locks = wanted + stragglers;
        config
    }
}
