//! The address of a node: from its parts, or from the usual ways to write one.
//!
//! [`parse`] takes a text apart, [`syntax`] has the words of such a text, and [`error`] says what
//! is wrong without telling secrets. This folder must never look anything up.

use core::fmt;
use core::str::FromStr;

mod error;
mod parse;
#[cfg(feature = "serde")]
mod secret;
#[cfg(feature = "serde")]
mod serde_impl;
mod syntax;

pub use self::error::{AddressError, AddressErrorKind};
#[cfg(feature = "serde")]
pub(crate) use self::secret::Secret;
use crate::redlock::Login;

/// The address of one node: host, TCP port, and login.
///
/// An address is made of its parts by [`new`](Self::new) and [`with_login`](Self::with_login), or
/// parsed from a text. The full form of the text is
/// `redis://[[user]:password@]host[:port][/database]`. The scheme `valkey://` means the same, and
/// the case of the scheme does not matter. The short forms, without a login, are `host`,
/// `host:port`, `ipv6`, `[ipv6]` and `[ipv6]:port`. The default port is 6379, the default database
/// is 0. Spaces around an address do not count.
///
/// In the user and the password of a text, `%` and two hex digits stand for one byte; the decoded
/// text must be UTF-8. The parts need no such encoding. A host has at most 253 bytes. A user and a
/// password have at most [`Login::MAX_LEN`] bytes each, 16 KiB.
///
/// `Display` shows host, port and database, but neither user nor password. `Debug` shows everything
/// but the password.
///
/// ```
/// use redbolt::{Address, Login};
///
/// let parsed: Address = "redis://app:p%40ss%2Fword@db1.internal:7000/3".parse()?;
/// let login = Login::with_user("app", "p@ss/word").in_database(3);
/// let made = Address::new("db1.internal", 7000)?.with_login(login)?;
/// assert_eq!(parsed, made);
/// // The login is not shown.
/// assert_eq!(made.to_string(), "db1.internal:7000/3");
///
/// let address: Address = "[::1]".parse()?;
/// assert_eq!(address.to_string(), "[::1]:6379");
/// # Ok::<(), redbolt::AddressError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    host: String,
    port: u16,
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
        let host = inside.filter(|inner| syntax::is_ipv6(inner)).unwrap_or(text);
        let address = Self { host: host.to_owned(), port, login: Login::default() };
        address.checked()
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

    fn checked(self) -> Result<Self, AddressError> {
        match parse::check(&self.host, self.port, &self.login) {
            Ok(()) => Ok(self),
            Err(kind) => Err(AddressError::new(&self.host, kind)),
        }
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
            has_query |= first.contains('?');
            let error = |kind| AddressError::in_list(first, place, is_part, kind);
            addresses.push(Self::from_parts(parse::parse(first).map_err(error)?));
            rest = others;
        }
        Ok(addresses)
    }

    fn from_parts((host, port, login): (&str, u16, Login)) -> Self {
        Self { host: host.to_owned(), port, login }
    }

    /// Returns the host: a name, or an IP address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the TCP port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the user, the password and the database.
    pub fn login(&self) -> &Login {
        &self.login
    }

    /// Returns `true` if both addresses have the same host and the same port.
    ///
    /// The case of the host does not matter. Login and database do not count, because a server
    /// votes once, not once for each database. Two names of one server count as different here; the
    /// handshake finds such a pair by the server's `run_id` (S10).
    pub fn is_same_server(&self, other: &Self) -> bool {
        self.port == other.port && self.host.eq_ignore_ascii_case(&other.host)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)?;
        } else {
            write!(f, "{}:{}", self.host, self.port)?;
        }
        match self.login.database {
            0 => Ok(()),
            database => write!(f, "/{database}"),
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        let parts = parse::parse(text).map_err(|kind| AddressError::new(text, kind))?;
        Ok(Self::from_parts(parts))
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
