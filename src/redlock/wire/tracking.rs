//! RESP3, and client-side caching: a server that can do both says by itself that a key may have
//! another value, or that all keys may be gone, between two replies (S11).
//!
//! The client opts in for each key that it wants to hear of: `CLIENT CACHING YES`, and the read of
//! the key directly behind. Whoever writes or deletes the key then makes the server push its name,
//! once; who wants to hear more reads again. The server does not leave out the client's own writes:
//! with `NOLOOP` such a write would end the registration in silence.
//!
//! Who empties a database, by `FLUSHALL`, `DEBUG RELOAD` or as a replica that loads the data of its
//! master, makes the server push a null to every client that tracks, and forget all registrations.
//! A push goes into the output of a connection at once, so it stands before every reply to a
//! request that the server executes later. `SWAPDB` pushes nothing.

use bytes::BytesMut;

use super::command;
use super::witness::WITNESS;
use crate::resp::{self, Elements, Value};

/// The key by which Redis up to 6.0.5 says that all keys may be gone, instead of a null. No lock
/// can have this name: a client reads only keys that it wants to hear of.
const ALL_KEYS: &[u8] = b"\0";

/// What a push says.
#[derive(Clone, Debug)]
pub(crate) enum Push<'a> {
    /// All keys may be gone.
    AllKeys,
    /// These keys may have other values.
    Keys(Elements<'a>),
    /// Nothing.
    Other,
}

/// What a key of a push is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Touched<'a> {
    /// All keys may be gone.
    AllKeys,
    /// The witness.
    Witness,
    /// A lock, by its key.
    Lock(&'a [u8]),
}

/// Appends the request to speak RESP3 from the reply on.
pub(crate) fn hello(out: &mut BytesMut) {
    resp::command(out, &[b"HELLO", b"3"]);
}

/// Appends the request to be told what happens to keys for which the client opts in.
pub(crate) fn track(out: &mut BytesMut) {
    resp::command(out, &[b"CLIENT", b"TRACKING", b"ON", b"OPTIN"]);
}

/// Appends the request to be told what happens to the keys that the next command reads.
pub(crate) fn opt_in(out: &mut BytesMut) {
    resp::command(out, &[b"CLIENT", b"CACHING", b"YES"]);
}

/// Appends a read of the witness.
pub(crate) fn read_witness(out: &mut BytesMut, prefix: &[u8]) {
    command::get(out, &[prefix, WITNESS].concat());
}

impl<'a> Push<'a> {
    /// Reads the elements of a push. An invalidation that cannot be understood counts as one of all
    /// keys: that costs a look.
    pub(crate) fn read(mut elements: Elements<'a>) -> Self {
        match elements.next() {
            Some(Value::Bulk(b"invalidate") | Value::Simple(b"invalidate")) => {}
            _ => return Self::Other,
        }
        match elements.next() {
            Some(Value::Array(keys)) => Self::Keys(keys),
            _ => Self::AllKeys,
        }
    }
}

impl<'a> Touched<'a> {
    /// Reads a key of a push, on a connection whose keys have this prefix. What is no string can
    /// stand for any key.
    pub(crate) fn read(key: &Value<'a>, prefix: &[u8]) -> Self {
        match key {
            Value::Bulk(ALL_KEYS) => Self::AllKeys,
            Value::Bulk(key) if key.strip_prefix(prefix) == Some(WITNESS) => Self::Witness,
            Value::Bulk(key) => Self::Lock(key),
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
        assert_eq!(text(track), "*4 $6 CLIENT $8 TRACKING $2 ON $5 OPTIN ");
        assert_eq!(text(opt_in), "*3 $6 CLIENT $7 CACHING $3 YES ");
        assert_eq!(text(|out| read_witness(out, b"p:")), "*2 $3 GET $17 p:redbolt:witness ");
    }

    #[test]
    fn a_push_is_about_keys_or_about_all_keys_or_about_nothing_of_ours() {
        const ALL: Option<&[Touched<'_>]> = Some(&[Touched::AllKeys]);
        let rows: [(&[u8], Option<&[Touched<'_>]>); 15] = [
            (b">2\r\n$10\r\ninvalidate\r\n_\r\n", ALL),
            (b">2\r\n+invalidate\r\n_\r\n", ALL),
            (b">2\r\n$10\r\ninvalidate\r\n*-1\r\n", ALL),
            (b">1\r\n$10\r\ninvalidate\r\n", ALL),
            (b">2\r\n$10\r\ninvalidate\r\n:1\r\n", ALL),
            (b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\n\0\r\n", ALL),
            (
                b">2\r\n$10\r\ninvalidate\r\n*1\r\n$17\r\np:redbolt:witness\r\n",
                Some(&[Touched::Witness]),
            ),
            (
                b">2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$17\r\np:redbolt:witness\r\n",
                Some(&[Touched::Lock(b"a"), Touched::Witness]),
            ),
            (b">2\r\n$10\r\ninvalidate\r\n*1\r\n:1\r\n", ALL),
            (
                b">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nredbolt:witness\r\n",
                Some(&[Touched::Lock(b"redbolt:witness")]),
            ),
            (
                b">2\r\n$10\r\ninvalidate\r\n*1\r\n$18\r\np:redbolt:witness2\r\n",
                Some(&[Touched::Lock(b"p:redbolt:witness2")]),
            ),
            (b">2\r\n$10\r\ninvalidate\r\n*1\r\n$0\r\n\r\n", Some(&[Touched::Lock(b"")])),
            (b">2\r\n$10\r\ninvalidate\r\n*0\r\n", Some(&[])),
            (b">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n_\r\n", None),
            (b">0\r\n", None),
        ];
        for (bytes, expected) in rows {
            let Ok(Status::Complete((Value::Push(elements), _))) = resp::parse(bytes) else {
                panic!("no push: {}", bytes.escape_ascii())
            };
            let found = match Push::read(elements) {
                Push::AllKeys => Some(vec![Touched::AllKeys]),
                Push::Keys(keys) => Some(keys.map(|key| Touched::read(&key, b"p:")).collect()),
                Push::Other => None,
            };
            assert_eq!(found.as_deref(), expected, "{}", bytes.escape_ascii());
        }
    }
}
