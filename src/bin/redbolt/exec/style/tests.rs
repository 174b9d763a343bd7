//! The lines of `--log json`, and that both of their tables, in the help and in EXEC.md, are true.

use std::io;

use redbolt::LostReason;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::super::ending::Ending;
use super::super::failure::Failure;
use super::super::help;
use super::super::message::Left;
use super::super::occupant::Occupant;
use super::*;
use crate::nodes::{NodeLine, NodeList};

const EXEC_MD: &str = include_str!("../../../../../EXEC.md");

const SECOND: Duration = Duration::from_secs(1);

/// The fields of every line.
const COMMON: [&str; 6] = ["time", "level", "event", "resource", "pid", "text"];

fn style(form: Form, volume: Volume) -> Style {
    let (resource, pid, start) = (Some("a\"b\n".into()), 4_711, Instant::ZERO);
    Style { form, volume, resource, pid, start }
}

fn parsed(message: &Message<'_>) -> Value {
    let now = Duration::from_millis(1_795_342_096_789);
    let line = style(Form::Json, Volume::Verbose).json(message, now);
    assert!(line.ends_with('\n') && line.lines().count() == 1, "{line}");
    serde_json::from_str(&line).expect("one object")
}

#[test]
fn a_line_of_json_has_what_every_line_has_and_the_fields_of_its_event() {
    let nodes = NodeList::default;
    let expected = json!({
        "time": "2026-11-22T10:08:16.789Z", "level": "info", "event": "locked",
        "resource": "a\"b\n", "pid": 4711, "took_ms": 1.234,
        "text": "\"a\\\"b\\n\" is locked after 1.2ms",
    });
    assert_eq!(parsed(&Message::Locked { took: Duration::from_micros(1_234) }), expected);

    for (signal, name) in [(Signal::TERM, "SIGTERM"), (Signal::KILL, "SIGKILL")] {
        let reason = LostReason::MaxHold;
        let ending = parsed(&Message::Ending { reason, signal, nodes: nodes() });
        let fields = ["level", "event", "reason", "signal"].map(|name| ending[name].clone());
        assert_eq!(fields, ["warn", "ending", "max_hold", name].map(Value::from));
    }

    let failure = Failure::Interrupted { signal: Signal::TERM };
    let failed = parsed(&Message::Failed { exit_code: 143, failure: &failure });
    let fields = ["level", "event", "failure", "signal"].map(|name| failed[name].clone());
    assert_eq!(fields, ["error", "failed", "interrupted", "SIGTERM"].map(Value::from));
    assert_eq!(failed["exit_code"], 143);
}

#[test]
fn the_end_of_a_command_is_a_code_or_a_signal() {
    let rows = [
        (Ending::Exited(7), json!(7), Value::Null, "exited with 7"),
        (Ending::Died(11), Value::Null, json!("SIGSEGV"), "died of SIGSEGV"),
        (Ending::Died(40), Value::Null, json!("signal 40"), "died of signal 40"),
    ];
    for (ending, code, signal, text) in rows {
        let object = parsed(&ended(ending));
        assert_eq!((&object["code"], &object["signal"]), (&code, &signal));
        assert_eq!((&object["ran_ms"], &object["held_ms"]), (&json!(1000.0), &json!(2000.0)));
        assert_eq!(object["text"], format!("\"./bill\" {text} after 1s"));
    }
}

fn ended(ending: Ending) -> Message<'static> {
    let command = "./bill".to_owned();
    Message::CommandEnded { command, command_pid: 4_712, ending, ran: SECOND, held: 2 * SECOND }
}

/// One message of each kind but [`Message::Failed`].
fn one_of_each() -> Vec<Message<'static>> {
    let nodes = NodeList::default;
    let (reason, signal, left) = (LostReason::Expired, Signal::KILL, Left::of(Duration::MAX));
    let occupant = || Occupant::Held { holder: "ab…".to_owned(), remaining: SECOND };
    let [node, state] = ["a:1", "down"].map(str::to_owned);
    let line = NodeLine { node, state, text: "down".to_owned(), can_vote: false, refuses: false };
    vec![
        Message::QuorumAwaited { left: SECOND, nodes: nodes() },
        Message::NoQuorumYet { left: Left::of(SECOND), nodes: nodes() },
        Message::Waiting {
            waited: SECOND,
            left,
            attempts: 2,
            occupant: occupant(),
            nodes: nodes(),
        },
        Message::Stuck { occupant: Occupant::Split },
        Message::Locked { took: SECOND },
        Message::NotAllReady { nodes: nodes() },
        Message::CommandStarted { command: "./bill".to_owned(), command_pid: 4_712 },
        Message::Node(line),
        Message::Shortened,
        Message::Expiring { signal },
        Message::Ending { reason, signal, nodes: nodes() },
        Message::Lost { reason, nodes: nodes() },
        Message::TerminalWanted,
        Message::Unstoppable,
        Message::Continued,
        ended(Ending::Exited(0)),
        Message::Staying { left: SECOND },
        Message::NotKeptYet { left: SECOND, nodes: nodes() },
        Message::Kept { left: SECOND },
        Message::KeptShort { left: SECOND, short: SECOND },
        Message::LeftToTtl,
        Message::Released { is_confirmed: true, held: SECOND },
        Message::Cleared { is_confirmed: true },
        Message::Panicked { what: String::new() },
        Message::LeftOut { count: 3 },
    ]
}

/// One failure of each kind.
fn one_failure_of_each() -> Vec<Failure> {
    let (nodes, resource) = (NodeList::default, || "r".to_owned());
    let error = || io::Error::from_raw_os_error(2);
    let (end, retry_after) = (LostReason::Expired, Duration::ZERO);
    vec![
        Failure::Usage("no".to_owned()),
        Failure::Held { resource: resource(), occupant: Occupant::Free, nodes: nodes() },
        Failure::NoQuorum { resource: resource(), nodes: nodes() },
        Failure::TooFar {
            resource: resource(),
            round_trip: retry_after,
            limit: retry_after,
            nodes: nodes(),
        },
        Failure::Unavailable { resource: resource(), retry_after, nodes: nodes() },
        Failure::Interrupted { signal: Signal::TERM },
        Failure::Start { command: resource(), error: error() },
        Failure::Overrun { resource: resource(), end, what: "", survivors: true },
        Failure::Gone { resource: resource() },
        Failure::System(error()),
    ]
}

/// How many variants an enum has, by its source: a table lacks none of them.
fn variants(source: &str, begin: &str) -> usize {
    let (_, rest) = source.split_once(begin).expect("the enum is there");
    let (body, _) = rest.split_once("\n}\n").expect("the enum has an end");
    let name =
        |line: &&str| line.strip_prefix("    ")?.chars().next().filter(char::is_ascii_uppercase);
    body.lines().filter(|line| name(line).is_some()).count()
}

/// The names of the fields that only this event or failure has, in order.
fn fields(object: &Value) -> Vec<&str> {
    let names = object.as_object().expect("an object").keys().map(String::as_str);
    let others = ["failure", "exit_code"];
    names.filter(|name| !COMMON.contains(name) && !others.contains(name)).collect()
}

/// The rows of the table of EXEC.md with this head, without what only makes a name look like one.
fn table(head: &str) -> Vec<Vec<String>> {
    let (_, rest) = EXEC_MD.split_once(head).expect("the table is there");
    let rows = rest.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells =
        |row: &str| row.replace('`', "").split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.inspect(|row| assert!(row.chars().count() <= 80, "{row}")).map(cells).collect()
}

fn sorted(list: &str) -> Vec<&str> {
    let mut names: Vec<_> = list.split(", ").filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names
}

/// The fields of an event, by the help.
fn fields_of_help(event: &str) -> Vec<&'static str> {
    let (_, table) = help::AFTER_LONG.split_once("level of each event:\n").expect("the table");
    let (table, _) = table.split_once("\n\n").expect("a line without text");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let is_row = |line: &&str| line.split_whitespace().next() == Some(event);
    let row = table.lines().find(is_row).unwrap_or_else(|| panic!("the help lacks {event}"));
    let (_, text) = row.trim_start().split_once(' ').expect("a text");
    text.split_once(':').map_or(Vec::new(), |(fields, _)| sorted(fields.trim_start()))
}

/// Programs depend on these names. Every kind of message must be one that JSON can write.
#[test]
fn events_have_the_levels_and_fields_that_the_tables_say() {
    let messages = one_of_each();
    let failed = 1;
    assert_eq!(
        variants(include_str!("../message.rs"), "enum Message<'a> {\n"),
        messages.len() + failed
    );
    let rows = table("| event | level | fields besides those of every line |\n");
    let by_documents: Vec<_> =
        rows.iter().map(|row| (row[1].as_str(), row[2].as_str(), sorted(&row[3]))).collect();
    let objects: Vec<_> = messages.iter().map(parsed).collect();
    let text = |object: &Value, name: &str| object[name].as_str().unwrap_or_default().to_owned();
    let names: Vec<_> =
        objects.iter().map(|object| (text(object, "event"), text(object, "level"))).collect();
    let mut by_code: Vec<_> = names
        .iter()
        .zip(&objects)
        .map(|((event, level), object)| (event.as_str(), level.as_str(), fields(object)))
        .collect();
    by_code.push(("failed", "error", vec!["exit_code", "failure"]));
    assert_eq!(by_documents, by_code);
    for (event, _, fields) in &by_code[..messages.len()] {
        assert_eq!(fields_of_help(event), *fields, "{event}");
    }
    let rows = table("| field of every line | is |\n");
    assert_eq!(rows.iter().map(|row| row[1].as_str()).collect::<Vec<_>>(), COMMON);
    for object in &objects {
        assert!(COMMON.iter().all(|name| !object[name].is_null()), "{object}");
    }
}

#[test]
fn failures_have_the_fields_that_the_table_says() {
    let failures = one_failure_of_each();
    assert_eq!(variants(include_str!("../failure.rs"), "enum Failure {\n"), failures.len());
    let rows = table("| failure | exit code | further fields |\n");
    let by_documents: Vec<_> = rows.iter().map(|row| (row[1].as_str(), sorted(&row[3]))).collect();
    let of = |failure| parsed(&Message::Failed { exit_code: 1, failure });
    let objects: Vec<_> = failures.iter().map(of).collect();
    let by_code: Vec<_> = objects
        .iter()
        .map(|object| (object["failure"].as_str().unwrap_or_default(), fields(object)))
        .collect();
    assert_eq!(by_documents, by_code);
    let (_, known) = help::AFTER_LONG.split_once("failure is\n").expect("a list");
    let (known, _) = known.split_once("\n\n").expect("a line without text");
    let known: Vec<_> =
        known.split([' ', ',', '\n']).filter(|word| !["", "or"].contains(word)).collect();
    let names: Vec<_> = by_code.iter().map(|(name, _)| *name).collect();
    assert_eq!(known, names);
}

#[test]
fn a_text_names_the_resource_and_a_verbose_one_says_when_and_which_process() {
    let message = Message::LeftToTtl;
    let text = message.text("a\"b\n").to_string();
    assert!(text.starts_with("the lock on \"a\\\"b\\n\" is left to its ttl"), "{text}");
    assert_eq!(style(Form::Text, Volume::Normal).line(&message), format!("redbolt: {text}\n"));
    let line = style(Form::Text, Volume::Verbose).line(&message);
    let (before, after) = line.split_once("s] ").expect("a time");
    assert_eq!(after, format!("{text}\n"));
    let seconds = before.strip_prefix("redbolt[4711]: [").expect("a bracket");
    assert!(seconds.trim().parse::<f64>().is_ok(), "{line}");
}

#[test]
fn an_end_by_max_hold_names_no_nodes() {
    let nodes = || {
        let [node, state, text] = ["a:1", "down", "down"].map(str::to_owned);
        NodeList::new(
            [NodeLine { node, state, text, can_vote: false, refuses: false }].into_iter(),
            1,
        )
    };
    for (reason, is_told) in [(LostReason::MaxHold, false), (LostReason::Majority, true)] {
        let ending = Message::Ending { reason, signal: Signal::TERM, nodes: nodes() };
        for message in [ending, Message::Lost { reason, nodes: nodes() }] {
            let text = message.text("r").to_string();
            assert_eq!(text.contains("a:1"), is_told, "{text}");
        }
    }
}

#[test]
fn a_quiet_run_says_why_it_failed_and_nothing_of_another_who_holds_the_lock() {
    let quiet = style(Form::Text, Volume::Quiet);
    let said: Vec<_> = one_of_each().into_iter().filter(|message| quiet.says(message)).collect();
    let events: Vec<_> = said.iter().map(|message| parsed(message)["event"].clone()).collect();
    assert_eq!(events, ["ending", "lost", "kept_short", "panicked"].map(Value::from));
    for failure in one_failure_of_each() {
        let is_held = matches!(failure, Failure::Held { .. });
        let failed = Message::Failed { exit_code: 1, failure: &failure };
        assert_eq!(quiet.says(&failed), !is_held, "{}", failed.text("r"));
    }
}
