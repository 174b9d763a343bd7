//! The settings, in what serde reads and writes: a map from the names of `settings` to values.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::config::RedlockConfig;
use super::restart_guard::RestartGuard;
use super::settings::Setting;
use crate::time::Text;

/// How much room is reserved for the bytes of a list whose length is not known to be right.
const BYTES: usize = 64;

impl Serialize for RedlockConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_settings(self, &mut map)?;
        map.end()
    }
}

/// Writes all settings, but those that are `None`.
pub(crate) fn write_settings<M: SerializeMap>(
    config: &RedlockConfig,
    map: &mut M,
) -> Result<(), M::Error> {
    for (name, setting) in config.clone().settings() {
        match setting {
            Setting::Duration(value) => map.serialize_entry(name, &Text(*value))?,
            Setting::MaybeDuration(Some(value)) => map.serialize_entry(name, &Text(*value))?,
            Setting::Count(value) => map.serialize_entry(name, value)?,
            Setting::MaybeCount(Some(value)) => map.serialize_entry(name, value)?,
            Setting::MaybeDuration(None) | Setting::MaybeCount(None) => {}
            Setting::Rate(value) => map.serialize_entry(name, value)?,
            Setting::Switch(value) => map.serialize_entry(name, value)?,
            Setting::Guard(value) => map.serialize_entry(name, value)?,
            Setting::Bytes(value) => match core::str::from_utf8(value) {
                Ok(text) => map.serialize_entry(name, text)?,
                Err(_) => map.serialize_entry(name, value)?,
            },
        }
    }
    Ok(())
}

impl<'de> Deserialize<'de> for RedlockConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = RedlockConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of settings")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<RedlockConfig, M::Error> {
                let mut config = RedlockConfig::default();
                let mut names = Names::default();
                while let Some(name) = names.next(&mut map)? {
                    if !read_setting(&mut config, name, &mut map)? {
                        return Err(unknown(name));
                    }
                }
                Ok(config)
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// The names in a map, none of them twice.
#[derive(Default)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// The next name, of which the value must be read next.
    pub(crate) fn next<'de, M: MapAccess<'de>>(
        &mut self,
        map: &mut M,
    ) -> Result<Option<&str>, M::Error> {
        let Some(name) = map.next_key::<String>()? else { return Ok(None) };
        if self.0.contains(&name) {
            return Err(M::Error::custom(format!("the setting {name:?} is given twice")));
        }
        self.0.push(name);
        Ok(self.0.last().map(String::as_str))
    }
}

/// The error of a name that is none of a setting.
pub(crate) fn unknown<E: Error>(name: &str) -> E {
    E::custom(format!("there is no setting {name:?}"))
}

/// Reads the value of the setting with this name. False if there is no such setting; the value is
/// still to be read then.
pub(crate) fn read_setting<'de, M: MapAccess<'de>>(
    config: &mut RedlockConfig,
    name: &str,
    map: &mut M,
) -> Result<bool, M::Error> {
    let Some((_, setting)) = config.settings().into_iter().find(|(known, _)| *known == name) else {
        return Ok(false);
    };
    match setting {
        Setting::Duration(value) => *value = map.next_value::<Text>()?.0,
        Setting::MaybeDuration(value) => {
            *value = map.next_value::<Option<Text>>()?.map(|text| text.0);
        }
        Setting::Count(value) => *value = map.next_value()?,
        Setting::MaybeCount(value) => *value = map.next_value()?,
        Setting::Rate(value) => *value = map.next_value()?,
        Setting::Switch(value) => *value = map.next_value()?,
        Setting::Guard(value) => *value = map.next_value()?,
        Setting::Bytes(value) => *value = map.next_value::<Bytes>()?.0,
    }
    Ok(true)
}

/// Bytes from a text or from a list of numbers.
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a list of bytes")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Bytes, S::Error> {
                let mut bytes = Vec::with_capacity(list.size_hint().unwrap_or(0).min(BYTES));
                while let Some(byte) = list.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(bytes))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for RestartGuard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for RestartGuard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = RestartGuard;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"on\", \"strict\", \"durable\" or \"off\"")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<RestartGuard, E> {
                RestartGuard::from_name(name)
                    .ok_or_else(|| E::custom("a restart guard is on, strict, durable or off"))
            }
        }

        deserializer.deserialize_str(Reader)
    }
}
