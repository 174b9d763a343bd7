//! From the text of an address to its parts.

use super::error::AddressErrorKind as Kind;
use super::syntax::{Scheme, is_host, is_ipv6, split_scheme};
use crate::redlock::Login;

pub(super) const DEFAULT_PORT: u16 = 6379;

/// The maximum length of a host in bytes: that of a name in DNS.
const MAX_HOST: usize = 253;

/// What stands for a login where an address is written for others to see.
pub(super) const LEFT_OUT: &str = "…";

/// Parses an address without spaces around it: the host, the port and the login.
pub(super) fn parse(text: &str) -> Result<(&str, u16, Login), Kind> {
    let (scheme, rest) = split_scheme(text);
    let is_url = match scheme {
        Some(Scheme::Redis | Scheme::Valkey) => true,
        Some(Scheme::RedisTls | Scheme::ValkeyTls) => return Err(Kind::Tls),
        None if is_scheme(rest) => return Err(Kind::Scheme),
        None => false,
    };
    if rest.starts_with('/') {
        return Err(Kind::Path);
    }
    let (user, rest) = match rest.rsplit_once('@') {
        Some(_) if !is_url => return Err(Kind::LoginWithoutScheme),
        Some((user, rest)) => (Some(user), rest),
        None => (None, rest),
    };
    let mut login = user.map_or_else(|| Ok(Login::default()), parse_login)?;
    if rest.contains('?') {
        return Err(Kind::Query);
    }
    let (place, database) = match rest.split_once('/') {
        Some(_) if !is_url => return Err(Kind::DatabaseWithoutScheme),
        Some((place, "")) => (place, "0"),
        Some((place, database)) => (place, database),
        None => (rest, "0"),
    };
    login.database = number(database).ok_or(Kind::Database)?;
    let (host, port) = split_port(place)?;
    if host.is_empty() {
        return Err(Kind::NoHost);
    }
    let port = match port {
        None => DEFAULT_PORT,
        Some(port) => number(port).and_then(|port| u16::try_from(port).ok()).ok_or(Kind::Port)?,
    };
    check(host, port, &login)?;
    Ok((host, port, login))
}

/// Whether a text begins as a URL does.
fn is_scheme(text: &str) -> bool {
    let Some((name, _)) = text.split_once("://") else { return false };
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Parses `[user]:password`.
fn parse_login(text: &str) -> Result<Login, Kind> {
    if text == LEFT_OUT {
        return Err(Kind::LoginLeftOut);
    }
    // Two addresses with a wrong sign between them would be one with an odd password.
    if text.contains("://") {
        return Err(Kind::SecondAddress);
    }
    let (user, password) = text.split_once(':').ok_or(Kind::UserWithoutPassword)?;
    let mut login = Login::with_password(decode(password)?);
    login.username = Some(decode(user)?).filter(|user| !user.is_empty());
    Ok(login)
}

/// Splits `host:port`, where the host may be an IPv6 address.
fn split_port(place: &str) -> Result<(&str, Option<&str>), Kind> {
    if let Some(bracketed) = place.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']').ok_or(Kind::OpenBracket)?;
        if !is_ipv6(host) {
            return Err(Kind::NotIpv6);
        }
        return match rest {
            "" => Ok((host, None)),
            rest => Ok((host, Some(rest.strip_prefix(':').ok_or(Kind::BehindBracket)?))),
        };
    }
    if is_ipv6(place) {
        return Ok((place, None));
    }
    Ok(place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))))
}

/// Checks the parts of an address against their bounds.
pub(super) fn check(host: &str, port: u16, login: &Login) -> Result<(), Kind> {
    if host.is_empty() {
        return Err(Kind::NoHost);
    }
    if host.len() > MAX_HOST {
        return Err(Kind::HostTooLong);
    }
    if host.contains(char::is_whitespace) {
        return Err(Kind::Space);
    }
    if !is_ipv6(host) && !host.chars().all(is_host) {
        return Err(Kind::HostCharacter);
    }
    if port == 0 {
        return Err(Kind::Port);
    }
    let words = [&login.username, &login.password];
    if words.into_iter().flatten().any(|word| word.len() > Login::MAX_LEN) {
        return Err(Kind::LoginTooLong);
    }
    if login.username.is_some() && login.password.is_none() {
        return Err(Kind::UserWithoutPassword);
    }
    Ok(())
}

/// Parses digits and nothing else. `str::parse` would accept a sign, too.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Decodes percent-encoding.
fn decode(text: &str) -> Result<String, Kind> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2).ok_or(Kind::PercentEncoding)?;
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(Kind::PercentEncoding);
        bytes.push((digit(digits[0])? * 16 + digit(digits[1])?) as u8);
        rest = tail;
    }
    String::from_utf8(bytes).map_err(|_| Kind::LoginNotUtf8)
}
