//! Numbers and percent-encoded texts.

use super::error::AddressErrorKind as Kind;

/// Parses the number of a database.
pub(super) fn database(text: &str) -> Result<u32, Kind> {
    number(text).ok_or(Kind::Database)
}

/// Parses digits and nothing else. `str::parse` would accept a sign, too.
pub(super) fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Decodes percent-encoding.
pub(super) fn decode(text: &str) -> Result<String, Kind> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2).ok_or(Kind::PercentEncoding)?;
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(Kind::PercentEncoding);
        bytes.push((digit(digits[0])? * 16 + digit(digits[1])?) as u8);
        rest = tail;
    }
    String::from_utf8(bytes).map_err(|_| Kind::LoginNotUtf8)
}
