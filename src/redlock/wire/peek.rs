//! The script by which an operator looks at a key, and the release of any value.
//!
//! Neither is on the way of a lock. Both go by the text of their script.

use core::time::Duration;

use bytes::BytesMut;

use super::script::{RELEASE, Script};
use super::server_error::ServerError;
use crate::redlock::stored::{Stored, StoredValue};
use crate::resp::{self, Value};

/// The script that looks at a key, whatever its type, and changes nothing.
///
/// `KEYS[1]` is the key, `ARGV[1]` the length up to which a value is wanted. The script answers
/// with an array: the length of the string, the string, the remaining ttl in milliseconds. The
/// string is nil where there is none, and where it is too long. The length −1 stands for data of
/// another type, whose name then has the place of the string.
///
/// The rights of a lock suffice. Without that to `STRLEN`, a long string is read on the node, but
/// does not leave it. Without that to `TYPE`, the name of the type is empty.
pub(crate) const PEEK: Script = Script {
    text: "local k, most = KEYS[1], tonumber(ARGV[1]) \
    local ttl, len = redis.call('PTTL', k), redis.pcall('STRLEN', k) \
    if type(len) == 'number' and len > most then return {len, false, ttl} end \
    local v = redis.pcall('GET', k) \
    if type(v) ~= 'table' then \
    len = v and #v or 0 \
    return {len, len <= most and v, ttl} end \
    if not string.find(v.err, 'WRONGTYPE', 1, true) then return v end \
    return {-1, redis.pcall('TYPE', k).ok or '', ttl}",
    sha: "bc63e4c50c4bff76d647251f10be000fb3ddd751",
};

/// How much is read of the name of a type, in bytes.
const KIND: usize = 32;

/// What a release of a value has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Removal {
    /// The key had the value, and was deleted.
    Deleted,
    /// There was no key.
    Gone,
    /// The key has another value, and was left alone.
    Other,
}

/// The reason why a reply says nothing of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unread {
    /// The server answered with an error.
    Refused(ServerError),
    /// No server gives such a reply.
    Unexpected,
}

/// Appends a look at a key.
pub(crate) fn peek(out: &mut BytesMut, key: &[u8]) {
    let most = StoredValue::MAX_LEN.to_string();
    resp::command(out, &[b"EVAL", PEEK.text.as_bytes(), b"1", key, most.as_bytes()]);
}

/// Reads the reply to [`peek`].
pub(crate) fn read_peek(value: &Value<'_>) -> Result<Stored, Unread> {
    let parts = match value {
        Value::Array(parts) if parts.len() == 3 => parts,
        value => return Err(unread(value)),
    };
    let mut parts = parts.clone();
    let (len, value, ttl) = (parts.next(), parts.next(), parts.next());
    let (Some(Value::Integer(len)), Some(value), Some(Value::Integer(ttl))) = (len, value, ttl)
    else {
        return Err(Unread::Unexpected);
    };
    let is_there = ttl != -2;
    let ttl = u64::try_from(ttl).ok().map(Duration::from_millis);
    let stored = match (len, value) {
        (0, Value::Null) if !is_there => Stored::Nothing,
        (-1, Value::Bulk(kind)) => {
            // No type of Redis has so long a name.
            let kind = String::from_utf8_lossy(&kind[..kind.len().min(KIND)]).into_owned();
            Stored::Data { kind, ttl }
        }
        (1.., Value::Null) => Stored::Long { len: len.unsigned_abs(), ttl },
        (_, Value::Bulk(value))
            if usize::try_from(len) == Ok(value.len()) && value.len() <= StoredValue::MAX_LEN =>
        {
            Stored::Value { value: StoredValue::new(value), ttl }
        }
        _ => return Err(Unread::Unexpected),
    };
    Ok(stored)
}

/// Appends a compare-and-delete of any value.
pub(crate) fn remove(out: &mut BytesMut, key: &[u8], value: &[u8]) {
    resp::command(out, &[b"EVAL", RELEASE.text.as_bytes(), b"1", key, value]);
}

/// Reads the reply to [`remove`].
pub(crate) fn read_removal(value: &Value<'_>) -> Result<Removal, Unread> {
    match value {
        Value::Integer(1) => Ok(Removal::Deleted),
        Value::Integer(0) => Ok(Removal::Gone),
        Value::Integer(-1) => Ok(Removal::Other),
        value => Err(unread(value)),
    }
}

fn unread(value: &Value<'_>) -> Unread {
    match value {
        Value::Error(text) | Value::BulkError(text) => Unread::Refused(ServerError::classify(text)),
        _ => Unread::Unexpected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(reply: &str, read: impl Fn(&Value<'_>) -> Result<T, Unread>) -> Result<T, Unread> {
        let Ok(resp::Status::Complete((value, _))) = resp::parse(reply.as_bytes()) else {
            panic!("not a reply: {reply:?}");
        };
        read(&value)
    }

    #[test]
    fn the_sha_belongs_to_the_text() {
        let sha = sha1_smol::Sha1::from(PEEK.text).digest().to_string();
        assert_eq!(sha, PEEK.sha);
    }

    #[test]
    fn what_stands_at_a_key_is_read_from_the_answer() {
        let ttl = Some(Duration::from_millis(1_500));
        let value = StoredValue::new("abc");
        let rows = [
            ("*3\r\n:0\r\n$-1\r\n:-2\r\n", Ok(Stored::Nothing)),
            ("*3\r\n:3\r\n$3\r\nabc\r\n:1500\r\n", Ok(Stored::Value { value, ttl })),
            (
                "*3\r\n:0\r\n$0\r\n\r\n:-1\r\n",
                Ok(Stored::Value { value: StoredValue::new(""), ttl: None }),
            ),
            ("*3\r\n:5000\r\n$-1\r\n:-1\r\n", Ok(Stored::Long { len: 5_000, ttl: None })),
            (
                "*3\r\n:-1\r\n$4\r\nlist\r\n:1500\r\n",
                Ok(Stored::Data { kind: "list".to_owned(), ttl }),
            ),
            ("*3\r\n:4\r\n$3\r\nabc\r\n:1500\r\n", Err(Unread::Unexpected)),
            ("*3\r\n:0\r\n$-1\r\n:1500\r\n", Err(Unread::Unexpected)),
            ("*2\r\n:0\r\n$-1\r\n", Err(Unread::Unexpected)),
            (":1\r\n", Err(Unread::Unexpected)),
            ("-LOADING data\r\n", Err(Unread::Refused(ServerError::NotServing))),
        ];
        for (reply, expected) in rows {
            assert_eq!(read(reply, read_peek), expected, "{reply:?}");
        }
    }

    #[test]
    fn what_a_release_has_done_is_read_from_the_answer() {
        let rows = [
            (":1\r\n", Ok(Removal::Deleted)),
            (":0\r\n", Ok(Removal::Gone)),
            (":-1\r\n", Ok(Removal::Other)),
            (":2\r\n", Err(Unread::Unexpected)),
            ("+OK\r\n", Err(Unread::Unexpected)),
            ("-WRONGTYPE x\r\n", Err(Unread::Refused(ServerError::WrongType))),
        ];
        for (reply, expected) in rows {
            assert_eq!(read(reply, read_removal), expected, "{reply:?}");
        }
    }
}
