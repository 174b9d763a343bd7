//! The nodes: how they are given on the command line, and what is said about each.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;

use redbolt::redlock::{NodeOutcome, NodeOutcomes};
use redbolt::{Config, Engine, NodeState, NodeStatus};

const NODES_HELP: &str = "\
The nodes, separated by commas: HOST, HOST:PORT or
redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]. Everybody can
see arguments, so a list with passwords belongs into the
variable REDBOLT_NODES, which holds where this is not given";

const VARIABLE: &str = "REDBOLT_NODES";

#[derive(clap::Args)]
pub(crate) struct NodeArgs {
    #[arg(long, value_name = "LIST", help = NODES_HELP)]
    nodes: Option<OsString>,
}

impl NodeArgs {
    /// The default settings for these nodes, or what is wrong with them; `None` when no nodes are
    /// given. An empty variable gives none, an empty argument is a mistake.
    pub(crate) fn config(&self) -> Option<Result<Config, String>> {
        let variable = || env::var_os(VARIABLE).filter(|list| !list.is_empty());
        match &self.nodes {
            Some(list) => Some(read("--nodes", list)),
            None => variable().map(|list| read(VARIABLE, &list)),
        }
    }
}

/// The nodes of a list; `name` is where it comes from.
fn read(name: &str, list: &OsStr) -> Result<Config, String> {
    let list = list.to_str().ok_or_else(|| format!("{name} is not UTF-8"))?;
    if list.is_empty() {
        return Err(format!("{name} is empty: HOST:PORT,HOST:PORT,… is possible"));
    }
    if list.ends_with(',') {
        return Err(format!("{name} ends with a comma, and no node behind it"));
    }
    Config::new(list.split(',')).map_err(|error| format!("{name}: {error}"))
}

/// The same as [`describe`] when a node is not ready; empty when all of them are.
pub(crate) fn troubled(engine: &Engine) -> String {
    let is_ready = engine.nodes().all(|(_, _, status)| status.state == NodeState::Ready);
    if is_ready { String::new() } else { describe(engine, None) }
}

/// One line per node: its address, where it stands, what is wrong with it, and how it took the
/// last request where that says more.
pub(crate) fn describe(engine: &Engine, outcomes: Option<&NodeOutcomes>) -> String {
    let mut lines = String::new();
    for (id, address, status) in engine.nodes() {
        let outcome = outcomes.and_then(|all| all.as_slice().get(id.index())).copied();
        let wait = if is_first_try(&status) { ": no answer yet" } else { "" };
        let more = outcome.filter(|outcome| says_more(*outcome));
        let more = more.map_or_else(String::new, |outcome| match outcome {
            NodeOutcome::NotAsked => ", but too late for the last request".to_owned(),
            outcome => format!(", last request: {outcome}"),
        });
        // Writing to a string does not fail.
        _ = writeln!(lines, "  {address}: {status}{wait}{more}");
    }
    lines
}

/// Nothing has gone wrong so far, and nothing has come of it yet.
fn is_first_try(status: &NodeStatus<'_>) -> bool {
    let trying = matches!(status.state, NodeState::Connecting | NodeState::Handshake);
    trying && status.trouble.is_none()
}

/// Whether an outcome says what the state of the node does not.
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
