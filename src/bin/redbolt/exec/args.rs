//! The command line of `redbolt exec`.

use std::ffi::OsString;
use std::fmt::Display;
use std::time::Duration;

use redbolt::Config;
use redbolt::redlock::{LONGEST_TTL, MIN_TTL};

use rustix::process::Signal;

use super::failure::Failure;
use super::signals;
use crate::nodes::{self, NO_NODES, NodeArgs};
use crate::{duration, exit, output};

/// The longest wait: longer than any ttl, and short enough for every clock.
const LONGEST_WAIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long a lock is kept alive at most, where the command line does not say.
const MAX_HOLD: Duration = Duration::from_secs(24 * 3600);

/// How long the lock lasts, and how long to wait for it, where nobody says.
const TTL: Duration = Duration::from_secs(30);
const WAIT: Duration = Duration::from_secs(10);

const AFTER_HELP: &str = "\
The lock is kept alive as long as the command runs, up to --max-hold. A command that is about to
outlive the validity of its lock all the same (the ttl less the drift, which is 1 % and 2 ms by
default, counted from the last request that a quorum has confirmed) is ended:
  SIGTERM  a tenth of the validity before its end (100 ms to 10 s, at most half of it)
  SIGKILL  a fiftieth of the validity before its end (20 ms to 1 s, at most a quarter of it)
Both go to the whole process group of the command. When a quorum says that the lock is gone, all of
it gets SIGKILL at once. --expiring-signal goes to it when a third of the validity is left, which
with keep-alive means that renewals fail or --max-hold comes near. When the command ends after
SIGTERM, what is left of its group gets SIGKILL; when it ends by itself, what it has left behind is
left alone.
The lock is released as soon as nothing of a killed group can act any more; if that takes over
100 ms, the lock is left to its ttl, and a line on standard error says so.

However short the wait is, there is one attempt at the lock. Before it, nodes get time to connect:
as long as the wait, but at most 1 s; with --no-wait or --wait 0 up to 1 s as well. Durations are
written like 250us, 20ms, 30s, 1.5m, 2h. An option that is a bare number is in seconds; a variable
needs the unit.

COMMAND runs without a shell, in a process group of its own, in the foreground where standard input
and output are a terminal; Ctrl-Z does not stop it there. Its environment has REDBOLT_RESOURCE and
REDBOLT_TOKEN, the value under which the lock is stored, in 40 hex digits. REDBOLT_NODES and
REDBOLT_PASSWORD are passed on: a command that must not know passwords needs `env -u` for both. All
other settings are read from variables too, such as REDBOLT_RETRY_MAX; the library documents their
names at Config::from_env, and any other name that begins with REDBOLT_ is refused. SIGHUP, SIGINT,
SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2 are passed on to its group, and the lock is released once it
has ended; before it has begun they end the wait. If redbolt itself is killed with SIGKILL, COMMAND
goes on and nobody ends it: others get the lock once the ttl has passed.

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

    /// How long the lock lasts unless it is renewed or
    /// released; REDBOLT_TTL, or 30s, when this is absent
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    #[arg(verbatim_doc_comment, value_parser = duration::between(MIN_TTL, LONGEST_TTL))]
    ttl: Option<Duration>,

    /// For how long the lock is kept alive at most, from its
    /// acquisition: between the ttl and 168h; REDBOLT_MAX_HOLD, or
    /// 24h, or the ttl if that is longer, when this is absent
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    #[arg(verbatim_doc_comment, value_parser = duration::between(MIN_TTL, LONGEST_WAIT))]
    max_hold: Option<Duration>,

    /// Do not renew the lock: the ttl must cover the command
    #[arg(long, conflicts_with = "max_hold")]
    no_keep_alive: bool,

    /// The signal for the command when the lock is about to end,
    /// like USR1; none if this is not given
    #[arg(long, value_name = "SIGNAL", verbatim_doc_comment, value_parser = signals::named)]
    pub(super) expiring_signal: Option<Signal>,

    /// How long to wait for the lock, connecting included: at
    /// most 168h; REDBOLT_WAIT, or 10s, when this is absent
    #[arg(short, long, value_name = "DURATION", allow_hyphen_values = true)]
    #[arg(verbatim_doc_comment, value_parser = duration::between(Duration::ZERO, LONGEST_WAIT))]
    wait: Option<Duration>,

    /// Do not wait: one attempt, after at most 1 s for connecting
    #[arg(short, long, alias = "nonblock", conflicts_with = "wait")]
    no_wait: bool,

    /// The exit code when another holds the lock: 1 to 125, but
    /// not 64, 69, 70 or 76
    #[arg(short = 'E', long, value_name = "CODE", default_value_t = exit::HELD)]
    #[arg(allow_hyphen_values = true, verbatim_doc_comment, value_parser = conflict_exit_code)]
    pub(super) conflict_exit_code: u8,

    /// Say what happens: how long the lock took, and what came of
    /// it
    #[arg(short, long, verbatim_doc_comment)]
    pub(super) verbose: bool,

    /// What to lock: the key on the nodes, byte for byte
    pub(super) resource: OsString,

    /// What to run, with its arguments
    #[arg(last = true, required = true)]
    pub(super) command: Vec<OsString>,
}

impl Args {
    /// Returns the settings of an engine, from the options and the variables.
    pub(super) fn config(&mut self) -> Result<Config, Failure> {
        let is_option = self.ttl.is_some();
        read(&mut self.ttl, "REDBOLT_TTL", MIN_TTL, LONGEST_TTL)?;
        if !self.no_wait {
            read(&mut self.wait, "REDBOLT_WAIT", Duration::ZERO, LONGEST_WAIT)?;
        }
        if !self.no_keep_alive {
            let least = self.ttl();
            read(&mut self.max_hold, "REDBOLT_MAX_HOLD", least, LONGEST_WAIT)?;
        }
        let is_variable = self.ttl.is_some() && !is_option;
        let ttl_name = if is_variable { "REDBOLT_TTL" } else { "--ttl" };
        let config = self.nodes.config([]).unwrap_or_else(|| Err(NO_NODES.to_owned()));
        let mut config = config.map_err(Failure::Usage)?;
        if self.command.first().is_some_and(|program| program.is_empty()) {
            return Err(Failure::Usage("COMMAND is empty".to_owned()));
        }
        let ttl = self.ttl();
        self.nodes.check_ttl(ttl_name, ttl, &config).map_err(Failure::Usage)?;
        if let Some(max_hold) = self.max_hold.filter(|max_hold| *max_hold < ttl) {
            let [ttl, max_hold] = [ttl, max_hold].map(duration::written);
            let what = format!("--max-hold is {max_hold}, at least {ttl_name} = {ttl} is possible");
            return Err(Failure::Usage(what));
        }
        config.redlock.max_hold = self.max_hold().max(config.redlock.max_ttl);
        Ok(config)
    }

    /// How long the lock is renewed; `None` for not at all.
    pub(super) fn keep_alive(&self) -> Option<Duration> {
        (!self.no_keep_alive).then_some(self.max_hold())
    }

    fn max_hold(&self) -> Duration {
        self.max_hold.unwrap_or_else(|| MAX_HOLD.max(self.ttl()))
    }

    /// Prints a message that only `--verbose` shows.
    pub(super) fn tell(&self, message: impl Display) {
        if self.verbose {
            output::say(message);
        }
    }

    /// How long the lock lasts unless it is renewed or released.
    pub(super) fn ttl(&self) -> Duration {
        self.ttl.unwrap_or(TTL)
    }

    /// How long to wait for the lock; zero for a single attempt.
    pub(super) fn wait(&self) -> Duration {
        if self.no_wait { Duration::ZERO } else { self.wait.unwrap_or(WAIT) }
    }

    /// The resource, quoted for a message.
    pub(super) fn resource_name(&self) -> String {
        format!("{:?}", self.resource.to_string_lossy())
    }
}

/// Takes an option from its variable where the option is absent.
fn read(
    option: &mut Option<Duration>,
    name: &str,
    least: Duration,
    most: Duration,
) -> Result<(), Failure> {
    let Some(text) = nodes::variable(name).filter(|_| option.is_none()) else { return Ok(()) };
    let text = text.to_string_lossy();
    let value = duration::within(text.trim(), least, most);
    let value = value.map_err(|error| format!("{name} is {text:?}, {error}"));
    *option = Some(value.map_err(Failure::Usage)?);
    Ok(())
}

/// Parses an exit code that scripts can tell from all others. Shells use the codes over 125
/// themselves.
fn conflict_exit_code(text: &str) -> Result<u8, String> {
    const TAKEN: [u8; 4] = [exit::USAGE, exit::NO_QUORUM, exit::SOFTWARE, exit::LOST];
    let code = text.parse().ok().filter(|code| (1..=125).contains(code) && !TAKEN.contains(code));
    code.ok_or_else(|| {
        let [usage, no_quorum, software, lost] = TAKEN;
        format!("between 1 and 125 is possible, but not {usage}, {no_quorum}, {software} or {lost}")
    })
}
