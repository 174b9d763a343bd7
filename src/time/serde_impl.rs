//! Durations as text, in what serde reads and writes.

use core::fmt;
use core::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

use super::duration::{format_duration, parse_duration};

/// Whether an error can show a text: only one that looks like a duration, because any other may be
/// a password in the wrong place.
fn is_harmless(text: &str) -> bool {
    const LONGEST: usize = 8;
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let has_unit = unit.len() <= 4 && unit.chars().all(|c| c.is_ascii_alphabetic() || c == ' ');
    text.len() <= LONGEST && unit.len() < text.len() && has_unit
}

/// A duration that is written as text, such as `"250ms"`.
pub(crate) struct Text(pub(crate) Duration);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_duration(self.0))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        /// A number could count seconds as well as milliseconds.
        fn without_unit<E: Error>(number: impl fmt::Display) -> E {
            E::custom(format!(
                "a duration is the number {number}, and needs a unit: \"{number}s\", with quotes, \
                 stands for seconds, and \"{number}ms\" for milliseconds"
            ))
        }

        impl Visitor<'_> for Reader {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration as text, such as \"250us\", \"20ms\", \"30s\" or \"1.5m\"")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Text, E> {
                Err(without_unit(number))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Text, E> {
                match u64::try_from(number) {
                    Ok(number) => Err(without_unit(number)),
                    Err(_) => Err(E::invalid_value(Unexpected::Signed(number), &self)),
                }
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Text, E> {
                Err(without_unit(number))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                parse_duration(text).map(Text).map_err(|error| match is_harmless(text) {
                    true => E::custom(format!("a duration is {text:?}, {error}")),
                    false => E::custom(format!("a text {error}")),
                })
            }
        }

        // Not `deserialize_str`, with which formats tell of a number themselves.
        deserializer.deserialize_any(Reader)
    }
}
