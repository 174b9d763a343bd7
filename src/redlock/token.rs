//! The unique value under which a lock is stored (S1).

use core::fmt::{self, Write};
use core::str::FromStr;

/// The unique value of a lock: twenty bytes that no other attempt of any client ever used.
///
/// The first twelve bytes are a nonce from the operating system, drawn once per engine. The other
/// eight bytes are a counter that each attempt increments. The value of the key is the token, byte
/// for byte.
///
/// Whoever has a token can release its lock, so that a token is a secret. `Display` and `Debug`
/// write a short form for logs: eight hex digits, from which nobody can make the token.
/// [`to_hex`](Self::to_hex) returns the whole token, as forty hex digits, and so does the feature
/// `serde`.
///
/// ```
/// use redbolt::redlock::Token;
///
/// let token = Token::from_bytes([0xab; 20]);
/// assert_eq!(token.to_string(), "abab…abab");
/// assert_eq!(token.to_hex(), "ab".repeat(20));
/// assert_eq!(token.to_hex().parse(), Ok(token));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token([u8; Self::LEN]);

/// The bytes that distinguish the tokens of one engine from the tokens of all others.
pub type Nonce = [u8; NONCE_LEN];

/// The length of a [`Nonce`] in bytes. With 96 random bits, 2³² engines collide with probability
/// 2⁻³³.
pub(super) const NONCE_LEN: usize = 12;

impl Token {
    /// A token that no attempt ever has: the nonce is random, and the counter begins with one.
    pub(crate) const NONE: Self = Self([0; Self::LEN]);

    /// The length of a token in bytes.
    pub const LEN: usize = 20;

    /// Creates a token from its bytes, for example the token that another process has handed over.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes, which are the value of the key.
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Returns the whole token as forty hex digits, for another process that is to go on with the
    /// lock. Costs one allocation. A log should have the short form of `Display` instead.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// Returns `true` if the engine with this `nonce` has drawn the token, or may draw it.
    pub(super) fn is_drawn_with(&self, nonce: &Nonce) -> bool {
        self.0.starts_with(nonce)
    }

    /// Returns the token of attempt number `serial` of the engine with this `nonce`.
    pub(super) fn of_attempt(nonce: &Nonce, serial: u64) -> Self {
        let mut bytes = [0; Self::LEN];
        bytes[..NONCE_LEN].copy_from_slice(nonce);
        bytes[NONCE_LEN..].copy_from_slice(&serial.to_be_bytes());
        Self(bytes)
    }
}

/// The number of bytes that the short form shows of each end. The begin of the nonce tells engines
/// apart, and the end of the counter tells the attempts of one engine apart. The ten bytes of the
/// nonce that are not shown are too many to guess.
const SHOWN: usize = 2;

/// The error of parsing a text that is not forty hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TokenError;

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a token is forty hex digits")
    }
}

impl core::error::Error for TokenError {}

/// Parses what [`Token::to_hex`] returns, with digits of either case.
impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let mut bytes = [0; Self::LEN];
        if text.len() != 2 * Self::LEN {
            return Err(TokenError);
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digit = |at: usize| char::from(digits[at]).to_digit(16).ok_or(TokenError);
            // Two hex digits make a byte.
            *byte = (digit(0)? * 16 + digit(1)?) as u8;
        }
        Ok(Self(bytes))
    }
}

impl AsRef<[u8]> for Token {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Writes the short form: the first and the last four hex digits.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (&self.0[..SHOWN], &self.0[Self::LEN - SHOWN..]);
        write_hex(f, first)?;
        f.write_char('…')?;
        write_hex(f, last)
    }
}

/// Returns bytes in hex digits, two for each byte. Costs one allocation.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    // A string takes everything.
    _ = write_hex(&mut text, bytes);
    text
}

fn write_hex(out: &mut impl Write, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({self})")
    }
}

/// The reason why a token of the caller was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TokenRefusal {
    /// Another lock of this engine on one of the resources has the token, or the lock has ended and
    /// a node still owes a reply about it.
    InUse,
    /// A lock of this engine on one of the resources had the token, and a connection broke or a
    /// node failed while a request for that lock was on its way; or the token came from another
    /// process or was handed to one. What is still on its way could not be told from the requests
    /// for this lock.
    Spent,
    /// The engine makes such tokens itself: the first twelve bytes are its nonce.
    Drawn,
    /// All bytes of the token are zero.
    Zero,
    /// A token of the caller is for one attempt (S1), and more were asked for.
    Tries {
        /// The given number of tries.
        tries: u32,
    },
    /// An adoption has a token already.
    Adoption,
}

impl fmt::Display for TokenRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse => f.write_str("another lock of this engine has it for the same resource"),
            Self::Spent => f.write_str(
                "an earlier lock had it for the same resource, and what is still on its way for \
                 that lock cannot be told apart",
            ),
            Self::Drawn => f.write_str("the engine makes such tokens itself"),
            Self::Zero => f.write_str("all its bytes are zero"),
            Self::Tries { tries } => write!(f, "it is for 1 try, and {tries} were asked for"),
            Self::Adoption => f.write_str("an adoption has a token already"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_its_nonce_then_its_number() {
        let token = Token::of_attempt(b"twelve bytes", 0x0102_0304_0506_0708);
        assert_eq!(token.as_ref(), b"twelve bytes\x01\x02\x03\x04\x05\x06\x07\x08");
        assert_eq!(token.to_hex(), "7477656c7665206279746573".to_owned() + "0102030405060708");
    }

    #[test]
    fn a_token_reads_as_it_was_written() {
        let token = Token::of_attempt(b"twelve bytes", 0xfedc_ba98);
        assert_eq!(token.to_hex().parse(), Ok(token));
        assert_eq!(token.to_hex().to_uppercase().parse(), Ok(token));
        for text in ["", "ab", &"g".repeat(40), &"é".repeat(20), &"0".repeat(41)] {
            assert_eq!(text.parse::<Token>(), Err(TokenError), "{text}");
        }
    }

    /// A log shows which lock is meant, and nobody who reads the log can release the lock.
    #[test]
    fn a_shown_token_is_no_token() {
        let token = Token::of_attempt(b"twelve bytes", 0x0102_0304_0506_0708);
        assert_eq!(format!("{token} {token:?}"), "7477…0708 Token(7477…0708)");
        assert_eq!(token.to_string().parse::<Token>(), Err(TokenError));
    }

    #[test]
    fn attempts_and_engines_differ() {
        let token = Token::of_attempt(&[1; 12], 7);
        assert_ne!(token, Token::of_attempt(&[1; 12], 8));
        assert_ne!(token, Token::of_attempt(&[2; 12], 7));
    }
}
