//! Why an address cannot be used, and how much of the address an error may show.

use core::fmt;

use super::syntax::{Scheme, is_host, is_ipv6, split_scheme};

/// How many bytes of a host an error shows.
const MOST_SHOWN: usize = 64;

/// The error returned when an address cannot be parsed, or cannot be made of its parts.
///
/// The message names the address and the first problem. Of the address, the message has only what
/// cannot belong to a login: nothing in front of an `@`, and nothing behind the first character
/// that a host cannot have. `…` stands for the rest.
///
/// ```
/// use redbolt::{Address, AddressErrorKind};
///
/// let error = "redis://:secret@db1;db2".parse::<Address>().unwrap_err();
/// assert_eq!(error.kind(), AddressErrorKind::HostCharacter);
/// assert!(error.to_string().starts_with(r#"the address "redis://…@db1…" has a host with"#));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressError {
    shown: String,
    kind: AddressErrorKind,
    /// The place in a list, counted from 1.
    place: Option<usize>,
    /// Whether the address may be a piece of another one, whose password has a comma.
    is_part: bool,
}

/// What is wrong with an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AddressErrorKind {
    /// There is no host.
    NoHost,
    /// The host has more than 253 bytes, which no name in DNS has.
    HostTooLong,
    /// The host has a space in it, or the path of a Unix socket, in which a space is written `%20`.
    Space,
    /// The host has a character that a host cannot have.
    HostCharacter,
    /// A `[` without a `]`.
    OpenBracket,
    /// There are brackets around something else than an IPv6 address.
    NotIpv6,
    /// The zone behind the `%` is no name or number of an interface, or the address in front is not
    /// link-local: no other address has a zone.
    Zone,
    /// Behind the `]`, there is something else than a port.
    BehindBracket,
    /// The port is not a number between 1 and 65535.
    Port,
    /// The database is not a number between 0 and 4294967295, which is what 32 bits can hold.
    Database,
    /// There is a database, but no `redis://` in front.
    DatabaseWithoutScheme,
    /// There is a login, but no `redis://` in front.
    LoginWithoutScheme,
    /// There is a user, but no password.
    UserWithoutPassword,
    /// The user or the password has more than [`Login::MAX_LEN`](crate::redlock::Login::MAX_LEN)
    /// bytes.
    LoginTooLong,
    /// The login has a `%` without two hex digits behind it.
    PercentEncoding,
    /// The decoded login is not UTF-8.
    LoginNotUtf8,
    /// The login is the sign `…`, which takes the place of a login where an address is written for
    /// others to see.
    LoginLeftOut,
    /// The login or the path has `://` in it, as if a second address followed. In a password or a
    /// path, the `:` of that is written `%3A`.
    SecondAddress,
    /// There is a query, `?…`, behind an address that can have none.
    Query,
    /// The query has something that no such address has.
    QuerySetting,
    /// A setting of the query is given twice, or the login in front of the `@` as well.
    GivenTwice,
    /// The scheme is none of `redis`, `rediss`, `valkey`, `valkeys`, `unix` and `redis+unix`.
    Scheme,
    /// The address asks for TLS, and the crate is built without the feature `tls`.
    Tls,
    /// The address asks for TLS over a Unix socket, which no server speaks.
    TlsOverUnix,
    /// The name of a file of TLS is empty.
    EmptyFile,
    /// There is a certificate of ours without its key, or a key without its certificate.
    CertWithoutKey,
    /// The host, or the `server_name` in its place, is a name that no certificate can be for.
    ServerName,
    /// The address is a path, without `unix://` in front.
    Path,
    /// Behind `unix://` and the login, there is no path that begins with a slash.
    NoPath,
    /// The path of a Unix socket has an `@` in it, which is written `%40` there.
    AtInPath,
    /// The path of a Unix socket is longer than the operating system allows: 107 bytes on Linux.
    PathTooLong,
    /// The path of a Unix socket has a `%` without two hex digits behind it, is not UTF-8, or has a
    /// zero byte in it; or a setting of TLS has such a `%`, or is not UTF-8.
    PathText,
}

impl AddressError {
    pub(super) fn new(text: &str, kind: AddressErrorKind) -> Self {
        Self { shown: shown(text, false), kind, place: None, is_part: false }
    }

    /// An error about the path of a Unix socket that was given as such.
    pub(super) fn of_path(path: &str, kind: AddressErrorKind) -> Self {
        Self::new(&format!("unix://{}", path.split(['@', '?']).next().unwrap_or(path)), kind)
    }

    /// An error about one address of a list, at a place counted from 1. `is_part` says that `text`
    /// may be a piece of a password with a comma: an `@` follows further on in the list, or there
    /// was a query before.
    pub(super) fn in_list(text: &str, place: usize, is_part: bool, kind: AddressErrorKind) -> Self {
        Self { shown: shown(text, is_part), kind, place: Some(place), is_part }
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> AddressErrorKind {
        self.kind
    }
}

/// Returns as much of an address as is proven to hold no login. Nothing is proven of a piece of a
/// password.
fn shown(text: &str, is_part: bool) -> String {
    let (scheme, mut rest) = split_scheme(text);
    // A scheme that nobody knows may be a piece of a password.
    let mut shown = scheme.map_or_else(String::new, |scheme| format!("{}://", scheme.name()));
    let at = rest.rfind('@');
    // An `@` behind a question mark may be one in a password: `?password=p@ss`.
    let is_query = at.zip(rest.find('?')).is_some_and(|(at, mark)| mark < at);
    if is_part || is_query {
        shown.push('…');
        return shown;
    }
    if let Some((_, place)) = rest.rsplit_once('@') {
        shown.push_str("…@");
        rest = place;
    }
    if is_ipv6(rest) {
        return shown + rest;
    }
    if matches!(scheme, Some(Scheme::Unix | Scheme::RedisUnix)) {
        return shown + &path(rest);
    }
    let end = rest.find(|c| !is_host(c) && !matches!(c, '[' | ']')).unwrap_or(rest.len());
    let bracketed = rest.strip_prefix('[').map_or(0, |inner| {
        let is_inside = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.');
        1 + inner.find(|c| !is_inside(c)).unwrap_or(inner.len())
    });
    let closed = bracketed + usize::from(bracketed > 0 && rest[bracketed..].starts_with(']'));
    // Only characters of one byte have been passed.
    let end = if bracketed > 0 { closed } else { end.min(MOST_SHOWN) };
    let (host, hidden) = rest.split_at(end);
    shown.push_str(host);
    match hidden.chars().next() {
        // What follows may be a password whose host was forgotten.
        Some(separator @ (':' | '/' | '?')) if hidden.len() > 1 => {
            shown.push(separator);
            shown.push('…');
        }
        Some(separator @ (':' | '/' | '?')) => shown.push(separator),
        Some(_) => shown.push('…'),
        None => {}
    }
    shown
}

/// Returns as much of the path of a Unix socket as is proven to hold no login.
fn path(rest: &str) -> String {
    // A login whose path was forgotten begins with no slash.
    if !rest.starts_with('/') {
        return if rest.is_empty() { String::new() } else { "…".to_owned() };
    }
    let is_shown = |c: char| is_host(c) || c == '/';
    let end = rest.find(|c| !is_shown(c)).unwrap_or(rest.len()).min(MOST_SHOWN);
    let (path, hidden) = rest.split_at(end);
    match hidden.strip_prefix('?') {
        _ if hidden.is_empty() => path.to_owned(),
        Some("") => format!("{path}?"),
        Some(_) => format!("{path}?…"),
        None => format!("{path}…"),
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, kind, place, is_part } = self;
        match place {
            None => write!(f, "the address {shown:?} {kind}"),
            Some(place) => write!(f, "address {place} of the list, {shown:?}, {kind}"),
        }?;
        // The text of the other kind says the same.
        let is_told = *kind == AddressErrorKind::LoginWithoutScheme;
        match is_part {
            true if !is_told => f.write_str(" (a comma in a password is written %2C)"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for AddressErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoHost => "lacks a host",
            Self::HostTooLong => "has a host of more than 253 bytes",
            Self::Space => "has a space in it",
            Self::HostCharacter => "has a host with characters that a host cannot have",
            Self::OpenBracket => "lacks a closing bracket",
            Self::NotIpv6 => "has brackets around what is not an IPv6 address",
            Self::Zone => {
                "has a % that is not between a link-local address (fe80::…) and an interface"
            }
            Self::BehindBracket => "has something behind the bracket",
            Self::Port => "has a port that is not between 1 and 65535",
            Self::Database => "has a database that is not a number between 0 and 4294967295",
            Self::DatabaseWithoutScheme => "has a database, which needs redis:// in front",
            Self::LoginWithoutScheme => {
                "has a login, which needs redis:// in front (a comma in a password is written %2C)"
            }
            Self::UserWithoutPassword => "has a user without a password",
            Self::LoginTooLong => "has a user or a password of more than 16384 bytes",
            Self::PercentEncoding => "has a % without two hex digits behind it in its login",
            Self::LoginNotUtf8 => "has a login that is not UTF-8",
            Self::LoginLeftOut => "has … for a login: the login was left out when it was written",
            Self::SecondAddress => {
                "has :// in its login or its path: commas separate addresses, and %3A stands for a \
                 colon"
            }
            Self::Query => "has a query behind a question mark, which is not supported",
            Self::Scheme => "has a scheme other than redis://, rediss://, valkey:// and unix://",
            Self::Tls => "asks for TLS, which needs the feature `tls` of redbolt",
            Self::TlsOverUnix => "asks for TLS over a Unix socket, which no server speaks",
            Self::EmptyFile => "has an empty ca, cert or key",
            Self::CertWithoutKey => "has only one of cert and key: they go together",
            Self::ServerName => "has a host or a server_name that no certificate can be for",
            Self::QuerySetting => {
                "has something else in its query than db, user and password behind unix://, and \
                 ca, cert, key and server_name behind rediss://"
            }
            Self::GivenTwice => "has a setting or a login twice",
            Self::Path => "is a path: a Unix socket is written unix:///path",
            Self::NoPath => "lacks a path, which begins with a slash: unix:///path",
            Self::AtInPath => "has an @ in its path or behind it, which is written %40 there",
            Self::PathTooLong => "has a path that is too long for a Unix socket",
            Self::PathText => {
                "has a path or a setting with a % without two hex digits behind it, or one that is \
                 no text"
            }
        })
    }
}

impl core::error::Error for AddressError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_proven_to_hold_no_login_is_shown() {
        let rows = [
            ("", ""),
            ("h", "h"),
            ("h:", "h:"),
            ("h:123456", "h:…"),
            ("h/x", "h/…"),
            ("[::1", "[::1"),
            ("[::1]x", "[::1]…"),
            ("[secret]", "[…"),
            ("::1", "::1"),
            ("a b", "a…"),
            ("ä", "…"),
            // The scheme is one that is known, or may be anything.
            ("redis://h", "redis://h"),
            ("REDISS://h", "rediss://h"),
            ("http://h", "http:…"),
            ("secret://h@x", "…@x"),
            // A login, whole or in pieces.
            ("secret@h", "…@h"),
            ("redis://u:secret@", "redis://…@"),
            ("redis://:sec@ret@h:1", "redis://…@h:…"),
            ("redis://:secret", "redis://:…"),
            ("redis://u:123456", "redis://u:…"),
            ("redis://h?password=secret", "redis://h?…"),
            ("redis://:secret@h?password=secret", "redis://…@h?…"),
            ("redis://h?password=sec@ret", "redis://…"),
            ("redis://:secret@h?password=sec@ret", "redis://…"),
            ("redis://:secret@h1;redis://:secret@h2;x", "redis://…@h2…"),
            ("redis://:secret@h1;:secret", "redis://…@h1…"),
            ("h1;password=secret", "h1…"),
            ("h1|secret", "h1…"),
        ];
        for (text, expected) in rows {
            assert_eq!(shown(text, false), expected, "{text}");
        }
        assert_eq!(shown(&"h".repeat(2_000), false), "h".repeat(MOST_SHOWN) + "…");
        for (text, expected) in [("redis://:secret", "redis://…"), ("secret", "…"), ("s@h", "…")]
        {
            assert_eq!(shown(text, true), expected, "{text}, followed by more");
        }
    }
}
