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
mod tests;
