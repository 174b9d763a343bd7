//! The command line of `redbolt who`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use redbolt::Who;

use crate::failure::Failure;
use crate::settings::NodeArgs;

/// Shown below the options by `-h`.
const AFTER: &str = "\
Examples:
  redbolt who --nodes db1,db2,db3 orders/42    # who has the lock?
  redbolt who --config /etc/redbolt.toml -v r  # what each node has
  redbolt who r >/dev/null && echo taken       # 0: not free, 1: free

--help has all details, and the exit codes.";

/// Shown below the options by `--help`.
const AFTER_LONG: &str = "\
Examples:
  redbolt who --nodes db1,db2,db3 orders/42    # who has the lock?
  redbolt who --config /etc/redbolt.toml -v r  # what each node has
  redbolt who r >/dev/null && echo taken       # 0: not free, 1: free
  redbolt who --json r | jq -r .resources[0].holder.token |
    redbolt unlock r --token -

Asks all nodes at once, and writes nothing on any. The answer was true when the nodes gave it: only
a lock keeps others out. What stands under a resource is, in the words of --json:
  held       a quorum of the nodes has the same value
  permanent  the same without a ttl: no time ends it, redbolt unlock does
  free       a quorum of the nodes has nothing
  dangling   free, but fewer nodes than a quorum have something: what a failed attempt has left,
             or a lock of which the rest has gone
  split      not held, and not free: the nodes have different values, and nobody gets a lock
  data       data that is no lock, such as a list, on so many nodes that no lock can be had
  unknown    too few nodes have said what they have

The value and the label of a client tell whose lock it is. A token of redbolt begins with a number
that only one engine has, and ends with the number of its attempt: locks of one engine are known as
such. A client of redbolt with a label (redbolt exec --label, REDBOLT_LABEL) is shown with its
machine and its process, as it has written them itself. The tokens of other libraries tell nothing.
Whoever has a token can release the lock: only --json shows it whole, in hex and, where it is text,
as text.

A node that cannot vote does not count, whatever it has: one that is down, loading, a replica, in a
cluster, evicts keys, is the same process as another, or belongs to a deployment with another number
of nodes. A node in quarantine may have forgotten keys: that it has nothing does not count. Where no
node knows of redbolt, all are new, or all have lost their data: then it counts that they have
nothing. redbolt check says whether they vote.

With --json, one object is printed: quorum; nodes, each with node, state and status; and resources,
each with resource, state (as above), remaining_ms, holder (null unless a quorum agrees), values and
nodes. A value has token (hex), token_text, engine, attempt and client (machine, process, label),
where these are known. Times are in milliseconds; further fields may come.

The user of the nodes needs the rights of locks: +info +eval +get +pttl, and +time for quarantines.
Where there are +strlen and +type, a string of more than 1,024 bytes is not read on the node, and
the type of other data is named. No such string is ever fetched.

Settings are also read from variables and from the file of --config, as the library documents them
at Config::from_env.

Exit codes, as fuser has them:
  0    one of the resources at least is not free: held, or in the way of a lock
  1    all resources are free
  64   the command line, or a value in it, cannot be used
  69   too few nodes have answered to tell this of every resource
  70   something in this program or the system failed";

#[derive(clap::Args)]
#[command(after_help = AFTER, after_long_help = AFTER_LONG)]
pub(crate) struct Args {
    #[command(flatten)]
    nodes: NodeArgs,

    /// Print an object for programs, with the tokens in full
    #[arg(long)]
    pub(super) json: bool,

    /// Say for every node what it has
    #[arg(short, long)]
    pub(super) verbose: bool,

    /// What is asked about: the names of locks, byte for byte
    #[arg(value_name = "RESOURCE", required = true)]
    resources: Vec<OsString>,
}

impl Args {
    /// Returns what is to be asked, by the options, the variables and the file.
    pub(super) fn who(self) -> Result<Who, Failure> {
        let config = self.nodes.required()?;
        Ok(Who::new(config, self.resources.into_iter().map(OsString::into_vec)))
    }
}
