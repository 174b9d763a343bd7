//! The commands that the engine sends, as bytes (chapter "Wire" of the design).

use core::time::Duration;

use bytes::BytesMut;

use super::script::{EXTEND, RELEASE, Script};
use super::token::Token;
use crate::resp;

/// How a node is told which script to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// By SHA-1: the node has it loaded.
    Sha,
    /// By its whole text, which loads it: the node said `NOSCRIPT`.
    Text,
}

/// `SET resource token NX PX ttl`.
pub(super) fn set(out: &mut BytesMut, resource: &[u8], token: &Token, ttl: Duration) {
    resp::array_header(out, 6);
    resp::bulk(out, b"SET");
    resp::bulk(out, resource);
    resp::bulk(out, token.as_ref());
    resp::bulk(out, b"NX");
    resp::bulk(out, b"PX");
    resp::bulk_integer(out, millis(ttl));
}

/// Compare and delete.
pub(super) fn release(out: &mut BytesMut, by: By, resource: &[u8], token: &Token) {
    script(out, RELEASE, by, 1);
    resp::bulk(out, resource);
    resp::bulk(out, token.as_ref());
}

/// Compare and expire.
pub(super) fn extend(out: &mut BytesMut, by: By, resource: &[u8], token: &Token, ttl: Duration) {
    script(out, EXTEND, by, 2);
    resp::bulk(out, resource);
    resp::bulk(out, token.as_ref());
    resp::bulk_integer(out, millis(ttl));
}

/// The head of a script call with one key and `values` values; the caller appends those.
fn script(out: &mut BytesMut, script: Script, by: By, values: usize) {
    resp::array_header(out, 4 + values);
    match by {
        By::Sha => {
            resp::bulk(out, b"EVALSHA");
            resp::bulk(out, script.sha.as_bytes());
        }
        By::Text => {
            resp::bulk(out, b"EVAL");
            resp::bulk(out, script.text.as_bytes());
        }
    }
    resp::bulk(out, b"1");
}

/// A ttl in whole milliseconds; the configuration keeps it far below `i64::MAX`.
fn millis(ttl: Duration) -> i64 {
    i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: Token = Token::from_bytes(*b"twenty bytes in all!");

    fn bytes(encode: impl FnOnce(&mut BytesMut)) -> String {
        let mut out = BytesMut::new();
        encode(&mut out);
        String::from_utf8_lossy(&out).replace("\r\n", " ")
    }

    #[test]
    fn acquire_is_a_set_that_never_overwrites() {
        let found = bytes(|out| set(out, b"orders/42", &TOKEN, Duration::from_millis(1_500)));
        let expected = "*6 $3 SET $9 orders/42 $20 twenty bytes in all! $2 NX $2 PX $4 1500 ";
        assert_eq!(found, expected);
    }

    #[test]
    fn scripts_go_by_sha_and_fall_back_to_their_text() {
        let found = bytes(|out| release(out, By::Sha, b"r", &TOKEN));
        let expected =
            format!("*5 $7 EVALSHA $40 {} $1 1 $1 r $20 twenty bytes in all! ", RELEASE.sha);
        assert_eq!(found, expected);

        let found = bytes(|out| extend(out, By::Text, b"r", &TOKEN, Duration::from_secs(3)));
        let expected = format!(
            "*6 $4 EVAL ${} {} $1 1 $1 r $20 twenty bytes in all! $4 3000 ",
            EXTEND.text.len(),
            EXTEND.text
        );
        assert_eq!(found, expected);
    }

    #[test]
    fn a_resource_is_any_bytes() {
        let found = bytes(|out| release(out, By::Sha, b"\r\n$3", &TOKEN));
        assert!(found.contains(" $4  $3 $20 "), "{found}");
    }
}
