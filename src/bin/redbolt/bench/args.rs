//! What can be set, and its bounds.

use std::time::Duration;

use redbolt::Config;
use redbolt::redlock::{LONGEST_TTL, MIN_TTL};

use super::Failure;
use crate::duration;
use crate::nodes::NodeArgs;

/// So many locks are more than any set of masters works on at once; they would only stand in line.
const MOST_IN_FLIGHT: i64 = 100_000;

/// Latencies are counted up to an hour, so a schedule must not run for longer.
const LONGEST_RUN: Duration = Duration::from_secs(3600);
const SHORTEST_RUN: Duration = Duration::from_millis(100);

/// Shown below the options.
const AFTER_HELP: &str = "\
A cycle acquires one lock and releases it at once. By default no two cycles want the same resource,
as in a service that locks one order, job or user after another; with --resources they contend.
Without nodes, five masters run on this machine for as long as the measurement: valkey-server or
redis-server processes where one is on the PATH, else masters inside this process.

Durations are written like 250us, 20ms, 30s, 1.5m. SIGINT ends a run early, with its figures.
Exit codes: 0 measured, 64 wrong usage, 69 no quorum of nodes, 70 anything else.";

/// What the command line says about a run. Its figures have been checked against their bounds.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    nodes: NodeArgs,

    /// How many locks are wanted or held at any moment
    #[arg(long, value_name = "N", default_value = "512")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST_IN_FLIGHT))]
    in_flight: u32,

    /// How long to measure
    #[arg(long, value_name = "DURATION", default_value = "5", value_parser = seconds)]
    pub(super) seconds: Duration,

    /// After how long an unreleased lock ends by itself
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = ttl)]
    pub(super) ttl: Duration,

    /// Contend: every cycle wants one of K resources, picked at random,
    /// instead of one that no other cycle wants
    #[arg(long, value_name = "K", verbatim_doc_comment)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) resources: Option<u32>,

    /// Start R locks a second, whether or not earlier ones are done, and
    /// count latency from when each should have started; without it, one
    /// starts whenever one ends
    #[arg(long, value_name = "R", verbatim_doc_comment)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) rate: Option<u32>,

    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,

    /// Look for replies this long before sleeping
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = busy_poll)]
    busy_poll: Duration,
}

impl Args {
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight as usize
    }

    /// The settings of an engine for the given nodes; `None` when none are given.
    pub(super) fn config(&self) -> Option<Result<Config, Failure>> {
        let config = self.nodes.is_given().then(|| self.nodes.config())?;
        Some(config.map(|config| self.apply(config)).map_err(Failure::usage))
    }

    /// The settings of an engine for local nodes.
    pub(super) fn local_config(&self, addresses: &[String]) -> Result<Config, Failure> {
        // It has been printed from a socket address.
        Config::new(addresses).map(|config| self.apply(config)).map_err(Failure::software)
    }

    fn apply(&self, mut config: Config) -> Config {
        config.busy_poll = self.busy_poll;
        config.redlock.max_ttl = config.redlock.max_ttl.max(self.ttl);
        // A cycle is over when a quorum has answered. Its slot is not before every node has, and
        // one that hangs keeps as many waiting as its pipeline takes.
        let stragglers = config.nodes.len() * config.redlock.max_pipeline;
        config.redlock.max_locks = self.in_flight() + stragglers;
        config
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    between(text, SHORTEST_RUN, LONGEST_RUN)
}

fn ttl(text: &str) -> Result<Duration, String> {
    between(text, MIN_TTL, LONGEST_TTL)
}

fn busy_poll(text: &str) -> Result<Duration, String> {
    between(text, Duration::ZERO, Duration::from_secs(1))
}

fn between(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let value = duration::parse(text)?;
    if value < least || value > most {
        return Err(format!("between {least:?} and {most:?} is possible"));
    }
    Ok(value)
}
