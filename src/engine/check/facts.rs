//! What a server tells about itself in `INFO` and by its settings.

use core::time::Duration;

use crate::redlock::Facts;

/// What a server has told about itself. A field is `None` if the server did not tell.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct CheckServer {
    /// `redis`, `valkey`, or the name that another server gives itself.
    pub name: String,
    /// The version.
    pub version: Option<String>,
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
    /// Whether the process keeps a backlog for replicas: there are some, or have been.
    pub backlog: Option<bool>,
    /// The master of a replica, as `host:port`.
    pub master: Option<String>,
}

impl CheckServer {
    /// Reads what a server has told in `INFO`, and its settings.
    pub(in crate::engine) fn read(facts: &Facts, settings: &[(&'static str, String)]) -> Self {
        let text = |field| facts.get(field).map(str::to_owned);
        let number = |field| facts.get(field)?.parse().ok();
        let seconds = |text: &str| text.parse().ok().map(Duration::from_secs);
        let setting = |wanted| settings.iter().find(|(name, _)| *name == wanted);
        let setting = |wanted| setting(wanted).map(|(_, value)| value.clone());
        let version = text("valkey_version").or_else(|| text("redis_version"));
        let master = text("master_host").zip(text("master_port"));
        Self {
            name: text("server_name").unwrap_or_else(|| "redis".to_owned()),
            version,
            run_id: text("run_id"),
            uptime: facts.get("uptime_in_seconds").and_then(seconds),
            policy: text("maxmemory_policy"),
            max_memory: number("maxmemory"),
            appends: facts.get("aof_enabled").map(|value| value == "1"),
            appendfsync: setting("appendfsync"),
            save: setting("save"),
            backlog_ttl: setting("repl-backlog-ttl").as_deref().and_then(seconds),
            replicas: number("connected_slaves"),
            backlog: facts.get("repl_backlog_active").map(|value| value == "1"),
            master: master.map(|(host, port)| format!("{host}:{port}")),
        }
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
}
