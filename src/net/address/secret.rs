//! [`Secret`], a text that serde reads and nobody shows.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A text that no error shows, whatever stands in its place.
pub(crate) struct Secret(pub(crate) String);

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        // The number 7 may have been written 007, +7 or 0x7: no text can be made of it.
        fn no_text<E: Error>() -> E {
            E::custom(
                "a user or a password is not a text, and loses leading zeros as a number: put \
                 quotes around it",
            )
        }

        impl Visitor<'_> for Reader {
            type Value = Secret;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Secret, E> {
                Ok(Secret(text.to_owned()))
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Secret, E> {
                Err(no_text())
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Secret, E> {
                Err(no_text())
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Secret, E> {
                Err(no_text())
            }

            fn visit_i128<E: Error>(self, _: i128) -> Result<Secret, E> {
                Err(no_text())
            }

            fn visit_u128<E: Error>(self, _: u128) -> Result<Secret, E> {
                Err(no_text())
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Secret, E> {
                Err(no_text())
            }
        }

        // Not `deserialize_str`, with which formats tell of a number themselves, value and all.
        deserializer.deserialize_any(Reader)
    }
}
