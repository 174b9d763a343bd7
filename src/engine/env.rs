//! The configuration from environment variables.

use std::ffi::OsString;

use super::config::{self, Config};
use super::env_error::{EnvError, EnvErrorKind};
use super::env_names::{self, PREFIX};
use crate::net::Address;
use crate::redlock::{ConfigError, Login, Setting, Unfit};
use crate::time::format_duration;

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
    /// `20ms`, `30s`, `1.5m`, `1h`, `forever`. A variable that is absent or empty leaves the
    /// default. Spaces around a value do not count, except in the user, the password and the
    /// prefix.
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
        self.check()?;
        self.redlock.check(self.nodes.len())?;
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
    let (name, bounds) = match &error {
        ConfigError::Duration { what, least, most, .. } => {
            (*what, Some((format_duration(*least), format_duration(*most))))
        }
        ConfigError::Size { what, least, most, .. } => {
            (*what, Some((least.to_string(), most.to_string())))
        }
        ConfigError::Quorum { majority, nodes, .. } => {
            ("quorum", Some((majority.to_string(), nodes.to_string())))
        }
        ConfigError::Drift { .. } => ("drift_step", None),
        _ => ("nodes", None),
    };
    // `drift.rate_ppm` and `prefix length` are settings of a part and of a whole.
    let name = name.strip_prefix("the default ").unwrap_or(name);
    let name = name.split(' ').next().unwrap_or_default().replace('.', "_");
    let variable = variable(&name);
    let given = value(&variable).ok().flatten();
    match (bounds, given) {
        (Some((least, most)), Some(value)) if name != "prefix" => {
            let reason = format!("between {least} and {most} is possible");
            EnvError::new(&variable, EnvErrorKind::value(&value, reason))
        }
        _ => EnvError::new(&variable, EnvErrorKind::Config(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::RestartGuard;
    use core::time::Duration;

    type Vars<'v> = &'v [(&'v str, &'v str)];

    fn config(vars: Vars<'_>) -> Result<Config, EnvError> {
        let value = |name: &str| Some(vars.iter().find(|(known, _)| *known == name)?.1);
        Config::from_vars(value)
    }

    #[test]
    fn every_variable_of_the_table_is_read_and_no_other() {
        let mut asked = Vec::new();
        let lookup = |name: &str| {
            asked.push(name.to_owned());
            (name == NODES).then_some("h")
        };
        let config = Config::from_vars(lookup).expect("one node is enough");
        assert_eq!(
            format!("{config:?}"),
            format!("{:?}", Config::with_addresses(config.nodes.clone()))
        );
        let documented: Vec<_> = include_str!("env.rs")
            .lines()
            .filter(|line| line.starts_with("    /// | `REDBOLT_"))
            .flat_map(|line| line.split('`').filter(|word| word.starts_with(PREFIX)))
            .collect();
        assert_eq!(asked, documented);
        assert_eq!(asked, env_names::SETTINGS);
    }

    #[test]
    fn variables_are_settings_and_empty_ones_are_none() {
        let config = config(&[
            ("REDBOLT_NODES", " a , redis://u:p%2Cq@b:1/2,redis://c/3"),
            ("REDBOLT_USER", "app"),
            ("REDBOLT_PASSWORD", " p@ss,w%rd "),
            ("REDBOLT_QUORUM", "3"),
            ("REDBOLT_MAX_TTL", " 10s\n"),
            ("REDBOLT_TENURE", "forever"),
            ("REDBOLT_RESTART_GUARD", "durable"),
            ("REDBOLT_DRIFT_STEP", "1ms"),
            ("REDBOLT_BUSY_POLL", "50us"),
            ("REDBOLT_PREFIX", " locks:"),
            ("REDBOLT_MAX_HOLD", ""),
            ("REDBOLT_TTL", "5s"),
            ("REDBOLT_WAIT", "forever"),
            ("REDBOLT_THREADS", "64"),
        ]);
        let config = config.expect("all of them can be used");
        let app = Login::with_user("app", " p@ss,w%rd ");
        let logins: Vec<_> = config.nodes.iter().map(|node| node.login().clone()).collect();
        let own = Login::with_user("u", "p,q").in_database(2);
        assert_eq!(logins, [app.clone(), own, app.in_database(3)]);
        assert_eq!(config.busy_poll, Duration::from_micros(50));
        let of_requests = (config.ttl, config.wait, config.threads);
        assert_eq!(of_requests, (Some(Duration::from_secs(5)), Duration::MAX, 64));
        let settings = config.redlock;
        assert_eq!((settings.quorum, settings.max_ttl), (Some(3), Duration::from_secs(10)));
        assert_eq!(
            (settings.tenure, settings.max_hold),
            (Duration::MAX, Duration::from_secs(3600))
        );
        assert_eq!(settings.restart_guard, RestartGuard::Durable);
        assert_eq!(settings.drift.step, Duration::from_millis(1));
        assert_eq!(settings.prefix, b" locks:");
    }

    #[test]
    fn what_cannot_be_used_is_named_and_told_what_can() {
        let rows: [(Vars<'_>, &str); 24] = [
            (&[(NODES, "")], "REDBOLT_NODES is not set"),
            (&[(NODES, "a,b:x")], "REDBOLT_NODES: address 2 of the list, \"b:…\", has a port that"),
            (&[(NODES, "a,b,a")], "REDBOLT_NODES: node a:6379 is given twice"),
            (&[(USER, "u")], "REDBOLT_PASSWORD is not set, but REDBOLT_USER is: a user needs"),
            (
                &[("REDBOLT_MAX_TTL", "soon")],
                "REDBOLT_MAX_TTL is \"soon\", which is not a duration",
            ),
            (&[("REDBOLT_MAX_TTL", "1d")], "REDBOLT_MAX_TTL is \"1d\", whose unit is not one of"),
            (
                &[("REDBOLT_MAX_TTL", "1ms")],
                "REDBOLT_MAX_TTL is \"1ms\", between 10ms and 168h is possible",
            ),
            (
                &[("REDBOLT_MAX_HOLD", "1ms")],
                "REDBOLT_MAX_HOLD is \"1ms\", between 10ms and forever is possible",
            ),
            (&[(BUSY_POLL, "x")], "REDBOLT_BUSY_POLL is \"x\", which is not a duration"),
            (&[("REDBOLT_QUORUM", "2")], "REDBOLT_QUORUM is \"2\", between 1 and 1 is possible"),
            (
                &[("REDBOLT_QUORUM", "two")],
                "REDBOLT_QUORUM is \"two\", a whole number between 1 and 16 is",
            ),
            (
                &[("REDBOLT_MAX_LOCKS", "0")],
                "REDBOLT_MAX_LOCKS is \"0\", between 1 and 16777216 is",
            ),
            (
                &[("REDBOLT_MAX_LOCKS", "99999999999999999999")],
                "REDBOLT_MAX_LOCKS is \"99999999999999999999\", between 1 and 16777216 is",
            ),
            (
                &[("REDBOLT_DRIFT_RATE_PPM", "4294967296")],
                "REDBOLT_DRIFT_RATE_PPM is \"4294967296\", between 0 and 100000 is possible",
            ),
            (&[(TTL, "61s")], "REDBOLT_TTL is \"61s\", between 10ms and 1m is possible"),
            (&[(TTL, "0")], "REDBOLT_TTL is \"0\", between 10ms and 1m is possible"),
            (&[(WAIT, "x")], "REDBOLT_WAIT is \"x\", which is not a duration"),
            (&[(THREADS, "65")], "REDBOLT_THREADS is \"65\", between 1 and 64 is possible"),
            (&[(BUSY_POLL, "1001ms")], "REDBOLT_BUSY_POLL is \"1001ms\", between 0s and 1s is"),
            (
                &[("REDBOLT_DRIFT_RATE_PPM", "100001")],
                "REDBOLT_DRIFT_RATE_PPM is \"100001\", between 0 and 100000 is possible",
            ),
            (&[("REDBOLT_DRIFT_STEP", "60s")], "REDBOLT_DRIFT_STEP: a drift of 60.602s leaves"),
            (
                &[("REDBOLT_NODE_TIMEOUT", "30s")],
                "REDBOLT_CLOSE_TIMEOUT: close_timeout is 5s, betw",
            ),
            (&[("REDBOLT_REPAIR", "yes")], "REDBOLT_REPAIR is \"yes\", true or false is possible"),
            (&[("REDBOLT_RESTART_GUARD", "On")], "REDBOLT_RESTART_GUARD is \"On\", on, strict,"),
        ];
        for (vars, message) in rows {
            let vars = [vars, &[(NODES, "h")]].concat();
            let error = config(&vars).expect_err(message).to_string();
            assert!(error.starts_with(message), "{error}");
        }
        let prefix = "p".repeat(3_000);
        let error = config(&[(NODES, "h"), ("REDBOLT_PREFIX", &prefix)]).expect_err("too long");
        assert_eq!(error.variable(), "REDBOLT_PREFIX");
        assert!(error.to_string().len() < 100, "{error}");
    }

    #[test]
    fn a_value_that_is_not_utf8_is_refused() {
        use std::os::unix::ffi::OsStringExt;
        let bad = |_: &str| Some(OsString::from_vec(b"a:1,\xff".to_vec()));
        let error = Config::from_vars(bad).expect_err("not UTF-8");
        assert_eq!(error.to_string(), "REDBOLT_NODES is not UTF-8");
        assert_eq!(*error.kind(), EnvErrorKind::NotUtf8);
    }

    #[test]
    fn no_error_and_no_debug_shows_a_secret() {
        let long = "secret".repeat(4_000);
        let rows: [Vars<'_>; 8] = [
            (&[(NODES, "redis://:sec,secret@h")]),
            (&[(NODES, "redis://:secret@h;redis://:secret@i")]),
            (&[(NODES, "redis://h?password=secret")]),
            (&[(NODES, "redis://u:secret")]),
            (&[(NODES, "h"), (PASSWORD, &long)]),
            (&[(NODES, "h"), (USER, "secret")]),
            // Somebody has mixed up the names.
            (&[(NODES, "h"), (BUSY_POLL, "redis://:secret@h")]),
            (&[(NODES, "h"), ("REDBOLT_MAX_TTL", "redis://:secret@h")]),
        ];
        for vars in rows {
            let error = config(vars).expect_err("it cannot be used");
            let shown = format!("{error} {error:?} {error:#?}");
            assert!(!shown.contains("sec"), "{shown}");
        }
        let given = [(NODES, "redis://:secret@h,i"), (PASSWORD, "secret")];
        let config = config(&given).expect("it can be used");
        let shown = format!("{config:?} {config:#?}");
        assert!(!shown.contains("secret"), "{shown}");
    }
}
