use super::*;
use crate::resp::{self, Status};

fn read(by: &str, reply: &str) -> Option<String> {
    let Ok(Status::Complete((value, _))) = resp::parse(reply.as_bytes()) else {
        panic!("no reply: {reply:?}")
    };
    let mut missing = MissingRights::default();
    missing.read(by, &value).map(|()| missing.to_string())
}

fn failed(commands: &[(&str, &str)]) -> String {
    let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
    let pairs = commands.iter().map(|(name, error)| bulk(name) + &bulk(error));
    format!("*{}\r\n{}", 2 * commands.len(), pairs.collect::<String>())
}

#[test]
fn the_sha_belongs_to_the_text() {
    let sha = sha1_smol::Sha1::from(PROBE.text).digest().to_string();
    assert_eq!(sha, PROBE.sha);
}

#[test]
fn the_script_tries_every_command_that_is_known() {
    for name in NAMES.iter().filter(|name| !name.starts_with("eval")) {
        assert!(PROBE.text.contains(&format!("try('{name}'")), "{name}");
    }
}

#[test]
fn only_an_error_about_a_command_is_a_missing_right() {
    let rows = [
        ("ERR The user executing the script can't run this command or subcommand", "get"),
        ("@user_script: 1: The user executing the script can't run this command", "get"),
        ("ERR ACL failure in script: User a has no permissions to run the 'get' command", "get"),
        ("NOPERM User a has no permissions to run the 'get' command", "get"),
        ("ERR Unknown Redis command called from script", "get"),
        ("ERR Unknown command called from script", "get"),
        ("ERR The user executing the script can't access at least one of the keys", ""),
        ("ERR ACL failure in script: No permissions to access a key", ""),
        ("OOM command not allowed when used memory > 'maxmemory'.", ""),
        ("MISCONF Redis is configured to save RDB snapshots", ""),
        ("NOREPLICAS Not enough good replicas to write.", ""),
        ("READONLY You can't write against a read only replica.", ""),
        ("WRONGTYPE Operation against a key holding the wrong kind of value", ""),
        ("ERR something else", ""),
    ];
    for (error, missing) in rows {
        let found = read("eval", &failed(&[("get", error)]));
        assert_eq!(found.as_deref(), Some(missing), "{error}");
    }
}

#[test]
fn a_probe_that_may_not_run_lacks_its_own_right() {
    let rows = [
        ("-NOPERM User a has no permissions to run the 'eval' command\r\n", "eval", "evalsha"),
        ("-ERR unknown command 'EVAL', with args beginning with: \r\n", "eval", "evalsha"),
        ("-NOPERM No permissions to access a key\r\n", "", ""),
        ("-NOSCRIPT No matching script. Please use EVAL.\r\n", "", ""),
        ("-BUSY Redis is busy running a script.\r\n", "", ""),
        ("-LOADING Redis is loading the dataset in memory\r\n", "", ""),
        ("-OOM command not allowed\r\n", "", ""),
    ];
    for (reply, by_text, by_sha) in rows {
        assert_eq!(read("eval", reply).as_deref(), Some(by_text), "{reply}");
        assert_eq!(read("evalsha", reply).as_deref(), Some(by_sha), "{reply}");
    }
}

#[test]
fn names_are_told_in_one_order_and_strange_ones_not_at_all() {
    let denied = "ERR The user executing the script can't run this command";
    let reply = failed(&["time", "del", "get", "flushall"].map(|name| (name, denied)));
    assert_eq!(read("eval", &reply).as_deref(), Some("get, del, time"));
    assert_eq!(read("eval", "*0\r\n").as_deref(), Some(""));
    let mut missing = MissingRights::default();
    missing.insert(b"time");
    assert!(missing.for_locks(false).is_empty() && !missing.is_empty());
    missing.insert(b"get");
    assert_eq!(missing.for_locks(false).to_string(), "get");
}

#[test]
fn without_scripts_locks_need_a_native_command() {
    let mut missing = MissingRights::default();
    missing.insert(b"evalsha");
    assert!(missing.allows_scripts());
    assert_eq!(missing.for_locks(true).to_string(), "evalsha");
    missing.insert(b"eval");
    assert!(!missing.allows_scripts());
    assert_eq!(missing.for_locks(false).to_string(), "eval, evalsha");
    assert!(missing.for_locks(true).is_empty());
    missing.insert(b"del");
    assert!(missing.for_locks(true).is_empty());
    missing.insert(b"set");
    missing.insert(b"info");
    assert_eq!(missing.for_locks(true).to_string(), "info, set");
}

#[test]
fn no_other_reply_is_read() {
    for reply in ["+OK\r\n", ":1\r\n", "$-1\r\n", "*1\r\n$3\r\nget\r\n", "*2\r\n:1\r\n:1\r\n"] {
        assert_eq!(read("eval", reply), None, "{reply}");
    }
}
