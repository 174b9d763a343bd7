//! The bytes of each command, and their order.

use super::*;

const TOKEN: Token = Token::from_bytes(*b"twenty bytes in all!");

fn bytes(encode: impl FnOnce(&mut BytesMut)) -> String {
    let mut out = BytesMut::new();
    encode(&mut out);
    String::from_utf8_lossy(&out).replace("\r\n", " ")
}

/// Returns the words of a command. The parser checks every `$` and every `*`.
fn words(encode: impl FnOnce(&mut BytesMut)) -> String {
    let mut out = BytesMut::new();
    encode(&mut out);
    let Ok(resp::Status::Complete((resp::Value::Array(parts), used))) = resp::parse(&out) else {
        panic!("not a command: {}", out.escape_ascii());
    };
    assert_eq!(used, out.len());
    let words: Vec<_> = parts
        .map(|part| match part {
            resp::Value::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    words.join(" ")
}

fn subjects(count: usize) -> impl ExactSizeIterator<Item = Subject<'static>> + Clone {
    let resources: [&[u8]; 3] = [b"a", b"b", b"c"];
    let subject = move |index: usize| Subject {
        resource: resources[index],
        token: TOKEN,
        ttl: Millis::of(Duration::from_millis(1_500)),
    };
    (0..count).map(subject)
}

#[test]
fn a_look_tells_the_node_what_to_write() {
    let asked = Look {
        prefix: b"p:",
        name: b"",
        database: 3,
        wall: 1_700_000_000_000_000,
        max_ttl: Millis::of(Duration::from_secs(60)),
        nodes: 5,
        gap: Duration::from_millis(60_602),
        label: None,
    };
    let rest = "2 p:redbolt:witness p:redbolt:seen 3 1700000000000000 60000 5 60602000";
    let by_sha = words(|out| look(out, Call::Sha, &asked));
    assert_eq!(by_sha, format!("EVALSHA {} {rest}", LOOK.sha));
    let by_text = words(|out| look(out, Call::Text, &asked));
    assert_eq!(by_text, format!("EVAL {} {rest}", LOOK.text));
}

#[test]
fn a_probe_names_its_key_as_an_argument_once() {
    let by_text = words(|out| probe(out, Call::Text, b"p:"));
    assert_eq!(by_text, format!("EVAL {} 0 p:redbolt:probe", PROBE.text));
    let by_sha = words(|out| probe(out, Call::Sha, b""));
    assert_eq!(by_sha, format!("EVALSHA {} 0", PROBE.sha));
}

#[test]
fn acquire_is_a_set_that_never_overwrites() {
    let found =
        bytes(|out| set(out, b"orders/42", &TOKEN, Millis::of(Duration::from_millis(1_500))));
    let expected = "*6 $3 SET $9 orders/42 $20 twenty bytes in all! $2 NX $2 PX $4 1500 ";
    assert_eq!(found, expected);
}

#[test]
fn a_release_goes_natively_by_sha_or_by_text_alone_or_in_a_group() {
    let t = "twenty bytes in all!";
    let rows = [
        (Form::Native(Native::DelIfEq), 1, format!("DELIFEQ a {t}")),
        (Form::Native(Native::DelEx), 1, format!("DELEX a IFEQ {t}")),
        (Form::Script(Call::Sha), 1, format!("EVALSHA {} 1 a {t}", RELEASE.sha)),
        (Form::Script(Call::Text), 1, format!("EVAL {} 1 a {t}", RELEASE.text)),
        (Form::Script(Call::Sha), 3, format!("EVALSHA {} 3 a b c {t} {t} {t}", RELEASE_MANY.sha)),
        (Form::Script(Call::Text), 2, format!("EVAL {} 2 a b {t} {t}", RELEASE_MANY.text)),
    ];
    for (form, count, expected) in rows {
        assert_eq!(words(|out| release(out, form, subjects(count))), expected);
    }
}

#[test]
fn an_extension_goes_by_sha_or_by_text_alone_or_in_a_group() {
    let t = "twenty bytes in all!";
    let rows = [
        (Call::Sha, 1, format!("EVALSHA {} 1 a {t} 1500", EXTEND.sha)),
        (Call::Text, 1, format!("EVAL {} 1 a {t} 1500", EXTEND.text)),
        (Call::Sha, 2, format!("EVALSHA {} 2 a b {t} {t} 1500 1500", EXTEND_MANY.sha)),
    ];
    for (call, count, expected) in rows {
        assert_eq!(words(|out| extend(out, call, subjects(count))), expected);
    }
}

#[test]
fn a_resource_is_any_bytes() {
    let found = bytes(|out| set(out, b"\r\n$3", &TOKEN, Millis::of(Duration::from_secs(1))));
    assert!(found.contains(" $4  $3 $20 "), "{found}");
}
