//! Who a server is, as its `INFO` says: whether the server may vote at all (S10), and by what a
//! later look knows the same data again (S11).

use super::error::NodeError;

/// What a node has said about itself so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Info {
    run_id: Option<RunId>,
    replication: Option<[u8; 40]>,
    evicted: Option<u64>,
    standalone: Option<bool>,
    master: Option<bool>,
    loading: Option<bool>,
    memory_limit: Option<u64>,
    evicts: Option<bool>,
    appends: Option<bool>,
    append_failed: Option<bool>,
    was_replica: Option<bool>,
    syncs_always: Option<bool>,
    syncs_on_rewrite: Option<bool>,
    /// The time of the server, in microseconds since 1970.
    pub(super) time: Option<u64>,
}

/// The forty hex digits that a server process draws when it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RunId(pub(super) [u8; 40]);

/// The identity of the data of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Identity {
    pub(crate) run_id: RunId,
    /// The replication id, drawn anew by a replica that becomes a master; `None` if not told.
    pub(crate) replication: Option<[u8; 40]>,
    /// The number of keys that the process has evicted; `None` if not told.
    pub(crate) evicted: Option<u64>,
}

impl Info {
    /// Reads the lines `field:value` of one section or of several. Unknown fields are skipped.
    pub(crate) fn read(&mut self, text: &[u8]) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = rest[..end].trim_ascii_end();
            rest = rest.get(end + 1..).unwrap_or_default();
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let (field, value) = (&line[..colon], &line[colon + 1..]);
            match field {
                b"run_id" => self.run_id = value.try_into().ok().map(RunId),
                // Valkey has the name `server_mode`.
                b"redis_mode" | b"server_mode" => self.standalone = Some(value == b"standalone"),
                b"role" => self.master = Some(value == b"master"),
                b"master_replid" => self.replication = value.try_into().ok(),
                b"second_repl_offset" => self.was_replica = Some(value != b"-1"),
                b"evicted_keys" => self.evicted = number(value),
                b"aof_enabled" => self.appends = Some(value == b"1"),
                b"aof_last_write_status" => self.append_failed = Some(value != b"ok"),
                b"server_time_usec" => self.time = number(value),
                b"loading" => self.loading = Some(value != b"0"),
                b"maxmemory" => self.memory_limit = number(value),
                b"maxmemory_policy" => self.evicts = Some(value != b"noeviction"),
                _ => {}
            }
        }
    }

    /// Reads a setting, as `CONFIG GET` tells it. Unknown settings are skipped.
    pub(crate) fn read_setting(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"appendfsync" => self.syncs_always = Some(value == b"always"),
            b"no-appendfsync-on-rewrite" => self.syncs_on_rewrite = Some(value == b"no"),
            _ => {}
        }
    }

    /// Returns whether the file of the node has everything that was answered under its name. A
    /// missing value counts as the worse one: that costs the node its credit, not its vote.
    pub(crate) fn is_durable(&self) -> bool {
        // The file of a promoted replica may lack the last answers of its master.
        self.was_replica == Some(false)
            && self.appends == Some(true)
            && self.append_failed == Some(false)
            && self.syncs_always == Some(true)
            && self.syncs_on_rewrite == Some(true)
    }

    /// Returns the identity of a node that may vote.
    pub(crate) fn verdict(&self) -> Result<Identity, NodeError> {
        let lacks = |field| Err(NodeError::IncompleteInfo(field));
        let Some(run_id) = self.run_id else { return lacks("run_id") };
        match (self.standalone, self.master, self.loading) {
            (None, ..) => return lacks("redis_mode"),
            (_, None, _) => return lacks("role"),
            // Who tells nothing of the memory either may drop keys, which is worse.
            (_, _, None) if self.memory_limit.is_none() => return lacks("maxmemory"),
            (_, _, None) => return lacks("loading"),
            (Some(false), ..) => return Err(NodeError::NotStandalone),
            (_, Some(false), _) => return Err(NodeError::Replica),
            (_, _, Some(true)) => return Err(NodeError::Loading),
            _ => {}
        }
        // With no limit, the policy does nothing yet. Somebody may set a limit at any time, and
        // until the next look, an evicted lock would be granted again.
        match (self.memory_limit, self.evicts) {
            (_, Some(true)) => return Err(NodeError::EvictsKeys),
            (None, _) => return lacks("maxmemory"),
            (Some(0), None) | (_, Some(false)) => {}
            (_, None) => return lacks("maxmemory_policy"),
        }
        Ok(Identity { run_id, replication: self.replication, evicted: self.evicted })
    }
}

impl Identity {
    /// Returns the name under which a node keeps its witness in this database, as the scripts of
    /// the witness make it.
    #[cfg(feature = "net")]
    pub(crate) fn in_witness(&self, database: u32) -> Vec<u8> {
        let replication = self.replication.as_ref().map_or(&b""[..], |id| id);
        let evicted = self.evicted.map(|count| count.to_string()).unwrap_or_default();
        let parts = [&self.run_id.0, replication, evicted.as_bytes()];
        [&parts.join(&b':')[..], format!(":{database}").as_bytes()].concat()
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns the identity of a master for tests, with this process number.
#[cfg(test)]
pub(crate) fn identity(process: u8) -> Identity {
    Identity { run_id: RunId([process; 40]), replication: Some([process; 40]), evicted: Some(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN_ID: &[u8; 40] = b"0123456789abcdef0123456789abcdef01234567";

    fn info(changes: &[(&str, &str)]) -> Info {
        let mut fields = vec![
            ("run_id", core::str::from_utf8(RUN_ID).expect("digits")),
            ("redis_mode", "standalone"),
            ("role", "master"),
            ("loading", "0"),
            ("maxmemory", "0"),
            ("maxmemory_policy", "noeviction"),
        ];
        for change in changes {
            fields.retain(|(field, _)| *field != change.0);
            fields.push(*change);
        }
        let mut info = Info::default();
        for (field, value) in fields.into_iter().filter(|(_, value)| *value != "-") {
            info.read(format!("# Section\r\n{field}:{value}\r\n").as_bytes());
        }
        info
    }

    #[test]
    fn only_a_standalone_master_that_keeps_its_keys_votes() {
        type Row = (&'static [(&'static str, &'static str)], Option<NodeError>);
        let rows: [Row; 15] = [
            (&[], None),
            (&[("maxmemory", "100000000")], None),
            (&[("maxmemory_policy", "allkeys-lru")], Some(NodeError::EvictsKeys)),
            (&[("maxmemory_policy", "volatile-ttl")], Some(NodeError::EvictsKeys)),
            (&[("maxmemory_policy", "-")], None),
            (
                &[("maxmemory", "1"), ("maxmemory_policy", "volatile-lru")],
                Some(NodeError::EvictsKeys),
            ),
            (
                &[("maxmemory", "1"), ("maxmemory_policy", "-")],
                Some(NodeError::IncompleteInfo("maxmemory_policy")),
            ),
            (&[("maxmemory", "-")], Some(NodeError::IncompleteInfo("maxmemory"))),
            (&[("role", "slave")], Some(NodeError::Replica)),
            (&[("role", "-")], Some(NodeError::IncompleteInfo("role"))),
            (&[("loading", "1")], Some(NodeError::Loading)),
            (&[("loading", "-")], Some(NodeError::IncompleteInfo("loading"))),
            (&[("redis_mode", "cluster")], Some(NodeError::NotStandalone)),
            (&[("redis_mode", "-")], Some(NodeError::IncompleteInfo("redis_mode"))),
            (&[("run_id", "short")], Some(NodeError::IncompleteInfo("run_id"))),
        ];
        for (changes, expected) in rows {
            let found = info(changes).verdict();
            assert_eq!(found.err(), expected, "{changes:?}");
            if expected.is_none() {
                assert_eq!(found.map(|identity| identity.run_id), Ok(RunId(*RUN_ID)));
            }
        }
    }

    /// What servers say that call themselves Redis, as far as it matters: FLAVOURS.md.
    #[test]
    fn a_server_that_lacks_a_fact_is_told_which_and_what_for() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let rows = [
            (
                "Dragonfly",
                format!(
                    "redis_mode:standalone\r\nrole:master\r\nmaster_replid:{id}\r\nloading:0\r\n\
                     maxmemory:1000\r\nmaxmemory_policy:noeviction\r\nevicted_keys:0\r\n"
                ),
                "run_id, which tells a restart, and one server under two names",
            ),
            (
                "Kvrocks",
                "redis_mode:standalone\r\nrole:master\r\nloading:0\r\n".to_owned(),
                "run_id, which tells a restart, and one server under two names",
            ),
            (
                "Garnet",
                format!("run_id:{id}\r\nredis_mode:standalone\r\nrole:master\r\n"),
                "maxmemory, which tells whether the server keeps its keys",
            ),
            (
                "a proxy",
                format!("run_id:{id}\r\nredis_mode:standalone\r\nmaxmemory:0\r\nloading:0\r\n"),
                "role, which tells a master from a replica",
            ),
        ];
        for (server, text, expected) in rows {
            let mut info = Info::default();
            info.read(text.as_bytes());
            let error = info.verdict().expect_err(server).to_string();
            assert_eq!(error, format!("the INFO of this server has no {expected}"), "{server}");
        }
    }

    #[test]
    fn an_identity_has_what_tells_data_apart() {
        let replid = "89abcdef0123456789abcdef0123456789abcdef";
        let found = info(&[("master_replid", replid), ("evicted_keys", "7")]).verdict();
        let found = found.expect("a master");
        assert_eq!(found.replication.map(|id| id.to_vec()), Some(replid.as_bytes().to_vec()));
        assert_eq!(found.evicted, Some(7));
        let found = info(&[("evicted_keys", "x")]).verdict().expect("a master");
        assert_eq!((found.replication, found.evicted), (None, None));
    }

    #[test]
    fn a_node_is_durable_only_if_every_write_is_synced_before_its_answer() {
        const ON: [(&str, &str); 3] =
            [("aof_enabled", "1"), ("aof_last_write_status", "ok"), ("second_repl_offset", "-1")];
        type Row = (&'static [(&'static str, &'static str)], [&'static str; 2], bool);
        let rows: [Row; 11] = [
            (&ON, ["always", "no"], true),
            (&ON, ["everysec", "no"], false),
            (&ON, ["no", "no"], false),
            (&ON, ["always", "yes"], false),
            (&ON, ["", "no"], false),
            (&ON, ["always", ""], false),
            (&[ON[0], ON[2]], ["always", "no"], false),
            (&[("aof_enabled", "0"), ON[1], ON[2]], ["always", "no"], false),
            (&[ON[0], ("aof_last_write_status", "err"), ON[2]], ["always", "no"], false),
            (&[ON[0], ON[1]], ["always", "no"], false),
            (&[ON[0], ON[1], ("second_repl_offset", "1234")], ["always", "no"], false),
        ];
        for (changes, settings, expected) in rows {
            let mut info = info(changes);
            for (name, value) in ["appendfsync", "no-appendfsync-on-rewrite"].iter().zip(settings) {
                if !value.is_empty() {
                    info.read_setting(name.as_bytes(), value.as_bytes());
                }
            }
            assert_eq!(info.is_durable(), expected, "{changes:?}, {settings:?}");
        }
    }
}
