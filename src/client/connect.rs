//! From a [`ClientBuilder`] to a [`Client`].

use core::time::Duration;

use super::builder::ClientBuilder;
use super::client::Client;
use super::ready::ConnectError;
use super::shared::Defaults;
use crate::engine::EngineError;

impl ClientBuilder {
    /// Creates the client, which connects to its nodes in the background.
    ///
    /// # Errors
    ///
    /// An [`EngineError`]: an address cannot be parsed, a setting or the default ttl is out of
    /// bounds ([`Config::check`](crate::Config::check) finds the same), or the system does not
    /// provide what the engine needs.
    pub fn build(self) -> Result<Client, EngineError> {
        let config = self.config?;
        config.check()?;
        let (ttl, max_hold) = (config.default_ttl()?, config.redlock.max_hold);
        let defaults = Defaults { ttl, wait: config.wait, max_hold };
        Client::start(&config, defaults)
    }

    /// Creates the client, and waits until a quorum of its nodes votes: see
    /// [`Client::ready`].
    ///
    /// # Errors
    ///
    /// A [`ConnectError`]: the client could not be created, or `timeout` was over before a quorum
    /// of nodes voted. The client is dropped then.
    pub async fn connect(self, timeout: Duration) -> Result<Client, ConnectError> {
        let client = self.build().map_err(ConnectError::Engine)?;
        client.ready(timeout).await.map_err(ConnectError::Ready)?;
        Ok(client)
    }

    /// As [`connect`](Self::connect), for a thread, which is blocked meanwhile.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    #[track_caller]
    pub fn blocking_connect(self, timeout: Duration) -> Result<Client, ConnectError> {
        let client = self.build().map_err(ConnectError::Engine)?;
        client.ready(timeout).blocking_wait().map_err(ConnectError::Ready)?;
        Ok(client)
    }
}
