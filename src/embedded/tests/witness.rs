use super::{Client, Options, client, ms};
use crate::embedded::Memory;
use crate::redlock::{DECLARE_FRESH, LOOK, RAISE_MAX_TTL, Script};
use crate::resp::{Status, Value, parse};

/// `TIME` at zero, in microseconds.
const EPOCH: i64 = 946_684_800_000_000;

/// A span that no test reaches, in microseconds.
const SPAN: &str = "90000000";

/// The eleven numbers of an answer, or a shorter array.
fn call(client: &mut Client, millis: u64, script: Script, keys: [&str; 2], rest: &str) -> Vec<i64> {
    let words = ["EVAL", script.text, "2", keys[0], keys[1]];
    let words: Vec<&[u8]> = words.into_iter().chain(rest.split(' ')).map(str::as_bytes).collect();
    let reply = client.send(ms(millis), &words);
    let Ok(Status::Complete((Value::Array(fields), _))) = parse(reply.as_bytes()) else {
        panic!("{reply}");
    };
    let number = |field| if let Value::Integer(number) = field { Some(number) } else { None };
    fields.filter_map(number).collect()
}

fn look(client: &mut Client, millis: u64) -> Vec<i64> {
    call(client, millis, LOOK, ["w", "s"], &format!("0 77 60000 3 {SPAN}"))
}

/// The time that a look at this millisecond tells.
fn at(millis: i64) -> i64 {
    EPOCH + millis * 1_000
}

#[test]
fn a_witness_is_born_once_and_stays() {
    let mut client = client();
    let first = look(&mut client, 5);
    assert_eq!(first, [0, at(5), at(5), 77, at(5), 60_000, 3, at(5), 0, 0, 1]);
    let second = look(&mut client, 9);
    assert_eq!(second, [1, at(9), at(5), 77, at(5), 60_000, 3, at(5), 0, 0, 2]);
    client.plays(&[(9, "PTTL w", ":-1"), (9, "PTTL s", ":-1"), (9, "DBSIZE", ":2")]);
    assert_eq!(client.at(1_250, "TIME"), "*2\r\n$9\r\n946684801\r\n$6\r\n250000\r\n");
}

#[test]
fn a_time_without_looks_is_remembered() {
    let mut client = client();
    look(&mut client, 1);
    let gap = look(&mut client, 90_002);
    assert_eq!(gap[7..], [at(1), at(1), at(90_002), 2]);
    assert_eq!(look(&mut client, 90_003)[7..], [at(90_002), at(1), at(90_002), 3]);
}

#[test]
fn a_restart_with_memory_renews_the_witness_and_keeps_its_origin() {
    for (memory, found, origin, count) in
        [(Memory::Kept, 2, at(5), 2), (Memory::Lost, 0, at(20), 1)]
    {
        let mut client = client();
        look(&mut client, 5);
        client.master.restart(2, memory, ms(10));
        let answer = look(&mut client, 20);
        assert_eq!((answer[0], answer[2], answer[4]), (found, at(20), origin), "{memory:?}");
        assert_eq!(answer[10], count);
        assert_eq!(look(&mut client, 21)[..3], [1, at(21), at(20)]);
    }
}

#[test]
fn a_declared_master_is_as_old_as_can_be_for_every_prefix_until_data_is_lost() {
    let fresh = || Client::new(Options::default().fresh(true));
    let declared = [1, at(5), 0, 0, 0, 60_000, 3, at(5), 0, 0, 1];
    let mut client = fresh();
    client.plays(&[(0, "SET lock token", "+OK")]);
    assert_eq!(look(&mut client, 5), declared);
    let other = format!("4 77 9000 5 {SPAN}");
    let answer = call(&mut client, 6, LOOK, ["p:w", "p:s"], &other);
    assert_eq!(answer[..7], [1, at(6), 0, 0, 0, 9_000, 5]);
    let answer = call(&mut client, 7, RAISE_MAX_TTL, ["q:w", "q:s"], &other);
    assert_eq!(answer[..7], [1, at(7), 0, 0, 0, 9_000, 5]);
    assert_eq!(look(&mut client, 8)[..3], [1, at(8), 0]);

    let losses: [fn(&mut Client); 5] = [
        |client| client.master.flush(),
        |client| assert!(client.master.delete(0, b"w", ms(9))),
        |client| client.plays(&[(9, "SET w v", "+OK")]),
        |client| client.master.restart(2, Memory::Lost, ms(9)),
        |client| {
            client.master.restart(2, Memory::Kept, ms(9));
            client.master.delete(0, b"w", ms(9));
        },
    ];
    for lose in losses {
        let mut client = fresh();
        look(&mut client, 8);
        lose(&mut client);
        assert_eq!(look(&mut client, 10)[..3], [0, at(10), at(10)]);
    }
}

/// The declaration was about the process before.
#[test]
fn a_restart_ends_a_declaration_that_no_client_has_seen() {
    for memory in [Memory::Kept, Memory::Lost] {
        let mut client = Client::new(Options::default().fresh(true));
        client.master.restart(2, memory, ms(1));
        assert_eq!(look(&mut client, 5)[..3], [0, at(5), at(5)], "{memory:?}");
    }
}

#[test]
fn only_an_empty_master_can_be_declared_fresh() {
    let mut client = client();
    let declare = |client: &mut Client, millis| {
        call(client, millis, DECLARE_FRESH, ["w", "s"], &format!("0 77 60000 3 {SPAN}"))
    };
    client.plays(&[(0, "SET lock token PX 3", "+OK")]);
    assert_eq!(declare(&mut client, 3), [-1, 1]);
    // The key is dead.
    assert_eq!(declare(&mut client, 4)[..5], [1, at(4), 0, 0, 0]);
    assert_eq!(declare(&mut client, 5)[..5], [1, at(5), 0, 0, 0]);
    client.plays(&[(5, "SET lock token", "+OK")]);
    assert_eq!(declare(&mut client, 6), [-1, 3]);
    assert_eq!(look(&mut client, 6)[..3], [1, at(6), 0]);
    // The label of a client is no data.
    client.plays(&[(6, "DEL lock w s", ":3"), (6, "SET label:a text", "+OK")]);
    assert_eq!(declare(&mut client, 7)[..3], [1, at(7), 0]);
    client.plays(&[(7, "SET lock token", "+OK")]);
    assert_eq!(declare(&mut client, 8), [-1, 3]);
}

#[test]
fn the_keys_of_witnesses_have_a_bound_of_their_own() {
    let mut client = Client::new(Options::default().max_keys(2));
    client.plays(&[(0, "SET a 1", "+OK"), (0, "SET b 1", "+OK")]);
    for pair in 0..32 {
        let (witness, stamp) = (format!("{pair}:w"), format!("{pair}:s"));
        let answer =
            call(&mut client, 0, LOOK, [&witness, &stamp], &format!("0 77 60000 3 {SPAN}"));
        assert_eq!(answer[0], 0);
    }
    let text = LOOK.text.as_bytes();
    let words = [&b"EVAL"[..], text, b"2", b"w", b"s", b"0", b"7", b"60000", b"3", b"9"];
    assert!(client.send(ms(0), &words).starts_with("-OOM "));
    client.plays(&[
        (0, "DBSIZE", ":66"),
        (0, "SET c 1", "-OOM command not allowed when used memory > 'maxmemory'."),
        // A key that is taken for another purpose counts with the others.
        (0, "SET 7:w 1", "+OK"),
        (0, "DEL a b", ":2"),
        (0, "SET c 1", "+OK"),
        (0, "SET d 1", "-OOM command not allowed when used memory > 'maxmemory'."),
    ]);
    assert_eq!(client.master.keys(0, ms(0)).collect::<Vec<_>>(), [&b"7:w"[..], b"c"]);
    assert_eq!(client.master.len(ms(0)), 65);
}

#[test]
fn what_is_no_number_is_refused_and_changes_nothing() {
    let mut client = client();
    let text = LOOK.text.as_bytes();
    for words in [
        &[&b"0"[..], b"7", b"60000", b"3"][..],
        &[b"0", b"7", b"60000", b"3", b""],
        &[b"0", b"-7", b"60000", b"3", b"9"],
        &[b"0", b"7", b"6e4", b"3", b"9"],
    ] {
        let words = [&[&b"EVAL"[..], text, b"2", b"w", b"s"], words].concat();
        let reply = client.send(ms(0), &words);
        assert_eq!(reply, "-ERR this script needs more keys or arguments\r\n");
    }
    client.plays(&[(0, "DBSIZE", ":0")]);
}
