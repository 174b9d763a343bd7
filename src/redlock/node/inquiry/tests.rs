//! The commands of an inquiry, and what their replies mean.

use core::time::Duration;

use super::step::SETTINGS;
use super::*;
use crate::redlock::millis::Millis;
use crate::redlock::wire::command::Label;
use crate::resp;

const LOOK: Look<'_> = Look {
    prefix: b"",
    name: b"billing",
    database: 0,
    wall: 1,
    max_ttl: Millis::ZERO,
    nodes: 3,
    gap: Duration::from_secs(60),
    label: None,
};

/// Returns the number of commands of an inquiry, and their bytes.
fn text(inquiry: &Inquiry, login: &Login) -> (usize, String) {
    let mut out = BytesMut::new();
    let len = inquiry.encode(login, &LOOK, &mut out);
    (len, String::from_utf8_lossy(&out).into_owned())
}

fn handshake(login: &Login, guard: RestartGuard) -> (usize, String) {
    let (len, text) = text(&Inquiry::handshake(login, guard), login);
    assert_eq!(text.matches("*2\r\n$4\r\nINFO").count(), SECTIONS.len());
    (len, text)
}

#[test]
fn login_comes_first_and_only_where_it_is_needed() {
    let commands = |login: &Login| handshake(login, RestartGuard::Off);
    assert_eq!(commands(&Login::default()).0, 17);
    let mut login = Login { password: Some("p".into()), database: 3, ..Login::default() };
    let (len, text) = commands(&login);
    assert_eq!(len, 19);
    assert!(text.starts_with("*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"));
    login.username = Some("u".into());
    assert!(commands(&login).1.starts_with("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n"));
    login.password = None;
    assert!(commands(&login).1.starts_with("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$0\r\n\r\n"));
}

#[test]
fn the_witness_comes_last_and_is_left_alone_where_no_guard_is_wanted() {
    for (guard, len, has_witness) in [
        (RestartGuard::Off, 17, false),
        (RestartGuard::On, 20, true),
        (RestartGuard::Strict, 20, true),
        (RestartGuard::Durable, 22, true),
    ] {
        let (found, text) = handshake(&Login::default(), guard);
        assert_eq!(found, len, "{guard:?}");
        let last = text.rsplit("\r\n*").next().unwrap_or_default();
        assert_eq!(last.contains("redbolt:seen"), has_witness, "{guard:?}");
        assert_eq!(text.contains("redbolt:seen"), has_witness, "{guard:?}");
    }
}

#[test]
fn a_wrong_type_or_a_reply_too_many_fails() {
    let mut handshake = Inquiry::handshake(&Login::default(), RestartGuard::On);
    let progress = handshake.handle_reply(&Value::Simple(b"OK"));
    assert_eq!(progress, Progress::Failed(NodeError::UnexpectedReply));
    handshake.answered = handshake.steps.len() - 1;
    let progress = handshake.handle_reply(&Value::Integer(1));
    assert_eq!(progress, Progress::Failed(NodeError::UnexpectedReply));
    handshake.answered = handshake.steps.len();
    let progress = handshake.handle_reply(&Value::Simple(b"OK"));
    assert_eq!(progress, Progress::Failed(NodeError::UnsolicitedReply));
}

#[test]
fn an_error_to_a_look_is_no_reason_to_end_the_session_unless_the_node_is_no_master() {
    let unanswered = |is_denied| Progress::Unanswered { is_denied };
    let failed = |error| Progress::Failed(NodeError::Server(error));
    let rows: [(&[u8], Progress); 8] = [
        (b"NOSCRIPT No matching script", Progress::Again),
        (b"NOPERM this user has no permissions to access one of the keys", unanswered(true)),
        (b"ERR The user executing the script can't run this command", unanswered(true)),
        (b"WRONGTYPE Operation against a key", unanswered(true)),
        (b"OOM command not allowed", unanswered(false)),
        (b"BUSY Redis is busy", unanswered(false)),
        (b"READONLY You can't write", failed(ServerError::NotServing)),
        (b"MOVED 1 host:1", failed(ServerError::Cluster)),
    ];
    for (text, expected) in rows {
        let mut look = Inquiry::look(Means::Witness, RestartGuard::On);
        let progress = look.handle_reply(&Value::Error(text));
        assert_eq!(progress, expected, "{}", text.escape_ascii());
    }
}

#[test]
fn a_script_that_was_forgotten_is_sent_once_more_and_no_more() {
    let mut look = Inquiry::look(Means::Witness, RestartGuard::On);
    let login = Login::default();
    assert!(text(&look, &login).1.starts_with("*10\r\n$7\r\nEVALSHA"));
    let forgotten = Value::Error(b"NOSCRIPT No matching script");
    assert_eq!(look.handle_reply(&forgotten), Progress::Again);
    let (len, again) = text(&look, &login);
    assert!(len == 1 && again.starts_with("*10\r\n$4\r\nEVAL\r\n"));
    assert_eq!(look.handle_reply(&forgotten), Progress::Unanswered { is_denied: true });
}

#[test]
fn a_label_goes_before_the_last_step_and_no_error_about_it_counts() {
    let config = RedlockConfig { label: b"billing".to_vec(), ..RedlockConfig::default() };
    let label = Some(Label {
        nonce: *b"\x0fnonce nonce",
        text: [b"host 7 ", &config.label],
        ttl: Millis::of(Duration::from_secs(120)),
    });
    for guard in [RestartGuard::On, RestartGuard::Off, RestartGuard::Durable] {
        let handshake = || Inquiry::handshake(&Login::default(), guard);
        let plain = handshake().labelled(&RedlockConfig::default());
        assert_eq!(plain.steps, handshake().steps, "{guard:?}");
        let labelled = handshake().labelled(&config);
        let (before, last) = (labelled.steps.len() - 2, labelled.steps.len() - 1);
        assert_eq!(labelled.steps[before], Step::Label, "{guard:?}");
        assert_eq!(labelled.steps[last], plain.steps[before], "{guard:?}");
    }
    let mut look = Inquiry::look(Means::Witness, RestartGuard::On).labelled(&config);
    let mut out = BytesMut::new();
    look.encode(&Login::default(), &Look { label, ..LOOK }, &mut out);
    let text = "*5\r\n$3\r\nSET\r\n$38\r\nredbolt:label:0f6e6f6e6365206e6f6e6365\r\n\
                $14\r\nhost 7 billing\r\n$2\r\nPX\r\n$6\r\n120000\r\n*10\r\n$7\r\nEVALSHA";
    assert!(out.starts_with(text.as_bytes()), "{}", out.escape_ascii());
    assert_eq!(look.handle_reply(&Value::Error(b"OOM command not allowed")), Progress::More);
    let answered = look.handle_reply(&Value::Error(b"NOSCRIPT No matching script"));
    assert_eq!(answered, Progress::Again, "the witness is asked for all the same");
}

/// A server that lets nobody in says so in the place of the first answer, and that word counts.
#[test]
fn the_name_goes_behind_the_facts_and_no_error_about_it_counts() {
    let errors = ["ERR unknown command", "NOPERM no permissions", "BUSY", "LOADING", "NOAUTH"];
    let login = Login { password: Some("p".into()), database: 3, ..Login::default() };
    for guard in [RestartGuard::On, RestartGuard::Off] {
        let plain = Inquiry::handshake(&login, guard);
        let nameless = RedlockConfig { connection_name: Vec::new(), ..RedlockConfig::default() };
        assert_eq!(Inquiry::handshake(&login, guard).introduced(&nameless).steps, plain.steps);
        let mut named =
            Inquiry::handshake(&login, guard).introduced(&RedlockConfig::default()).steps;
        let first = 2 + SECTIONS.len();
        assert_eq!(named[first - 1], Step::Info(SECTIONS[SECTIONS.len() - 1]));
        for index in 0..introduction::REQUESTS {
            assert_eq!(named.remove(first), Step::Introduction(index), "{guard:?}");
        }
        assert_eq!(named, plain.steps, "{guard:?}");
    }
    let found = |introduced: &Value<'_>| {
        let mut handshake =
            Inquiry::of(SmallVec::from_slice(&[Step::Introduction(0), Step::Hello]));
        handshake.handle_reply(introduced)
    };
    for text in errors {
        assert_eq!(found(&Value::Error(text.as_bytes())), Progress::More, "{text}");
        assert_eq!(found(&Value::BulkError(text.as_bytes())), Progress::More, "{text}");
    }
    assert_eq!(found(&Value::Simple(b"OK")), Progress::More);
    let wrong = Progress::Failed(NodeError::UnexpectedReply);
    assert_eq!(found(&Value::Integer(1)), wrong);
}

/// What a handshake finds, if the node gives these replies to its steps.
fn found(reply: impl Fn(Step) -> Vec<u8>) -> Result<Findings, NodeError> {
    let mut handshake = Inquiry::handshake(&Login::default(), RestartGuard::Durable);
    for step in handshake.steps.clone() {
        let bytes = reply(step);
        let Ok(resp::Status::Complete((value, used))) = resp::parse(&bytes) else {
            panic!("no reply: {}", bytes.escape_ascii())
        };
        assert_eq!(used, bytes.len(), "{}", bytes.escape_ascii());
        match handshake.handle_reply(&value) {
            Progress::More => {}
            Progress::Done(found) => return Ok(found),
            Progress::Failed(error) => return Err(error),
            other => panic!("{other:?}"),
        }
    }
    panic!("the handshake never ends")
}

/// The replies of a real server to all steps, in the words of RESP2.
fn in_resp2(step: Step) -> Vec<u8> {
    let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
    let id = "a".repeat(40);
    let text = match step {
        Step::Auth
        | Step::Select
        | Step::Track
        | Step::OptIn
        | Step::Label
        | Step::Introduction(_) => "+OK\r\n".to_owned(),
        Step::ReadWitness => bulk("the witness"),
        Step::Info(section) => bulk(&match section {
            b"server" => format!("run_id:{id}\r\nredis_mode:standalone\r\n"),
            b"replication" => {
                format!("role:master\r\nmaster_replid:{id}\r\nsecond_repl_offset:-1\r\n")
            }
            b"memory" => "maxmemory:0\r\nmaxmemory_policy:noeviction\r\n".to_owned(),
            b"stats" => "evicted_keys:0\r\n".to_owned(),
            _ => "loading:0\r\naof_enabled:1\r\naof_last_write_status:ok\r\n".to_owned(),
        }),
        Step::Capabilities => {
            "*2\r\n*-1\r\n*3\r\n$5\r\ndelex\r\n:-2\r\n*1\r\n+write\r\n".to_owned()
        }
        Step::Load(script) => bulk(script.sha),
        Step::Probe(_) => "*0\r\n".to_owned(),
        Step::TrySet => "-ERR syntax error\r\n".to_owned(),
        Step::TryNative(_) => ":0\r\n".to_owned(),
        Step::Hello => "-ERR unknown command 'HELLO'\r\n".to_owned(),
        Step::Setting(name) => {
            let name = String::from_utf8_lossy(name);
            let value = if name == "appendfsync" { "always" } else { "no" };
            format!("*2\r\n{}{}", bulk(&name), bulk(value))
        }
        Step::Witness(_) => {
            let numbers: String = (0..11).map(|_| ":1\r\n").collect();
            format!("*12\r\n{numbers}{}", bulk("loading:0\r\n"))
        }
    };
    text.into_bytes()
}

/// The same replies where a server has other words in RESP3.
fn in_resp3(step: Step) -> Vec<u8> {
    let reply = String::from_utf8(in_resp2(step)).expect("the replies are text");
    let text = match step {
        Step::Hello => "%1\r\n$5\r\nproto\r\n:3\r\n".to_owned(),
        Step::Info(_) => {
            let (length, text) = reply[1..].split_once("\r\n").expect("it has a head");
            let length: usize = length.parse().expect("a length");
            format!("={}\r\ntxt:{text}", length + 4)
        }
        Step::Capabilities => "*2\r\n_\r\n*3\r\n$5\r\ndelex\r\n:-2\r\n~1\r\n+write\r\n".to_owned(),
        Step::Setting(_) => reply.replacen("*2", "%1", 1),
        _ => reply,
    };
    text.into_bytes()
}

#[test]
fn both_protocols_have_words_for_the_same_findings() {
    let old = found(in_resp2).expect("it may vote");
    let new = found(in_resp3).expect("it may vote");
    assert!(old.is_durable && old.native == Some(Native::DelEx));
    assert!(!old.speaks_resp3 && !old.tracks && new.speaks_resp3 && new.tracks);
    assert_eq!(new, Findings { speaks_resp3: true, tracks: true, ..old });
}

/// What a handshake finds that spares scripts, if the node runs none for us and gives these replies
/// to the tries behind.
fn found_without_scripts(set: &str, native: &str, has_native: bool) -> Result<Findings, NodeError> {
    let login = Login::default();
    let mut handshake = Inquiry::handshake(&login, RestartGuard::On).sparing_scripts();
    let mut tries = 0;
    while let Some(&step) = handshake.steps.get(handshake.answered) {
        let denied = "-NOPERM User a has no permissions to run the 'eval' command\r\n";
        let bytes = match step {
            Step::Probe(_) | Step::Witness(_) | Step::Load(_) => denied.as_bytes().to_vec(),
            Step::Capabilities if !has_native => b"*2\r\n*-1\r\n*-1\r\n".to_vec(),
            Step::TrySet => set.as_bytes().to_vec(),
            Step::TryNative(_) => native.as_bytes().to_vec(),
            step => in_resp2(step),
        };
        let Ok(resp::Status::Complete((value, _))) = resp::parse(&bytes) else {
            panic!("no reply: {}", bytes.escape_ascii())
        };
        match handshake.handle_reply(&value) {
            Progress::More => {}
            Progress::Again => {
                assert_eq!((text(&handshake, &login).0, tries), (2, 0), "both are tried once");
                tries += 1;
            }
            Progress::Done(found) => return Ok(found),
            Progress::Failed(error) => return Err(error),
            other => panic!("{other:?}"),
        }
    }
    panic!("the handshake never ends")
}

#[test]
fn without_scripts_a_node_votes_if_it_runs_what_a_single_lock_needs() {
    let (syntax, none) = ("-ERR syntax error\r\n", ":0\r\n");
    let denied = "-NOPERM User a has no permissions to run the command\r\n";
    let found = found_without_scripts(syntax, none, true).expect("it may vote");
    assert_eq!((found.native, found.word), (Some(Native::DelEx), Word::Denied));
    assert_eq!(found.missing.to_string(), "eval, evalsha");
    for (set, native, has_native, expected) in [
        (syntax, none, false, "eval, evalsha"),
        (syntax, denied, true, "eval, evalsha"),
        (syntax, "-ERR unknown command 'DELEX'\r\n", true, "eval, evalsha"),
        (denied, none, true, "set"),
    ] {
        let error = found_without_scripts(set, native, has_native).expect_err("it may not vote");
        let NodeError::MissingRights(missing) = error else { panic!("{error}") };
        assert_eq!(missing.to_string(), expected, "{set}, {native}");
    }
    // Whoever visits a node for an operator needs scripts.
    let mut visit = Inquiry::of(SmallVec::from_slice(&[Step::Probe(Call::Text)]));
    let progress = visit.handle_reply(&Value::Error(b"NOPERM User a has no permissions"));
    assert!(matches!(progress, Progress::Failed(NodeError::MissingRights(_))), "{progress:?}");
}

/// A server may write any error as a text of any bytes in RESP3.
#[test]
fn an_error_means_the_same_in_both_protocols() {
    let all = [
        "NOPERM this user has no permissions",
        "ERR unknown command",
        "LOADING Redis is loading the dataset in memory",
        "NOAUTH Authentication required.",
    ];
    let is_wrong = |step: Step, wrong: usize| {
        let mut steps = Inquiry::handshake(&Login::default(), RestartGuard::Durable).steps;
        steps.truncate(wrong + 1);
        steps.last() == Some(&step)
    };
    for text in all {
        for wrong in 0..22 {
            let simple = format!("-{text}\r\n").into_bytes();
            let bulk = format!("!{}\r\n{text}\r\n", text.len()).into_bytes();
            let answer = |error: &[u8], step| {
                if is_wrong(step, wrong) { error.to_vec() } else { in_resp3(step) }
            };
            let one = found(|step| answer(&simple, step));
            let other = found(|step| answer(&bulk, step));
            assert_eq!(one, other, "{text} to step {wrong}");
        }
    }
}

#[test]
fn no_other_word_of_resp3_is_an_answer() {
    for word in ["#t\r\n", ",1.5\r\n", "(1\r\n", "~0\r\n", "_\r\n"] {
        for (wrong, step) in [
            (0, Step::Info(SECTIONS[0])),
            (15, Step::Hello),
            (16, Step::Track),
            (17, Step::OptIn),
            (19, Step::Setting(SETTINGS[0])),
        ] {
            let steps = Inquiry::handshake(&Login::default(), RestartGuard::Durable).steps;
            assert_eq!(steps[wrong], step);
            let answer =
                |asked| if asked == step { word.as_bytes().to_vec() } else { in_resp3(asked) };
            assert_eq!(found(answer), Err(NodeError::UnexpectedReply), "{word:?} to {step:?}");
        }
    }
}
