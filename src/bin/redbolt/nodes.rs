//! The nodes: how the command line names them, and how messages describe them.

use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::time::Duration;

use redbolt::redlock::{NodeError, NodeOutcome, NodeOutcomes};
use redbolt::time::format_duration;
use redbolt::{Config, Engine, NodeState, NodeStatus};

use crate::duration;

const NODES_HELP: &str = "\
The nodes, separated by commas: HOST, HOST:PORT or
redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]. A comma in a
password is written %2C. Everybody can see arguments, so a
list with passwords belongs in the variable REDBOLT_NODES,
which is used when this is absent.
REDBOLT_USER and REDBOLT_PASSWORD are the login to nodes that
are given without one";

const GUARD_HELP: &str = "\
When a node counts that may have forgotten locks: on (the
default), once a witness among its keys has been there for the
longest ttl; strict, that long after it is first seen; durable,
through restarts as well if it appends to a file (with
appendfsync always); off, at once: only for tests.
REDBOLT_RESTART_GUARD is used when this is absent";

const MAX_TTL_HELP: &str = "\
The longest ttl that any client of these nodes uses;
REDBOLT_MAX_TTL, or 60s, when this is absent";

const PREFIX_HELP: &str = "\
What stands before every resource to make the key;
REDBOLT_PREFIX, or nothing, when this is absent";

const QUORUM_HELP: &str = "\
How many nodes must agree: a majority, or more;
REDBOLT_QUORUM, or a majority, when this is absent";

const RATE_HELP: &str = "\
How much faster or slower than real time any clock may run, in
millionths; REDBOLT_DRIFT_RATE_PPM, or 5000, when this is absent";

const STEP_HELP: &str = "\
How far the clock of a node may be set while a lock is held;
REDBOLT_DRIFT_STEP, or 0s, when this is absent";

pub(crate) const NO_NODES: &str =
    "no nodes given: use --nodes HOST:PORT,HOST:PORT,… or set REDBOLT_NODES";

/// Where to give the login that a node wants.
const LOGIN_HINT: &str =
    "; a login is needed: redis://USER:PASSWORD@HOST, or REDBOLT_USER and REDBOLT_PASSWORD";

/// The heading of the options with which a command joins the clients of a service.
const SHARED: &str = "Options to set as the other clients of the same locks have them";

/// The variable of the nodes.
const NODES: &str = "REDBOLT_NODES";

/// The variable of the prefix.
const PREFIX: &str = "REDBOLT_PREFIX";

/// The variable of the longest ttl, and its option.
const MAX_TTL: &str = "REDBOLT_MAX_TTL";
const MAX_TTL_OPTION: &str = "--max-ttl";

/// The variables of the clients of the library, which here belong to options of one command.
const OF_CLIENTS: [&str; 3] = ["REDBOLT_TTL", "REDBOLT_WAIT", "REDBOLT_THREADS"];

/// The hint on how to go on without waiting for a restart guard.
pub(crate) const GUARD_HINT: &str =
    "a new cluster, on which no client can hold a lock, is declared so by redbolt init --fresh";

#[derive(clap::Args)]
pub(crate) struct NodeArgs {
    #[arg(long, value_name = "LIST", help = NODES_HELP)]
    nodes: Option<OsString>,

    #[arg(long, value_name = "WHEN", help = GUARD_HELP)]
    restart_guard: Option<OsString>,

    #[arg(long, value_name = "DURATION", help = MAX_TTL_HELP, help_heading = SHARED)]
    #[arg(allow_hyphen_values = true)]
    max_ttl: Option<OsString>,

    #[arg(long, value_name = "TEXT", help = PREFIX_HELP, help_heading = SHARED)]
    #[arg(allow_hyphen_values = true)]
    prefix: Option<OsString>,

    #[arg(long, value_name = "N", help = QUORUM_HELP, help_heading = SHARED)]
    #[arg(allow_hyphen_values = true)]
    quorum: Option<OsString>,

    #[arg(long, value_name = "N", help = RATE_HELP, help_heading = SHARED)]
    #[arg(allow_hyphen_values = true)]
    drift_rate_ppm: Option<OsString>,

    #[arg(long, value_name = "DURATION", help = STEP_HELP, help_heading = SHARED)]
    #[arg(allow_hyphen_values = true)]
    drift_step: Option<OsString>,
}

/// An option that takes the place of a variable, with its unit.
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
        let names = Config::check_names(env::vars_os().map(|(name, _)| name));
        if let Err(unknown) = names {
            return Some(Err(unknown.to_string()));
        }
        if self.nodes.is_none() && variable(NODES).is_none() {
            return None;
        }
        Some(self.read(others, variable))
    }

    /// Returns the settings of nodes that this program has started, from the options alone, or what
    /// is wrong with them.
    pub(crate) fn local_config<const N: usize>(
        &self,
        addresses: &[String],
        others: [Override; N],
    ) -> Result<Config, String> {
        let nodes = addresses.join(",");
        self.read(others, |name| (name == NODES).then(|| nodes.clone().into()))
    }

    /// Checks that the settings allow this ttl, which was given by `name`. The error names what has
    /// set the limit.
    pub(crate) fn check_ttl(
        &self,
        name: &str,
        ttl: Duration,
        config: &Config,
    ) -> Result<(), String> {
        let max_ttl = config.redlock.max_ttl;
        if ttl <= max_ttl {
            return Ok(());
        }
        let is_variable = !self.has_max_ttl() && variable(MAX_TTL).is_some();
        let limit = if is_variable { MAX_TTL } else { MAX_TTL_OPTION };
        let [ttl, max_ttl] = [ttl, max_ttl].map(format_duration);
        Err(format!("{name} is {ttl}, at most {limit} = {max_ttl} is possible"))
    }

    /// Returns whether the longest ttl is given as an option.
    pub(crate) fn has_max_ttl(&self) -> bool {
        self.max_ttl.is_some()
    }

    /// The options, each with the variable that it takes the place of.
    fn options(&self) -> [Override; 7] {
        let rows = [
            ("--nodes", NODES, &self.nodes),
            ("--restart-guard", "REDBOLT_RESTART_GUARD", &self.restart_guard),
            (MAX_TTL_OPTION, MAX_TTL, &with_unit(&self.max_ttl)),
            ("--prefix", PREFIX, &self.prefix),
            ("--quorum", "REDBOLT_QUORUM", &self.quorum),
            ("--drift-rate-ppm", "REDBOLT_DRIFT_RATE_PPM", &self.drift_rate_ppm),
            ("--drift-step", "REDBOLT_DRIFT_STEP", &with_unit(&self.drift_step)),
        ];
        rows.map(|(option, variable, value)| Override { option, variable, value: value.clone() })
    }

    fn read<const N: usize>(
        &self,
        others: [Override; N],
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Config, String> {
        let given: Vec<_> = self.options().into_iter().chain(others).collect();
        let is_empty = |given: &&Override| given.value.as_ref().is_some_and(|v| v.is_empty());
        // An empty prefix is one that can be wanted, and every other value has some text.
        if let Some(empty) = given.iter().filter(|given| given.variable != PREFIX).find(is_empty) {
            let hint =
                if empty.variable == NODES { ": HOST:PORT,HOST:PORT,… is possible" } else { "" };
            return Err(format!("{} is empty{hint}", empty.option));
        }
        let given =
            |name: &str| given.iter().find(|given| given.variable == name && given.value.is_some());
        let variable = |name: &str| variable(name).filter(|_| !OF_CLIENTS.contains(&name));
        let value = |name: &str| given(name).map_or_else(|| variable(name), |g| g.value.clone());
        Config::from_vars(value).map_err(|error| match given(error.variable()) {
            Some(given) => format!("{}{}", given.option, error.kind()),
            None => error.to_string(),
        })
    }
}

/// Returns the text of an option that is a duration, with its unit.
fn with_unit(option: &Option<OsString>) -> Option<OsString> {
    let with_unit = |text: &OsString| match text.to_str() {
        Some(text) => duration::with_unit(text).as_ref().into(),
        None => text.clone(),
    };
    option.as_ref().map(with_unit)
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
        let login = if status.lacks_login() { LOGIN_HINT } else { "" };
        // Writing to a string does not fail.
        _ = writeln!(lines, "  {address}: {status}{twin}{wait}{more}{login}");
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
