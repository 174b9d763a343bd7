//! The words of an address: schemes, and the characters of a host.

use std::net::Ipv6Addr;

/// The maximum length of the name of an interface in bytes, as systems have it.
const MAX_ZONE: usize = 15;

/// A scheme that is known, supported or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scheme {
    Redis,
    Valkey,
    RedisTls,
    ValkeyTls,
    Unix,
    RedisUnix,
}

impl Scheme {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::Valkey => "valkey",
            Self::RedisTls => "rediss",
            Self::ValkeyTls => "valkeys",
            Self::Unix => "unix",
            Self::RedisUnix => "redis+unix",
        }
    }
}

/// Splits a text into the scheme, if the scheme is known, and what follows. The case of the scheme
/// does not matter.
pub(super) fn split_scheme(text: &str) -> (Option<Scheme>, &str) {
    use Scheme::{Redis, RedisTls, RedisUnix, Unix, Valkey, ValkeyTls};
    const ALL: [Scheme; 6] = [Redis, Valkey, RedisTls, ValkeyTls, Unix, RedisUnix];
    let Some((name, rest)) = text.split_once("://") else { return (None, text) };
    let scheme = ALL.into_iter().find(|scheme| name.eq_ignore_ascii_case(scheme.name()));
    (scheme, if scheme.is_some() { rest } else { text })
}

pub(super) fn is_ipv6(host: &str) -> bool {
    host.parse::<Ipv6Addr>().is_ok()
}

/// Whether a host is an IPv6 address, with a zone behind a `%` or without one. Only a link-local
/// address has a zone: the name or the number of an interface.
pub(super) fn is_ipv6_host(host: &str) -> bool {
    let Some((address, zone)) = host.split_once('%') else { return is_ipv6(host) };
    let is_local = address.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_unicast_link_local());
    is_local && (1..=MAX_ZONE).contains(&zone.len()) && zone.chars().all(is_zone)
}

fn is_zone(c: char) -> bool {
    is_host(c) || c == '~'
}

/// Whether a host that is no IPv6 address can have this character.
pub(super) fn is_host(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// Whether a character stands for itself in a path that is written into an address. All others are
/// percent-encoded there.
pub(super) fn is_plain_in_path(c: char) -> bool {
    !c.is_control() && !c.is_whitespace() && !matches!(c, '%' | '?' | ',' | '@' | '#' | ':' | '&')
}

/// Whether a certificate can be for this name.
#[cfg(feature = "tls")]
pub(super) fn is_server_name(name: &str) -> bool {
    rustls::pki_types::ServerName::try_from(name).is_ok()
}

/// Without TLS, nobody asks.
#[cfg(not(feature = "tls"))]
pub(super) fn is_server_name(_: &str) -> bool {
    false
}
