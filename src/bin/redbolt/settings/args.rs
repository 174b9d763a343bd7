//! The options that all commands have, and the configuration that follows from them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use clap::ValueHint;
use clap::builder::OsStringValueParser;
use redbolt::time::format_duration;
use redbolt::{Config, EnvError};

use super::login::{Login, PASSWORD, USER};
use super::sources::{Given, Sources};
use super::{help, list, passwords};
use crate::choice::one_of;
use crate::duration;
use crate::failure::Failure;

pub(crate) const NO_NODES: &str = "no nodes given: use --nodes HOST:PORT,HOST:PORT,… or set \
                                   REDBOLT_NODES, or write nodes = [\"HOST:PORT\", …] into the \
                                   file of --config";

/// The heading of the options with which a command joins the clients of a service.
const SHARED: &str = "Options to set as the other clients of the same locks have them";

/// The values of `--restart-guard`.
const GUARDS: [&str; 4] = ["on", "strict", "durable", "off"];

/// How many nodes an attempt asks at first, by name.
pub(crate) const ASKS: [&str; 2] = ["all", "majority"];

const NODES: &str = "REDBOLT_NODES";
const PREFIX: &str = "REDBOLT_PREFIX";

/// The variable of the longest ttl, and its option.
const MAX_TTL: &str = "REDBOLT_MAX_TTL";
const MAX_TTL_OPTION: &str = "--max-ttl";

/// The variables of the clients of the library, which here belong to options of one command.
const OF_CLIENTS: [&str; 2] = ["REDBOLT_TTL", "REDBOLT_WAIT"];

#[derive(clap::Args)]
pub(crate) struct NodeArgs {
    #[arg(long, value_name = "LIST", help = help::NODES, long_help = help::NODES_LONG)]
    #[arg(value_hint = ValueHint::Hostname)]
    nodes: Option<OsString>,

    #[arg(long, value_name = "FILE", help = help::CONFIG, long_help = help::CONFIG_LONG)]
    #[arg(value_hint = ValueHint::FilePath)]
    config: Option<OsString>,

    #[arg(long, value_name = "NAME", help = help::USER, long_help = help::USER_LONG)]
    #[arg(allow_hyphen_values = true)]
    user: Option<OsString>,

    #[arg(long, value_name = "FILE", help = help::PASSWORD, long_help = help::PASSWORD_LONG)]
    #[arg(value_hint = ValueHint::FilePath)]
    password_file: Option<OsString>,

    #[arg(long, value_name = "WHEN", help = help::GUARD, long_help = help::GUARD_LONG)]
    #[arg(value_parser = one_of(GUARDS, OsStringValueParser::new()), hide_possible_values = true)]
    restart_guard: Option<OsString>,

    #[arg(long, value_name = "DURATION", help = help::MAX_TTL, long_help = help::MAX_TTL_LONG)]
    #[arg(allow_hyphen_values = true, help_heading = SHARED)]
    max_ttl: Option<OsString>,

    #[arg(long, value_name = "TEXT", help = help::PREFIX, long_help = help::PREFIX_LONG)]
    #[arg(allow_hyphen_values = true, help_heading = SHARED)]
    prefix: Option<OsString>,

    #[arg(long, value_name = "N", help = help::QUORUM, long_help = help::QUORUM_LONG)]
    #[arg(allow_hyphen_values = true, help_heading = SHARED)]
    quorum: Option<OsString>,

    #[arg(long, value_name = "N", help = help::RATE, long_help = help::RATE_LONG)]
    #[arg(allow_hyphen_values = true, help_heading = SHARED)]
    drift_rate_ppm: Option<OsString>,

    #[arg(long, value_name = "DURATION", help = help::STEP, long_help = help::STEP_LONG)]
    #[arg(allow_hyphen_values = true, help_heading = SHARED)]
    drift_step: Option<OsString>,
}

/// An option that takes the place of a variable, with its unit.
pub(crate) struct Override {
    option: &'static str,
    variable: &'static str,
    value: Option<OsString>,
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

    /// A text of any bytes.
    pub(crate) fn text(
        option: &'static str,
        variable: &'static str,
        value: Option<OsString>,
    ) -> Self {
        Self { option, variable, value }
    }
}

impl NodeArgs {
    /// Returns the places of settings beside the options, or what is wrong with them.
    pub(crate) fn sources(&self) -> Result<Sources, String> {
        Sources::new(self.config.as_ref())
    }

    /// Returns the settings of a command that needs nodes, and has no options of its own that are
    /// settings.
    pub(crate) fn required(&self) -> Result<Config, Failure> {
        let config = self.sources().and_then(|sources| self.config(&sources, []));
        config.map_err(Failure::usage)?.ok_or_else(|| Failure::usage(NO_NODES))
    }

    /// Returns the settings of these nodes, or what is wrong with them; `None` when no nodes are
    /// given. An empty variable counts as no nodes, an empty argument is a mistake.
    pub(crate) fn config<const N: usize>(
        &self,
        sources: &Sources,
        others: [Override; N],
    ) -> Result<Option<Config>, String> {
        let are_elsewhere = sources.given(NODES).is_some() || !sources.nodes().is_empty();
        if self.nodes.is_none() && !are_elsewhere {
            // An option that is about nodes must not be passed over.
            let [a, b, c] = [&self.config, &self.user, &self.password_file].map(Option::is_some);
            return if a || b || c { Err(NO_NODES.to_owned()) } else { Ok(None) };
        }
        let options = self.options(others)?;
        let nodes = self.list(sources)?;
        let Login { user, password } =
            Login::find(self.user.as_ref(), self.password_file.as_ref(), sources)?;
        let beside = |name: &str| match name {
            NODES => nodes.as_ref(),
            USER => user.as_ref(),
            PASSWORD => password.as_ref(),
            _ => options.iter().find(|option| option.0 == name).map(|(_, given)| given),
        };
        let mut config = Config::with_addresses(sources.nodes().iter().cloned());
        if let Some(prefix) = sources.prefix() {
            config.redlock.prefix = prefix.to_vec();
        }
        let value = |name: &str| match beside(name) {
            Some(given) => Some(given.value.clone()),
            None if OF_CLIENTS.contains(&name) => None,
            None => sources.given(name).map(|given| given.value),
        };
        let name_of = |name: &str| match beside(name) {
            Some(given) => Some(given.name.clone()),
            None => sources.name_of(name),
        };
        config.apply_vars(value).map_err(|error| told(&error, name_of))?;
        // A number that services share is checked. No command has so many threads.
        config.threads = 1;
        passwords::remember(&config.nodes, password.as_ref());
        if let Some(prefix) = &self.prefix {
            // An empty text is no value of a variable, but a prefix that can be wanted.
            config.redlock.prefix = prefix.as_bytes().to_vec();
        }
        Ok(Some(config))
    }

    /// Returns the settings of nodes that this program has started, from the options alone, or what
    /// is wrong with them.
    pub(crate) fn local_config<const N: usize>(
        &self,
        addresses: &[String],
        others: [Override; N],
    ) -> Result<Config, String> {
        let options = self.options(others)?;
        let given = |name: &str| options.iter().find(|option| option.0 == name);
        let mut config = Config::new(addresses).map_err(|error| error.to_string())?;
        config
            .apply_vars(|name| given(name).map(|(_, given)| given.value.clone()))
            .map_err(|error| told(&error, |name| Some(given(name)?.1.name.clone())))?;
        Ok(config)
    }

    /// Checks that the settings allow this ttl, which was given by `name`. The error names what has
    /// set the limit.
    pub(crate) fn check_ttl(
        &self,
        name: &str,
        ttl: Duration,
        config: &Config,
        sources: Option<&Sources>,
    ) -> Result<(), String> {
        let max_ttl = config.redlock.max_ttl;
        if ttl <= max_ttl {
            return Ok(());
        }
        let beside = sources.filter(|_| !self.has_max_ttl());
        let limit = beside.and_then(|sources| sources.name_of(MAX_TTL));
        let limit = limit.as_deref().unwrap_or(MAX_TTL_OPTION);
        let [ttl, max_ttl] = [ttl, max_ttl].map(format_duration);
        Err(format!("{name} is {ttl}, at most {limit} = {max_ttl} is possible"))
    }

    /// Returns whether the longest ttl is given as an option.
    pub(crate) fn has_max_ttl(&self) -> bool {
        self.max_ttl.is_some()
    }

    /// Returns the options that are given, each with the variable that it takes the place of. Nodes
    /// and login are not among them.
    fn options<const N: usize>(
        &self,
        others: [Override; N],
    ) -> Result<Vec<(&'static str, Given)>, String> {
        let rows = [
            ("--restart-guard", "REDBOLT_RESTART_GUARD", self.restart_guard.clone()),
            (MAX_TTL_OPTION, MAX_TTL, with_unit(&self.max_ttl)),
            ("--prefix", PREFIX, self.prefix.clone()),
            ("--quorum", "REDBOLT_QUORUM", self.quorum.clone()),
            ("--drift-rate-ppm", "REDBOLT_DRIFT_RATE_PPM", self.drift_rate_ppm.clone()),
            ("--drift-step", "REDBOLT_DRIFT_STEP", with_unit(&self.drift_step)),
        ];
        let rows = rows.map(|(option, variable, value)| Override { option, variable, value });
        let given = rows.into_iter().chain(others).filter_map(|row| {
            let value = row.value?;
            let is_empty = value.is_empty() && row.variable != PREFIX;
            let given = Given::new(row.option, value);
            Some(if is_empty { Err(empty(row.option)) } else { Ok((row.variable, given)) })
        });
        given.collect()
    }

    /// Returns the list of the option, of the variable, or of the file that the file of `--config`
    /// names. Nodes that stand there themselves are not among them.
    fn list(&self, sources: &Sources) -> Result<Option<Given>, String> {
        let option = self.nodes.as_ref().map(|nodes| Given::new("--nodes", nodes));
        if option.as_ref().is_some_and(|nodes| nodes.value.is_empty()) {
            return Err(empty("--nodes") + ": HOST:PORT,HOST:PORT,… is possible");
        }
        let given = option.or_else(|| sources.given(NODES));
        let Some(Given { name, value }) = given else { return Ok(None) };
        let list = match value.as_bytes().strip_prefix(b"@") {
            // What is no text is told of with the other settings.
            None => {
                value.to_str().map_or(Ok(()), |list| list::parse(list).map(drop)).map(|()| value)
            }
            Some(b"") => Err("a file is needed behind the @".to_owned()),
            Some(b"-") => {
                Err("standard input is not read: name a file, such as @/dev/fd/3".to_owned())
            }
            Some(path) => list::read(Path::new(OsStr::from_bytes(path))).map(OsString::from),
        };
        let value = list.map_err(|error| format!("{name}: {error}"))?;
        Ok(Some(Given { name, value }))
    }
}

fn empty(option: &str) -> String {
    format!("{option} is empty")
}

/// Returns the message of an error, with the name of the place that has the setting.
fn told(error: &EnvError, name_of: impl Fn(&str) -> Option<String>) -> String {
    match name_of(error.variable()) {
        Some(name) => format!("{name}{}", error.kind()),
        None => error.to_string(),
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
