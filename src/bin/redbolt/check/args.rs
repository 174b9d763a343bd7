//! The command line of `redbolt check`.

use std::time::Duration;

use redbolt::Config;

use crate::duration;
use crate::failure::Failure;
use crate::settings::{NO_NODES, NodeArgs};

/// The shortest and the longest pause between two looks.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Shown below the options by `-h`.
const AFTER: &str = "\
Examples:
  redbolt check --nodes db1,db2,db3
  redbolt check --config /etc/redbolt.toml --watch
  redbolt check --config /etc/redbolt.toml --json | jq .verdict

--help has all details, and the exit codes.";

/// Shown below the options by `--help`.
const AFTER_LONG: &str = "\
Examples:
  redbolt check --nodes db1,db2,db3
  redbolt check --config /etc/redbolt.toml --watch
  redbolt check --config /etc/redbolt.toml --json | jq .verdict

A line for each node says whether it votes, as a client sees it that meets the node now: state,
server, median of eleven round trips, uptime, maxmemory-policy, what survives a restart, how far the
clock is ahead of ours, rights and the beginning of the run_id. Columns that do not fit into the
terminal are left out; --json has everything. Below, a line that begins with ! says what keeps a
node from voting, one that begins with - says what is worth knowing, and → what to do. The last line
says how many nodes can vote and may fail, and from when.

Nothing is written on any node: no key, no witness, no script. Where a node has no witness, its
quarantine begins only when a client meets it, or redbolt init. Connecting and the questions take at
most connect_timeout each (1s); all nodes are asked at once.

Settings are also read from variables and from the file of --config, as the library documents them
at Config::from_env. Durations are written like 250us, 20ms, 30s, 1.5m, 2h, 7d. An option that is a
bare number is in seconds; a variable and the file need the unit.

Exit codes, with --watch those of the last look:
  0    every node can vote
  1    a quorum can vote, but not every node
  64   the command line, or a value in it, cannot be used
  69   no quorum can vote: no locks now
  70   something in this program or the system failed";

#[derive(clap::Args)]
#[command(after_help = AFTER, after_long_help = AFTER_LONG)]
pub(crate) struct Args {
    #[command(flatten)]
    nodes: NodeArgs,

    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,

    /// Look again and again: every second, or as given
    ///
    /// Look again and again, every second or with this pause,
    /// until Ctrl-C. A terminal is drawn over; elsewhere one
    /// report follows the other
    #[arg(long, value_name = "DURATION", verbatim_doc_comment)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "1s")]
    #[arg(value_parser = duration::between(SHORTEST, LONGEST))]
    pub(super) watch: Option<Duration>,
}

impl Args {
    /// Returns the settings, from the options, the variables and the file.
    pub(super) fn config(&self) -> Result<Config, Failure> {
        let config = self.nodes.sources().and_then(|sources| self.nodes.config(&sources, []));
        config.map_err(Failure::usage)?.ok_or_else(|| Failure::usage(NO_NODES))
    }
}
