//! The address of a node: from its parts, or from the usual ways to write one.
//!
//! [`parse`] and [`query`] take a text apart, [`syntax`] and [`encoding`] have the words of such a
//! text, [`show`] writes one, and [`error`] says what is wrong without telling secrets. This folder
//! must never look anything up.

use core::str::FromStr;

mod encoding;
mod error;
mod parse;
mod place;
mod query;
#[cfg(feature = "serde")]
mod secret;
#[cfg(feature = "serde")]
mod serde_impl;
mod show;
mod syntax;
mod tls;

pub use self::error::{AddressError, AddressErrorKind};
pub(crate) use self::place::Place;
#[cfg(feature = "serde")]
pub(crate) use self::secret::Secret;
pub use self::tls::Tls;
use crate::redlock::Login;

/// The address of one node: host and TCP port, or the path of a Unix socket, and the login.
///
/// An address is made of its parts by [`new`](Self::new) or [`unix`](Self::unix), and
/// [`with_login`](Self::with_login), or parsed from a text. The full forms of the text are
///
/// * `redis://[[user]:password@]host[:port][/database]`. The scheme `valkey://` means the same. The
///   short forms, without a login, are `host`, `host:port`, `ipv6`, `[ipv6]` and `[ipv6]:port`. The
///   default port is 6379.
/// * `rediss://[[user]:password@]host[:port][/database][?settings]`, for a server that speaks TLS.
///   The settings are those of [`Tls`], none of which is needed:
///   `ca=FILE&cert=FILE&key=FILE&server_name=NAME`. The scheme `valkeys://` means the same.
/// * `unix://[[user]:password@]/path[?db=database]`, for a server that listens to a Unix socket.
///   The scheme `redis+unix://` means the same. The login can stand in the query instead, as
///   `user=…&password=…`; `username` and `pass` mean the same.
///
/// A link-local address has a zone, the name or the number of an interface: `[fe80::1%eth0]`, or
/// `redis://[fe80::1%25eth0]:6379`. A name and a zone are looked up anew for each connection, and
/// all addresses of a name are tried.
///
/// The default database is 0. The case of the scheme does not matter, and spaces around an address
/// do not count.
///
/// In the user, the password, the path and the query of a text, `%` and two hex digits stand for
/// one byte; the decoded text must be UTF-8. The parts need no such encoding. A host has at most
/// 253 bytes, a path as many as the operating system allows: 107 on Linux. A user and a password
/// have at most [`Login::MAX_LEN`] bytes each, 16 KiB.
///
/// `Display` shows host and port, with `rediss://` in front for TLS, or the path, and the database,
/// but neither user nor password nor files.
/// `Debug` shows everything but the password.
///
/// ```
/// use redbolt::{Address, Login};
///
/// let parsed: Address = "redis://app:p%40ss%2Fword@db1.internal:7000/3".parse()?;
/// let login = Login::with_user("app", "p@ss/word").in_database(3);
/// let made = Address::new("db1.internal", 7000)?.with_login(login.clone())?;
/// assert_eq!(parsed, made);
/// // The login is not shown.
/// assert_eq!(made.to_string(), "db1.internal:7000/3");
///
/// let parsed: Address = "unix://app:p%40ss%2Fword@/run/redis.sock?db=3".parse()?;
/// assert_eq!(parsed, Address::unix("/run/redis.sock")?.with_login(login)?);
/// assert_eq!(parsed.to_string(), "unix:///run/redis.sock?db=3");
///
/// let address: Address = "[::1]".parse()?;
/// assert_eq!(address.to_string(), "[::1]:6379");
/// # Ok::<(), redbolt::AddressError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    place: Place,
    login: Login,
}

impl Address {
    /// Creates the address of a node without a login. The host is a name or an IP address, with or
    /// without brackets.
    ///
    /// # Errors
    ///
    /// Returns an [`AddressError`] if the host is empty, has more than 253 bytes or a character
    /// that no host has, or if the port is 0.
    pub fn new(host: impl AsRef<str>, port: u16) -> Result<Self, AddressError> {
        let text = host.as_ref().trim();
        let inside = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
        let host = inside.filter(|inner| syntax::is_ipv6_host(inner)).unwrap_or(text);
        let place = Place::Host { host: host.to_owned(), port, tls: None };
        Self { place, login: Login::default() }.checked()
    }

    /// Creates the address of a node that listens to a Unix socket, without a login. The path is
    /// taken as it is: nothing is percent-encoded.
    ///
    /// # Errors
    ///
    /// Returns an [`AddressError`] if the path does not begin with a slash, has a zero byte in it,
    /// or is longer than the operating system allows: 107 bytes on Linux.
    pub fn unix(path: impl Into<String>) -> Result<Self, AddressError> {
        let place = Place::Unix { path: path.into() };
        Self { place, login: Login::default() }.checked()
    }

    /// Sets the user, the password and the database. They are taken as they are: nothing is
    /// percent-encoded.
    ///
    /// # Errors
    ///
    /// Returns an [`AddressError`] if the user or the password is longer than [`Login::MAX_LEN`],
    /// or if there is a user without a password.
    pub fn with_login(self, login: Login) -> Result<Self, AddressError> {
        Self { login, ..self }.checked()
    }

    /// Has TLS spoken with the node.
    ///
    /// # Errors
    ///
    /// Returns an [`AddressError`] if there is a certificate without its key or the reverse, if no
    /// certificate can be for the host or the name of the server, if the node listens to a Unix
    /// socket, or if the crate is built without the feature `tls`.
    pub fn with_tls(mut self, tls: Tls) -> Result<Self, AddressError> {
        match &mut self.place {
            Place::Host { tls: place, .. } => *place = Some(Box::new(tls)),
            Place::Unix { path } => {
                return Err(AddressError::of_path(path, AddressErrorKind::TlsOverUnix));
            }
        }
        self.checked()
    }

    fn checked(self) -> Result<Self, AddressError> {
        parse::check(&self.place, &self.login).map_err(|kind| match &self.place {
            Place::Host { host, .. } => AddressError::new(host, kind),
            Place::Unix { path } => AddressError::of_path(path, kind),
        })?;
        Ok(self)
    }

    /// Parses a list of addresses, separated by commas. A comma in a password is written `%2C`.
    ///
    /// ```
    /// use redbolt::{Address, Config};
    ///
    /// let nodes = Address::parse_list("10.0.0.1, 10.0.0.2, redis://:a%2Cb@10.0.0.3:7000")?;
    /// assert_eq!(nodes[2].login().password.as_deref(), Some("a,b"));
    /// let config = Config::with_addresses(nodes);
    /// # Ok::<(), redbolt::AddressError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an [`AddressError`] for the first address that cannot be parsed, with its place in
    /// the list. The error shows no piece of a password that has a comma in it.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, AddressError> {
        let mut addresses = Vec::new();
        let (mut rest, mut has_query) = (Some(text), false);
        while let Some(list) = rest {
            let (first, others) = match list.split_once(',') {
                Some((first, others)) => (first.trim(), Some(others)),
                None => (list.trim(), None),
            };
            let place = addresses.len() + 1;
            let is_part = others.is_some_and(|others| others.contains('@')) || has_query;
            has_query |= !query::tells_no_login(first);
            let error = |kind| AddressError::in_list(first, place, is_part, kind);
            addresses.push(Self::from_parts(parse::parse(first).map_err(error)?));
            rest = others;
        }
        Ok(addresses)
    }

    fn from_parts((place, login): (Place, Login)) -> Self {
        Self { place, login }
    }

    /// Returns the host: a name, or an IP address without brackets; `None` for a Unix socket.
    pub fn host(&self) -> Option<&str> {
        match &self.place {
            Place::Host { host, .. } => Some(host),
            Place::Unix { .. } => None,
        }
    }

    /// Returns the TCP port; `None` for a Unix socket.
    pub fn port(&self) -> Option<u16> {
        match self.place {
            Place::Host { port, .. } => Some(port),
            Place::Unix { .. } => None,
        }
    }

    /// Returns the path of the Unix socket, if there is one.
    pub fn path(&self) -> Option<&str> {
        match &self.place {
            Place::Host { .. } => None,
            Place::Unix { path } => Some(path),
        }
    }

    /// Returns how TLS is spoken with the node, if it is.
    pub fn tls(&self) -> Option<&Tls> {
        match &self.place {
            Place::Host { tls, .. } => tls.as_deref(),
            Place::Unix { .. } => None,
        }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the user, the password and the database.
    pub fn login(&self) -> &Login {
        &self.login
    }

    /// Returns the name by which all clients sort nodes ([`Ask::Majority`](crate::Ask::Majority)):
    /// the host in small letters and the port, or the path.
    pub(crate) fn name(&self) -> String {
        self.place.name()
    }

    /// Returns `true` if both addresses have the same host and the same port, or the same path.
    ///
    /// The case of the host does not matter. Login and database do not count, because a server
    /// votes once, not once for each database. Two names of one server count as different here; the
    /// handshake finds such a pair by the server's `run_id` (S10).
    pub fn is_same_server(&self, other: &Self) -> bool {
        self.place.is_same(&other.place)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        let error = |kind| AddressError::new(text, kind);
        Ok(Self::from_parts(parse::parse(text).map_err(error)?))
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
