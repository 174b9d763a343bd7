use super::{Client, Options, client, ms};
use crate::embedded::{Memory, SWEEP_MAX};
use crate::time::Instant;

const OOM: &str = "-OOM command not allowed when used memory > 'maxmemory'.";
const NOT_AN_INTEGER: &str = "-ERR value is not an integer or out of range";
const INVALID_EXPIRE: &str = "-ERR invalid expire time in 'set' command";

#[test]
fn a_key_lives_through_its_last_millisecond() {
    client().plays(&[
        (1_000, "SET k v PX 500", "+OK"),
        (1_000, "PTTL k", ":500"),
        (1_499, "PTTL k", ":1"),
        (1_500, "PTTL k", ":0"),
        (1_500, "GET k", "$1\r\nv"),
        (1_500, "EXISTS k", ":1"),
        (1_500, "SET k w NX", "$-1"),
        (1_501, "GET k", "$-1"),
        (1_501, "PTTL k", ":-2"),
        (1_501, "EXISTS k", ":0"),
        (1_501, "DEL k", ":0"),
        (1_501, "SET k w NX", "+OK"),
    ]);
}

/// The server cuts its clock to milliseconds, so that a key may live almost one longer.
#[test]
fn time_is_cut_to_milliseconds() {
    let mut client = client();
    client.send(Instant::from_nanos(1_999_999), &[b"SET", b"k", b"v", b"PX", b"1"]);
    assert_eq!(client.master.get(0, b"k", Instant::from_nanos(2_999_999)), Some(&b"v"[..]));
    assert_eq!(client.master.get(0, b"k", Instant::from_nanos(3_000_000)), None);
}

#[test]
fn set_takes_its_options_in_any_order_and_case() {
    client().plays(&[
        (0, "set k v nx px 10", "+OK"),
        (0, "SET k v pX 10 Nx", "$-1"),
        (0, "SET j v NX NX", "+OK"),
        (0, "PTTL j", ":-1"),
        (0, "SET j v EX 7", "+OK"),
        (0, "PTTL j", ":7000"),
        (0, "SET j v PX 5 PX 6", "+OK"),
        (0, "PTTL j", ":6"),
        (0, "SET j w", "+OK"),
        (0, "PTTL j", ":-1"),
        (0, "GET j", "$1\r\nw"),
    ]);
}

#[test]
fn set_refuses_in_the_words_of_redis() {
    client().plays(&[
        (0, "SET k", "-ERR wrong number of arguments for 'set' command"),
        (0, "SET k v PX", "-ERR syntax error"),
        (0, "SET k v XX", "-ERR syntax error"),
        (0, "SET k v PX 1 EX 1", "-ERR syntax error"),
        (0, "SET k v PX 0 nonsense", "-ERR syntax error"),
        (0, "SET k v PX NX", NOT_AN_INTEGER),
        (0, "SET k v PX +1", NOT_AN_INTEGER),
        (0, "SET k v PX 01", NOT_AN_INTEGER),
        (0, "SET k v PX -0", NOT_AN_INTEGER),
        (0, "SET k v PX 9223372036854775808", NOT_AN_INTEGER),
        (0, "SET k v PX 0", INVALID_EXPIRE),
        (0, "SET k v PX -1", INVALID_EXPIRE),
        (1, "SET k v PX 9223372036854775807", INVALID_EXPIRE),
        (0, "SET k v EX 9223372036854776", INVALID_EXPIRE),
        (0, "DBSIZE", ":0"),
        (0, "SET k v", "+OK"),
        (0, "SET k v NX PX 0", INVALID_EXPIRE),
    ]);
}

#[test]
fn keys_and_values_are_any_bytes() {
    let mut client = client();
    assert_eq!(client.send(ms(0), &[b"SET", b"", b"\r\n\0$-1"]), "+OK\r\n");
    assert_eq!(client.send(ms(0), &[b"GET", b""]), "$6\r\n\r\n\0$-1\r\n");
}

#[test]
fn del_and_exists_count_keys_that_are_alive() {
    client().plays(&[
        (0, "SET a 1", "+OK"),
        (0, "SET b 1 PX 10", "+OK"),
        (0, "EXISTS a a b c", ":3"),
        (11, "EXISTS a a b c", ":2"),
        (11, "DEL a a b c", ":1"),
        (11, "DBSIZE", ":0"),
    ]);
}

#[test]
fn pexpire_gives_a_key_that_is_alive_another_deadline() {
    client().plays(&[
        (0, "PEXPIRE k 5", ":0"),
        (0, "PEXPIRE k -", NOT_AN_INTEGER),
        (0, "SET k v PX 10", "+OK"),
        (1, "PEXPIRE k 99", ":1"),
        (1, "PTTL k", ":99"),
        (1, "PEXPIRE k 9223372036854775807", "-ERR invalid expire time in 'pexpire' command"),
        (1, "PEXPIRE k 0", ":1"),
        (1, "EXISTS k", ":0"),
        (1, "PEXPIRE k 0", ":0"),
    ]);
}

#[test]
fn mget_answers_for_each_key() {
    client().plays(&[(0, "SET a 1", "+OK"), (0, "MGET a b a", "*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n1")]);
}

#[test]
fn getrange_cuts_a_value_as_redis_does() {
    let rows = [
        ("0 39", "$6\r\nabcdef"),
        ("0 0", "$1\r\na"),
        ("1 -2", "$4\r\nbcde"),
        ("-3 -1", "$3\r\ndef"),
        ("-99 1", "$2\r\nab"),
        ("3 2", "$0\r\n"),
        ("6 9", "$0\r\n"),
        ("0 -7", "$1\r\na"),
        ("-99 -98", "$1\r\na"),
        ("-2 -3", "$0\r\n"),
        ("0 9223372036854775807", "$6\r\nabcdef"),
        ("-9223372036854775808 0", "$1\r\na"),
        ("x 1", NOT_AN_INTEGER),
        ("0", "-ERR wrong number of arguments for 'getrange' command"),
    ];
    let mut client = client();
    client.plays(&[(0, "SET k abcdef", "+OK"), (0, "GETRANGE none 0 39", "$0\r\n")]);
    for (range, expected) in rows {
        client.plays(&[(0, &format!("GETRANGE k {range}"), expected)]);
    }
}

#[test]
fn databases_are_apart() {
    client().plays(&[
        (0, "SET k zero", "+OK"),
        (0, "SELECT 15", "+OK"),
        (0, "GET k", "$-1"),
        (0, "SET k NX", "+OK"),
        (0, "SELECT 16", "-ERR DB index is out of range"),
        (0, "SELECT -1", "-ERR DB index is out of range"),
        (0, "SELECT x", NOT_AN_INTEGER),
        (0, "DBSIZE", ":1"),
        (0, "DEL k", ":1"),
        (0, "SELECT 0", "+OK"),
        (0, "GET k", "$4\r\nzero"),
    ]);
}

#[test]
fn a_full_master_refuses_new_keys_only() {
    let mut client = Client::new(Options::default().max_keys(2));
    client.plays(&[
        (0, "SET a 1 PX 10", "+OK"),
        (0, "SELECT 1", "+OK"),
        (0, "SET b 1", "+OK"),
        (0, "SET c 1 NX PX 10", OOM),
        (0, "SET b 2 NX", "$-1"),
        (0, "SET b 2", "+OK"),
        (10, "SET c 1", OOM),
        (11, "SET c 1", "+OK"),
        (11, "SET d 1", OOM),
        (11, "DEL b", ":1"),
        (11, "SET d 1", "+OK"),
    ]);
}

#[test]
fn a_sweep_is_bounded_and_takes_only_the_dead() {
    let mut client = client();
    for key in 0..SWEEP_MAX + 3 {
        client.at(0, &format!("SET {key} v PX 10"));
    }
    client.plays(&[(0, "SELECT 3", "+OK"), (0, "SET k v PX 11", "+OK"), (0, "SET p v", "+OK")]);
    assert_eq!(client.master.sweep(ms(10)), 0);
    assert_eq!(client.master.len(ms(10)), SWEEP_MAX + 5);
    assert_eq!(client.master.len(ms(11)), 2, "the dead do not wait for the sweep");
    assert_eq!(client.master.sweep(ms(11)), SWEEP_MAX);
    assert_eq!(client.master.sweep(ms(11)), 3);
    assert_eq!(client.master.sweep(ms(11)), 0);
    assert_eq!(client.master.sweep(ms(12)), 1);
    assert_eq!(client.master.len(ms(12)), 1);
}

/// A deadline that has been replaced must not reach the key any more.
#[test]
fn an_overwritten_deadline_is_forgotten() {
    let mut client = client();
    client.plays(&[(0, "SET k v PX 10", "+OK"), (0, "SET k v PX 20", "+OK")]);
    client.plays(&[(0, "SET p v PX 10", "+OK"), (0, "SET p v", "+OK")]);
    assert_eq!(client.master.sweep(ms(15)), 0);
    client.plays(&[(15, "GET k", "$1\r\nv"), (15, "GET p", "$1\r\nv")]);
    assert_eq!(client.master.sweep(ms(21)), 1);
}

#[test]
fn keys_that_are_alive_are_listed_in_order_and_deleted_once() {
    let mut client = client();
    client.plays(&[(0, "SET b 1", "+OK"), (0, "SET a 1 PX 10", "+OK"), (0, "SELECT 1", "+OK")]);
    client.plays(&[(0, "SET other 1", "+OK")]);
    let keys = |client: &Client, database, millis| {
        let keys = client.master.keys(database, ms(millis));
        keys.map(|key| String::from_utf8_lossy(key).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&client, 0, 10), ["a", "b"]);
    assert_eq!(keys(&client, 0, 11), ["b"]);
    assert_eq!(keys(&client, 1, 11), ["other"]);
    assert!(keys(&client, 16, 11).is_empty(), "there is no such database");
    assert!(!client.master.delete(0, b"a", ms(11)), "dead");
    assert!(client.master.delete(0, b"b", ms(11)));
    assert!(!client.master.delete(0, b"b", ms(11)));
    assert!(!client.master.delete(16, b"b", ms(11)));
    client.master.flush();
    assert!(client.master.is_empty(ms(11)));
}

#[test]
fn a_restarted_master_has_other_ids_and_the_deadlines_from_before() {
    let mut client = client();
    client.plays(&[(0, "SET k v PX 100", "+OK")]);
    let before = client.master.run_id().to_string();
    client.master.restart(2, Memory::Kept, ms(60));
    assert_ne!(client.master.run_id(), before);
    client.plays(&[(60, "PTTL k", ":40"), (101, "GET k", "$-1"), (101, "SET k v", "+OK")]);
    client.master.restart(3, Memory::Lost, ms(200));
    client.plays(&[(200, "GET k", "$-1")]);
}
