//! The command line of `redbolt exec`.

use std::ffi::OsString;
use std::time::Duration;

use redbolt::Config;

use super::failure::Failure;
use crate::nodes::NodeArgs;
use crate::{duration, exit};

const AFTER_HELP: &str = "\
The ttl must cover the command: the lock is not renewed in this version. A command that is about to
outlive the validity of its lock (the ttl less 1 % and 2 ms, counted from the request) is ended:
  SIGTERM  a tenth of the validity before its end (100 ms to 10 s, at most half of it)
  SIGKILL  a fiftieth of the validity before its end (20 ms to 1 s, at most a quarter of it)
Both go to the whole process group of the command. When the command ends after SIGTERM, what is
left of its group gets SIGKILL; when it ends by itself, what it has left behind is left alone.

COMMAND runs without a shell, in a process group of its own, in the foreground where standard input
and output are a terminal; Ctrl-Z does not stop it there. Its environment has REDBOLT_RESOURCE and
REDBOLT_TOKEN, the value under which the lock is stored, in 40 hex digits. SIGHUP, SIGINT, SIGQUIT,
SIGTERM, SIGUSR1 and SIGUSR2 are passed on to its group, and the lock is released once it has ended;
before it has begun they end the wait. If redbolt itself is killed with SIGKILL, COMMAND goes on
and nobody ends it: others get the lock once the ttl has passed.

Exit codes, besides those of COMMAND (128 + N when it died of signal N):
  64   the command line, or a value in it, cannot be used
  69   no quorum of nodes could be asked; a line for each node says why
  70   something in this program or the system failed
  75   another held the lock until the wait ended (see --conflict-exit-code)
  76   the validity of the lock ended while COMMAND ran
  126  COMMAND cannot be executed
  127  COMMAND was not found";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    nodes: NodeArgs,

    /// How long the lock lasts unless it is released: 250ms, 30s, 2m, 1h
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    pub(super) ttl: Duration,

    /// The longest ttl that any client of these nodes uses: the same for all of them
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration::parse)]
    max_ttl: Duration,

    /// How long to wait for the lock, connecting included
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    wait: Duration,

    /// Do not wait: one attempt
    #[arg(long, conflicts_with = "wait")]
    no_wait: bool,

    /// The exit code when another holds the lock
    #[arg(long, value_name = "CODE", default_value_t = exit::HELD)]
    pub(super) conflict_exit_code: u8,

    /// What to lock: the key on the nodes, byte for byte
    pub(super) resource: OsString,

    /// What to run, with its arguments
    #[arg(last = true, required = true)]
    pub(super) command: Vec<OsString>,
}

impl Args {
    pub(super) fn config(&self) -> Result<Config, Failure> {
        let mut config = self.nodes.config().map_err(Failure::Usage)?;
        config.redlock.max_ttl = self.max_ttl;
        Ok(config)
    }

    /// Zero for a single attempt.
    pub(super) fn wait(&self) -> Duration {
        if self.no_wait { Duration::ZERO } else { self.wait }
    }

    /// The resource for a message.
    pub(super) fn resource_name(&self) -> String {
        format!("{:?}", self.resource.to_string_lossy())
    }
}
