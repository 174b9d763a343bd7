//! The command line of `redbolt exec`.

use std::ffi::OsString;
use std::time::Duration;

use clap::ValueHint;
use clap::builder::OsStringValueParser;
use redbolt::Config;
use redbolt::redlock::{LONGEST_TTL, MIN_TTL};

use rustix::process::Signal;

use super::codes::Codes;
use super::failure::Failure;
use super::style::{Form, Volume};
use super::{help, refusal, signals, system};
use crate::choice::one_of;
use crate::duration;
use crate::settings::{ASKS, NO_NODES, NodeArgs, Override, Sources};

/// The longest wait that has an end, and the longest hold: longer than any ttl, and short enough
/// for every clock.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long a lock is kept alive at most, where nobody says.
const MAX_HOLD: Duration = Duration::from_secs(24 * 3600);

/// How long the lock lasts, and how long to wait for it, where nobody says.
const TTL: Duration = Duration::from_secs(30);
const WAIT: Duration = Duration::from_secs(10);

/// The wait of a single attempt.
const NO_WAIT: Duration = Duration::ZERO;

#[derive(clap::Args)]
#[command(after_help = help::AFTER, after_long_help = help::AFTER_LONG)]
pub(crate) struct Args {
    #[command(flatten)]
    nodes: NodeArgs,

    #[arg(long, value_name = "DURATION", help = help::TTL, long_help = help::TTL_LONG)]
    #[arg(allow_hyphen_values = true, value_parser = duration::between(MIN_TTL, LONGEST_TTL))]
    ttl: Option<Duration>,

    #[arg(long, value_name = "DURATION", help = help::MAX_HOLD, long_help = help::MAX_HOLD_LONG)]
    #[arg(allow_hyphen_values = true, value_parser = duration::between(MIN_TTL, LONGEST))]
    max_hold: Option<Duration>,

    #[arg(long, value_name = "DURATION", help = help::AT_LEAST, long_help = help::AT_LEAST_LONG)]
    #[arg(allow_hyphen_values = true, value_parser = duration::between(MIN_TTL, LONGEST))]
    pub(super) at_least: Option<Duration>,

    #[arg(long, help = help::NO_KEEP_ALIVE, long_help = help::NO_KEEP_ALIVE_LONG)]
    #[arg(conflicts_with = "max_hold")]
    no_keep_alive: bool,

    #[arg(long, value_name = "SIGNAL", help = help::EXPIRING, long_help = help::EXPIRING_LONG)]
    #[arg(value_parser = one_of(signals::names(), signals::named), hide_possible_values = true)]
    pub(super) expiring_signal: Option<Signal>,

    #[arg(long, value_name = "TEXT", help = help::LABEL, long_help = help::LABEL_LONG)]
    #[arg(allow_hyphen_values = true, value_hint = ValueHint::Other)]
    label: Option<OsString>,

    #[arg(long, help = help::FENCE, long_help = help::FENCE_LONG)]
    pub(super) fence: bool,

    #[arg(long, value_name = "NODES", help = help::ASK, long_help = help::ASK_LONG)]
    #[arg(value_parser = one_of(ASKS, OsStringValueParser::new()), hide_possible_values = true)]
    ask: Option<OsString>,

    #[arg(long, help = help::WAIT_GROUP, long_help = help::WAIT_GROUP_LONG)]
    pub(super) wait_group: bool,

    #[arg(short, long, value_name = "DURATION", help = help::WAIT, long_help = help::WAIT_LONG)]
    #[arg(allow_hyphen_values = true, hide_possible_values = true)]
    #[arg(value_parser = one_of(["forever"], duration::between_or_forever(NO_WAIT, LONGEST)))]
    wait: Option<Duration>,

    /// Do not wait: one attempt, after at most 1 s for connecting
    #[arg(short, long, alias = "nonblock", conflicts_with = "wait")]
    no_wait: bool,

    #[arg(short = 'E', long, value_name = "CODE", help = help::HELD, long_help = help::HELD_LONG)]
    #[arg(allow_hyphen_values = true)]
    conflict_exit_code: Option<OsString>,

    #[arg(long, value_name = "CODE", help = help::LOST, long_help = help::LOST_LONG)]
    #[arg(allow_hyphen_values = true)]
    lost_exit_code: Option<OsString>,

    #[arg(long, value_name = "CODE", help = help::UNAVAILABLE)]
    #[arg(long_help = help::UNAVAILABLE_LONG, allow_hyphen_values = true)]
    unavailable_exit_code: Option<OsString>,

    // Others count how often they are told, as in -vv.
    #[arg(short, long, help = help::VERBOSE, long_help = help::VERBOSE_LONG)]
    #[arg(overrides_with = "verbose")]
    verbose: bool,

    #[arg(short, long, help = help::QUIET, long_help = help::QUIET_LONG)]
    #[arg(conflicts_with = "verbose", overrides_with = "quiet")]
    quiet: bool,

    #[arg(long, value_name = "FORM", help = help::LOG, long_help = help::LOG_LONG)]
    #[arg(value_parser = one_of(Form::NAMES, Form::named), hide_possible_values = true)]
    log: Option<Form>,

    /// The exit codes, once the settings have been read.
    #[arg(skip)]
    pub(super) codes: Codes,

    /// The name of the lock; the key on the nodes is --prefix and this, byte for byte
    pub(super) resource: OsString,

    /// What to run, with its arguments
    #[arg(last = true, required = true, value_hint = ValueHint::CommandWithArguments)]
    pub(super) command: Vec<OsString>,
}

impl Args {
    /// Returns the settings of an engine, and completes the own ones: an option goes before a
    /// variable, and a variable before the file.
    pub(super) fn config(&mut self) -> Result<Config, Failure> {
        // How a mistake in the other settings is told is known before they are read.
        self.log = self.log.or_else(refusal::of_variable);
        let sources = self.nodes.sources().map_err(Failure::Usage)?;
        let (config, [ttl_name, at_least_name]) = self.read(&sources).map_err(Failure::Usage)?;
        let mut config = config.ok_or_else(|| Failure::Usage(NO_NODES.to_owned()))?;
        if self.command.first().is_some_and(|program| program.is_empty()) {
            return Err(Failure::Usage("COMMAND is empty".to_owned()));
        }
        if self.wait_group && !system::ADOPTS_ORPHANS {
            let what = "--wait-group is not possible on this system, which does not tell when all \
                        that COMMAND has started has ended";
            return Err(Failure::Usage(what.to_owned()));
        }
        let ttl = self.ttl();
        let check = self.nodes.check_ttl(&ttl_name, ttl, &config, Some(&sources));
        check.map_err(Failure::Usage)?;
        if let Some(max_hold) = self.max_hold.filter(|max_hold| *max_hold < ttl) {
            let [ttl, max_hold] = [ttl, max_hold].map(duration::written);
            let what = format!("--max-hold is {max_hold}, at least {ttl_name} = {ttl} is possible");
            return Err(Failure::Usage(what));
        }
        let (max_hold, at_least) = (self.max_hold(), self.at_least.unwrap_or_default());
        if at_least > max_hold {
            let [at_least, max_hold] = [at_least, max_hold].map(duration::written);
            let limit = format!("at most --max-hold = {max_hold} is possible");
            return Err(Failure::Usage(format!("{at_least_name} is {at_least}, {limit}")));
        }
        let max_ttl = config.redlock.max_ttl;
        // The lock is as old as its first request, and that time counts from its acquisition.
        let longest_stay = if at_least.is_zero() { at_least } else { at_least + max_ttl };
        config.redlock.max_hold = max_hold.max(max_ttl).max(longest_stay);
        Ok(config)
    }

    /// Takes what no option says from elsewhere. Returns the settings of the nodes, if there are
    /// any, and the names of the ttl and of the shortest stay.
    fn read(&mut self, sources: &Sources) -> Result<(Option<Config>, [String; 2]), String> {
        complete(&mut self.log, "REDBOLT_LOG", sources, Form::named)?;
        let name = |value: Option<Duration>, option: &str, variable| {
            if value.is_some() {
                return option.to_owned();
            }
            let default = || format!("the default of {option}");
            sources.given(variable).map_or_else(default, |given| given.name)
        };
        let names = [
            name(self.ttl, "--ttl", "REDBOLT_TTL"),
            name(self.at_least, "--at-least", "REDBOLT_AT_LEAST"),
        ];
        let ttl = |text: &str| duration::within(text, MIN_TTL, LONGEST_TTL);
        complete(&mut self.ttl, "REDBOLT_TTL", sources, ttl)?;
        // A mistake is told where --no-wait goes before it, too.
        let wait = |text: &str| duration::within_or_forever(text, NO_WAIT, LONGEST);
        complete(&mut self.wait, "REDBOLT_WAIT", sources, wait)?;
        if self.max_hold.is_none() && !self.no_keep_alive {
            let mut keep_alive = None;
            complete(&mut keep_alive, "REDBOLT_KEEP_ALIVE", sources, switch)?;
            self.no_keep_alive = keep_alive == Some(false);
        }
        if !self.no_keep_alive {
            let least = self.ttl();
            // In a file for clients, it may be without end.
            let max_hold = |text: &str| {
                duration::within_or_forever(text, least, LONGEST).map(|hold| hold.min(LONGEST))
            };
            complete(&mut self.max_hold, "REDBOLT_MAX_HOLD", sources, max_hold)?;
        }
        let at_least = |text: &str| duration::within(text, MIN_TTL, LONGEST);
        complete(&mut self.at_least, "REDBOLT_AT_LEAST", sources, at_least)?;
        let signal = &mut self.expiring_signal;
        complete(signal, "REDBOLT_EXPIRING_SIGNAL", sources, signals::named)?;
        // An option goes before the variable of the other.
        let (is_verbose, is_quiet) = (self.verbose, self.quiet);
        let switches = [
            (&mut self.verbose, "REDBOLT_VERBOSE", is_quiet),
            (&mut self.quiet, "REDBOLT_QUIET", is_verbose),
            (&mut self.wait_group, "REDBOLT_WAIT_GROUP", false),
        ];
        for (option, variable, is_overruled) in switches {
            let mut value = option.then_some(true);
            complete(&mut value, variable, sources, switch)?;
            *option = value == Some(true) && !is_overruled;
        }
        if self.verbose && self.quiet {
            let what = "REDBOLT_VERBOSE and REDBOLT_QUIET are both true: one is possible";
            return Err(what.to_owned());
        }
        let codes = [&self.conflict_exit_code, &self.lost_exit_code, &self.unavailable_exit_code];
        self.codes = Codes::read(codes.map(Option::as_ref), sources)?;
        let label = Override::text("--label", "REDBOLT_LABEL", self.label.clone());
        let ask = Override::text("--ask", "REDBOLT_ASK", self.ask.clone());
        Ok((self.nodes.config(sources, [label, ask])?, names))
    }

    /// How long the lock is renewed; `None` for not at all.
    pub(super) fn keep_alive(&self) -> Option<Duration> {
        (!self.no_keep_alive).then_some(self.max_hold())
    }

    fn max_hold(&self) -> Duration {
        self.max_hold.unwrap_or_else(|| MAX_HOLD.max(self.ttl()))
    }

    /// How much is said.
    pub(super) fn volume(&self) -> Volume {
        match (self.quiet, self.verbose) {
            (true, _) => Volume::Quiet,
            (_, true) => Volume::Verbose,
            _ => Volume::Normal,
        }
    }

    /// How messages are written.
    pub(super) fn log(&self) -> Form {
        self.log.unwrap_or_default()
    }

    /// How long the lock lasts unless it is renewed or released.
    pub(super) fn ttl(&self) -> Duration {
        self.ttl.unwrap_or(TTL)
    }

    /// How long to wait for the lock; zero for a single attempt, `Duration::MAX` for no end.
    pub(super) fn wait(&self) -> Duration {
        if self.no_wait { NO_WAIT } else { self.wait.unwrap_or(WAIT) }
    }

    /// The resource for a message.
    pub(super) fn resource_name(&self) -> String {
        self.resource.to_string_lossy().into_owned()
    }
}

/// Takes an option from its variable, or from the file, where the option is absent.
fn complete<T>(
    option: &mut Option<T>,
    name: &str,
    sources: &Sources,
    parser: impl Fn(&str) -> Result<T, String>,
) -> Result<(), String> {
    let given = sources.given(name).filter(|_| option.is_none());
    if let Some(given) = given {
        *option = Some(given.parse(parser)?);
    }
    Ok(())
}

fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "true or false is possible".to_owned())
}
