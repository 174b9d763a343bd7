//! The text of `INFO`: the fields that a lock client reads, and a few fields for people.

use core::fmt::{self, Write};
use core::time::Duration;

use super::database::Database;

/// The version whose commands and error texts this master follows.
const VERSION: &str = "7.0.15";

/// The state of a master, as far as `INFO` shows it.
pub(super) struct Info<'a> {
    pub(super) run_id: &'a str,
    pub(super) replication_id: &'a str,
    pub(super) uptime: Duration,
    pub(super) databases: &'a [Database],
    /// The time in milliseconds of the master's clock, by which keys are alive or dead.
    pub(super) now: u64,
}

type Section = fn(&Info<'_>, &mut String) -> fmt::Result;

/// The sections in the order in which Redis prints them, whatever the order of the request.
const SECTIONS: [(&str, Section); 7] = [
    ("Server", server),
    ("Memory", memory),
    ("Persistence", persistence),
    ("Stats", stats),
    ("Replication", replication),
    ("Cluster", cluster),
    ("Keyspace", keyspace),
];

impl Info<'_> {
    /// The named sections, or all sections where none is named. An unknown name is no error and
    /// adds nothing.
    pub(super) fn render(&self, names: &[&[u8]]) -> String {
        let wants = |section: &str| {
            let all = ["all", "default", "everything", section];
            names.is_empty() || names.iter().any(|name| is_any_of(name, &all))
        };
        let mut text = String::new();
        for (name, section) in SECTIONS.iter().filter(|(name, _)| wants(name)) {
            let separator = if text.is_empty() { "" } else { "\r\n" };
            // Writing to a `String` never fails.
            let _ = write!(text, "{separator}# {name}\r\n");
            let _ = section(self, &mut text);
        }
        text
    }
}

fn is_any_of(name: &[u8], all: &[&str]) -> bool {
    all.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()))
}

fn server(info: &Info<'_>, text: &mut String) -> fmt::Result {
    let uptime = info.uptime.as_secs();
    write!(
        text,
        "redis_version:{VERSION}\r\nserver_name:redbolt-embedded\r\nredis_mode:standalone\r\n\
         run_id:{}\r\nuptime_in_seconds:{uptime}\r\nuptime_in_days:{}\r\n",
        info.run_id,
        uptime / (24 * 60 * 60),
    )
}

/// Names no limit in bytes: here `-OOM` is about the number of keys.
fn memory(info: &Info<'_>, text: &mut String) -> fmt::Result {
    let used: usize = info.databases.iter().map(|database| database.bytes()).sum();
    write!(text, "used_memory:{used}\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n")
}

fn persistence(_: &Info<'_>, text: &mut String) -> fmt::Result {
    text.write_str("loading:0\r\naof_enabled:0\r\n")
}

/// Keys die by their deadlines only.
fn stats(_: &Info<'_>, text: &mut String) -> fmt::Result {
    text.write_str("evicted_keys:0\r\n")
}

fn replication(info: &Info<'_>, text: &mut String) -> fmt::Result {
    write!(
        text,
        "role:master\r\nconnected_slaves:0\r\nmaster_replid:{}\r\nsecond_repl_offset:-1\r\n",
        info.replication_id,
    )
}

fn cluster(_: &Info<'_>, text: &mut String) -> fmt::Result {
    text.write_str("cluster_enabled:0\r\n")
}

fn keyspace(info: &Info<'_>, text: &mut String) -> fmt::Result {
    for (number, database) in info.databases.iter().enumerate() {
        let keys = database.len(info.now);
        if keys > 0 {
            let expires = database.expiring(info.now);
            write!(text, "db{number}:keys={keys},expires={expires},avg_ttl=0\r\n")?;
        }
    }
    Ok(())
}
