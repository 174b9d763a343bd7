//! The configuration from environment variables, alone or above what another source has said.

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
    /// | `REDBOLT_ASK` | `all` or `majority` |
    /// | `REDBOLT_MAX_TTL` | duration |
    /// | `REDBOLT_RESTART_GUARD` | `on`, `strict`, `durable` or `off` |
    /// | `REDBOLT_MAX_HOLD` | duration |
    /// | `REDBOLT_LOST_LEAD` | duration |
    /// | `REDBOLT_FENCE_SKEW` | duration |
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
    /// | `REDBOLT_LABEL` | bytes |
    /// | `REDBOLT_CONNECTION_NAME` | bytes |
    ///
    /// `REDBOLT_NODES` is needed, and so is `REDBOLT_PASSWORD` where there is a `REDBOLT_USER`.
    /// User and password are taken as they are: nothing is percent-encoded. All other variables are
    /// called after a field of [`RedlockConfig`](crate::RedlockConfig), of
    /// [`Drift`](crate::Drift) or of this type, where their meaning and their defaults are
    /// documented.
    ///
    /// A duration is written as [`parse_duration`](crate::time::parse_duration) reads it: `250us`,
    /// `20ms`, `30s`, `1.5m`, `1h`, `7d`, `forever`. Only a zero may lack its unit. A variable that
    /// is absent or empty leaves the default. Spaces around a value do not count, except in the
    /// user, the password and the prefix.
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
    /// [`check_names`](Self::check_names) has the exceptions. `REDBOLT_CONFIG` and
    /// `REDBOLT_PASSWORD_FILE`, the files of the command line, are refused, because this function
    /// does not read them: a prefix or a quorum may stand there. A program that reads them by
    /// itself calls [`apply_env`](Self::apply_env).
    pub fn from_env() -> Result<Self, EnvError> {
        Self::check_names(std::env::vars_os().map(|(name, _)| name))?;
        Self::refuse_files(|name| std::env::var_os(name))?;
        Self::from_vars(|name| std::env::var_os(name))
    }

    /// Checks that each of these names is one of the table of [`from_env`](Self::from_env), if the
    /// name begins with `REDBOLT_`. A misspelt name would leave a default in force, and clients
    /// with different quorums or longest ttls do not exclude each other.
    ///
    /// Some names are left alone: `REDBOLT_RESOURCE`, `REDBOLT_TOKEN` and `REDBOLT_FENCE`, which
    /// `redbolt exec` sets for its command; those that only the command line reads, such as
    /// `REDBOLT_CONFLICT_EXIT_CODE`; those of the tests of redbolt itself, which begin with
    /// `REDBOLT_TEST_`, `REDBOLT_SIM_`, `REDBOLT_JEPSEN_` or `REDBOLT_MSRV_`; and those with a word
    /// `PORT` or `SERVICE`, which Kubernetes sets in its containers where a service is called
    /// `redbolt`.
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
    /// setting that is most like it, or with all names where none is like it.
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

    /// Refuses the variables that name files: only the command line reads these files.
    fn refuse_files(lookup: impl Fn(&str) -> Option<OsString>) -> Result<(), EnvError> {
        let is_set = |name: &&str| lookup(name).is_some_and(|value| !value.is_empty());
        let file = env_names::FILES.into_iter().find(is_set);
        file.map_or(Ok(()), |name| Err(EnvError::new(name, EnvErrorKind::File)))
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
        lookup: impl FnMut(&str) -> Option<V>,
    ) -> Result<Self, EnvError> {
        let mut config = Self::with_addresses([]);
        config.apply_vars(lookup)?;
        Ok(config)
    }

    /// Lets the variables of this process override this configuration, such as one from a file.
    /// They are those of [`from_env`](Self::from_env); what no variable names stays as it is.
    ///
    /// `REDBOLT_NODES` takes the place of all nodes. A file with `nodes = []` leaves the nodes to
    /// this variable.
    ///
    /// `REDBOLT_USER` and `REDBOLT_PASSWORD` take the place of `user` and `password` in a file.
    /// They are for the nodes without a login, and for those whose login is the `user` and
    /// `password` of the file. A node that was given with another login keeps it. A file with a
    /// `user` has a `password` as well: where only the environment knows the password, the user
    /// belongs there too.
    ///
    /// ```
    /// use redbolt::Config;
    ///
    /// # #[cfg(feature = "serde")] {
    /// let file = "nodes = 'db1,db2,db3'\npassword = 'old'\nwait = '2s'";
    /// let config = toml::from_str::<Config>(file);
    /// let mut config = config.map_err(|error| error.message().to_owned())?;
    /// // A program calls `config.apply_env()?`.
    /// config.apply_vars(|name| match name {
    ///     "REDBOLT_PASSWORD" => Some("new"),
    ///     "REDBOLT_WAIT" => Some("5s"),
    ///     _ => None,
    /// })?;
    /// assert_eq!(config.wait.as_secs(), 5);
    /// assert_eq!(config.nodes[2].login().password.as_deref(), Some("new"));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an [`EnvError`] as [`from_env`](Self::from_env) does, and changes nothing then. All
    /// bounds are checked, also those of settings that the file has set: the error names the
    /// variable that would set them.
    pub fn apply_env(&mut self) -> Result<(), EnvError> {
        Self::check_names(std::env::vars_os().map(|(name, _)| name))?;
        self.apply_vars(|name| std::env::var_os(name))
    }

    /// Overrides this configuration as [`apply_env`](Self::apply_env) does, by variables that
    /// `lookup` returns: for tests, and for other places that have values by name.
    ///
    /// # Errors
    ///
    /// Returns an [`EnvError`] as [`apply_env`](Self::apply_env) does.
    pub fn apply_vars<V: Into<OsString>>(
        &mut self,
        mut lookup: impl FnMut(&str) -> Option<V>,
    ) -> Result<(), EnvError> {
        let mut value = |name: &str| match lookup(name).map(Into::into) {
            None => Ok(None),
            Some(value) => match value.into_string() {
                Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
                Err(_) => Err(EnvError::new(name, EnvErrorKind::NotUtf8)),
            },
        };
        let mut config = self.clone();
        config.apply_nodes(&mut value)?;
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
        config.check_all().map_err(|error| out_of_bounds(error, value))?;
        *self = config;
        Ok(())
    }

    /// Sets the nodes and their logins.
    fn apply_nodes(
        &mut self,
        value: &mut impl FnMut(&str) -> Result<Option<String>, EnvError>,
    ) -> Result<(), EnvError> {
        let nodes = value(NODES)?;
        if let Some(nodes) = &nodes {
            let nodes = Address::parse_list(nodes);
            let wrong = |error| EnvError::new(NODES, EnvErrorKind::Address(error));
            self.nodes = nodes.map_err(wrong)?;
        }
        if self.nodes.is_empty() {
            return Err(EnvError::new(NODES, EnvErrorKind::Missing));
        }
        let (user, password) = (value(USER)?, value(PASSWORD)?);
        if nodes.is_none() && user.is_none() && password.is_none() {
            return Ok(());
        }
        // What was there before has been checked where it was read.
        let is_user = user.as_ref().is_some_and(|user| user.len() > Login::MAX_LEN);
        let source = if is_user { USER } else { PASSWORD };
        let mut login = self.common_login.clone();
        login.username = user.or(login.username);
        login.password = password.or(login.password);
        if login.username.is_some() && login.password.is_none() {
            return Err(EnvError::new(PASSWORD, EnvErrorKind::PasswordMissing));
        }
        let wrong = |error| EnvError::new(source, EnvErrorKind::Address(error));
        self.log_in(login).map_err(wrong)
    }

    fn check_all(&self) -> Result<(), ConfigError> {
        self.check_engine()?;
        // Without a ttl the default may not fit, which only matters to a client.
        self.ttl.map_or(Ok(()), |_| self.default_ttl().map(drop))
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
        ConfigError::Duration { what, .. }
        | ConfigError::Length { what, .. }
        | ConfigError::Size { what, .. } => *what,
        ConfigError::Quorum { .. } => "quorum",
        ConfigError::Drift { .. } => "drift_step",
        ConfigError::ReservedPrefix => "prefix",
        ConfigError::UnguardedMajority => "ask",
        ConfigError::ConnectionName => "connection_name",
        _ => "nodes",
    };
    // `drift.rate_ppm` is a setting of a part.
    let name = name.strip_prefix("the default ").unwrap_or(name).replace('.', "_");
    let variable = variable(&name);
    let given = value(&variable).ok().flatten();
    match (error.possible(), given) {
        // A text that is too long is not repeated.
        (Some(possible), Some(value)) if !matches!(error, ConfigError::Length { .. }) => {
            EnvError::new(&variable, EnvErrorKind::value(&value, possible))
        }
        _ => EnvError::new(&variable, EnvErrorKind::Config(error)),
    }
}

#[cfg(test)]
mod tests;
