//! Addresses, in what serde reads and writes.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::Address;
use super::parse::DEFAULT_PORT;
use super::secret::Secret;
use super::show::Parsable;
use super::tls::Tls;
use crate::quote::shown;
use crate::redlock::{Login, Number};

/// The least and the most of a port and of a database.
const PORTS: [usize; 2] = [1, u16::MAX as usize];
const DATABASES: [usize; 2] = [0, u32::MAX as usize];

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Parsable(self))
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

/// Reads a text, or a map of the parts.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Address;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "an address as text, or a map of host and port or path, user, password, database, tls, \
             ca, cert, key and server_name",
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Address, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Address, M::Error> {
        let mut host: Option<String> = None;
        let mut port: Option<u16> = None;
        let mut path: Option<String> = None;
        let mut wants_tls: Option<bool> = None;
        let mut tls = Tls::default();
        let mut login = Login::default();
        let mut names: Vec<String> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if names.contains(&name) {
                let name = shown(&name);
                return Err(M::Error::custom(format!("{name:?} is given twice for a node")));
            }
            match name.as_str() {
                "host" => host = Some(map.next_value()?),
                // The bounds are those of the types.
                "port" => {
                    port = Some(map.next_value_seed(Number::of_address("port", PORTS))? as u16);
                }
                "path" => path = Some(map.next_value()?),
                "tls" => wants_tls = Some(map.next_value()?),
                "ca" => tls.ca = Some(map.next_value::<String>()?.into()),
                "cert" => tls.cert = Some(map.next_value::<String>()?.into()),
                "key" => tls.key = Some(map.next_value::<String>()?.into()),
                "server_name" => tls.server_name = Some(map.next_value()?),
                "user" => login.username = map.next_value::<Option<Secret>>()?.map(|user| user.0),
                "password" => {
                    login.password = map.next_value::<Option<Secret>>()?.map(|password| password.0);
                }
                "database" => {
                    let number = map.next_value_seed(Number::of_address("database", DATABASES))?;
                    login.database = number as u32;
                }
                _ => {
                    let name = shown(&name);
                    return Err(M::Error::custom(format!(
                        "a node has no {name:?}, but host and port or path, user, password, \
                         database, tls, ca, cert, key and server_name"
                    )));
                }
            }
            names.push(name);
        }
        let address = match (host, port, path) {
            (None, None, Some(path)) => Address::unix(path),
            (_, _, Some(_)) => {
                return Err(M::Error::custom("a node has either a path or a host and a port"));
            }
            (None, _, None) => return Err(M::Error::missing_field("host")),
            (Some(host), port, None) => Address::new(host, port.unwrap_or(DEFAULT_PORT)),
        };
        let has_settings = tls != Tls::default();
        if wants_tls == Some(false) && has_settings {
            return Err(M::Error::custom("a node without tls has no ca, cert, key or server_name"));
        }
        let address = address.and_then(|address| address.with_login(login));
        let address = address.and_then(|address| match wants_tls.unwrap_or(has_settings) {
            true => address.with_tls(tls),
            false => Ok(address),
        });
        address.map_err(M::Error::custom)
    }
}
