//! The address of a node, parsed from the usual spellings.

use core::fmt;
use core::str::FromStr;

use crate::redlock::Login;

const DEFAULT_PORT: u16 = 6379;

/// The maximum length of an address in bytes.
const MAX_LEN: usize = 1024;

/// The address of one node: host, TCP port, and login.
///
/// The full form is `redis://[[user]:password@]host[:port][/database]`. The scheme `valkey://`
/// means the same. The short forms, without a login, are `host`, `host:port`, `ipv6`, `[ipv6]` and
/// `[ipv6]:port`. The default port is 6379, the default database is 0. In user and password, `%`
/// and two hex digits stand for one byte; the decoded text must be UTF-8. An address has at most
/// 1024 bytes.
///
/// `Display` shows host, port and database, but neither user nor password.
///
/// ```
/// use redbolt::Address;
///
/// let address: Address = "redis://:secret@db1.internal:7000/3".parse()?;
/// assert_eq!(address.host(), "db1.internal");
/// assert_eq!(address.port(), 7000);
/// assert_eq!(address.login().database, 3);
/// // The password is not shown.
/// assert_eq!(address.to_string(), "db1.internal:7000/3");
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
        parse(text).map_err(|what| AddressError { address: without_login(text), what })
    }
}

fn parse(text: &str) -> Result<Address, &'static str> {
    if text.len() > MAX_LEN {
        return Err("is longer than 1024 bytes");
    }
    let (rest, is_url) = match text.split_once("://") {
        Some(("redis" | "valkey", rest)) => (rest, true),
        Some(("rediss" | "valkeys", _)) => return Err("asks for TLS, which is not supported yet"),
        Some(_) => return Err("has a scheme other than redis:// and valkey://"),
        None => (text, false),
    };
    if rest.starts_with('/') {
        return Err("is a path: Unix sockets are not supported");
    }
    let mut login = Login::default();
    let (user, rest) = match rest.rsplit_once('@') {
        Some(_) if !is_url => return Err("has a login, which needs redis:// in front"),
        Some((user, rest)) => (Some(user), rest),
        None => (None, rest),
    };
    if let Some(user) = user {
        let (name, password) = user.split_once(':').ok_or("has a user without a password")?;
        login.username = Some(decode(name)?).filter(|name| !name.is_empty());
        login.password = Some(decode(password)?);
    }
    let (place, database) = match rest.split_once('/') {
        Some(_) if !is_url => return Err("has a database, which needs redis:// in front"),
        Some((place, "")) => (place, "0"),
        Some((place, database)) => (place, database),
        None => (rest, "0"),
    };
    login.database = number(database).ok_or("has a database that is not a number")?;
    let (host, port) = split_port(place)?;
    Ok(Address { host: host.to_owned(), port, login })
}

fn split_port(place: &str) -> Result<(&str, u16), &'static str> {
    let (host, port) = if let Some(bracketed) = place.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']').ok_or("lacks a closing bracket")?;
        if host.parse::<std::net::Ipv6Addr>().is_err() {
            return Err("has brackets around what is not an IPv6 address");
        }
        match rest {
            "" => (host, None),
            rest => (host, Some(rest.strip_prefix(':').ok_or("has something behind the bracket")?)),
        }
    } else if place.parse::<std::net::Ipv6Addr>().is_ok() {
        (place, None)
    } else {
        match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        }
    };
    let bad = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '_' | ':');
    if host.is_empty() {
        return Err("lacks a host");
    }
    if host.contains(char::is_whitespace) {
        return Err("has a space in it");
    }
    if host.contains(bad) {
        return Err("has a host with characters that a host cannot have");
    }
    match port {
        None => Ok((host, DEFAULT_PORT)),
        Some(port) => match number(port).and_then(|port| u16::try_from(port).ok()) {
            None | Some(0) => Err("has a port that is not between 1 and 65535"),
            Some(port) => Ok((host, port)),
        },
    }
}

/// Parses digits and nothing else. `str::parse` would accept a sign, too.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Decodes percent-encoding.
fn decode(text: &str) -> Result<String, &'static str> {
    const BAD: &str = "has a % without two hex digits behind it in its login";
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2).ok_or(BAD)?;
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(BAD);
        bytes.push((digit(digits[0])? * 16 + digit(digits[1])?) as u8);
        rest = tail;
    }
    String::from_utf8(bytes).map_err(|_| "has a login that is not UTF-8")
}

/// Returns the address as an error may show it. The part before the `@` stays secret.
fn without_login(text: &str) -> String {
    let shown: String = text.chars().take(MAX_LEN).collect();
    match (shown.split_once("://"), shown.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://…@{place}"),
        (None, Some((_, place))) => format!("…@{place}"),
        _ => shown,
    }
}

/// The error returned when an address cannot be parsed.
///
/// The message names the address, without its user and password, and the first problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressError {
    address: String,
    what: &'static str,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the address {:?} {}", self.address, self.what)
    }
}

impl core::error::Error for AddressError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_to_write_an_address() {
        let login = |username: &str, password: Option<&str>, database| Login {
            username: Some(username.to_owned()).filter(|name| !name.is_empty()),
            password: password.map(str::to_owned),
            database,
        };
        let none = login("", None, 0);
        let rows = [
            ("localhost", "localhost", 6379, none.clone()),
            ("127.0.0.1:7000", "127.0.0.1", 7000, none.clone()),
            ("::1", "::1", 6379, none.clone()),
            ("[::1]", "::1", 6379, none.clone()),
            ("[fe80::1]:7000", "fe80::1", 7000, none.clone()),
            ("redis://h", "h", 6379, none.clone()),
            ("valkey://h:1/", "h", 1, none.clone()),
            ("redis://[::1]:65535/15", "::1", 65535, login("", None, 15)),
            ("redis://:p@h", "h", 6379, login("", Some("p"), 0)),
            ("redis://u:p@h/2", "h", 6379, login("u", Some("p"), 2)),
            ("redis://u:p%40%3a%2F%25@h", "h", 6379, login("u", Some("p@:/%"), 0)),
            ("redis://u:a:b@c@h", "h", 6379, login("u", Some("a:b@c"), 0)),
            ("my-host_1.example", "my-host_1.example", 6379, none),
        ];
        for (text, host, port, login) in rows {
            let expected = Address { host: host.to_owned(), port, login };
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_and_passwords_are_not() {
        let rows = [
            ("", "the address \"\" lacks a host"),
            (":7000", "the address \":7000\" lacks a host"),
            ("h:", "the address \"h:\" has a port that is not between 1 and 65535"),
            ("h:0", "the address \"h:0\" has a port that is not between 1 and 65535"),
            ("h:65536", "the address \"h:65536\" has a port that is not between 1 and 65535"),
            ("h:+1", "the address \"h:+1\" has a port that is not between 1 and 65535"),
            ("h/1", "the address \"h/1\" has a database, which needs redis:// in front"),
            ("u:p@h", "the address \"…@h\" has a login, which needs redis:// in front"),
            ("redis://u@h", "the address \"redis://…@h\" has a user without a password"),
            ("redis://h/x", "the address \"redis://h/x\" has a database that is not a number"),
            (
                "redis://:p%4@h",
                "the address \"redis://…@h\" has a % without two hex digits behind it in its login",
            ),
            ("rediss://h", "the address \"rediss://h\" asks for TLS, which is not supported yet"),
            ("http://h", "the address \"http://h\" has a scheme other than redis:// and valkey://"),
            ("[::1", "the address \"[::1\" lacks a closing bracket"),
            ("[h]:1", "the address \"[h]:1\" has brackets around what is not an IPv6 address"),
            ("[::1]1", "the address \"[::1]1\" has something behind the bracket"),
            ("a b", "the address \"a b\" has a space in it"),
            ("a*b", "the address \"a*b\" has a host with characters that a host cannot have"),
            ("/run/s", "the address \"/run/s\" is a path: Unix sockets are not supported"),
        ];
        for (text, message) in rows {
            let error = text.parse::<Address>().expect_err(text);
            assert_eq!(error.to_string(), message);
        }
        let long = "h".repeat(2_000);
        assert!(long.parse::<Address>().is_err());
    }

    #[test]
    fn the_same_server_is_recognised() {
        let same = |a: &str, b: &str| {
            let parse = |text: &str| text.parse::<Address>().expect("the rows are addresses");
            parse(a).is_same_server(&parse(b))
        };
        assert!(same("Host", "redis://:p@host:6379/3"));
        assert!(!same("host:1", "host:2"));
    }
}
