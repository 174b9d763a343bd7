//! The configuration from environment variables.

use std::ffi::OsString;

use super::config::{self, Config};
use super::env_error::{EnvError, EnvErrorKind};
use super::env_names::{self, PREFIX};
use crate::net::Address;
use crate::redlock::{ConfigError, Login, Setting, Unfit};

const NODES: &str = "REDBOLT_NODES";
const USER: &str = "REDBOLT_USER";
const PASSWORD: &str = "REDBOLT_PASSWORD";
const BUSY_POLL: &str = "REDBOLT_BUSY_POLL";
const TTL: &str = "REDBOLT_TTL";
const WAIT: &str = "REDBOLT_WAIT";
const THREADS: &str = "REDBOLT_THREADS";

impl Config {
    /// Creates a configuration from the variables of this process. The command line of redbolt
    /// reads the same variables.
    ///
    /// | variable | value |
    /// | --- | --- |
    /// | `REDBOLT_NODES` | the nodes, as [`Address::parse_list`] reads them |
    /// | `REDBOLT_USER` | the user for the nodes that are given without a login |
    /// | `REDBOLT_PASSWORD` | the password for the nodes that are given without a login |
    /// | `REDBOLT_BUSY_POLL` | duration |
    /// | `REDBOLT_TTL` | duration |
    /// | `REDBOLT_WAIT` | duration |
    /// | `REDBOLT_THREADS` | number |
    /// | `REDBOLT_QUORUM` | number |
    /// | `REDBOLT_MAX_TTL` | duration |
    /// | `REDBOLT_RESTART_GUARD` | `on`, `strict`, `durable` or `off` |
    /// | `REDBOLT_MAX_HOLD` | duration |
    /// | `REDBOLT_LOST_LEAD` | duration |
    /// | `REDBOLT_DRIFT_RATE_PPM` | number |
    /// | `REDBOLT_DRIFT_STEP` | duration |
    /// | `REDBOLT_NODE_TIMEOUT` | duration |
    /// | `REDBOLT_CONNECT_TIMEOUT` | duration |
    /// | `REDBOLT_CLOSE_TIMEOUT` | duration |
    /// | `REDBOLT_RELEASE_TIMEOUT` | duration |
    /// | `REDBOLT_RETRY_MAX` | duration |
    /// | `REDBOLT_TENURE` | duration |
    /// | `REDBOLT_TENURE_GAP` | duration |
    /// | `REDBOLT_RECONNECT_MAX` | duration |
    /// | `REDBOLT_MAX_LOCKS` | number |
    /// | `REDBOLT_MAX_PIPELINE` | number |
    /// | `REDBOLT_MAX_CLEANUP` | number |
    /// | `REDBOLT_REPAIR` | `true` or `false` |
    /// | `REDBOLT_PREFIX` | bytes |
    ///
    /// `REDBOLT_NODES` is needed, and so is `REDBOLT_PASSWORD` where there is a `REDBOLT_USER`.
    /// User and password are taken as they are: nothing is percent-encoded. All other variables are
    /// called after a field of [`RedlockConfig`](crate::RedlockConfig), of
    /// [`Drift`](crate::Drift) or of this type, where their meaning and their defaults are
    /// documented.
    ///
    /// A duration is written as [`parse_duration`](crate::time::parse_duration) reads it: `250us`,
    /// `20ms`, `30s`, `1.5m`, `1h`, `forever`. Only a zero may lack its unit. A variable that is
    /// absent or empty leaves the default. Spaces around a value do not count, except in the user,
    /// the password and the prefix.
    ///
    /// ```no_run
    /// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
    /// use redbolt::Config;
    /// use std::time::Duration;
    ///
    /// let client = Config::from_env()?.into_builder().connect(Duration::from_secs(3)).await?;
    /// # drop(client);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an [`EnvError`] that names the first variable which cannot be used, and what is
    /// possible. All bounds have been checked then, as [`Engine::new`](super::Engine::new) does. A
    /// name that begins with `REDBOLT_` and is not in the table is an error as well:
    /// [`check_names`](Self::check_names) has the exceptions.
    pub fn from_env() -> Result<Self, EnvError> {
        Self::check_names(std::env::vars_os().map(|(name, _)| name))?;
        Self::from_vars(|name| std::env::var_os(name))
    }

    /// Checks that each of these names is one of the table of [`from_env`](Self::from_env), if the
    /// name begins with `REDBOLT_`. A misspelt name would leave a default in force, and clients
    /// with different quorums or longest ttls do not exclude each other.
    ///
    /// Some names are left alone: `REDBOLT_RESOURCE` and `REDBOLT_TOKEN`, which `redbolt exec` sets
    /// for its command; those of the tests of redbolt itself, which begin with `REDBOLT_TEST_`,
    /// `REDBOLT_SIM_`, `REDBOLT_JEPSEN_` or `REDBOLT_MSRV_`; and those with a word `PORT` or
    /// `SERVICE`, which Kubernetes sets in its containers where a service is called `redbolt`.
    ///
    /// ```
    /// let error = redbolt::Config::check_names(["PATH", "REDBOLT_MAXTTL"]).unwrap_err();
    /// let expected = "REDBOLT_MAXTTL is not a setting, REDBOLT_MAX_TTL is one";
    /// assert_eq!(error.to_string(), expected);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an [`EnvError`] for the first name that is not a setting, with the name of the
    /// setting that is most like it.
    pub fn check_names<N: Into<OsString>>(
        names: impl IntoIterator<Item = N>,
    ) -> Result<(), EnvError> {
        for name in names {
            let name = name.into();
            let name = name.to_string_lossy();
            if name.starts_with(PREFIX) && !env_names::is_known(&name) {
                let nearest = env_names::nearest(&name);
                return Err(EnvError::new(&name, EnvErrorKind::Unknown { nearest }));
            }
        }
        Ok(())
    }

    /// Creates a configuration as [`from_env`](Self::from_env) does, from variables that `lookup`
    /// returns: for tests, and for other places that have values by name.
    ///
    /// ```
    /// use redbolt::{Config, RestartGuard};
    ///
    /// let config = Config::from_vars(|name| match name {
    ///     "REDBOLT_NODES" => Some("10.0.0.1,10.0.0.2,10.0.0.3"),
    ///     "REDBOLT_PASSWORD" => Some("p@ss/word"),
    ///     "REDBOLT_RESTART_GUARD" => Some("strict"),
    ///     _ => None,
    /// })?;
    /// assert_eq!(config.nodes[2].login().password.as_deref(), Some("p@ss/word"));
    /// assert_eq!(config.redlock.restart_guard, RestartGuard::Strict);
    /// # Ok::<(), redbolt::EnvError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an [`EnvError`] as [`from_env`](Self::from_env) does.
    pub fn from_vars<V: Into<OsString>>(
        mut lookup: impl FnMut(&str) -> Option<V>,
    ) -> Result<Self, EnvError> {
        let mut value = |name: &str| match lookup(name).map(Into::into) {
            None => Ok(None),
            Some(value) => match value.into_string() {
                Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
                Err(_) => Err(EnvError::new(name, EnvErrorKind::NotUtf8)),
            },
        };
        let nodes = value(NODES)?.ok_or_else(|| EnvError::new(NODES, EnvErrorKind::Missing))?;
        let nodes = Address::parse_list(&nodes);
        let nodes = nodes.map_err(|error| EnvError::new(NODES, EnvErrorKind::Address(error)))?;
        let mut config = Self::with_addresses(nodes);
        if let Some(login) = login(value(USER)?, value(PASSWORD)?)? {
            let result = config.log_in(&login);
            result.map_err(|error| EnvError::new(PASSWORD, EnvErrorKind::Address(error)))?;
        }
        let own = [
            (BUSY_POLL, Setting::Duration(&mut config.busy_poll)),
            (TTL, Setting::MaybeDuration(&mut config.ttl)),
            (WAIT, Setting::Duration(&mut config.wait)),
            (THREADS, Setting::Count(&mut config.threads, config::THREADS)),
        ];
        let settings = config.redlock.settings().map(|(name, setting)| (variable(name), setting));
        let own = own.map(|(name, setting)| (name.to_owned(), setting));
        for (variable, mut setting) in own.into_iter().chain(settings) {
            let Some(text) = value(&variable)? else { continue };
            setting.set(&text).map_err(|error| unfit(&variable, &text, error))?;
        }
        match config.check_all() {
            Ok(()) => Ok(config),
            Err(error) => Err(out_of_bounds(error, value)),
        }
    }

    fn check_all(&self) -> Result<(), ConfigError> {
        self.check_engine()?;
        // Without a ttl the default may not fit, which only matters to a client.
        self.ttl.map_or(Ok(()), |_| self.default_ttl().map(drop))
    }
}

/// The login that two variables give.
fn login(user: Option<String>, password: Option<String>) -> Result<Option<Login>, EnvError> {
    match (user, password) {
        (None, None) => Ok(None),
        (None, Some(password)) => Ok(Some(Login::with_password(password))),
        (Some(user), Some(password)) => Ok(Some(Login::with_user(user, password))),
        (Some(_), None) => Err(EnvError::new(PASSWORD, EnvErrorKind::PasswordMissing)),
    }
}

/// The variable of a setting.
fn variable(setting: &str) -> String {
    format!("{PREFIX}{}", setting.to_ascii_uppercase())
}

fn unfit(variable: &str, value: &str, reason: Unfit) -> EnvError {
    EnvError::new(variable, EnvErrorKind::value(value, reason.to_string()))
}

/// The error of a value out of bounds: the value as it is given, where it is given, and its bounds.
fn out_of_bounds(
    error: ConfigError,
    mut value: impl FnMut(&str) -> Result<Option<String>, EnvError>,
) -> EnvError {
    let name = match &error {
        ConfigError::Duration { what, .. } | ConfigError::Size { what, .. } => *what,
        ConfigError::Quorum { .. } => "quorum",
        ConfigError::Drift { .. } => "drift_step",
        _ => "nodes",
    };
    // `drift.rate_ppm` and `prefix length` are settings of a part and of a whole.
    let name = name.strip_prefix("the default ").unwrap_or(name);
    let name = name.split(' ').next().unwrap_or_default().replace('.', "_");
    let variable = variable(&name);
    let given = value(&variable).ok().flatten();
    match (error.possible(), given) {
        (Some(possible), Some(value)) if name != "prefix" => {
            EnvError::new(&variable, EnvErrorKind::value(&value, possible))
        }
        _ => EnvError::new(&variable, EnvErrorKind::Config(error)),
    }
}

#[cfg(test)]
mod tests;
