//! Which native compare-and-delete a server has, and whether we may run it (S10).
//!
//! A server tells which commands it has, so that no version number is read. Whether a user may run
//! one of them shows only in a try. Most nodes run scripts and need no try: their rights are probed
//! by a script, and a native command that they refuse is replaced by one at its first use.

use bytes::BytesMut;

use super::command::Native;
use super::server_error::ServerError;
use crate::resp::{self, Elements, Value};

/// The native commands, in the order in which [`ask`] asks for them.
#[cfg(feature = "net")]
pub(crate) const ALL: [Native; 2] = [Native::DelIfEq, Native::DelEx];

/// Appends the question which native commands the server has.
pub(crate) fn ask(out: &mut BytesMut) {
    resp::command(out, &[b"COMMAND", b"INFO", b"DELIFEQ", b"DELEX"]);
}

/// Returns the first of the native commands that the server has.
pub(crate) fn read(commands: Elements<'_>) -> Option<Native> {
    let known = [Native::DelIfEq, Native::DelEx].into_iter().zip(commands);
    known.filter(|(_, entry)| matches!(entry, Value::Array(_))).map(|(native, _)| native).next()
}

/// Appends a try on `key`, which changes nothing: the empty value is that of no lock.
pub(crate) fn attempt(out: &mut BytesMut, native: Native, key: &[u8]) {
    match native {
        Native::DelIfEq => resp::command(out, &[b"DELIFEQ", key, b""]),
        Native::DelEx => resp::command(out, &[b"DELEX", key, b"IFEQ", b""]),
    }
}

/// Appends a try of `SET` on `key`: a syntax error, whether the key exists or not.
pub(crate) fn attempt_set(out: &mut BytesMut, key: &[u8]) {
    resp::command(out, &[b"SET", key, b"", b"NX", b"XX"]);
}

/// Returns whether the answer to a try leaves the command to us. An error about the key, about the
/// arguments or about the state of the server says nothing about the command.
pub(crate) fn is_allowed(value: &Value<'_>) -> bool {
    let (Value::Error(text) | Value::BulkError(text)) = value else { return true };
    let is_unknown = memchr::memmem::find(text, b"nknown command").is_some();
    !is_unknown && ServerError::classify(text) != ServerError::Denied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_ours_unless_the_server_says_otherwise() {
        let rows = [
            ("NOPERM User a has no permissions to run the 'delifeq' command", false),
            ("ERR unknown command 'DELEX', with args beginning with: ", false),
            ("NOPERM No permissions to access a key", true),
            ("WRONGTYPE Operation against a key holding the wrong kind of value", true),
            ("ERR syntax error", true),
            ("OOM command not allowed when used memory > 'maxmemory'.", true),
        ];
        for (text, expected) in rows {
            assert_eq!(is_allowed(&Value::Error(text.as_bytes())), expected, "{text}");
        }
        assert!(is_allowed(&Value::Integer(0)));
    }

    #[test]
    fn a_try_changes_nothing() {
        let mut out = BytesMut::new();
        attempt(&mut out, Native::DelIfEq, b"k");
        attempt(&mut out, Native::DelEx, b"k");
        attempt_set(&mut out, b"k");
        let text = String::from_utf8_lossy(&out).replace("\r\n", " ");
        assert_eq!(
            text,
            "*3 $7 DELIFEQ $1 k $0  *4 $5 DELEX $1 k $4 IFEQ $0  *5 $3 SET $1 k $0  $2 NX $2 XX "
        );
    }
}
