use super::{Client, Options, client, ms};
use crate::embedded::scripts::Script;

const NO_SCRIPT: &str = "-NOSCRIPT No matching script. Please use EVAL.";
const FOREIGN: &str = "-ERR the embedded master has no Lua and runs only redbolt's scripts";
const ARGUMENTS: &str = "-ERR this script needs more keys or arguments";

const RELEASE: &str = Script::Release.sha();
const EXTEND: &str = Script::Extend.sha();
const RELEASE_MANY: &str = Script::ReleaseMany.sha();
const EXTEND_MANY: &str = Script::ExtendMany.sha();
const ACQUIRE_SET: &str = Script::AcquireSet.sha();

fn loaded() -> Client {
    load_into(client())
}

fn load_into(mut client: Client) -> Client {
    for script in Script::ALL {
        let reply = client.send(ms(0), &[b"SCRIPT", b"LOAD", script.text().as_bytes()]);
        assert_eq!(reply, format!("$40\r\n{}\r\n", script.sha()));
    }
    client
}

/// Each reply to `EVALSHA` with the script's SHA-1 put in place of the name.
#[track_caller]
fn plays(client: &mut Client, script: &[(u64, &str, &str)]) {
    for (millis, line, reply) in script {
        let line = line.replace("ACQUIRE-SET", &format!("EVALSHA {ACQUIRE_SET}"));
        let line = line.replace("RELEASE-MANY", &format!("EVALSHA {RELEASE_MANY}"));
        let line = line.replace("EXTEND-MANY", &format!("EVALSHA {EXTEND_MANY}"));
        let line = line.replace("RELEASE", &format!("EVALSHA {RELEASE}"));
        let line = line.replace("EXTEND", &format!("EVALSHA {EXTEND}"));
        client.plays(&[(*millis, &line, reply)]);
    }
}

#[test]
fn a_script_is_known_by_the_sha_of_its_text() {
    for script in Script::ALL {
        let digest = sha1_smol::Sha1::from(script.text()).hexdigest();
        assert_eq!(digest, script.sha());
        assert_eq!(Script::by_text(script.text().as_bytes()), Some(script));
        assert_eq!(Script::by_sha(digest.to_ascii_uppercase().as_bytes()), Some(script));
    }
}

#[test]
fn release_deletes_only_its_own_token() {
    let mut client = loaded();
    plays(
        &mut client,
        &[
            (0, "SET k mine PX 100", "+OK"),
            (0, "RELEASE 1 k other", ":-1"),
            (0, "RELEASE 1 k min", ":-1"),
            (0, "EXISTS k", ":1"),
            (0, "RELEASE 1 k mine", ":1"),
            (0, "RELEASE 1 k mine", ":0"),
            (0, "DBSIZE", ":0"),
        ],
    );
}

#[test]
fn release_does_not_see_an_expired_key() {
    let mut client = loaded();
    plays(
        &mut client,
        &[
            (0, "SET a mine PX 100", "+OK"),
            (0, "SET b mine PX 100", "+OK"),
            (100, "RELEASE 1 a mine", ":1"),
            (101, "RELEASE 1 b mine", ":0"),
        ],
    );
}

#[test]
fn extend_raises_a_ttl_and_never_shortens_it() {
    let mut client = loaded();
    plays(
        &mut client,
        &[
            (0, "SET k mine PX 100", "+OK"),
            (40, "EXTEND 1 k mine 100", ":1"),
            (40, "PTTL k", ":100"),
            (40, "EXTEND 1 k mine 99", ":1"),
            (40, "PTTL k", ":100"),
            (40, "EXTEND 1 k mine 0", ":1"),
            (40, "EXTEND 1 k mine -7", ":1"),
            (40, "PTTL k", ":100"),
            (140, "EXTEND 1 k mine 5", ":1"),
            (145, "GET k", "$4\r\nmine"),
            (146, "GET k", "$-1"),
        ],
    );
}

/// The sweep must not find the deadline that was before.
#[test]
fn an_extended_key_is_swept_at_its_new_deadline() {
    let mut client = loaded();
    plays(&mut client, &[(0, "SET k mine PX 10", "+OK"), (10, "EXTEND 1 k mine 10", ":1")]);
    assert_eq!(client.master.sweep(ms(20)), 0);
    plays(&mut client, &[(20, "GET k", "$4\r\nmine")]);
    assert_eq!(client.master.sweep(ms(21)), 1);
}

#[test]
fn extend_never_creates_and_touches_no_other_token() {
    let mut client = loaded();
    plays(
        &mut client,
        &[
            (0, "EXTEND 1 k mine 100", ":0"),
            (0, "DBSIZE", ":0"),
            (0, "SET k other PX 10", "+OK"),
            (0, "EXTEND 1 k mine 100", ":-1"),
            (0, "PTTL k", ":10"),
            (11, "EXTEND 1 k other 100", ":0"),
            (11, "DBSIZE", ":0"),
        ],
    );
}

/// -1, which is what `PTTL` says then, is less than any ttl; and `PEXPIRE` by zero is a deletion.
#[test]
fn extend_gives_a_ttl_to_a_key_that_has_none() {
    let mut client = loaded();
    plays(
        &mut client,
        &[
            (0, "SET k mine", "+OK"),
            (0, "EXTEND 1 k mine -1", ":1"),
            (0, "PTTL k", ":-1"),
            (0, "EXTEND 1 k mine 100", ":1"),
            (0, "PTTL k", ":100"),
            (0, "SET k mine", "+OK"),
            (0, "EXTEND 1 k mine 0", ":1"),
            (0, "EXISTS k", ":0"),
        ],
    );
}

#[test]
fn scripts_work_in_the_selected_database() {
    let mut client = loaded();
    plays(
        &mut client,
        &[
            (0, "SET k mine", "+OK"),
            (0, "SELECT 1", "+OK"),
            (0, "RELEASE 1 k mine", ":0"),
            (0, "SELECT 0", "+OK"),
            (0, "RELEASE 1 k mine", ":1"),
        ],
    );
}

#[test]
fn evalsha_needs_a_loaded_script() {
    let mut client = client();
    let both = format!("SCRIPT EXISTS {RELEASE} {EXTEND}");
    plays(&mut client, &[(0, &both, "*2\r\n:0\r\n:0"), (0, "RELEASE 1 k mine", NO_SCRIPT)]);

    let eval = client.send(ms(0), &[b"EVAL", Script::Release.text().as_bytes(), b"1", b"k", b"t"]);
    assert_eq!(eval, ":0\r\n");
    plays(
        &mut client,
        &[
            (0, &both, "*2\r\n:1\r\n:0"),
            (0, "RELEASE 1 k mine", ":0"),
            (0, "EXTEND 1 k mine 5", NO_SCRIPT),
            (0, &format!("EVALSHA {} 1 k t", RELEASE.to_uppercase()), ":0"),
            (0, "SCRIPT FLUSH sideways", "-ERR SCRIPT FLUSH only support SYNC|ASYNC option"),
            (0, "RELEASE 1 k mine", ":0"),
            (0, "script flush async", "+OK"),
            (0, &both, "*2\r\n:0\r\n:0"),
            (0, "RELEASE 1 k mine", NO_SCRIPT),
        ],
    );
}

#[test]
fn only_the_engines_scripts_run() {
    let mut client = client();
    client.plays(&[
        (0, "EVAL return x", "-ERR value is not an integer or out of range"),
        (0, "EVAL 1 0", FOREIGN),
        (0, "SCRIPT LOAD 1", FOREIGN),
        (0, "EVALSHA short x", NO_SCRIPT),
    ]);
    let text = format!("{} ", Script::Release.text());
    assert_eq!(
        client.send(ms(0), &[b"EVAL", text.as_bytes(), b"1", b"k", b"t"]),
        format!("{FOREIGN}\r\n")
    );
}

#[test]
fn the_number_of_keys_is_checked_as_redis_does() {
    let mut client = loaded();
    plays(
        &mut client,
        &[
            (0, "SET k mine PX 100", "+OK"),
            (0, "RELEASE x k mine", "-ERR value is not an integer or out of range"),
            (0, "RELEASE -1 k mine", "-ERR Number of keys can't be negative"),
            (0, "RELEASE 3 k mine", "-ERR Number of keys can't be greater than number of args"),
            (0, "RELEASE 0 k mine", ARGUMENTS),
            (0, "RELEASE 1 k", ARGUMENTS),
            (0, "EXTEND 1 k mine", ARGUMENTS),
            (0, "EXTEND 1 k mine 1e3", "-ERR value is not an integer or out of range"),
            (
                1,
                "EXTEND 1 k mine 9223372036854775807",
                "-ERR invalid expire time in 'pexpire' command",
            ),
            (0, "PTTL k", ":100"),
        ],
    );
}

#[test]
fn many_keys_are_released_by_one_call_each_by_its_own_token() {
    let mut client = loaded();
    plays(
        &mut client,
        &[
            (0, "SET a mine PX 100", "+OK"),
            (0, "SET b other PX 100", "+OK"),
            (0, "SET d also PX 100", "+OK"),
            (0, "RELEASE-MANY 4 a b c d mine mine mine also", "*4\r\n:1\r\n:-1\r\n:0\r\n:1"),
            (0, "DBSIZE", ":1"),
            (0, "SET a mine PX 100", "+OK"),
            (0, "RELEASE-MANY 3 a a a also mine other", "*3\r\n:-1\r\n:1\r\n:-1"),
            (0, "SET c mine PX 100", "+OK"),
            (0, "SET e also PX 100", "+OK"),
            (0, "RELEASE-MANY 2 c e mine also", ":2"),
            (0, "SET c mine PX 100", "+OK"),
            (0, "RELEASE-MANY 2 c c mine mine", ":2"),
            (0, "DBSIZE", ":1"),
            (0, "RELEASE-MANY 2 a b mine", ARGUMENTS),
            (0, "RELEASE-MANY 0", ARGUMENTS),
        ],
    );
}

#[test]
fn many_keys_are_extended_by_one_call_each_to_its_own_ttl() {
    let mut client = loaded();
    plays(
        &mut client,
        &[
            (0, "SET a mine PX 100", "+OK"),
            (0, "SET b mine PX 300", "+OK"),
            (0, "EXTEND-MANY 3 a b c mine mine mine 200 200 200", "*3\r\n:1\r\n:1\r\n:0"),
            (0, "PTTL a", ":200"),
            (0, "PTTL b", ":300"),
            (0, "EXTEND-MANY 2 a b mine mine 200", ARGUMENTS),
        ],
    );
}

#[test]
fn a_full_master_refuses_a_set_whole() {
    const OOM: &str = "-OOM command not allowed when used memory > 'maxmemory'.";
    let mut client = load_into(Client::new(Options::default().max_keys(4)));
    plays(
        &mut client,
        &[
            (0, "ACQUIRE-SET 5 a b c d e mine 10", OOM),
            (0, "DBSIZE", ":0"),
            (0, "ACQUIRE-SET 3 a b c mine 10", "+OK"),
            (0, "ACQUIRE-SET 2 d e mine 10", OOM),
            (0, "ACQUIRE-SET 3 c d e other 10", "$-1"),
            (0, "DBSIZE", ":3"),
            (0, "ACQUIRE-SET 1 d other 20", "+OK"),
            (0, "SET e v", OOM),
            // The three dead keys make room for three, and for no more.
            (11, "ACQUIRE-SET 4 a b e f mine 10", OOM),
            (11, "ACQUIRE-SET 3 a e f mine 10", "+OK"),
            (11, "DBSIZE", ":4"),
        ],
    );
}

/// A full master also refuses a set whose script it is sent as text.
#[test]
fn the_bound_holds_for_eval_too() {
    let mut client = Client::new(Options::default().max_keys(1));
    let text = Script::AcquireSet.text().as_bytes();
    let reply = client.send(ms(0), &[b"EVAL", text, b"2", b"a", b"b", b"mine", b"10"]);
    assert!(reply.starts_with("-OOM "), "{reply}");
    assert!(client.master.is_empty(ms(0)));
}
