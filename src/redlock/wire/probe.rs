//! The probe: which commands a node lets us run (S10).
//!
//! A user of a server may lack a right, or a command may have been renamed. Without `GET` or `DEL`
//! no lock can be released, without `PTTL` or `PEXPIRE` none can be renewed: each would show only
//! when the locks are there. So each handshake tries all commands of all scripts once.

use core::fmt;

use super::script::Script;
use super::server_error::{ServerError, names_key};
use crate::resp::Value;

/// The name of the key of the probe, after the configured prefix.
pub(crate) const PROBED: &[u8] = b"redbolt:probe";

/// The script that tries all commands of all scripts.
///
/// `ARGV[1]` is the key, which the script makes and deletes. The key is an argument and not one of
/// `KEYS`: a server refuses a call that names a key to which the user has no right, and then tells
/// nothing of the commands. Without an argument the script does nothing: such a call by SHA-1 shows
/// that calls by SHA-1 are allowed. The script answers with an array: the name of each command that
/// failed, and its error behind the name.
///
/// Where the key cannot be deleted, the key is gone after a millisecond.
pub const PROBE: Script = Script {
    text: "local k, out = ARGV[1], {} if not k then return out end \
           local function try(name, ...) local r = redis.pcall(name, ...) \
           if type(r) == 'table' and r.err then out[#out + 1] = name out[#out + 1] = r.err end end \
           try('set', k, '1', 'PX', 1) try('get', k) try('getrange', k, 0, 0) try('mget', k) \
           try('exists', k) try('pttl', k) try('pexpire', k, 1) try('del', k) try('time') \
           try('info', 'server') \
           return out",
    sha: "1d89fbe27d70c8776263965957a05feae2c75389",
};

/// The commands that redbolt needs on a server, in the order of `Display`.
pub(super) const NAMES: [&str; 12] = [
    "info", "eval", "evalsha", "set", "get", "getrange", "mget", "exists", "pttl", "pexpire",
    "del", "time",
];

/// A set of commands that a node does not let this client run.
///
/// `Display` writes the names, separated by commas.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MissingRights(u16);

impl MissingRights {
    /// The only command that no lock needs: the witness tells the time (S11).
    const TIME: Self = Self(1 << (NAMES.len() - 1));

    /// `EVAL`. Who lacks it is sent no scripts; `EVALSHA` alone is of no use.
    const EVAL: Self = Self(0b0010);

    /// What is needed without scripts: `INFO` and `SET`.
    const ALONE: Self = Self(0b1001);

    /// Returns `true` if nothing is missing.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the names of the commands, in lower case.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let names = NAMES.into_iter().enumerate();
        names.filter(move |(place, _)| self.0 & (1 << place) != 0).map(|(_, name)| name)
    }

    /// Returns those of the commands without which no lock can be had and given back. A native
    /// compare-and-delete takes the place of scripts, and of what they call.
    pub(crate) const fn for_locks(self, has_native: bool) -> Self {
        if has_native && !self.allows_scripts() {
            return Self(self.0 & Self::ALONE.0);
        }
        Self(self.0 & !Self::TIME.0)
    }

    /// Returns whether scripts may be run.
    #[inline]
    pub(crate) const fn allows_scripts(self) -> bool {
        self.0 & Self::EVAL.0 == 0
    }

    /// Adds a command. Does nothing for a command that redbolt does not need.
    pub(crate) fn insert(&mut self, name: &[u8]) {
        if let Some(place) = NAMES.iter().position(|known| known.as_bytes() == name) {
            self.0 |= 1 << place;
        }
    }

    /// Adds what the reply to a probe says. The command `by` has sent the probe. Returns `None` if
    /// no probe can have this reply.
    ///
    /// Only an error about the command counts. A server whose memory is full, that is busy or that
    /// is no master answers with other errors, and none of them is about a right.
    pub(crate) fn read(&mut self, by: &str, value: &Value<'_>) -> Option<()> {
        let elements = match value {
            Value::Array(elements) => elements,
            Value::Error(text) | Value::BulkError(text) => {
                let error = ServerError::classify(text);
                if matches!(error, ServerError::Denied | ServerError::Unsupported) {
                    self.insert(by.as_bytes());
                }
                return Some(());
            }
            _ => return None,
        };
        let mut elements = elements.clone();
        while let Some(name) = elements.next() {
            let (Value::Bulk(name), Value::Bulk(error)) = (name, elements.next()?) else {
                return None;
            };
            if is_refusal(error) {
                self.insert(name);
            }
        }
        Some(())
    }
}

/// Returns whether an error says that the command may not be run, or is not there.
fn is_refusal(error: &[u8]) -> bool {
    let is_unknown = memchr::memmem::find(error, b"ommand called from script").is_some();
    let class = ServerError::classify(error);
    matches!(class, ServerError::Denied | ServerError::ScriptDenied) && !names_key(error)
        || is_unknown
}

impl fmt::Display for MissingRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, name) in self.names().enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            f.write_str(name)?;
        }
        Ok(())
    }
}

impl fmt::Debug for MissingRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests;
