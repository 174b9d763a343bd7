//! Durations as text, in what serde reads and writes.

use core::fmt;
use core::time::Duration;

use serde::de::{DeserializeSeed, Deserializer, Error, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

use super::duration::{format_duration, parse_duration};
use crate::quote::shown;

/// A duration that is written as text, such as `"250ms"`.
pub(crate) struct Text(pub(crate) Duration);

/// Reads such a text, around which spaces do not count. The name of the setting is for the errors.
pub(crate) struct TextOf(pub(crate) &'static str);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_duration(self.0))
    }
}

impl TextOf {
    /// The error of a number, which could count seconds as well as milliseconds.
    fn without_unit<E: Error>(self, number: impl fmt::Display) -> E {
        let Self(name) = self;
        E::custom(format!(
            "{name} is the number {number}, and needs a unit: \"{number}s\", with quotes, stands \
             for seconds, and \"{number}ms\" for milliseconds"
        ))
    }
}

impl<'de> DeserializeSeed<'de> for TextOf {
    type Value = Duration;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Duration, D::Error> {
        // Not `deserialize_str`, with which formats tell of a number themselves.
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for TextOf {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        write!(f, "{name} as a text such as \"250us\", \"20ms\", \"30s\" or \"1.5m\"")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Duration, E> {
        if number == 0 { Ok(Duration::ZERO) } else { Err(self.without_unit(number)) }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Duration, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Duration, E> {
        if number == 0.0 { Ok(Duration::ZERO) } else { Err(self.without_unit(number)) }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
        let (Self(name), text) = (self, text.trim());
        let unfit = |error| E::custom(format!("{name} is {:?}, {error}", shown(text)));
        parse_duration(text).map_err(unfit)
    }
}
