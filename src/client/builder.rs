//! [`ClientBuilder`], the settings of a client and the defaults of its requests.

use core::time::Duration;

use crate::engine::Config;
use crate::net::AddressError;
use crate::redlock::RestartGuard;

/// A client to be, with its settings.
///
/// ```no_run
/// # async fn connect() -> Result<(), redbolt::ConnectError> {
/// use redbolt::Client;
/// use std::time::Duration;
///
/// let client = Client::builder(["10.0.0.1", "10.0.0.2", "10.0.0.3"])
///     .ttl(Duration::from_secs(5))
///     .wait(Duration::from_secs(2))
///     .connect(Duration::from_secs(3))
///     .await?;
/// # drop(client);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "there is no client before `build` or `connect`"]
pub struct ClientBuilder {
    pub(super) config: Result<Config, AddressError>,
}

impl ClientBuilder {
    pub(super) fn new(config: Result<Config, AddressError>) -> Self {
        Self { config }
    }

    /// Sets the ttl of requests that name none. Default: 10 s, or the configured `max_ttl` if that
    /// is less. At least [`shortest_ttl`](crate::RedlockConfig::shortest_ttl), at most `max_ttl`.
    pub fn ttl(self, ttl: Duration) -> Self {
        self.configure(|config| config.ttl = Some(ttl))
    }

    /// Sets how long requests wait that name no time. Default: zero, which is one attempt.
    pub fn wait(self, wait: Duration) -> Self {
        self.configure(|config| config.wait = wait)
    }

    /// Sets the number of threads, from 1 to 64. Each has an engine and connections of its own, and
    /// they share nothing. Default: 1.
    ///
    /// Requests for one resource always go to the same thread, and wait there in one line; the
    /// stripe of the key decides ([`Division`](crate::Division)). A lock on several resources goes
    /// by the first of them by bytes. Where locks on different threads overlap, the nodes keep them
    /// apart, as they do for two clients: then nobody stands in line, and requests with a wait try
    /// again after a pause.
    ///
    /// One thread is enough until its processor is busy all the time. Each further thread adds a
    /// connection to every node. PERFORMANCE.md has the figures.
    pub fn threads(self, threads: usize) -> Self {
        self.configure(|config| config.threads = threads)
    }

    /// Sets when a node that may have forgotten locks votes again. See [`RestartGuard`].
    pub fn restart_guard(self, guard: RestartGuard) -> Self {
        self.configure(|config| config.redlock.restart_guard = guard)
    }

    /// Sets the longest ttl of any lock. All clients of the same nodes must agree on it.
    pub fn max_ttl(self, max_ttl: Duration) -> Self {
        self.configure(|config| config.redlock.max_ttl = max_ttl)
    }

    /// Sets the prefix that stands before every resource to make the key. All clients that exclude
    /// each other must agree on it.
    pub fn prefix(self, prefix: impl Into<Vec<u8>>) -> Self {
        let prefix = prefix.into();
        self.configure(|config| config.redlock.prefix = prefix)
    }

    /// Sets the label by which `redbolt who` shows the locks of this client, behind the name of the
    /// machine and the number of the process. Anybody who may read the nodes can read the label.
    pub fn label(self, label: impl Into<Vec<u8>>) -> Self {
        let label = label.into();
        self.configure(|config| config.redlock.label = label)
    }

    /// Changes any other setting.
    ///
    /// ```no_run
    /// let client = redbolt::Client::builder(["10.0.0.1", "10.0.0.2", "10.0.0.3"])
    ///     .configure(|config| config.redlock.quorum = Some(3))
    ///     .build()?;
    /// # drop(client);
    /// # Ok::<(), redbolt::EngineError>(())
    /// ```
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        if let Ok(config) = &mut self.config {
            change(config);
        }
        self
    }
}

impl Config {
    /// Starts the settings of a client with this configuration: one from the environment or from a
    /// file, or one whose nodes are an [`Address`](crate::Address) each.
    ///
    /// ```no_run
    /// use redbolt::{Address, Config};
    /// use std::time::Duration;
    ///
    /// let nodes = ["db1", "db2", "db3"].map(|host| Address::new(host, 7000));
    /// let nodes = nodes.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// let builder = Config::with_addresses(nodes).into_builder();
    /// let client = builder.wait(Duration::from_secs(2)).build()?;
    /// # drop(client);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_builder(self) -> ClientBuilder {
        self.into()
    }
}

impl From<Config> for ClientBuilder {
    fn from(config: Config) -> Self {
        Self::new(Ok(config))
    }
}
