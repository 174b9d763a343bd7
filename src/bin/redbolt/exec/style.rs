//! How a message is written: as text for people, or as JSON for programs.

use std::time::Duration;

use serde::Serialize;

use super::message::{Level, Message};
use super::wall_clock::{now, rfc3339, since_boot};

/// The value of `--log`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Form {
    #[default]
    Text,
    Json,
}

impl Form {
    /// Parses the value. The error continues `--log is "text", …`.
    pub(super) fn named(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("text or json is possible".to_owned()),
        }
    }
}

/// What is said, and how.
#[derive(Clone, Copy)]
pub(super) struct Style {
    form: Form,
    is_verbose: bool,
    /// The time since boot when the run began.
    start: Duration,
}

/// One line of JSON. The fields of the message come between the level and the text.
#[derive(Serialize)]
struct Line<'a> {
    time: String,
    level: Level,
    #[serde(flatten)]
    message: &'a Message<'a>,
    text: String,
}

impl Style {
    /// The style of a run that begins now.
    pub(super) fn new(form: Form, is_verbose: bool) -> Self {
        Self { form, is_verbose, start: since_boot() }
    }

    /// Whether a message is said at all.
    pub(super) fn says(self, message: &Message<'_>) -> bool {
        self.is_verbose || message.level() > Level::Info
    }

    /// Returns a message as it is written: all of it in one piece, so that several processes do
    /// not write into each other's lines.
    pub(super) fn line(self, message: &Message<'_>) -> String {
        match self.form {
            Form::Json => json(message, now()),
            Form::Text if self.is_verbose => {
                let elapsed = since_boot().saturating_sub(self.start);
                format!("redbolt: [{:7.3}s] {message}\n", elapsed.as_secs_f64())
            }
            Form::Text => format!("redbolt: {message}\n"),
        }
    }
}

fn json(message: &Message<'_>, now: Duration) -> String {
    let (level, text) = (message.level(), message.to_string());
    let line = serde_json::to_string(&Line { time: rfc3339(now), level, message, text });
    // Only maps with keys that are no text, and types that fail on purpose, cannot be written.
    line.expect("structs of numbers and text") + "\n"
}

#[cfg(test)]
mod tests {
    use std::{io, iter};

    use redbolt::LostReason;
    use rustix::process::Signal;
    use serde_json::{Value, json};

    use super::super::failure::Failure;
    use super::super::help;
    use super::super::message::Left;
    use super::super::occupant::Occupant;
    use super::*;
    use crate::nodes::{NodeLine, NodeList};

    fn parsed(message: &Message<'_>) -> Value {
        let line = json(message, Duration::from_millis(1_795_342_096_789));
        assert!(line.ends_with('\n') && line.lines().count() == 1, "{line}");
        serde_json::from_str(&line).expect("one object")
    }

    #[test]
    fn a_line_of_json_has_the_time_the_level_the_event_and_its_fields() {
        let nodes = NodeList::default;
        let took = Duration::from_micros(1_234);
        let locked = Message::Locked { resource: "a\"b\n".to_owned(), took };
        let expected = json!({
            "time": "2026-11-22T10:08:16.789Z", "level": "info", "event": "locked",
            "resource": "a\"b\n", "took_ms": 1.234, "text": "\"a\\\"b\\n\" is locked after 1.2ms",
        });
        assert_eq!(parsed(&locked), expected);

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

    /// Programs depend on these names. Every kind of message must be one that JSON can write.
    #[test]
    fn events_have_the_names_that_programs_know() {
        const SECOND: Duration = Duration::from_secs(1);
        let (nodes, resource) = (NodeList::default, || "r".to_owned());
        let (reason, signal) = (LostReason::Expired, Signal::KILL);
        let line =
            NodeLine { node: "a:1".to_owned(), state: "down".to_owned(), text: "down".into() };
        let occupant = || Occupant::Held { holder: "ab…".to_owned(), remaining: SECOND };
        let rows = [
            (
                Message::QuorumAwaited { left: SECOND, nodes: nodes() },
                "quorum_awaited left_ms nodes",
            ),
            (
                Message::NoQuorumYet {
                    resource: resource(),
                    left: Left::of(SECOND),
                    nodes: nodes(),
                },
                "no_quorum_yet left_ms nodes resource",
            ),
            (
                Message::Waiting {
                    resource: resource(),
                    waited: SECOND,
                    left: Left::of(Duration::MAX),
                    attempts: 2,
                    occupant: occupant(),
                },
                "waiting attempts left_ms occupant resource waited_ms",
            ),
            (
                Message::Stuck { resource: resource(), occupant: Occupant::NoTtl },
                "stuck occupant resource",
            ),
            (Message::Locked { resource: resource(), took: SECOND }, "locked resource took_ms"),
            (Message::NotAllReady { nodes: nodes() }, "not_all_ready nodes"),
            (Message::Node(line), "node node state status"),
            (Message::Shortened, "shortened"),
            (Message::Expiring { signal }, "expiring signal"),
            (Message::Ending { reason, signal, nodes: nodes() }, "ending reason signal"),
            (Message::Lost { reason, nodes: nodes() }, "lost nodes reason"),
            (Message::TerminalWanted, "terminal_wanted"),
            (Message::Unstoppable, "unstoppable"),
            (Message::Continued, "continued"),
            (Message::LeftToTtl, "left_to_ttl"),
            (Message::Released { is_confirmed: true }, "released confirmed"),
            (Message::Panicked { what: String::new() }, "panicked"),
            (Message::LeftOut { count: 3 }, "left_out count"),
        ];
        for (message, expected) in rows {
            assert_eq!(names(&parsed(&message), "event"), expected);
            let mut expected = expected.split(' ');
            let line = help_of(expected.next().expect("a name"));
            expected.for_each(|field| assert!(words(line).contains(&field), "{field}: {line}"));
        }
    }

    /// The line of the help that begins with the name of an event.
    fn help_of(event: &str) -> &'static str {
        let mut lines = help::AFTER_LONG.lines().filter(|line| line.starts_with("  "));
        let line = lines.find(|line| line.split_whitespace().next() == Some(event));
        line.unwrap_or_else(|| panic!("the help lacks {event}"))
    }

    fn words(text: &str) -> Vec<&str> {
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect()
    }

    #[test]
    fn failures_have_the_names_that_programs_know() {
        let (nodes, resource) = (NodeList::default, || "r".to_owned());
        let error = || io::Error::from_raw_os_error(2);
        let failures = [
            (Failure::Usage("no".to_owned()), "usage"),
            (
                Failure::Held { resource: resource(), occupant: Occupant::Free, nodes: nodes() },
                "held occupant resource",
            ),
            (
                Failure::NoQuorum { resource: resource(), nodes: nodes() },
                "no_quorum nodes resource",
            ),
            (
                Failure::Unavailable {
                    resource: resource(),
                    retry_after: Duration::ZERO,
                    nodes: nodes(),
                },
                "unavailable nodes resource retry_after_ms",
            ),
            (Failure::Interrupted { signal: Signal::TERM }, "interrupted signal"),
            (Failure::Start { command: resource(), error: error() }, "start command"),
            (
                Failure::Overrun {
                    resource: resource(),
                    end: LostReason::Expired,
                    what: "",
                    survivors: true,
                },
                "overrun reason resource survivors",
            ),
            (Failure::System(error()), "system"),
        ];
        let known = help::AFTER_LONG.split_once("failed           exit_code, failure (");
        let (known, _) = known.and_then(|(_, known)| known.split_once(')')).expect("a list");
        for (failure, expected) in failures {
            let object = parsed(&Message::Failed { exit_code: 1, failure: &failure });
            assert_eq!(names(&object, "failure"), expected);
            let kind = object["failure"].as_str().expect("a name");
            assert!(words(known).contains(&kind), "{kind}: {known}");
        }
    }

    /// The name of the event or the failure, and those of its fields.
    fn names(object: &Value, kind: &str) -> String {
        let fields = object.as_object().expect("an object").keys().map(String::as_str);
        let common = ["time", "level", "event", "text", "failure", "exit_code"];
        let fields = fields.filter(|name| !common.contains(name));
        let kind = object[kind].as_str().expect("a name");
        iter::once(kind).chain(fields).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_verbose_text_says_when() {
        let message = Message::LeftToTtl;
        let plain = Style::new(Form::Text, false).line(&message);
        assert_eq!(plain, format!("redbolt: {message}\n"));
        let mut verbose = Style::new(Form::Text, true);
        verbose.start = Duration::ZERO;
        let line = verbose.line(&message);
        let (before, after) = line.split_once("s] ").expect("a time");
        assert_eq!(after, format!("{message}\n"));
        let seconds = before.strip_prefix("redbolt: [").expect("a bracket");
        assert!(seconds.trim().parse::<f64>().is_ok(), "{line}");
    }
}
