//! What a server tells about itself in `INFO` and by its settings.

use core::time::Duration;

use crate::redlock::Answers;

/// The number of characters kept of a value, which a stranger may have sent.
const MAX: usize = 64;

/// What a server has told about itself. A field is `None` if the server did not tell.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct CheckServer {
    /// `redis`, `valkey`, or the name that another server gives itself.
    pub name: String,
    /// The version; empty if not told.
    pub version: String,
    /// The number that the process has drawn at its start.
    pub run_id: Option<String>,
    /// For how long the process has been running, in whole seconds.
    pub uptime: Option<Duration>,
    /// `maxmemory-policy`.
    pub policy: Option<String>,
    /// `maxmemory` in bytes; 0 stands for no limit.
    pub max_memory: Option<u64>,
    /// Whether the process writes an append-only file.
    pub appends: Option<bool>,
    /// `appendfsync`. Told to users with the right to `config|get`, as are the next two.
    pub appendfsync: Option<String>,
    /// `save`: when the process writes a snapshot; empty for never.
    pub save: Option<String>,
    /// `repl-backlog-ttl`.
    pub backlog_ttl: Option<Duration>,
    /// The number of replicas that are attached.
    pub replicas: Option<u64>,
    /// The master of a replica, as `host:port`.
    pub master: Option<String>,
}

impl CheckServer {
    /// Reads what an audit has answered.
    pub(super) fn read(answers: &Answers) -> Self {
        let mut server = Self::default();
        let (mut host, mut port) = (None, None);
        let mut versions = [None, None];
        let info = String::from_utf8_lossy(&answers.info);
        for line in info.lines() {
            let Some((field, value)) = line.split_once(':') else { continue };
            let value = value.trim_end();
            match field {
                "server_name" => server.name = shown(value),
                "redis_version" => versions[1] = Some(shown(value)),
                "valkey_version" => versions[0] = Some(shown(value)),
                "run_id" => server.run_id = Some(shown(value)),
                "uptime_in_seconds" => {
                    server.uptime = value.parse().ok().map(Duration::from_secs);
                }
                "maxmemory_policy" => server.policy = Some(shown(value)),
                "maxmemory" => server.max_memory = value.parse().ok(),
                "aof_enabled" => server.appends = Some(value == "1"),
                "connected_slaves" => server.replicas = value.parse().ok(),
                "master_host" => host = Some(shown(value)),
                "master_port" => port = Some(shown(value)),
                _ => {}
            }
        }
        server.version = versions.into_iter().flatten().next().unwrap_or_default();
        if server.name.is_empty() {
            "redis".clone_into(&mut server.name);
        }
        server.master = host.zip(port).map(|(host, port)| format!("{host}:{port}"));
        for (name, value) in &answers.settings {
            match *name {
                "appendfsync" => server.appendfsync = Some(value.clone()),
                "save" => server.save = Some(value.clone()),
                "repl-backlog-ttl" => {
                    server.backlog_ttl = value.parse().ok().map(Duration::from_secs);
                }
                _ => {}
            }
        }
        server
    }

    /// Returns what survives a restart: `none`, `rdb` (snapshots), `aof` (the append-only file) or
    /// `aof+rdb`; `None` if the server did not tell.
    pub fn persistence(&self) -> Option<&'static str> {
        match (self.appends?, self.save.as_deref().map(str::is_empty)) {
            (true, Some(false)) => Some("aof+rdb"),
            (true, _) => Some("aof"),
            (false, Some(true)) => Some("none"),
            (false, Some(false)) => Some("rdb"),
            (false, None) => None,
        }
    }
}

/// Returns a value as a terminal may show it.
fn shown(value: &str) -> String {
    value.chars().take(MAX).map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_survives_a_restart_is_known_only_where_the_server_tells() {
        let rows = [
            (Some(true), Some("3600 1"), Some("aof+rdb")),
            (Some(true), Some(""), Some("aof")),
            (Some(true), None, Some("aof")),
            (Some(false), Some("3600 1"), Some("rdb")),
            (Some(false), Some(""), Some("none")),
            (Some(false), None, None),
            (None, Some(""), None),
        ];
        for (appends, save, expected) in rows {
            let save = save.map(str::to_owned);
            let server = CheckServer { appends, save, ..CheckServer::default() };
            assert_eq!(server.persistence(), expected, "{server:?}");
        }
    }

    #[test]
    fn a_terminal_gets_no_control_characters_and_no_novel() {
        assert_eq!(shown("a\x1b[2Jb"), "a?[2Jb");
        assert_eq!(shown(&"ä".repeat(99)).chars().count(), MAX);
    }
}
