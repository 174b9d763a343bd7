//! RESP3, and the tracking of the witness: a server that can do both says by itself that its keys
//! may be gone, between two replies (S11).
//!
//! The client tracks in broadcasting mode, for the name of the witness alone. Then the server keeps
//! no list of keys for the client, and the stamp that every look writes tells nobody anything. Who
//! empties a database, by `FLUSHALL`, `DEBUG RELOAD` or as a replica that loads the data of its
//! master, makes the server push a null to every client that tracks, in whatever mode. That push
//! goes into the output of a connection at once, so it stands before every reply to a request that
//! the server executes later. `SWAPDB` pushes nothing.

use bytes::BytesMut;

use super::witness::WITNESS;
use crate::resp::{self, Elements, Value};

/// The key by which Redis up to 6.0.5 says that all keys may be gone, instead of a null. The prefix
/// of the tracking names no such key.
const ALL_KEYS: &[u8] = b"\0";

/// What a push says about the witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Push {
    /// All keys may be gone.
    AllKeys,
    /// Somebody has written or deleted the witness.
    Witness,
    /// Nothing.
    Other,
}

/// Appends the request to speak RESP3 from the reply on.
pub(crate) fn hello(out: &mut BytesMut) {
    resp::command(out, &[b"HELLO", b"3"]);
}

/// Appends the request to be told what happens to the witness.
pub(crate) fn track(out: &mut BytesMut, prefix: &[u8]) {
    let witness = [prefix, WITNESS].concat();
    resp::command(out, &[b"CLIENT", b"TRACKING", b"ON", b"BCAST", b"PREFIX", &witness]);
}

impl Push {
    /// Reads the elements of a push, on a connection whose keys have this prefix. An invalidation
    /// that cannot be understood counts as one of all keys: that costs a look.
    pub(crate) fn read(mut elements: Elements<'_>, prefix: &[u8]) -> Self {
        match elements.next() {
            Some(Value::Bulk(b"invalidate") | Value::Simple(b"invalidate")) => {}
            _ => return Self::Other,
        }
        let read = |key| match key {
            Value::Bulk(ALL_KEYS) => Self::AllKeys,
            Value::Bulk(key) if key.strip_prefix(prefix) != Some(WITNESS) => Self::Other,
            _ => Self::Witness,
        };
        match elements.next() {
            Some(Value::Array(keys)) => {
                keys.map(read).find(|push| *push != Self::Other).unwrap_or(Self::Other)
            }
            _ => Self::AllKeys,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::Status;

    fn text(encode: impl FnOnce(&mut BytesMut)) -> String {
        let mut out = BytesMut::new();
        encode(&mut out);
        String::from_utf8_lossy(&out).replace("\r\n", " ")
    }

    #[test]
    fn the_witness_is_tracked_by_its_whole_name() {
        assert_eq!(text(hello), "*2 $5 HELLO $1 3 ");
        let expected = "*6 $6 CLIENT $8 TRACKING $2 ON $5 BCAST $6 PREFIX $17 p:redbolt:witness ";
        assert_eq!(text(|out| track(out, b"p:")), expected);
    }

    #[test]
    fn a_push_is_about_the_witness_or_about_all_keys_or_about_nothing_of_ours() {
        let rows: [(&[u8], Push); 14] = [
            (b">2\r\n$10\r\ninvalidate\r\n_\r\n", Push::AllKeys),
            (b">2\r\n+invalidate\r\n_\r\n", Push::AllKeys),
            (b">2\r\n$10\r\ninvalidate\r\n*-1\r\n", Push::AllKeys),
            (b">1\r\n$10\r\ninvalidate\r\n", Push::AllKeys),
            (b">2\r\n$10\r\ninvalidate\r\n:1\r\n", Push::AllKeys),
            (b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\n\0\r\n", Push::AllKeys),
            (b">2\r\n$10\r\ninvalidate\r\n*1\r\n$17\r\np:redbolt:witness\r\n", Push::Witness),
            (
                b">2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$17\r\np:redbolt:witness\r\n",
                Push::Witness,
            ),
            (b">2\r\n$10\r\ninvalidate\r\n*1\r\n:1\r\n", Push::Witness),
            (b">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nredbolt:witness\r\n", Push::Other),
            (b">2\r\n$10\r\ninvalidate\r\n*1\r\n$18\r\np:redbolt:witness2\r\n", Push::Other),
            (b">2\r\n$10\r\ninvalidate\r\n*0\r\n", Push::Other),
            (b">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n_\r\n", Push::Other),
            (b">0\r\n", Push::Other),
        ];
        for (bytes, expected) in rows {
            let Ok(Status::Complete((Value::Push(elements), _))) = resp::parse(bytes) else {
                panic!("no push: {}", bytes.escape_ascii())
            };
            assert_eq!(Push::read(elements, b"p:"), expected, "{}", bytes.escape_ascii());
        }
    }
}
