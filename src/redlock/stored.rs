//! What a node has stored under a resource, for an operator who looks.

use core::fmt;
use core::time::Duration;

use super::token::{NONCE_LEN, Nonce, Token, hex};

/// What one node has stored under a resource.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stored {
    /// Nothing.
    Nothing,
    /// A string of at most [`StoredValue::MAX_LEN`] bytes: a lock, or a string of somebody else.
    Value {
        /// The string.
        value: StoredValue,
        /// The time that is left; `None` for a key without a ttl.
        ttl: Option<Duration>,
    },
    /// A longer string. No lock has one, and it was not fetched.
    Long {
        /// The length in bytes.
        len: u64,
        /// The time that is left; `None` for a key without a ttl.
        ttl: Option<Duration>,
    },
    /// Data of another type, which is no lock.
    Data {
        /// The type in the words of the server, such as `list`; empty where the server does not
        /// tell.
        kind: String,
        /// The time that is left; `None` for a key without a ttl.
        ttl: Option<Duration>,
    },
}

impl Stored {
    /// Returns the value, where there is one that was fetched.
    pub fn value(&self) -> Option<&StoredValue> {
        match self {
            Self::Value { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns whether data stands there that is no lock.
    pub fn is_data(&self) -> bool {
        matches!(self, Self::Long { .. } | Self::Data { .. })
    }

    /// Returns the time that is left, and `Some(None)` for a key without a ttl; `None` where there
    /// is no key.
    pub fn ttl(&self) -> Option<Option<Duration>> {
        match *self {
            Self::Nothing => None,
            Self::Value { ttl, .. } | Self::Long { ttl, .. } | Self::Data { ttl, .. } => Some(ttl),
        }
    }
}

/// The value of a key: the token of a lock, of redbolt or of another library.
///
/// Whoever has a token can release its lock, so that a value is a secret. `Display` and `Debug`
/// write a short form: that of a [`Token`] for twenty bytes, else at most eight bytes and never
/// more than half of them. [`to_hex`](Self::to_hex) returns the whole.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct StoredValue(Vec<u8>);

impl StoredValue {
    /// The length in bytes up to which a value is fetched, and a value can be unlocked.
    pub const MAX_LEN: usize = 1024;

    /// The number of bytes that the short form shows of a value that is no token.
    const SHOWN: usize = 8;

    /// Creates a value from its bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Reads what [`to_hex`](Self::to_hex) returns, with digits of either case; `None` for any
    /// other text, and for more than [`MAX_LEN`](Self::MAX_LEN) bytes.
    pub fn from_hex(text: &str) -> Option<Self> {
        if text.len() % 2 != 0 || text.len() > 2 * Self::MAX_LEN {
            return None;
        }
        let digit = |digit: u8| char::from(digit).to_digit(16);
        // Two hex digits make a byte.
        let byte = |pair: &[u8]| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8);
        text.as_bytes().chunks_exact(2).map(byte).collect::<Option<_>>().map(Self)
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the whole value in hex digits, two for each byte.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// Returns the value as text, if it is text without control characters. Many libraries have
    /// tokens that are text.
    pub fn as_text(&self) -> Option<&str> {
        core::str::from_utf8(&self.0).ok().filter(|text| !text.contains(char::is_control))
    }

    /// Returns the nonce of the engine and the number of the attempt, if the value has the form of
    /// a token that redbolt draws: two locks with the same nonce are of one engine.
    ///
    /// The form alone tells: twenty bytes, which are no text, with a number below 2⁴⁰. Twenty
    /// random bytes of another library have this form once in sixteen million times. A token that
    /// a caller of redbolt has chosen need not have the form.
    pub fn drawn_by(&self) -> Option<(Nonce, u64)> {
        if self.0.len() != Token::LEN || self.as_text().is_some() {
            return None;
        }
        let (nonce, number) = self.0.split_at(NONCE_LEN);
        let number = u64::from_be_bytes(number.try_into().ok()?);
        let is_drawn = (1..1 << 40).contains(&number);
        is_drawn.then_some((nonce.try_into().ok()?, number))
    }
}

impl fmt::Display for StoredValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Ok(bytes) = <[u8; Token::LEN]>::try_from(&self.0[..]) {
            return Token::from_bytes(bytes).fmt(f);
        }
        let (shown, rest) = self.0.split_at(Self::SHOWN.min(self.0.len() / 2));
        let dots = if rest.is_empty() { "" } else { "…" };
        write!(f, "{}{dots}", shown.escape_ascii())
    }
}

impl fmt::Debug for StoredValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredValue({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_value_is_not_enough_to_release_with() {
        let rows: [(&[u8], &str); 5] = [
            (&[0xab; 20], "abab…abab"),
            (b"0190-a-token-of-another-library", "0190-a-t…"),
            (b"\0a b\x1b[31m", "\\x00a b…"),
            (b"1", "…"),
            (b"", ""),
        ];
        for (bytes, expected) in rows {
            let value = StoredValue::new(bytes);
            assert_eq!(value.to_string(), expected);
            assert_eq!(format!("{value:?}"), format!("StoredValue({expected})"));
        }
    }

    #[test]
    fn a_value_of_any_length_reads_as_it_was_written() {
        for len in [0, 1, 20, 36, StoredValue::MAX_LEN] {
            let value = StoredValue::new((0..len).map(|byte| byte as u8).collect::<Vec<_>>());
            let hex = value.to_hex();
            assert_eq!(StoredValue::from_hex(&hex), Some(value.clone()));
            assert_eq!(StoredValue::from_hex(&hex.to_uppercase()), Some(value));
        }
        let long = "00".repeat(StoredValue::MAX_LEN + 1);
        for text in ["0", "0g", "+1", "é", " 00", &long] {
            assert_eq!(StoredValue::from_hex(text), None, "{text}");
        }
    }

    #[test]
    fn only_what_has_the_form_of_a_drawn_token_is_said_to_be_drawn() {
        let drawn = Token::of_attempt(&[0xfe; 12], 7);
        let value = |bytes: &[u8]| StoredValue::new(bytes).drawn_by();
        assert_eq!(value(drawn.as_bytes()), Some(([0xfe; 12], 7)));
        let unnumbered = Token::of_attempt(&[1; 12], 0);
        let rows: [&[u8]; 4] = [&[0xfe; 20], b"twenty bytes in all!", b"fe", unnumbered.as_ref()];
        for bytes in rows {
            assert_eq!(value(bytes), None, "{}", bytes.escape_ascii());
        }
    }
}
