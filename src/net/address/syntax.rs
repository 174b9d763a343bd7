//! The words of an address: schemes, and the characters of a host.

use std::net::Ipv6Addr;

/// A scheme that is known, supported or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scheme {
    Redis,
    Valkey,
    RedisTls,
    ValkeyTls,
}

impl Scheme {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::Valkey => "valkey",
            Self::RedisTls => "rediss",
            Self::ValkeyTls => "valkeys",
        }
    }
}

/// Splits a text into the scheme, if the scheme is known, and what follows. The case of the scheme
/// does not matter.
pub(super) fn split_scheme(text: &str) -> (Option<Scheme>, &str) {
    const ALL: [Scheme; 4] = [Scheme::Redis, Scheme::Valkey, Scheme::RedisTls, Scheme::ValkeyTls];
    let Some((name, rest)) = text.split_once("://") else { return (None, text) };
    let scheme = ALL.into_iter().find(|scheme| name.eq_ignore_ascii_case(scheme.name()));
    (scheme, if scheme.is_some() { rest } else { text })
}

pub(super) fn is_ipv6(host: &str) -> bool {
    host.parse::<Ipv6Addr>().is_ok()
}

/// Whether a host that is no IPv6 address can have this character.
pub(super) fn is_host(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}
