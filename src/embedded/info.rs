//! The text of `INFO`: the fields that a lock client looks at, and a few for the human reader.

use core::fmt::{self, Write};

use super::state::{Master, millis};
use crate::time::Instant;

/// The version whose commands and error texts this master follows.
const VERSION: &str = "7.0.15";

type Section = fn(&Master, Instant, &mut String) -> fmt::Result;

/// In the order in which Redis prints them, whatever the order of the request.
const SECTIONS: [(&str, Section); 6] = [
    ("Server", server),
    ("Memory", memory),
    ("Persistence", persistence),
    ("Replication", replication),
    ("Cluster", cluster),
    ("Keyspace", keyspace),
];

/// The sections named, or all where none is; an unknown name is no error and adds nothing.
pub(super) fn render(master: &Master, now: Instant, names: &[&[u8]]) -> String {
    let wants = |section: &str| {
        let all = ["all", "default", "everything", section];
        names.is_empty() || names.iter().any(|name| is_any_of(name, &all))
    };
    let mut text = String::new();
    for (name, section) in SECTIONS.iter().filter(|(name, _)| wants(name)) {
        let separator = if text.is_empty() { "" } else { "\r\n" };
        // Writing to a `String` never fails.
        let _ = write!(text, "{separator}# {name}\r\n");
        let _ = section(master, now, &mut text);
    }
    text
}

fn is_any_of(name: &[u8], all: &[&str]) -> bool {
    all.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()))
}

fn server(master: &Master, now: Instant, text: &mut String) -> fmt::Result {
    let uptime = (now - master.started).as_secs();
    write!(
        text,
        "redis_version:{VERSION}\r\nserver_name:redbolt-embedded\r\nredis_mode:standalone\r\n\
         run_id:{}\r\nuptime_in_seconds:{uptime}\r\nuptime_in_days:{}\r\n",
        master.run_id,
        uptime / (24 * 60 * 60),
    )
}

/// There is no limit in bytes: what `-OOM` is about here is the number of keys.
fn memory(master: &Master, _: Instant, text: &mut String) -> fmt::Result {
    let used: usize = master.databases.iter().map(|database| database.bytes()).sum();
    write!(text, "used_memory:{used}\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n")
}

fn persistence(_: &Master, _: Instant, text: &mut String) -> fmt::Result {
    text.write_str("loading:0\r\naof_enabled:0\r\n")
}

fn replication(master: &Master, _: Instant, text: &mut String) -> fmt::Result {
    write!(
        text,
        "role:master\r\nconnected_slaves:0\r\nmaster_replid:{}\r\nsecond_repl_offset:-1\r\n",
        master.replication_id,
    )
}

fn cluster(_: &Master, _: Instant, text: &mut String) -> fmt::Result {
    text.write_str("cluster_enabled:0\r\n")
}

fn keyspace(master: &Master, now: Instant, text: &mut String) -> fmt::Result {
    let now = millis(now);
    for (number, database) in master.databases.iter().enumerate() {
        let keys = database.len(now);
        if keys > 0 {
            let expires = database.expiring(now);
            write!(text, "db{number}:keys={keys},expires={expires},avg_ttl=0\r\n")?;
        }
    }
    Ok(())
}
