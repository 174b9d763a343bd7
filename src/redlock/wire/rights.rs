//! Tries of all commands that locks need, each in a way that changes nothing (S10).
//!
//! A server checks the right to a command before it reads the arguments, and behind the number of
//! the arguments. So a command that would write is sent with arguments that no server can execute:
//! the error is about the right, or about the arguments. The [probe](super::probe) of a handshake
//! makes a key instead, for a millisecond.

use bytes::BytesMut;

use super::probe::MissingRights;
use super::server_error::ServerError;
use crate::resp::{self, Value};

/// The commands that are tried: all but `INFO` and `TIME`, which change nothing by themselves.
pub(crate) const TRIED: [&str; 10] =
    ["eval", "evalsha", "set", "get", "getrange", "mget", "exists", "pttl", "pexpire", "del"];

/// The begin of the name of a key that nobody makes, after the configured prefix. Sixteen bytes of
/// entropy follow, because `DEL` is tried on this key: whatever has a name that can be known may be
/// there, put by a client with another prefix.
pub(crate) const NO_KEY: &[u8] = b"redbolt:check:";

/// The SHA-1 of no script.
const NO_SCRIPT: [u8; 40] = [b'0'; 40];

/// The rights that the keys of the witness need: the commands of the script of a look.
pub(crate) const WITNESS_RIGHTS: [&str; 4] = ["get", "set", "time", "info"];

/// Returns the rules that give a user these rights: `+get +set`.
pub(crate) fn rules(names: impl IntoIterator<Item = &'static str>) -> String {
    let rules: Vec<_> = names.into_iter().map(|name| format!("+{name}")).collect();
    rules.join(" ")
}

/// Appends a try of a command on `key`, which does not exist.
pub(crate) fn attempt(out: &mut BytesMut, name: &str, key: &[u8]) {
    match name {
        // No number of keys is negative.
        "eval" => resp::command(out, &[b"EVAL", b"", b"-1"]),
        "evalsha" => resp::command(out, &[b"EVALSHA", &NO_SCRIPT, b"0"]),
        "set" => set(out, key),
        // Not numbers.
        "pexpire" => resp::command(out, &[b"PEXPIRE", key, b"-"]),
        "getrange" => resp::command(out, &[b"GETRANGE", key, b"-", b"-"]),
        name => resp::command(out, &[name.to_ascii_uppercase().as_bytes(), key]),
    }
}

/// Appends a `SET` that is a syntax error whether the key exists or not.
pub(crate) fn set(out: &mut BytesMut, key: &[u8]) {
    resp::command(out, &[b"SET", key, b"", b"NX", b"XX"]);
}

/// Adds the command to `missing` if the reply to its try says that it may not be run, or is not
/// there.
pub(crate) fn read(missing: &mut MissingRights, name: &str, value: &Value<'_>) {
    let (Value::Error(text) | Value::BulkError(text)) = value else { return };
    if is_missing(text) {
        missing.insert(name.as_bytes());
    }
}

/// Returns whether an error says that a command may not be run, or is not there. An error about the
/// key, about the arguments or about the state of the server says neither.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    let is_unknown = memchr::memmem::find(text, b"nknown command").is_some()
        || memchr::memmem::find(text, b"nknown subcommand").is_some();
    is_unknown || ServerError::classify(text) == ServerError::Denied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redlock::bounds::RESERVED;
    use crate::redlock::wire::probe::{NAMES, PROBED};
    use crate::redlock::wire::witness::{LABEL, LOOK, STAMP, WITNESS};

    #[test]
    fn only_an_error_about_the_command_is_a_missing_right() {
        let rows = [
            ("NOPERM this user has no permissions to run the 'set' command", true),
            ("NOPERM User a has no permissions to run the 'client|tracking' command", true),
            ("ERR unknown command 'SET', with args beginning with: ", true),
            ("ERR Unknown subcommand or wrong number of arguments for 'tracking'", true),
            ("NOPERM this user has no permissions to access one of the keys", false),
            ("NOPERM No permissions to access a key", false),
            ("ERR syntax error", false),
            ("ERR value is not an integer or out of range", false),
            ("ERR Number of keys can't be negative", false),
            ("NOSCRIPT No matching script. Please use EVAL.", false),
            ("OOM command not allowed when used memory > 'maxmemory'.", false),
            ("READONLY You can't write against a read only replica.", false),
            ("LOADING Redis is loading the dataset in memory", false),
        ];
        for (error, expected) in rows {
            let mut missing = MissingRights::default();
            read(&mut missing, "set", &Value::Error(error.as_bytes()));
            assert_eq!(!missing.is_empty(), expected, "{error}");
        }
    }

    #[test]
    fn every_command_that_locks_need_is_tried() {
        let mut missing = MissingRights::default();
        TRIED.iter().for_each(|name| missing.insert(name.as_bytes()));
        ["info", "time"].iter().for_each(|name| missing.insert(name.as_bytes()));
        assert_eq!(missing.names().count(), NAMES.len(), "{missing}");
    }

    #[test]
    fn the_rights_of_the_witness_are_the_commands_of_a_look() {
        let calls = LOOK.text.split("redis.call('").skip(1);
        let mut used: Vec<_> = calls.filter_map(|rest| rest.split('\'').next()).collect();
        used.sort_unstable();
        used.dedup();
        let mut needed = WITNESS_RIGHTS.map(str::to_ascii_uppercase);
        needed.sort_unstable();
        assert_eq!(used, needed);
        assert_eq!(rules(WITNESS_RIGHTS), "+get +set +time +info");
    }

    #[test]
    fn all_keys_beside_the_locks_have_a_reserved_name() {
        for name in [WITNESS, STAMP, LABEL, PROBED, NO_KEY] {
            assert!(name.starts_with(RESERVED), "{}", name.escape_ascii());
        }
    }
}
