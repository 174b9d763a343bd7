//! Addresses, in what serde reads and writes.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::Address;
use super::parse::{DEFAULT_PORT, LEFT_OUT};
use super::secret::Secret;
use crate::quote::shown;
use crate::redlock::{Login, Number};

/// The least and the most of a port and of a database.
const PORTS: [usize; 2] = [1, u16::MAX as usize];
const DATABASES: [usize; 2] = [0, u32::MAX as usize];

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let login = self.login();
        if login.has_auth() {
            serializer.collect_str(&format_args!("redis://{LEFT_OUT}@{self}"))
        } else if login.database != 0 {
            serializer.collect_str(&format_args!("redis://{self}"))
        } else {
            serializer.collect_str(self)
        }
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
        f.write_str("an address as text, or a map of host, port, user, password and database")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Address, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Address, M::Error> {
        let mut host: Option<String> = None;
        let mut port = DEFAULT_PORT;
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
                "port" => port = map.next_value_seed(Number::of_address("port", PORTS))? as u16,
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
                        "a node has no {name:?}, but host, port, user, password and database"
                    )));
                }
            }
            names.push(name);
        }
        let host = host.ok_or_else(|| M::Error::missing_field("host"))?;
        let address = Address::new(host, port).and_then(|address| address.with_login(login));
        address.map_err(M::Error::custom)
    }
}
