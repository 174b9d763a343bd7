//! Settings that are one of a few names, for serde.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use super::ask::Ask;
use super::restart_guard::RestartGuard;
use crate::quote::shown;

/// A setting that is one of a few names.
trait Named: Copy + fmt::Display {
    /// The name of the setting.
    const SETTING: &'static str;
    /// The names, in quotes.
    const NAMES: &'static str;

    fn name(self) -> &'static str;
    fn from_name(name: &str) -> Option<Self>;
}

impl Named for RestartGuard {
    const SETTING: &'static str = "restart_guard";
    const NAMES: &'static str = r#""on", "strict", "durable" or "off""#;

    fn name(self) -> &'static str {
        self.name()
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::from_name(name)
    }
}

impl Named for Ask {
    const SETTING: &'static str = "ask";
    const NAMES: &'static str = r#""all" or "majority""#;

    fn name(self) -> &'static str {
        self.name()
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::from_name(name)
    }
}

impl Serialize for RestartGuard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Ask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for RestartGuard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Ask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader(PhantomData))
    }
}

struct Reader<T>(PhantomData<T>);

impl<T: Named> Visitor<'_> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as {}", T::SETTING, T::NAMES)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        let name = name.trim();
        if let Some(value) = T::from_name(name) {
            return Ok(value);
        }
        let hint = match T::from_name(&name.to_ascii_lowercase()) {
            Some(value) => format!("which is written \"{}\"", value.name()),
            None => format!("{} is possible", T::NAMES.replace('"', "")),
        };
        Err(E::custom(format!("{} is {:?}, {hint}", T::SETTING, shown(name))))
    }
}
