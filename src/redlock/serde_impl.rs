//! The settings, in what serde reads and writes: a map from the names of `settings` to values. And
//! tokens, as hex digits, and fencing numbers.

use core::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::config::RedlockConfig;
use super::fence::{Fence, FenceError};
use super::settings::{Bounds, SETTINGS, Setting};
use super::token::Token;
use crate::quote::shown;
use crate::time::{Text, TextOf};

/// The least and the most of a byte.
const BYTE: Bounds = [0, u8::MAX as usize];

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
            Setting::Count(value, _) => map.serialize_entry(name, value)?,
            Setting::MaybeCount(Some(value), _) => map.serialize_entry(name, value)?,
            Setting::MaybeDuration(None) | Setting::MaybeCount(None, _) => {}
            Setting::Rate(value, _) => map.serialize_entry(name, value)?,
            Setting::Switch(value) => map.serialize_entry(name, value)?,
            Setting::Guard(value) => map.serialize_entry(name, value)?,
            Setting::Ask(value) => map.serialize_entry(name, value)?,
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
                        return Err(unknown(name, &[]));
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
            let name = shown(&name);
            return Err(M::Error::custom(format!("the setting {name:?} is given twice")));
        }
        self.0.push(name);
        Ok(self.0.last().map(String::as_str))
    }
}

/// The error of a name that is none of a setting. There are `others` beside those of the algorithm.
pub(crate) fn unknown<E: Error>(name: &str, others: &[&str]) -> E {
    let known: Vec<_> = others.iter().copied().chain(setting_names()).collect();
    let (name, known) = (shown(name), known.join(", "));
    E::custom(format!("there is no setting {name:?}, but there are {known}"))
}

fn setting_names() -> [&'static str; SETTINGS] {
    RedlockConfig::default().settings().map(|(name, _)| name)
}

/// Reads the value of the setting with this name. False if there is no such setting; the value is
/// still to be read then.
pub(crate) fn read_setting<'de, M: MapAccess<'de>>(
    config: &mut RedlockConfig,
    name: &str,
    map: &mut M,
) -> Result<bool, M::Error> {
    let found = config.settings().into_iter().find(|(known, _)| *known == name);
    let Some((name, setting)) = found else { return Ok(false) };
    // Each reader names the setting in its errors, because many formats do not.
    match setting {
        Setting::Duration(value) => *value = map.next_value_seed(TextOf(name))?,
        Setting::MaybeDuration(value) => *value = map.next_value_seed(Maybe(TextOf(name)))?,
        Setting::Count(value, bounds) => {
            *value = map.next_value_seed(Number::of_setting(name, bounds))?
        }
        Setting::MaybeCount(value, bounds) => {
            *value = map.next_value_seed(Maybe(Number::of_setting(name, bounds)))?;
        }
        Setting::Rate(value, bounds) => {
            // The bounds are within 32 bits.
            *value = map.next_value_seed(Number::of_setting(name, bounds))? as u32;
        }
        Setting::Switch(value) => *value = map.next_value_seed(Switch(name))?,
        Setting::Guard(value) => *value = map.next_value()?,
        Setting::Ask(value) => *value = map.next_value()?,
        Setting::Bytes(value) => *value = map.next_value_seed(Bytes(name))?,
    }
    Ok(true)
}

/// A whole number within bounds, and its name. A text of digits is a number as well: all that some
/// crates have, which put files and variables together, is text.
pub(crate) struct Number<N> {
    name: N,
    bounds: Bounds,
    /// Whether an error shows a text that is no number.
    shows_text: bool,
}

impl<N> Number<N> {
    pub(crate) const fn of_setting(name: N, bounds: Bounds) -> Self {
        Self { name, bounds, shows_text: true }
    }

    /// A part of an address, where a text may be a piece of a login.
    #[cfg(feature = "net")]
    pub(crate) const fn of_address(name: N, bounds: Bounds) -> Self {
        Self { name, bounds, shows_text: false }
    }
}

impl<'de, N: fmt::Display> DeserializeSeed<'de> for Number<N> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        // Not `deserialize_u64`, with which formats show a text themselves: it may be a password.
        deserializer.deserialize_any(self)
    }
}

impl<N: fmt::Display> Visitor<'_> for Number<N> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, bounds: [least, most], .. } = self;
        write!(f, "{name} as a whole number between {least} and {most}")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<usize, E> {
        let [least, most] = self.bounds;
        let fits = usize::try_from(value).ok().filter(|value| (least..=most).contains(value));
        fits.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<usize, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<usize, E> {
        let Self { name, bounds: [least, most], shows_text } = self;
        let text = text.trim();
        // `str::parse` would take a sign as well.
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_number);
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            let text = if shows_text { shown(text) } else { "…".to_owned() };
            E::custom(format!(
                "{name} is {text:?}, a whole number between {least} and {most} is possible"
            ))
        })
    }
}

/// A value that may be missing.
pub(crate) struct Maybe<S>(pub(crate) S);

impl<'de, S: DeserializeSeed<'de> + Visitor<'de>> DeserializeSeed<'de> for Maybe<S> {
    type Value = Option<<S as DeserializeSeed<'de>>::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, S: DeserializeSeed<'de> + Visitor<'de>> Visitor<'de> for Maybe<S> {
    type Value = Option<<S as DeserializeSeed<'de>>::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        self.0.deserialize(deserializer).map(Some)
    }
}

/// True or false, or the text of one, for the setting with this name.
struct Switch(&'static str);

impl<'de> DeserializeSeed<'de> for Switch {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Switch {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as true or false", self.0)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
        Ok(value)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        let (Self(name), text) = (self, text.trim());
        text.parse().map_err(|_| {
            E::custom(format!("{name} is {:?}, true or false is possible", shown(text)))
        })
    }
}

/// Bytes from a text or from a list of numbers, for the setting with this name.
struct Bytes(&'static str);

impl<'de> DeserializeSeed<'de> for Bytes {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as a text, or as a list of bytes", self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        Ok(text.as_bytes().to_vec())
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Vec<u8>, S::Error> {
        let mut bytes = Vec::with_capacity(list.size_hint().unwrap_or(0).min(BYTES));
        let name = format!("a byte of the {}", self.0);
        while let Some(byte) = list.next_element_seed(Number::of_setting(&name, BYTE))? {
            // The bounds are those of the type.
            bytes.push(byte as u8);
        }
        Ok(bytes)
    }
}

/// Writes the whole token, as [`Token::to_hex`] does.
impl Serialize for Token {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = Token;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a token as forty hex digits")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Token, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Reader)
    }
}

/// Writes the number.
impl Serialize for Fence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.get())
    }
}

impl<'de> Deserialize<'de> for Fence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| {
            Error::invalid_value(Unexpected::Unsigned(number), &FenceError.to_string().as_str())
        })
    }
}
