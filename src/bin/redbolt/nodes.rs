//! The nodes: how the command line names them, and how messages describe them.

use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::time::Duration;

use redbolt::redlock::{NodeError, NodeOutcome, NodeOutcomes};
use redbolt::time::format_duration;
use redbolt::{Config, Engine, NodeState, NodeStatus};

const NODES_HELP: &str = "\
The nodes, separated by commas: HOST, HOST:PORT or
redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]. Everybody can
see arguments, so a list with passwords belongs in the
variable REDBOLT_NODES, which is used when this is absent.
REDBOLT_USER and REDBOLT_PASSWORD are the login to nodes that
are given without one";

const GUARD_HELP: &str = "\
When a node counts that may have forgotten locks in a restart:
on (the default), once it has been up for the longest ttl;
strict, the same from when it is first seen, whatever it says
of its uptime; durable, at once if it appends to a file (with
appendfsync always); off, at once: only for nodes that are
known to be fresh. REDBOLT_RESTART_GUARD is used when this is
absent";

/// The hint on how to go on without waiting for a restart guard.
pub(crate) const GUARD_HINT: &str = "nodes that are known to hold no forgotten locks, as those of \
     a new cluster, are declared with --restart-guard off";

#[derive(clap::Args)]
pub(crate) struct NodeArgs {
    #[arg(long, value_name = "LIST", help = NODES_HELP)]
    nodes: Option<OsString>,

    #[arg(long, value_name = "WHEN", help = GUARD_HELP)]
    restart_guard: Option<OsString>,
}

/// An option that takes the place of a variable.
pub(crate) struct Override {
    pub(crate) option: &'static str,
    pub(crate) variable: &'static str,
    pub(crate) value: Option<OsString>,
}

impl Override {
    /// A duration that the command line may have.
    pub(crate) fn duration(
        option: &'static str,
        variable: &'static str,
        value: Option<Duration>,
    ) -> Self {
        Self { option, variable, value: value.map(|value| format_duration(value).into()) }
    }
}

impl NodeArgs {
    /// Returns the settings of these nodes, from the options and the variables, or what is wrong
    /// with them; `None` when no nodes are given. An empty variable counts as no nodes, an empty
    /// argument is a mistake.
    pub(crate) fn config<const N: usize>(
        &self,
        others: [Override; N],
    ) -> Option<Result<Config, String>> {
        const NODES: &str = "REDBOLT_NODES";
        match &self.nodes {
            Some(list) if list.is_empty() => {
                return Some(Err("--nodes is empty: HOST:PORT,HOST:PORT,… is possible".to_owned()));
            }
            None if variable(NODES).is_none() => return None,
            _ => {}
        }
        let nodes = Override { option: "--nodes", variable: NODES, value: self.nodes.clone() };
        let guard = Override {
            option: "--restart-guard",
            variable: "REDBOLT_RESTART_GUARD",
            value: self.restart_guard.clone(),
        };
        let given: Vec<_> = [nodes, guard].into_iter().chain(others).collect();
        let given =
            |name: &str| given.iter().find(|given| given.variable == name && given.value.is_some());
        let value = |name: &str| given(name).map_or_else(|| variable(name), |g| g.value.clone());
        Some(Config::from_vars(value).map_err(|error| match given(error.variable()) {
            Some(given) => format!("{}{}", given.option, error.kind()),
            None => error.to_string(),
        }))
    }
}

/// Returns the value of a variable. An empty variable counts as absent.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Describes the nodes as [`describe`] does if one of them is not ready, else returns an empty
/// text.
pub(crate) fn not_voting(engine: &Engine) -> String {
    let is_ready = engine.nodes().all(|(_, _, status)| status.state == NodeState::Ready);
    if is_ready { String::new() } else { describe(engine, None) }
}

/// Returns one line per node: the address, the state, what is wrong, and the outcome of the last
/// request where that says more.
pub(crate) fn describe(engine: &Engine, outcomes: Option<&NodeOutcomes>) -> String {
    let mut lines = String::new();
    for (id, address, status) in engine.nodes() {
        let outcome = outcomes.and_then(|all| all.as_slice().get(id.index())).copied();
        let wait = if is_first_try(&status) { ": no answer yet" } else { "" };
        let more = outcome.filter(|outcome| says_more(*outcome));
        let more = more.map_or_else(String::new, |outcome| match outcome {
            NodeOutcome::NotAsked => ", but not asked".to_owned(),
            outcome => format!(", last request: {outcome}"),
        });
        let twin = match status.error {
            Some(NodeError::SameProcess(other)) => engine.address(other),
            _ => None,
        };
        let twin = twin.map_or_else(String::new, |twin| format!(", {twin}"));
        // Writing to a string does not fail.
        _ = writeln!(lines, "  {address}: {status}{twin}{wait}{more}");
    }
    lines
}

/// Returns for how long nodes in quarantine prevent a quorum; `None` if they do not prevent one, or
/// if there would be no quorum after the quarantine either.
pub(crate) fn quarantined_for(engine: &Engine) -> Option<Duration> {
    let mut waits: Vec<_> = engine
        .nodes()
        .filter_map(|(_, _, node)| match node.state {
            NodeState::Quarantined => node.quarantine.map(|quarantine| quarantine.remaining),
            NodeState::Ready | NodeState::Stalled | NodeState::Unhealthy => Some(Duration::ZERO),
            _ => None,
        })
        .collect();
    waits.sort_unstable();
    waits.get(engine.quorum().need() - 1).copied().filter(|wait| !wait.is_zero())
}

/// Whether the first connection to a node is still under way, without an error so far.
fn is_first_try(status: &NodeStatus<'_>) -> bool {
    let trying = matches!(status.state, NodeState::Connecting | NodeState::Handshake);
    trying && status.error.is_none()
}

/// Whether an outcome says more than the state of the node.
fn says_more(outcome: NodeOutcome) -> bool {
    matches!(
        outcome,
        NodeOutcome::Granted
            | NodeOutcome::Refused
            | NodeOutcome::Failed
            | NodeOutcome::NoReply
            | NodeOutcome::Full
            | NodeOutcome::NotAsked
    )
}
