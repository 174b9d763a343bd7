//! What stands behind the question mark of an address.

use std::path::PathBuf;

use super::encoding::{self, decode};
use super::error::AddressErrorKind as Kind;
use super::tls::Tls;
use crate::redlock::Login;

/// The settings of a query, as far as they are there.
#[derive(Default)]
pub(super) struct Query {
    database: Option<u32>,
    user: Option<String>,
    password: Option<String>,
    pub(super) tls: Tls,
}

impl Query {
    /// Parses the query of a Unix socket.
    pub(super) fn of_unix(text: &str) -> Result<Self, Kind> {
        Self::parse(text, |query, name, value| match name {
            "db" => once(&mut query.database, encoding::database(value)?),
            "user" | "username" => once(&mut query.user, decode(value)?),
            "password" | "pass" => once(&mut query.password, decode(value)?),
            _ => Err(Kind::QuerySetting),
        })
    }

    /// Parses the query of a server with TLS.
    pub(super) fn of_tls(text: &str) -> Result<Self, Kind> {
        Self::parse(text, |Self { tls, .. }, name, value| {
            let value = decode(value).map_err(|_| Kind::PathText)?;
            match name {
                "ca" => once(&mut tls.ca, PathBuf::from(value)),
                "cert" => once(&mut tls.cert, PathBuf::from(value)),
                "key" => once(&mut tls.key, PathBuf::from(value)),
                "server_name" => once(&mut tls.server_name, value),
                _ => Err(Kind::QuerySetting),
            }
        })
    }

    /// Parses `name=value&…`. A value is percent-encoded, and a `+` is a plus sign.
    fn parse(
        text: &str,
        set: impl Fn(&mut Self, &str, &str) -> Result<(), Kind>,
    ) -> Result<Self, Kind> {
        let mut query = Self::default();
        // A text that ends with a question mark has no query.
        for setting in text.split('&').filter(|_| !text.is_empty()) {
            let (name, value) = setting.split_once('=').ok_or(Kind::QuerySetting)?;
            set(&mut query, name, value)?;
        }
        Ok(query)
    }

    /// Returns the login that the query and the text in front of the `@` have together.
    pub(super) fn login(self, in_front: Login) -> Result<Login, Kind> {
        let Login { username: mut user, mut password, .. } = in_front;
        if let Some(other) = self.user {
            once(&mut user, other)?;
        }
        if let Some(other) = self.password {
            once(&mut password, other)?;
        }
        let username = user.filter(|user| !user.is_empty());
        Ok(Login { username, password, ..Login::default() }.in_database(self.database.unwrap_or(0)))
    }
}

fn once<T>(setting: &mut Option<T>, value: T) -> Result<(), Kind> {
    match setting.replace(value) {
        None => Ok(()),
        Some(_) => Err(Kind::GivenTwice),
    }
}

/// Whether the query of a text, if there is one, has nothing that could be a piece of a login.
pub(super) fn tells_no_login(text: &str) -> bool {
    const PUBLIC: [&str; 5] = ["db", "ca", "cert", "key", "server_name"];
    let Some((_, query)) = text.split_once('?') else { return true };
    let is_public =
        |setting: &str| setting.split_once('=').is_some_and(|(name, _)| PUBLIC.contains(&name));
    !query.contains('@') && query.split('&').all(is_public)
}
