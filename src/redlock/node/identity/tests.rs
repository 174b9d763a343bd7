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
        (&[("maxmemory", "1"), ("maxmemory_policy", "volatile-lru")], Some(NodeError::EvictsKeys)),
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
