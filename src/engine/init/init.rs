//! [`Init`]: the ways to prepare the nodes of a deployment.

use super::error::InitError;
use super::plan::{Goal, InitPlan};
use super::report::InitReport;
use super::verdict::Aim;
use crate::engine::config::Config;

/// Prepares the nodes of a deployment for their clients: writes the witness by which clients know
/// that a node has forgotten nothing (S11).
///
/// There are four ways, and each may be repeated.
///
/// * **Ordinary**, as [`new`](Self::new) makes it: a node without a witness gets one, a witness
///   that stands is kept. This is safe at any time. A witness earns credit with time: the nodes
///   vote once their witnesses are as old as the longest ttl and its drift. Clients do the same
///   when they meet a node; `Init` does so before the first of them.
/// * **[`fresh`](Self::fresh)**: the operator swears that no client can hold a lock on any node.
///   Clients then let the nodes vote at once.
/// * **[`raise_max_ttl`](Self::raise_max_ttl)**: the deployment gets a longer `max_ttl`.
/// * **[`reconfigure`](Self::reconfigure)**: the deployment gets another number of nodes, other
///   nodes, or a shorter `max_ttl`. No client may run meanwhile.
///
/// All nodes are inspected before the first of them is changed. The last three ways change nothing
/// anywhere unless every node can be reached and is fit.
///
/// ```no_run
/// use redbolt::{Config, Init};
///
/// let config = Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?;
/// let plan = Init::new(config).fresh().inspect()?;
/// println!("found, and to be done:\n{}", plan.report());
/// println!("done:\n{}", plan.execute()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `run`"]
pub struct Init {
    config: Config,
    goal: Goal,
}

impl Init {
    /// Prepares the ordinary way. The nodes, their logins, `prefix`, `max_ttl`, `drift` and
    /// `connect_timeout` of the configuration count. Clients need the same nodes and the same
    /// prefix.
    pub fn new(config: Config) -> Self {
        Self { config, goal: Goal::Order(Aim::Witness) }
    }

    /// Declares that all nodes are new: no client can believe in a lock on any of them.
    ///
    /// That is so when the servers have just been installed, and also when no client has run for as
    /// long as the longest ttl and its drift. The declaration cannot be checked. On a cluster that
    /// has lost its data under running clients, a declaration lets two of them hold one lock.
    ///
    /// Every node must be there, be empty (`DBSIZE`), and have no witness but that of an earlier
    /// declaration. The labels of clients are no data; they are counted (`SCAN`) where a node has
    /// at most a thousand keys.
    pub fn fresh(self) -> Self {
        Self { goal: Goal::Order(Aim::Declaration), ..self }
    }

    /// Raises the `max_ttl` of the deployment to that of the configuration.
    ///
    /// Every node must be there. A deployment with a longer `max_ttl` keeps its own, and is a
    /// refusal: nothing can tell whether locks of that length are still held. Clients with the new
    /// `max_ttl` may start after [`look_period`](InitReport::look_period).
    pub fn raise_max_ttl(self) -> Self {
        Self { goal: Goal::Order(Aim::MaxTtl), ..self }
    }

    /// Gives the deployment the nodes and the `max_ttl` of the configuration, where clients have
    /// used it with others. All clients must have been stopped, and none may start before this is
    /// done.
    ///
    /// Every node of the new list must be there, and at least half of the nodes of the old one
    /// must be on it. No client may have looked at them for one and a half spans: the longest ttl
    /// of the deployment and its drift. Each node tells when a client has looked last, and compares
    /// again when it is changed. Until then the run is [refused](InitError::Refused), and
    /// [`InitReport::wait`] says for how long. The data of the nodes, and what their witnesses have
    /// earned, stays.
    ///
    /// All nodes are closed for all clients before the first of them is opened, so that a run that
    /// is cut short leaves too few nodes to somebody rather than two quorums; another run finishes
    /// what was begun. Clients that have no right to stamp the nodes, or `RestartGuard::Off`, are
    /// not seen. Neither is a client of the old list that starts later, if the number of nodes is
    /// the same: see SAFETY.md.
    pub fn reconfigure(self) -> Self {
        Self { goal: Goal::Change { keeps_longer: false }, ..self }
    }

    /// The same as [`reconfigure`](Self::reconfigure), but a longer `max_ttl` of the deployment
    /// stays.
    pub fn reconfigure_nodes(self) -> Self {
        Self { goal: Goal::Change { keeps_longer: true }, ..self }
    }

    /// Inspects all nodes, which writes nothing anywhere, and blocks meanwhile: for
    /// `connect_timeout` at most to connect, and as long to inspect. The lookup of a name takes as
    /// long as the system lets it.
    ///
    /// Each node is visited in a thread of its own, and some twenty requests go to each.
    ///
    /// # Errors
    ///
    /// Returns an error if the configuration cannot be used, or from the system. What is wrong with
    /// a node is in the [report](InitPlan::report).
    pub fn inspect(&self) -> Result<InitPlan, InitError> {
        InitPlan::new(&self.config, self.goal)
    }

    /// Inspects all nodes and writes what is to be written, and blocks meanwhile: the same as
    /// [`inspect`](Self::inspect) and [`InitPlan::execute`].
    ///
    /// # Errors
    ///
    /// Returns [`InitError::Refused`] if nothing was written anywhere, because a node is missing or
    /// unfit, or was in use. Returns [`InitError::Unfinished`] if some nodes have what was wanted,
    /// or were closed for a change. Both have the report. The other errors come before the first
    /// connection, or from the system.
    pub fn run(&self) -> Result<InitReport, InitError> {
        self.inspect()?.execute()
    }
}
