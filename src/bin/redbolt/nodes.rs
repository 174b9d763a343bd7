//! The nodes: how the command line names them, and how messages describe them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::time::Duration;

use redbolt::redlock::{NodeError, NodeOutcome, NodeOutcomes, RestartGuard};
use redbolt::{Config, Engine, NodeState, NodeStatus};

const NODES_HELP: &str = "\
The nodes, separated by commas: HOST, HOST:PORT or
redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]. Everybody can
see arguments, so a list with passwords belongs into the
variable REDBOLT_NODES, which is used when this is absent";

const VARIABLE: &str = "REDBOLT_NODES";

const GUARD_HELP: &str = "\
When a node counts that may have forgotten locks in a restart:
on (the default), once it has been up for the longest ttl;
strict, the same from when it is first seen, whatever it says
of its uptime; durable, at once if it appends to a file (with
appendfsync always); off, at once: only for nodes that are
known to be fresh. REDBOLT_RESTART_GUARD is used when this is
absent";

const GUARD_VARIABLE: &str = "REDBOLT_RESTART_GUARD";

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

impl NodeArgs {
    /// Returns the default settings for these nodes, or what is wrong with the nodes; `None` when
    /// no nodes are given. An empty variable counts as no nodes, an empty argument is a mistake.
    pub(crate) fn config(&self) -> Option<Result<Config, String>> {
        let (name, list) = given("--nodes", &self.nodes, VARIABLE)?;
        Some(read(name, &list).and_then(|mut config| {
            config.redlock.restart_guard = self.restart_guard()?;
            Ok(config)
        }))
    }

    fn restart_guard(&self) -> Result<RestartGuard, String> {
        let found = given("--restart-guard", &self.restart_guard, GUARD_VARIABLE);
        let Some((name, when)) = found else { return Ok(RestartGuard::default()) };
        match when.to_str() {
            Some("on") => Ok(RestartGuard::On),
            Some("strict") => Ok(RestartGuard::Strict),
            Some("durable") => Ok(RestartGuard::Durable),
            Some("off") => Ok(RestartGuard::Off),
            _ => Err(format!("{name} is {when:?}: on, strict, durable or off is possible")),
        }
    }
}

/// Returns the name and the value of the argument, or else those of the variable. An empty variable
/// counts as absent.
fn given(
    argument: &'static str,
    value: &Option<OsString>,
    variable: &'static str,
) -> Option<(&'static str, OsString)> {
    let set = || env::var_os(variable).filter(|value| !value.is_empty());
    match value {
        Some(value) => Some((argument, value.clone())),
        None => set().map(|value| (variable, value)),
    }
}

/// Parses a list of nodes; `name` says where the list comes from.
fn read(name: &str, list: &OsStr) -> Result<Config, String> {
    let list = list.to_str().ok_or_else(|| format!("{name} is not UTF-8"))?;
    if list.is_empty() {
        return Err(format!("{name} is empty: HOST:PORT,HOST:PORT,… is possible"));
    }
    if list.ends_with(',') {
        return Err(format!("{name} ends with a comma, and no node behind it"));
    }
    Config::new(list.split(',').map(str::trim)).map_err(|error| format!("{name}: {error}"))
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
