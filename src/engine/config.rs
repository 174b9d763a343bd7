//! The configuration of an engine, and the errors of its creation.

use core::fmt;
use core::time::Duration;
use std::io;

use crate::net::{Address, AddressError, Credentials};
use crate::redlock::{ConfigError, Login, Quorum, RedlockConfig};

/// How long a lock lasts whose request names no ttl, where `max_ttl` allows it.
const DEFAULT_TTL: Duration = Duration::from_secs(10);

/// The least and the most threads of a client.
pub(super) const THREADS: [usize; 2] = [1, Config::MAX_THREADS];

/// The configuration of an [`Engine`](super::Engine) or a [`Client`](crate::Client): the nodes, how
/// they are reached, and in [`redlock`](Self::redlock) the settings of the algorithm.
///
/// This is the configuration of everything that connects. A [`RedlockConfig`] is a part of this
/// type. Alone, a `RedlockConfig` is for those who drive the state machine
/// [`Redlock`](crate::redlock::Redlock) themselves.
/// [`Client::builder`](crate::Client::builder) makes a `Config` from addresses, and
/// [`into_builder`](Self::into_builder) goes on from a `Config` to a client.
///
/// ```
/// use redbolt::Config;
/// use std::time::Duration;
///
/// let mut config = Config::new(["10.0.0.1", "10.0.0.2", "redis://:secret@10.0.0.3:7000"])?;
/// config.redlock.max_ttl = Duration::from_secs(10);
/// config.busy_poll = Duration::from_micros(50);
/// # Ok::<(), redbolt::AddressError>(())
/// ```
///
/// [`Config::from_env`] reads a configuration from environment variables, and
/// [`apply_env`](Self::apply_env) lets them override one that is there. The defaults of requests
/// (`ttl`, `wait`) and the number of threads are for clients; an engine does not look at them.
///
/// # Configuration files
///
/// With the feature `serde`, a configuration is read from and written to every format with names:
/// JSON, TOML, YAML and others. It is one map. The names in the map are those of the variables of
/// [`Config::from_env`], in small letters and without `redbolt_`. Only `nodes` is needed; names
/// that are missing leave the default, and names that are unknown are refused.
///
/// ```toml
/// nodes = ["db1", "redis://:secret@db2:7000/3", { host = "db3", password = "p@ss" }]
/// user = "locks"          # the login to the nodes that are given without one
/// password = "p@ss/word"
/// max_ttl = "10s"         # a duration, with its unit
/// max_hold = "forever"    # where a duration may be endless
/// ttl = "5s"              # the ttl of requests that name none
/// wait = "2s"
/// restart_guard = "strict"
/// prefix = "locks:"       # a text, or a list of bytes
/// ```
///
/// ```
/// use redbolt::Config;
///
/// # #[cfg(feature = "serde")] {
/// /// Returns the configuration, or the line that is wrong and why.
/// fn read(file: &str) -> Result<Config, String> {
///     toml::from_str(file).map_err(|error| {
///         let start = error.span().map_or(0, |span| span.start);
///         let line = 1 + file.bytes().take(start).filter(|byte| *byte == b'\n').count();
///         format!("line {line}: {}", error.message())
///     })
/// }
///
/// let file = "nodes = 'db1,db2'\npassword = 'secret'\nmax_locks = 0\n";
/// assert!(read(file).unwrap_err().starts_with("line 3: "));
/// # }
/// ```
///
/// Do not pass on the error of `toml` itself. Its `Debug`, which is printed where `main` returns
/// the error, has the whole file, all passwords included. Its `Display` quotes the line that is
/// wrong, which may have one. Its `message` has neither.
///
/// `nodes` is a list, or one text as [`Address::parse_list`] reads it: `nodes = "db1,db2,db3"`. A
/// node of the list is a text as [`Address`] reads it, or a map of `host` and `port` or `path`, of
/// `user`, `password` and `database`, and for TLS `tls = true` or some of `ca`, `cert`, `key` and
/// `server_name`. Bounds are checked by [`check`](Self::check) and when an
/// engine or a client is created; those of numbers already when they are read. Numbers, `true` and
/// `false` may be texts, as crates have them that put files and variables together. A user and a
/// password are always texts: as a number, `007` would have lost its zeros.
///
/// [`apply_env`](Self::apply_env) lets variables override what a file says: the password of a
/// cluster, or the wait of one process.
///
/// The command line reads the same file by `--config`. A few names are its own, such as
/// `password_file` and `conflict_exit_code`; a file for services as well does without them.
///
/// A login is read but never written. In its place stands `…`, as in `redis://…@db2:7000/3`,
/// which is refused when it is read again: a configuration that has lost its passwords must not
/// pass for one that needs none. [`credentials`](Self::credentials) are not written at all.
///
/// What this crate says of a wrong configuration shows neither the user nor the password of an
/// address, wherever the address stands, nor the value of `user` and `password`. The value of
/// another setting, and a name that is none of a setting, are shown unless they look like an
/// address: with an `@`, a `:` or a `/` in them. So **a bare password in the wrong setting is
/// shown**, up to 32 characters of it. What a format adds to the error is its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The nodes: at least one, at most [`MAX_NODES`](crate::redlock::MAX_NODES), and no two with
    /// the same host and port. A name is looked up anew for each connection, and all addresses of
    /// the name are tried: the next one at once where nobody listens, and a moment later where
    /// nobody answers.
    pub nodes: Vec<Address>,
    /// The settings of the algorithm.
    pub redlock: RedlockConfig,
    /// How long [`Engine::poll`](super::Engine::poll) looks for replies without sleeping, before it
    /// sleeps. Busy polling saves the time of a wake-up, and keeps one processor busy. At most
    /// [`MAX_BUSY_POLL`](Self::MAX_BUSY_POLL). Default: zero.
    pub busy_poll: Duration,
    /// The logins of new connections, in the place of those in `nodes`. Default: `None`.
    pub credentials: Option<Credentials>,
    /// The ttl of requests to a client that name none, from
    /// [`shortest_ttl`](RedlockConfig::shortest_ttl) to `max_ttl`. `None`, the default, stands for
    /// 10 s, or for `max_ttl` if that is less.
    pub ttl: Option<Duration>,
    /// How long requests to a client wait that name no time. Default: zero, which is one attempt.
    pub wait: Duration,
    /// The number of threads of a client, from 1 to [`MAX_THREADS`](Self::MAX_THREADS). Each has an
    /// engine and connections of its own, and they divide the resources
    /// ([`division`](Self::division)). Default: 1.
    pub threads: usize,
    /// The user and the password for the nodes that were given without a login. They have it in
    /// `nodes` already; by this copy, a variable can take its place.
    pub(super) common_login: Login,
}

impl Config {
    /// The longest [`busy_poll`](Self::busy_poll): one second. With a longer one, an engine that
    /// waits for replies would never sleep.
    pub const MAX_BUSY_POLL: Duration = Duration::from_secs(1);

    /// The largest number of [`threads`](Self::threads) of a client.
    pub const MAX_THREADS: usize = 64;

    /// Creates a configuration with these nodes and the default settings. [`Address`] lists the
    /// ways to write a node.
    ///
    /// # Errors
    ///
    /// Returns an [`AddressError`] for the first address that cannot be parsed.
    pub fn new<I>(nodes: I) -> Result<Self, AddressError>
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let nodes: Result<Vec<_>, _> =
            nodes.into_iter().map(|node| node.as_ref().parse()).collect();
        nodes.map(Self::with_addresses)
    }

    /// Creates a configuration with nodes that are addresses already, and the default settings.
    ///
    /// ```
    /// use redbolt::{Address, Config, Login};
    ///
    /// let login = Login::with_user("locks", "p@ss/word");
    /// let node = Address::new("db1.internal", 6379)?.with_login(login)?;
    /// let config = Config::with_addresses([node]);
    /// # Ok::<(), redbolt::AddressError>(())
    /// ```
    pub fn with_addresses(nodes: impl IntoIterator<Item = Address>) -> Self {
        let nodes = nodes.into_iter().collect();
        let redlock = RedlockConfig::default();
        let (busy_poll, wait) = (Duration::ZERO, Duration::ZERO);
        let common_login = Login::default();
        Self {
            nodes,
            redlock,
            busy_poll,
            credentials: None,
            ttl: None,
            wait,
            threads: 1,
            common_login,
        }
    }

    /// Gives this login to the nodes that have none, or that have the one which was given in this
    /// way before. Their databases stay.
    pub(super) fn log_in(&mut self, login: Login) -> Result<(), AddressError> {
        for node in &mut self.nodes {
            let database = node.login().database;
            let former = self.common_login.clone().in_database(database);
            if !node.login().has_auth() || *node.login() == former {
                *node = node.clone().with_login(login.clone().in_database(database))?;
            }
        }
        self.common_login = login;
        Ok(())
    }

    /// Checks every bound that the creation of a client checks, and returns the quorum. Nothing is
    /// started, connected or looked up, so that a service can look at a configuration before it
    /// gives up the one it runs with.
    ///
    /// ```
    /// use redbolt::Config;
    /// use std::time::Duration;
    ///
    /// let mut config = Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?;
    /// assert_eq!(config.check()?.need(), 2);
    /// config.redlock.max_ttl = Duration::from_millis(5);
    /// let error = config.check().unwrap_err();
    /// assert_eq!(error.to_string(), "max_ttl is 5ms, between 10ms and 168h is possible");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// What passes can still fail where the system provides no thread, descriptor or entropy, and
    /// nothing is said of the nodes. An [`Engine`](super::Engine) does not look at `ttl`; all other
    /// bounds are those of an engine as well.
    ///
    /// # Errors
    ///
    /// Returns a [`ConfigError`] that names the first setting out of bounds, and what is possible,
    /// or the node that is given twice.
    pub fn check(&self) -> Result<Quorum, ConfigError> {
        let quorum = self.check_engine()?;
        self.default_ttl()?;
        Ok(quorum)
    }

    /// Checks what an engine needs: everything but the ttl of requests that name none.
    pub(crate) fn check_engine(&self) -> Result<Quorum, ConfigError> {
        for (index, node) in self.nodes.iter().enumerate() {
            if self.nodes[..index].iter().any(|other| node.is_same_server(other)) {
                return Err(ConfigError::EqualNodes { name: node.to_string() });
            }
        }
        let (value, least, most) = (self.busy_poll, Duration::ZERO, Self::MAX_BUSY_POLL);
        if value > most {
            return Err(ConfigError::Duration { what: "busy_poll", value, least, most });
        }
        let [least, most] = THREADS;
        if !(least..=most).contains(&self.threads) {
            let (what, value) = ("threads", self.threads);
            return Err(ConfigError::Size { what, value, least, most });
        }
        self.redlock.check(self.nodes.len())
    }

    /// Returns the ttl of requests that name none. The settings of the algorithm must have been
    /// checked: bounds that are no bounds say nothing of the ttl.
    pub(crate) fn default_ttl(&self) -> Result<Duration, ConfigError> {
        let (least, most) = (self.redlock.shortest_ttl(), self.redlock.max_ttl);
        let ttl = self.ttl.unwrap_or_else(|| DEFAULT_TTL.min(most));
        if ttl < least || ttl > most {
            let (what, value) = ("the default ttl", ttl);
            return Err(ConfigError::Duration { what, value, least, most });
        }
        Ok(ttl)
    }
}

/// The error returned when an engine cannot be created.
#[non_exhaustive]
pub enum EngineError {
    /// The address of a node cannot be parsed.
    Address(AddressError),
    /// A setting is out of bounds, or a node is given twice.
    Config(ConfigError),
    /// A system call that the engine needs has failed.
    Io(io::Error),
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => error.fmt(f),
            Self::Config(error) => error.fmt(f),
            Self::Io(error) => write!(f, "the system cannot run an engine: {error}"),
        }
    }
}

/// Prints what `Display` writes: `fn main` that returns the error shows this.
impl fmt::Debug for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EngineError({self})")
    }
}

impl core::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            // `Display` already shows this error, so the chain goes on with its source.
            Self::Address(error) => error.source(),
            Self::Config(error) => error.source(),
            Self::Io(error) => Some(error),
        }
    }
}

impl From<AddressError> for EngineError {
    fn from(error: AddressError) -> Self {
        Self::Address(error)
    }
}

impl From<ConfigError> for EngineError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<io::Error> for EngineError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
