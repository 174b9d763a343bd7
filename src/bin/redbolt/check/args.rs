//! The command line of `redbolt check`.

use std::time::Duration;

use crate::duration;
use crate::settings::NodeArgs;

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

Each node has a line: its state, as a client finds it that comes now; the server; the median of
eleven round trips; the uptime; maxmemory-policy; what survives a restart; how far its clock is
ahead of ours; the rights; and the beginning of the run_id. Columns that do not fit into the
terminal, or into 80 columns without one, are left out; --json has everything. Findings come below,
each with what to do behind a →: what keeps a node from voting (!), and what does not (-). The last
line says how many nodes can vote, how many of these may fail, and when there will be more.

Nothing is written on any node: no key, no witness, no script. Rights are tried by commands that a
server refuses for their arguments, so that each check adds some errors to its statistics
(total_error_replies, rejected and failed calls), and to its ACL LOG where a right is missing.
Nobody knows the names of locks: of the rights to keys, those of the witness and of one random name
behind the prefix are tried. Where a node has no witness, its quarantine begins only when a client
meets it, or redbolt init. Connecting and the questions take at most connect_timeout each (1s); all
nodes are asked at once.

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
    pub(super) nodes: NodeArgs,

    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,

    /// Look again and again: every second, or as given
    ///
    /// Ctrl-C ends it. A terminal is drawn over; elsewhere one
    /// report follows the other
    #[arg(long, value_name = "DURATION", verbatim_doc_comment)]
    #[arg(num_args = 0..=1, default_missing_value = "1s")]
    #[arg(value_parser = duration::between(SHORTEST, LONGEST))]
    pub(super) watch: Option<Duration>,
}
