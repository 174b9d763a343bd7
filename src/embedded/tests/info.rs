use super::{Client, Master, Options, Session, client, ms};
use crate::resp::{Status, Value, parse};

/// The text of a reply to `INFO`.
fn info(client: &mut Client, millis: u64, sections: &str) -> String {
    let reply = client.at(millis, &format!("INFO {sections}"));
    match parse(reply.as_bytes()) {
        Ok(Status::Complete((Value::Bulk(text), _))) => String::from_utf8_lossy(text).into(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn info_tells_what_a_lock_client_asks_for() {
    let mut client = Client {
        master: Master::new(7, Options::default(), ms(10_000)),
        session: Session::default(),
    };
    client.plays(&[(10_000, "SET a 1 PX 5", "+OK"), (10_000, "SET b 1", "+OK")]);
    client.plays(&[(10_000, "SELECT 2", "+OK"), (10_000, "SET c 1 PX 9000", "+OK")]);
    let text = info(&mut client, 13_999, "");
    let lines: Vec<&str> = text.split("\r\n").collect();
    for line in [
        "redis_mode:standalone",
        "uptime_in_seconds:3",
        "role:master",
        "connected_slaves:0",
        "second_repl_offset:-1",
        "maxmemory:0",
        "maxmemory_policy:noeviction",
        "loading:0",
        "aof_enabled:0",
        "evicted_keys:0",
        "cluster_enabled:0",
        "db0:keys=1,expires=0,avg_ttl=0",
        "db2:keys=1,expires=1,avg_ttl=0",
    ] {
        assert!(lines.contains(&line), "{line} is not in {text}");
    }
    let run_id = format!("run_id:{}", client.master.run_id());
    assert!(lines.contains(&&*run_id), "{text}");
    assert!(text.ends_with("\r\n") && !text.replace("\r\n", "").contains(['\r', '\n']));
}

#[test]
fn info_selects_sections() {
    let mut client = client();
    assert_eq!(info(&mut client, 0, "nonsense"), "");
    let two =
        "# Persistence\r\nloading:0\r\naof_enabled:0\r\n\r\n# Cluster\r\ncluster_enabled:0\r\n";
    assert_eq!(info(&mut client, 0, "CLUSTER persistence"), two);
    assert_eq!(info(&mut client, 0, "keyspace"), "# Keyspace\r\n");
    let all = info(&mut client, 0, "");
    assert_eq!(info(&mut client, 0, "everything"), all);
    assert_eq!(all.matches("# ").count(), 7);
}

#[test]
fn used_memory_follows_the_keys() {
    let mut client = client();
    let empty = info(&mut client, 0, "memory");
    assert!(empty.contains("used_memory:0\r\n"), "{empty}");
    client.plays(&[(0, "SET k v PX 10", "+OK"), (0, "SET k longer", "+OK")]);
    assert_ne!(info(&mut client, 0, "memory"), empty);
    client.plays(&[(0, "DEL k", ":1")]);
    assert_eq!(info(&mut client, 0, "memory"), empty);
}

#[test]
fn the_run_id_comes_from_the_seed() {
    let identity = |seed| {
        let mut client = Client {
            master: Master::new(seed, Options::default(), ms(0)),
            session: Session::default(),
        };
        info(&mut client, 0, "server") + &info(&mut client, 0, "replication")
    };
    assert_eq!(identity(1), identity(1));
    assert_ne!(identity(1), identity(2));
    let master = Master::new(1, Options::default(), ms(0));
    assert_eq!(master.run_id().len(), 40);
    assert!(master.run_id().bytes().all(|digit| b"0123456789abcdef".contains(&digit)));
}

#[test]
fn command_info_is_null_for_what_is_not_supported() {
    let set = "*6\r\n$3\r\nset\r\n:-3\r\n*2\r\n+write\r\n+denyoom\r\n:1\r\n:1\r\n:1\r\n";
    client().plays(&[
        (0, "COMMAND INFO DELIFEQ Set delex", &format!("*3\r\n$-1\r\n{set}$-1")),
        (0, "COMMAND DOCS get", "*0"),
        (0, "COMMAND COUNT x", "-ERR wrong number of arguments for 'command|count' command"),
    ]);
    let count = client().at(0, "COMMAND COUNT").replace(':', "*");
    let all = client().at(0, "COMMAND");
    assert!(all.starts_with(&count), "{all}");
    assert!(
        matches!(parse(all.as_bytes()), Ok(Status::Complete((_, length))) if length == all.len())
    );
    assert_eq!(client().at(0, "COMMAND INFO"), all);
}
