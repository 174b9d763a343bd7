//! [`Init`]: what an operator does once for all nodes of a deployment (S11).
//!
//! [`verdict`] decides, and knows no connection. [`report`] says what was found and done.

mod report;
mod verdict;

use core::fmt;
use core::time::Duration;
use std::io;

pub use self::report::{InitAction, InitFinding, InitNode, InitRefusal, InitReport};
use self::verdict::Aim;
use super::config::Config;
use crate::net::{Visit, in_threads};
use crate::redlock::{ConfigError, NodeError, Receipt};

/// Prepares the nodes of a deployment for their clients: writes the witness by which clients know
/// that a node has forgotten nothing (S11).
///
/// There are three ways, and each may be repeated.
///
/// * **Ordinary**, as [`new`](Self::new) makes it: a node without a witness gets one, a witness
///   that stands is kept. This is safe at any time. A witness earns credit with time: the nodes
///   vote once their witnesses are as old as the longest ttl and its drift. Clients do the same
///   when they meet a node; `Init` does so before the first of them.
/// * **[`fresh`](Self::fresh)**: the operator swears that no client can hold a lock on any node.
///   Clients then let the nodes vote at once.
/// * **[`raise_max_ttl`](Self::raise_max_ttl)**: the deployment gets a longer `max_ttl`.
///
/// All nodes are inspected before the first of them is changed. The last two ways change nothing
/// anywhere unless every node can be reached and is fit.
///
/// ```no_run
/// use redbolt::{Config, Init};
///
/// let config = Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?;
/// let report = Init::new(config).fresh().run()?;
/// print!("{report}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `run`"]
pub struct Init {
    config: Config,
    aim: Aim,
}

impl Init {
    /// Prepares the ordinary way. The nodes, their logins, `prefix`, `max_ttl`, `drift` and
    /// `connect_timeout` of the configuration count. Clients need the same nodes and the same
    /// prefix.
    pub fn new(config: Config) -> Self {
        Self { config, aim: Aim::Witness }
    }

    /// Declares that all nodes are new: no client can believe in a lock on any of them.
    ///
    /// That is so when the servers have just been installed, and also when no client has run for as
    /// long as the longest ttl and its drift. The declaration cannot be checked. On a cluster that
    /// has lost its data under running clients, a declaration lets two of them hold one lock.
    ///
    /// Every node must be there, be empty (`DBSIZE`), and have no witness but that of an earlier
    /// declaration.
    pub fn fresh(self) -> Self {
        Self { aim: Aim::Declaration, ..self }
    }

    /// Raises the `max_ttl` of the deployment to that of the configuration.
    ///
    /// Every node must be there. A deployment with a longer `max_ttl` keeps its own, and is a
    /// refusal: nothing can tell whether locks of that length are still held. Clients with the new
    /// `max_ttl` may start after [`look_period`](InitReport::look_period).
    pub fn raise_max_ttl(self) -> Self {
        Self { aim: Aim::MaxTtl, ..self }
    }

    /// Visits all nodes, and blocks meanwhile. Connecting, the inspection and the write may take
    /// `connect_timeout` each, and the lookup of a name as long as the system lets it.
    ///
    /// Each node is visited in a thread of its own, and some ten requests go to each.
    ///
    /// # Errors
    ///
    /// Returns [`InitError::Refused`] if nothing was written anywhere, because a node is missing or
    /// unfit. Returns [`InitError::Unfinished`] if the other nodes have what was wanted. Both have
    /// the report. The other errors come before the first connection, or from the system.
    pub fn run(&self) -> Result<InitReport, InitError> {
        let Config { nodes, redlock: config, credentials, .. } = &self.config;
        self.config.check_engine()?;
        let credentials = credentials.as_ref();
        let pay = |address| Visit::pay(address, credentials, config, nodes.len());
        let mut visits = in_threads(nodes.iter().collect(), pay)?;
        let sight = |visit: &Result<Visit, NodeError>| match visit {
            Ok(visit) => Ok(*visit.sight()),
            Err(error) => Err(*error),
        };
        let sights: Vec<_> = visits.iter().map(sight).collect();
        let (aim, count) = (self.aim, nodes.len());
        let nodes = verdict::judge(aim, config, nodes, &sights);
        let mut report = InitReport { nodes, look_period: Duration::ZERO };
        if aim.needs_all() && !report.is_complete() {
            return Err(InitError::Refused(report));
        }
        let fit = visits.iter_mut().zip(&mut report.nodes).filter_map(|(visit, node)| {
            let visit = visit.as_mut().ok()?;
            node.result.is_ok().then_some((visit, node))
        });
        in_threads(fit.collect(), |(visit, node): (&mut Visit, &mut InitNode)| {
            node.result = match visit.order(aim.order(), config, count) {
                Ok(Receipt::Done(word)) => verdict::done(aim, config, count, &word, node.finding),
                Ok(Receipt::NotEmpty(keys)) => Err(InitRefusal::NotEmpty { keys }),
                Err(error) => Err(InitRefusal::Node(error)),
            };
        })?;
        report.look_period = verdict::look_period(config, &report.nodes);
        if report.is_complete() { Ok(report) } else { Err(InitError::Unfinished(report)) }
    }
}

/// The error returned when not every node is prepared.
#[derive(Debug)]
#[non_exhaustive]
pub enum InitError {
    /// A setting is out of bounds, or a node is given twice. No node was visited.
    Config(ConfigError),
    /// The system could not start a thread. Running it again does no harm.
    Io(io::Error),
    /// A node is missing or unfit. Nothing was written on any node.
    Refused(InitReport),
    /// A node is missing or unfit, or failed during the write. The other nodes have what was
    /// wanted. Running it again is safe.
    Unfinished(InitReport),
}

impl InitError {
    /// Returns the report, if nodes were visited.
    pub fn report(&self) -> Option<&InitReport> {
        match self {
            Self::Refused(report) | Self::Unfinished(report) => Some(report),
            _ => None,
        }
    }
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Io(error) => write!(f, "the system cannot visit the nodes: {error}"),
            Self::Refused(report) => write!(f, "nothing was written on any node:\n{report}"),
            Self::Unfinished(report) => write!(f, "not every node is done:\n{report}"),
        }
    }
}

impl core::error::Error for InitError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            // `Display` already shows this error, so the chain goes on with its source.
            Self::Config(error) => error.source(),
            Self::Io(error) => Some(error),
            Self::Refused(_) | Self::Unfinished(_) => None,
        }
    }
}

impl From<ConfigError> for InitError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<io::Error> for InitError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
