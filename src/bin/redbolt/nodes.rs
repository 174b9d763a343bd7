//! The nodes: how they are given on the command line, and what is said about each.

use std::fmt::Write;

use redbolt::redlock::{NodeOutcome, NodeOutcomes};
use redbolt::{Config, Engine, NodeState, NodeStatus};

/// Ends with what clap puts behind it: the name of the variable.
const NODES_HELP: &str = "\
The nodes, separated by commas: HOST, HOST:PORT or
redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]. Everybody can
see arguments, so passwords belong here:";

#[derive(clap::Args)]
pub(crate) struct NodeArgs {
    #[arg(long, value_name = "LIST", env = "REDBOLT_NODES", help = NODES_HELP)]
    #[arg(value_delimiter = ',', hide_env_values = true)]
    nodes: Vec<String>,
}

impl NodeArgs {
    /// Whether there are any.
    pub(crate) fn is_given(&self) -> bool {
        !self.nodes.iter().all(String::is_empty)
    }

    /// The default settings for these nodes, or what is wrong with them.
    pub(crate) fn config(&self) -> Result<Config, String> {
        if !self.is_given() {
            return Err(
                "no nodes given: use --nodes HOST:PORT,HOST:PORT,… or set REDBOLT_NODES".to_owned()
            );
        }
        Config::new(&self.nodes).map_err(|error| error.to_string())
    }
}

/// One line per node: its address, where it stands, what is wrong with it, and how it took the
/// last request where that says more.
pub(crate) fn describe(engine: &Engine, outcomes: Option<&NodeOutcomes>) -> String {
    let mut lines = String::new();
    for (id, address, status) in engine.nodes() {
        let outcome = outcomes.and_then(|all| all.as_slice().get(id.index())).copied();
        let wait = if is_first_try(&status) { ": no answer yet" } else { "" };
        let more = outcome.filter(|outcome| says_more(*outcome));
        let more = more.map_or_else(String::new, |outcome| format!(", last request: {outcome}"));
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
