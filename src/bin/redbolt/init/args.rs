//! The command line of `redbolt init`.

use redbolt::{Config, Init};

use crate::failure::Failure;
use crate::settings::{NO_NODES, NodeArgs};

/// Shown below the options by `-h`.
const AFTER: &str = "\
Examples:
  redbolt init --nodes db1,db2,db3 --fresh          # new servers
  redbolt init --config /etc/redbolt.toml           # safe at any time
  redbolt init --nodes db1,db2,db3 --max-ttl 10m    # longer ttls

--help has all details, and the exit codes.";

/// Shown below the options by `--help`.
const AFTER_LONG: &str = "\
Examples:
  redbolt init --nodes db1,db2,db3 --fresh          # new servers
  redbolt init --config /etc/redbolt.toml           # safe at any time
  redbolt init --nodes db1,db2,db3 --max-ttl 10m    # longer ttls

A node votes for locks once nothing in it can have been forgotten. Its witness says since when that
is so: two keys beside the locks, redbolt:witness and redbolt:seen behind the prefix. Without
`init`, the first client writes the witnesses, and waits until they are as old as the longest ttl
and its drift, about a minute.

Without options, init writes a witness where there is none, keeps those that stand, and waits until
a quorum votes. This is safe at any time, with clients at work and with nodes down. --fresh saves
the wait on new servers; on servers that have lost their data under clients, it lets two of them
hold one lock. --max-ttl makes the longest ttl of the deployment longer: all its clients may use
longer ttls once init is done. Nothing makes it shorter, and nothing changes the number of nodes.

With --fresh or --max-ttl nothing is written anywhere unless every node is there and fit. All nodes
are inspected before the first is written to. Whatever has happened, init may be run again.

A line for each node says what was found, and what was done or is to be done. Settings are also
read from variables and from the file of --config, as the library documents them at
Config::from_env. Durations are written like 250us, 20ms, 30s, 1.5m, 2h, 7d. An option that is a
bare number is in seconds; a variable and the file need the unit.

Exit codes:
  0    every node has what was wanted, and, unless --no-wait, a quorum votes
  64   the command line, or a value in it, cannot be used
  69   a node is missing or unfit: a line for the node says why
  70   something in this program or the system failed";

#[derive(clap::Args)]
#[command(after_help = AFTER, after_long_help = AFTER_LONG)]
pub(crate) struct Args {
    #[command(flatten)]
    nodes: NodeArgs,

    /// Declare the nodes new: no client can believe in a lock there
    ///
    /// Declare the nodes new: they are empty, and no client can
    /// believe in a lock on any of them, because none has run for
    /// as long as the longest ttl. The nodes vote at once
    #[arg(long, verbatim_doc_comment)]
    fresh: bool,

    /// Do not wait until a quorum of the nodes votes
    #[arg(short, long)]
    no_wait: bool,
}

impl Args {
    /// Returns the settings, from the options, the variables and the file.
    pub(super) fn config(&self) -> Result<Config, Failure> {
        let config = self.nodes.sources().and_then(|sources| self.nodes.config(&sources, []));
        config.map_err(Failure::usage)?.ok_or_else(|| Failure::usage(NO_NODES))
    }

    /// What is wanted. A `max_ttl` from elsewhere is only compared.
    pub(super) fn init(&self, config: Config) -> Init {
        let init = Init::new(config);
        match self.fresh {
            true => init.fresh(),
            false if self.nodes.has_max_ttl() => init.raise_max_ttl(),
            false => init,
        }
    }

    pub(super) fn waits(&self) -> bool {
        !self.no_wait
    }
}
