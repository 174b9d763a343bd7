//! Patterns of keys, as the rules of an access control list have them.

use super::bounds::RESERVED;
use super::config::RedlockConfig;

impl RedlockConfig {
    /// Returns the pattern of the keys that redbolt has beside the locks: the witness, and the
    /// labels of clients. A user of a server needs this rule: `~` and the pattern.
    ///
    /// ```
    /// use redbolt::RedlockConfig;
    ///
    /// let mut config = RedlockConfig::default();
    /// config.prefix = b"lock:".to_vec();
    /// assert_eq!(config.own_keys(), "lock:redbolt:*");
    /// ```
    pub fn own_keys(&self) -> String {
        pattern(&[&self.prefix, RESERVED].concat())
    }

    /// Returns the pattern of all keys with the prefix, those of the locks among them.
    pub fn all_keys(&self) -> String {
        pattern(&self.prefix)
    }
}

/// Returns the pattern that fits all keys that begin so.
fn pattern(begin: &[u8]) -> String {
    let mut pattern = String::new();
    for byte in begin {
        match byte {
            b'*' | b'?' | b'[' | b'\\' => pattern.extend(['\\', char::from(*byte)]),
            // No rule has a space in it, and a question mark stands for any byte.
            byte if !byte.is_ascii_graphic() => pattern.push('?'),
            byte => pattern.push(char::from(*byte)),
        }
    }
    pattern + "*"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_the_prefix_letter_by_letter() {
        let rows = [
            (&b""[..], "redbolt:*"),
            (b"x:", "x:redbolt:*"),
            (b"a*[", r"a\*\[redbolt:*"),
            (b"a b\0", "a?b?redbolt:*"),
        ];
        for (prefix, own) in rows {
            let config = RedlockConfig { prefix: prefix.to_vec(), ..RedlockConfig::default() };
            assert_eq!(config.own_keys(), own, "{}", prefix.escape_ascii());
        }
        let config = RedlockConfig { prefix: b"x:".to_vec(), ..RedlockConfig::default() };
        assert_eq!(config.all_keys(), "x:*");
    }
}
