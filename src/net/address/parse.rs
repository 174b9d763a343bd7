//! From the text of an address to its parts.

use std::borrow::Cow;

use super::encoding::{self, decode, number};
use super::error::AddressErrorKind as Kind;
use super::place::Place;
use super::query::Query;
use super::syntax::{Scheme, is_host, is_ipv6_host, is_server_name, split_scheme};
use super::tls::Tls;
use crate::redlock::Login;

pub(super) const DEFAULT_PORT: u16 = 6379;

/// The maximum length of a host in bytes: that of a name in DNS.
const MAX_HOST: usize = 253;

/// The maximum length of the path of a Unix socket in bytes, without the zero behind it: that of
/// the operating system.
const MAX_PATH: usize = if cfg!(target_os = "macos") { 103 } else { 107 };

/// What stands for a login where an address is written for others to see.
pub(super) const LEFT_OUT: &str = "…";

/// Parses an address without spaces around it.
pub(super) fn parse(text: &str) -> Result<(Place, Login), Kind> {
    let (place, login) = split(text)?;
    check(&place, &login)?;
    Ok((place, login))
}

/// Takes an address apart.
fn split(text: &str) -> Result<(Place, Login), Kind> {
    let (scheme, rest) = split_scheme(text);
    let is_tls = matches!(scheme, Some(Scheme::RedisTls | Scheme::ValkeyTls));
    let is_url = match scheme {
        Some(Scheme::RedisTls | Scheme::ValkeyTls) if !cfg!(feature = "tls") => {
            return Err(Kind::Tls);
        }
        Some(Scheme::Redis | Scheme::Valkey | Scheme::RedisTls | Scheme::ValkeyTls) => true,
        Some(Scheme::Unix | Scheme::RedisUnix) => return unix(rest),
        None if is_scheme(rest) => return Err(Kind::Scheme),
        None => false,
    };
    if rest.starts_with('/') || (!is_url && is_short_path(rest)) {
        return Err(Kind::Path);
    }
    let (user, rest) = match rest.rsplit_once('@') {
        Some(_) if !is_url => return Err(Kind::LoginWithoutScheme),
        Some((user, rest)) => (Some(user), rest),
        None => (None, rest),
    };
    let mut login = user.map_or_else(|| Ok(Login::default()), parse_login)?;
    let (rest, tls) = match rest.split_once('?') {
        Some((rest, query)) if is_tls => (rest, Some(Query::of_tls(query)?.tls)),
        Some(_) => return Err(Kind::Query),
        None => (rest, is_tls.then(Tls::default)),
    };
    let (place, database) = match rest.split_once('/') {
        Some(_) if !is_url => return Err(Kind::DatabaseWithoutScheme),
        Some((place, "")) => (place, "0"),
        Some((place, database)) => (place, database),
        None => (rest, "0"),
    };
    login.database = encoding::database(database)?;
    let place = if is_url { decode_zone(place) } else { Cow::Borrowed(place) };
    let (host, port) = split_port(&place)?;
    if host.is_empty() {
        return Err(Kind::NoHost);
    }
    let port = match port {
        None => DEFAULT_PORT,
        Some(port) => number(port).and_then(|port| u16::try_from(port).ok()).ok_or(Kind::Port)?,
    };
    let place = Place::Host { host: host.to_owned(), port, tls: tls.map(Box::new) };
    Ok((place, login))
}

/// Parses what follows `unix://`: `[[user]:password@]/path[?query]`.
fn unix(text: &str) -> Result<(Place, Login), Kind> {
    let (login, rest) = match text.rsplit_once('@') {
        Some((login, _)) if login.starts_with('/') => return Err(Kind::AtInPath),
        // The password may be in the query.
        Some((user, rest)) if user != LEFT_OUT && !user.contains(':') => {
            let username = Some(decode(user)?).filter(|user| !user.is_empty());
            (Login { username, ..Login::default() }, rest)
        }
        Some((login, rest)) => (parse_login(login)?, rest),
        None => (Login::default(), text),
    };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let login = Query::of_unix(query)?.login(login)?;
    if path.contains(char::is_whitespace) {
        return Err(Kind::Space);
    }
    if path.contains("://") {
        return Err(Kind::SecondAddress);
    }
    let path = decode(path).map_err(|_| Kind::PathText)?;
    Ok((Place::Unix { path }, login))
}

/// Whether a text begins as a URL does.
fn is_scheme(text: &str) -> bool {
    let Some((name, _)) = text.split_once("://") else { return false };
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Whether a text is a path with the scheme of a Unix socket, but without the slashes of a scheme.
fn is_short_path(text: &str) -> bool {
    let schemes = [Scheme::Unix, Scheme::RedisUnix];
    let found = text.split_once(":/").map(|(name, _)| name);
    found.is_some_and(|name| schemes.iter().any(|scheme| name.eq_ignore_ascii_case(scheme.name())))
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

/// Decodes the `%` in front of a zone. RFC 6874 has `%25` there in a URL; most people write `%`.
fn decode_zone(place: &str) -> Cow<'_, str> {
    match place.split_once("%25") {
        Some((address, zone)) if !zone.starts_with(']') => Cow::Owned(format!("{address}%{zone}")),
        _ => Cow::Borrowed(place),
    }
}

/// Splits `host:port`, where the host may be an IPv6 address.
fn split_port(place: &str) -> Result<(&str, Option<&str>), Kind> {
    if let Some(bracketed) = place.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']').ok_or(Kind::OpenBracket)?;
        if !is_ipv6_host(host) {
            return Err(if host.contains('%') { Kind::Zone } else { Kind::NotIpv6 });
        }
        return match rest {
            "" => Ok((host, None)),
            rest => Ok((host, Some(rest.strip_prefix(':').ok_or(Kind::BehindBracket)?))),
        };
    }
    if is_ipv6_host(place) {
        return Ok((place, None));
    }
    Ok(place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))))
}

/// Checks the parts of an address against their bounds.
pub(super) fn check(place: &Place, login: &Login) -> Result<(), Kind> {
    match place {
        Place::Host { host, port, tls } => {
            check_host(host, *port)?;
            tls.as_ref().map_or(Ok(()), |tls| check_tls(host, tls))?;
        }
        Place::Unix { path } => check_path(path)?,
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

fn check_host(host: &str, port: u16) -> Result<(), Kind> {
    if host.is_empty() {
        return Err(Kind::NoHost);
    }
    if host.len() > MAX_HOST {
        return Err(Kind::HostTooLong);
    }
    if host.contains(char::is_whitespace) {
        return Err(Kind::Space);
    }
    if !is_ipv6_host(host) && !host.chars().all(is_host) {
        return Err(Kind::HostCharacter);
    }
    if port == 0 {
        return Err(Kind::Port);
    }
    Ok(())
}

fn check_tls(host: &str, tls: &Tls) -> Result<(), Kind> {
    if !cfg!(feature = "tls") {
        return Err(Kind::Tls);
    }
    let files = [&tls.ca, &tls.cert, &tls.key];
    if files.into_iter().flatten().any(|file| file.as_os_str().is_empty()) {
        return Err(Kind::EmptyFile);
    }
    if tls.cert.is_some() != tls.key.is_some() {
        return Err(Kind::CertWithoutKey);
    }
    if !is_server_name(tls.name_at(host)) {
        return Err(Kind::ServerName);
    }
    Ok(())
}

fn check_path(path: &str) -> Result<(), Kind> {
    if !path.starts_with('/') {
        return Err(Kind::NoPath);
    }
    if path.len() > MAX_PATH {
        return Err(Kind::PathTooLong);
    }
    if path.contains('\0') {
        return Err(Kind::PathText);
    }
    Ok(())
}
