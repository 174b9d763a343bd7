//! What an operator is shown of the `INFO` of a server.

use crate::redlock::login::Login;
use crate::redlock::node::message::server_text;

/// The number of characters kept of a value, which a stranger may have sent.
const MAX: usize = 64;

/// The fields that are kept.
const FIELDS: [&str; 12] = [
    "server_name",
    "redis_version",
    "valkey_version",
    "run_id",
    "uptime_in_seconds",
    "maxmemory_policy",
    "maxmemory",
    "aof_enabled",
    "connected_slaves",
    "repl_backlog_active",
    "master_host",
    "master_port",
];

/// Fields of `INFO`, each with its value as users may see it. The last value of a field counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Facts([Option<String>; FIELDS.len()]);

impl Facts {
    /// Reads one section, from a server that has this login from us. Other fields are skipped.
    pub(crate) fn read(&mut self, text: &[u8], login: &Login) {
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii_end();
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let (field, value) = (&line[..colon], &line[colon + 1..]);
            if let Some(place) = FIELDS.iter().position(|known| known.as_bytes() == field) {
                self.0[place] = Some(value_shown(value, login));
            }
        }
    }

    /// Returns the value of a field; `None` if the server has not told it.
    pub(crate) fn get(&self, field: &str) -> Option<&str> {
        let place = FIELDS.iter().position(|known| *known == field)?;
        self.0[place].as_deref()
    }
}

/// Returns a value as users may see it.
pub(super) fn value_shown(value: &[u8], login: &Login) -> String {
    server_text(value, login, MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_kept_as_users_may_see_them() {
        let login = Login::with_password("secret");
        let mut facts = Facts::default();
        facts.read(b"# Server\r\nredis_version:7.\x1b0\r\nother:1\r\nrun_id:ab", &login);
        facts.read(b"maxmemory_policy:secret-lru\r\nmaxmemory:1\r\nmaxmemory:2\r\n", &login);
        let rows = [
            ("redis_version", Some("7.\\u{1b}0")),
            ("run_id", Some("ab")),
            ("maxmemory_policy", Some("…-lru")),
            ("maxmemory", Some("2")),
            ("master_host", None),
            ("other", None),
        ];
        for (field, expected) in rows {
            assert_eq!(facts.get(field), expected, "{field}");
        }
    }
}
