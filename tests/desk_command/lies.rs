//! A server that lies: it repeats the password that it was sent, and sends characters that a
//! terminal would obey. Nothing of either is printed, by any command, in any form.

use redbolt::redlock::StoredValue;
use redbolt::{Check, Config, Engine, Init, Unlock, Who};

use crate::run::redbolt;
use crate::support::fake::{Action, Fake, Request};
use crate::support::master::Master;
use crate::support::wire::bulk;

const PASSWORD: &str = "open-sesame";

/// What a terminal would obey, a reader of logs would take for two lines, or an eye would read in
/// another order.
const ODD: &str = "\x1b[2J\u{9b}2J\u{202e}\u{2066}\u{2028}\u{2029}\u{85}\u{200f}\u{feff}\t\x7f";

/// What a lying server does.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// Answers everything with this error and the password.
    Everything(&'static str),
    /// The same behind a login that it has taken.
    BehindLogin(&'static str),
    /// The same behind the handshake of an engine.
    BehindHandshake(&'static str),
    /// Tells of itself by the password.
    Facts,
    /// Has the password for a value, and for the name of a type.
    Value,
    Kind,
}

const LIES: [Lie; 16] = [
    Lie::Everything("NOAUTH"),
    Lie::Everything("WRONGPASS"),
    Lie::Everything("DENIED"),
    Lie::Everything("ERR"),
    Lie::Everything("LOADING"),
    Lie::BehindLogin("OOM"),
    Lie::BehindLogin("NOPERM"),
    Lie::BehindLogin("ERR"),
    Lie::BehindLogin("MISCONF"),
    Lie::BehindLogin("open-sesame"),
    Lie::BehindHandshake("ERR"),
    Lie::BehindHandshake("OOM"),
    Lie::BehindHandshake("NOPERM"),
    Lie::Facts,
    Lie::Value,
    Lie::Kind,
];

fn liar(lie: Lie) -> Fake {
    let master = Master::new();
    Fake::scripted(move |request| Action::Reply(answer(lie, &master, request)))
}

fn answer(lie: Lie, master: &Master, request: &Request) -> Vec<u8> {
    let error = |word| format!("-{word} AUTH app {PASSWORD} {ODD} {PASSWORD}\r\n").into_bytes();
    let honest = || master.answer(request).unwrap_or_else(|| b"$-1\r\n".to_vec());
    let is_peek = request.name() == "EVAL" && request.part(1).starts_with(b"local k, most");
    match lie {
        Lie::Everything(word) => error(word),
        Lie::BehindLogin(word) if request.name() != "AUTH" => error(word),
        Lie::BehindHandshake(word) => master.answer(request).unwrap_or_else(|| error(word)),
        Lie::Facts if request.name() == "INFO" => {
            let lies = format!(
                "server_name:{PASSWORD}{ODD}\r\nredis_version:{PASSWORD}{ODD}\r\n\
                 role:slave\r\nmaster_host:{PASSWORD}{ODD}\r\nmaster_port:{PASSWORD}\r\n\
                 maxmemory_policy:{PASSWORD}{ODD}\r\nrun_id:{PASSWORD}{ODD}\r\n"
            );
            let mut text = master.info_text().into_bytes();
            text.extend_from_slice(lies.as_bytes());
            bulk(&text)
        }
        Lie::Facts if request.name() == "CONFIG" => {
            [&b"*2\r\n"[..], &bulk(b"save"), &bulk(format!("{PASSWORD}{ODD}").as_bytes())].concat()
        }
        Lie::Value if is_peek => peeked(PASSWORD.len() as i64, PASSWORD.as_bytes()),
        Lie::Kind if is_peek => peeked(-1, format!("{PASSWORD}{ODD}").as_bytes()),
        _ => honest(),
    }
}

/// The answer to a look at a key.
fn peeked(len: i64, text: &[u8]) -> Vec<u8> {
    [format!("*3\r\n:{len}\r\n").into_bytes(), bulk(text), b":60000\r\n".to_vec()].concat()
}

#[track_caller]
fn assert_harmless(said: &str, of: &str) {
    assert!(!said.contains(PASSWORD), "{of}: {said:?}");
    let hex: String = PASSWORD.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert!(!said.contains(&hex), "{of}: {said:?}");
    let is_odd = |c: char| ODD.contains(c) && !c.is_ascii_graphic();
    assert!(!said.contains(is_odd), "{of}: {said:?}");
}

/// The texts that JSON has, without their escapes.
fn texts(json: &serde_json::Value, out: &mut String) {
    match json {
        serde_json::Value::String(text) => *out += &format!("{text}\n"),
        serde_json::Value::Array(values) => values.iter().for_each(|value| texts(value, out)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| texts(value, out)),
        _ => {}
    }
}

#[test]
fn no_command_prints_the_password_or_what_a_terminal_obeys() {
    let commands: [&[&str]; 12] = [
        &["check"],
        &["check", "--json"],
        &["init", "--no-wait"],
        &["init", "--no-wait", "--fresh"],
        &["init", "--no-wait", "--reconfigure"],
        &["who", "r"],
        &["who", "-v", "r"],
        &["who", "--json", "r"],
        &["unlock", "r", "--token", "00"],
        &["exec", "--no-wait", "r", "--", "true"],
        &["exec", "--no-wait", "-v", "r", "--", "true"],
        &["exec", "--no-wait", "--log", "json", "-v", "r", "--", "true"],
    ];
    for lie in LIES {
        let server = liar(lie);
        let nodes = [format!("redis://app:{PASSWORD}@{}", server.addr())];
        for words in commands {
            let outcome = redbolt(words[0], &nodes, &words[1..]);
            let said = outcome.out.clone() + &outcome.err;
            assert_harmless(&said, &format!("{lie:?}, {words:?}"));
            assert!(!said.is_empty() || words[0] == "exec", "{lie:?}, {words:?}");
            for line in said.lines().filter(|line| line.starts_with('{')) {
                let mut all = String::new();
                texts(&serde_json::from_str(line).expect("JSON"), &mut all);
                assert!(!all.contains(PASSWORD), "{lie:?}, {words:?}: {all:?}");
            }
        }
    }
}

#[test]
fn no_text_of_the_library_has_the_password_or_what_a_terminal_obeys() {
    for lie in LIES {
        let server = liar(lie);
        let url = format!("redis://app:{PASSWORD}@{}", server.addr());
        let config = Config::new([url]).expect("an address");
        let of = format!("{lie:?}");
        let report = Check::new(config.clone()).run().expect("a report");
        assert_harmless(&format!("{report}{report:?}"), &of);
        let report = match Init::new(config.clone()).run() {
            Ok(report) => report.to_string(),
            Err(error) => format!("{error}{error:?}"),
        };
        assert_harmless(&report, &of);
        let report = Who::new(config.clone(), ["r"]).run().expect("a report");
        assert_harmless(&format!("{report:?}"), &of);
        let unlock = Unlock::new(config.clone(), "r", StoredValue::new("token"));
        let report = unlock.run().expect("a report");
        assert_harmless(&format!("{report}{report:?}"), &of);
        let mut engine = Engine::new(config).expect("the settings are good");
        _ = engine.settle(std::time::Duration::from_secs(2));
        let shown: String =
            engine.nodes().map(|(_, _, status)| format!("{status} {}\n", status.message)).collect();
        assert_harmless(&shown, &of);
    }
}

/// A short password can stand anywhere by chance. It is hidden in what a server says, and a value
/// with these letters is a value.
#[test]
fn a_short_password_hides_no_value() {
    let server = Fake::scripted({
        let master = Master::new();
        move |request| {
            let is_peek = request.name() == "EVAL" && request.part(1).starts_with(b"local k, most");
            let answer = is_peek.then(|| peeked(8, b"lock-123"));
            let answer = answer.or_else(|| master.answer(request));
            Action::Reply(answer.unwrap_or_else(|| b"$-1\r\n".to_vec()))
        }
    });
    let nodes = [format!("redis://:lock@{}", server.addr())];
    let seen = crate::run::who(&nodes, &["--json", "r"]).object()["resources"][0].take();
    assert_eq!(seen["nodes"][0]["token_text"], "lock-123", "{seen}");
}
