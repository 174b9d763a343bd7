//! The configuration of an engine, in what serde reads and writes: the nodes beside the settings.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::config::{Config, THREADS};
use crate::net::{Address, Secret};
use crate::redlock::{self, Login, Maybe, Names, Number};
use crate::time::{Text, TextOf};

/// The names that are not those of the settings of the algorithm.
const OWN: [&str; 7] = ["nodes", "user", "password", "busy_poll", "ttl", "wait", "threads"];

impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("nodes", &self.nodes)?;
        map.serialize_entry("busy_poll", &Text(self.busy_poll))?;
        if let Some(ttl) = self.ttl {
            map.serialize_entry("ttl", &Text(ttl))?;
        }
        map.serialize_entry("wait", &Text(self.wait))?;
        map.serialize_entry("threads", &self.threads)?;
        redlock::write_settings(&self.redlock, &mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Config;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of nodes and settings")
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Config, M::Error> {
                read(map)
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

fn read<'de, M: MapAccess<'de>>(mut map: M) -> Result<Config, M::Error> {
    let mut config = Config::with_addresses([]);
    let mut nodes = None;
    let mut login = Login::default();
    let mut names = Names::default();
    while let Some(name) = names.next(&mut map)? {
        match name {
            "nodes" => nodes = Some(map.next_value::<Nodes>()?.0),
            "user" => login.username = map.next_value::<Option<Secret>>()?.map(|user| user.0),
            "password" => {
                login.password = map.next_value::<Option<Secret>>()?.map(|password| password.0);
            }
            "busy_poll" => config.busy_poll = map.next_value_seed(TextOf("busy_poll"))?,
            "ttl" => config.ttl = map.next_value_seed(Maybe(TextOf("ttl")))?,
            "wait" => config.wait = map.next_value_seed(TextOf("wait"))?,
            "threads" => {
                config.threads = map.next_value_seed(Number::of_setting("threads", THREADS))?
            }
            name if redlock::read_setting(&mut config.redlock, name, &mut map)? => {}
            name => return Err(redlock::unknown(name, &OWN)),
        }
    }
    config.nodes = nodes.ok_or_else(|| M::Error::missing_field("nodes"))?;
    if login.username.is_some() && login.password.is_none() {
        // The address of a node is not what is wrong.
        return Err(M::Error::custom("`user` is set, but `password` is not: a user needs one"));
    }
    // The nodes that get the login may be named by a variable later on.
    for (name, word) in [("user", &login.username), ("password", &login.password)] {
        if word.as_ref().is_some_and(|word| word.len() > Login::MAX_LEN) {
            let most = Login::MAX_LEN;
            return Err(M::Error::custom(format!("`{name}` has more than {most} bytes")));
        }
    }
    config.log_in(login).map_err(M::Error::custom)?;
    Ok(config)
}

/// A list of addresses, or one text with commas in it.
struct Nodes(Vec<Address>);

impl<'de> Deserialize<'de> for Nodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Nodes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("nodes as a list of addresses, or as one text with commas in it")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Nodes, E> {
                Address::parse_list(text).map(Nodes).map_err(E::custom)
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Nodes, S::Error> {
                let mut nodes = Vec::new();
                while let Some(node) = list.next_element()? {
                    if nodes.len() == redlock::MAX_NODES {
                        let most = redlock::MAX_NODES;
                        return Err(S::Error::custom(format!("more than {most} nodes")));
                    }
                    nodes.push(node);
                }
                Ok(Nodes(nodes))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}
