//! The command line of `redbolt init`.

use redbolt::{Config, Init};

use crate::settings::NodeArgs;

/// Shown below the options by `-h`.
const AFTER: &str = "\
Examples:
  redbolt init --nodes db1,db2,db3 --fresh          # new servers
  redbolt init --config /etc/redbolt.toml           # safe at any time
  redbolt init --nodes db1,db2,db3 --max-ttl 10m    # longer ttls
  redbolt init --nodes db1,db2,db3,db4,db5 --reconfigure # other nodes

--help has all details, and the exit codes.";

/// Shown below the options by `--help`.
const AFTER_LONG: &str = "\
Examples:
  redbolt init --nodes db1,db2,db3 --fresh          # new servers
  redbolt init --config /etc/redbolt.toml           # safe at any time
  redbolt init --nodes db1,db2,db3 --max-ttl 10m    # longer ttls
  redbolt init --nodes db1,db2,db3,db4,db5 --reconfigure # other nodes

A node votes for locks once nothing in it can have been forgotten. Its witness says since when that
is so: two keys beside the locks, redbolt:witness and redbolt:seen behind the prefix. Without
`init`, the first client writes the witnesses, and waits until they are as old as the longest ttl
and its drift, about a minute.

Without options, init writes a witness where there is none, keeps those that stand, and waits until
a quorum votes. This is safe at any time, with clients at work and with nodes down. --fresh saves
the wait on new servers; on servers that have lost their data under clients, it lets two of them
hold one lock. --max-ttl makes the longest ttl of the deployment longer: all its clients may use
longer ttls once init is done.

--reconfigure changes the nodes or makes the longest ttl shorter, with --max-ttl. First stop all
clients, with the old settings and the new. The nodes tell when a client has looked at them last.
One and a half times the longest ttl later no client can believe in a lock, and init closes all
nodes for all clients, then opens them with the new settings; until then init waits, and names the
node that a client still looks at. At least half of the old nodes must be on the list; a longest
ttl that is longer than configured stays, unless --max-ttl is an option. Init does not see clients
that have no right to redbolt:seen, or run with --restart-guard off, and cannot tell an old client
that starts later from a new one if the number of nodes is the same. So shut down the servers that
are not on the list any more, and start no client with the old list. A node whose witness is of an
earlier process cannot tell: it begins to measure when init waits, and never with --no-wait.

With --fresh, --max-ttl or --reconfigure nothing is written anywhere unless every node is there and
fit. All nodes are inspected before the first is written to. Whatever has happened, init may be run
again, with the same options: what a run has done is kept by the next, which does the rest. Nodes
that a --reconfigure has closed and not opened stay closed for all clients until then.

A line for each node says what was found and what is to be done, before the first is written to, and
what was done; of a node that cannot serve, what redbolt check says of it. Settings are also read
from variables and from the file of --config, as the library documents them at Config::from_env.
Durations are written like 250us, 20ms, 30s, 1.5m, 2h, 7d. An option that is a bare number is in
seconds; a variable and the file need the unit.

The user of the nodes needs the rights of locks. --fresh also needs +dbsize, to see that a node is
empty, and +scan where a client has left its label, which is no data.

Exit codes:
  0    every node has what was wanted, and, unless --no-wait, a quorum votes
  64   the command line, or a value in it, cannot be used
  69   a node is missing, unfit, or (--no-wait) in use: its line says why
  70   something in this program or the system failed";

#[derive(clap::Args)]
#[command(after_help = AFTER, after_long_help = AFTER_LONG)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) nodes: NodeArgs,

    /// Declare the nodes new: no client can believe in a lock there
    ///
    /// Declare the nodes new: they are empty, and no client can
    /// believe in a lock on any of them, because none has run for
    /// as long as the longest ttl. The nodes vote at once
    #[arg(long, verbatim_doc_comment)]
    fresh: bool,

    /// Change nodes or a longest ttl, clients stopped
    ///
    /// Change the nodes of the deployment, or make its longest ttl
    /// shorter (with --max-ttl). All clients must be stopped: init
    /// waits until no lock of theirs can be left
    #[arg(long, conflicts_with = "fresh", verbatim_doc_comment)]
    reconfigure: bool,

    /// Say what would be done, and write nothing
    ///
    /// Say what was found and what would be done, and write nothing.
    /// The exit code is that of the run without this option
    #[arg(long, verbatim_doc_comment)]
    dry_run: bool,

    /// Wait neither for clients nor for a quorum
    #[arg(short, long)]
    no_wait: bool,
}

impl Args {
    /// What is wanted. A `max_ttl` from elsewhere is only compared.
    pub(super) fn init(&self, config: Config) -> Init {
        let init = Init::new(config);
        match self.fresh {
            true => init.fresh(),
            false if self.reconfigure && self.nodes.has_max_ttl() => init.reconfigure(),
            false if self.reconfigure => init.reconfigure_nodes(),
            false if self.nodes.has_max_ttl() => init.raise_max_ttl(),
            false => init,
        }
    }

    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    pub(super) fn waits(&self) -> bool {
        !self.no_wait
    }
}
