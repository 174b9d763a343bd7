//! What a node must prove before it votes (S10).
//!
//! The commands leave in one write as soon as the connection is up, and their replies come in order
//! before the first vote can. Any doubt keeps the node out: a node without a vote costs
//! availability, a wrong vote costs the lock.

use core::time::Duration;

use bytes::BytesMut;

use super::error::NodeError;
use crate::redlock::login::Login;
use crate::redlock::wire::command::Native;
use crate::redlock::wire::script::{self, Script};
use crate::redlock::wire::server_error::ServerError;
use crate::resp::{self, Elements, Value};

/// The steps, in the order in which they are sent. `Auth` and `Select` are left out if not needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Auth,
    Select,
    /// One section of `INFO`.
    Info(&'static [u8]),
    Capabilities,
    Load(Script),
}

/// The sections of `INFO` that are read, one call each: several in one call need Redis 7.
const SECTIONS: [&[u8]; 4] = [b"server", b"replication", b"memory", b"persistence"];

/// A handshake under way on one connection.
pub(crate) struct Handshake {
    steps: Vec<Step>,
    answered: usize,
    info: Info,
}

/// What a node has said about itself so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Info {
    run_id: Option<RunId>,
    replication: Option<[u8; 40]>,
    /// Whether the process has a second history of replication, so was a replica at some time.
    was_replica: Option<bool>,
    uptime: Option<Duration>,
    standalone: Option<bool>,
    master: Option<bool>,
    loading: Option<bool>,
    memory_limit: Option<u64>,
    evicts: Option<bool>,
    appends: Option<bool>,
    append_failed: Option<bool>,
    native: Option<Native>,
}

/// The forty hex digits that a server process draws when it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RunId([u8; 40]);

/// The identity of a node, known after the handshake. Delayed restart (S11) is decided from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Identity {
    pub(crate) run_id: RunId,
    /// The replication id, drawn anew by a replica that becomes a master; `None` if not told.
    pub(crate) replication: Option<[u8; 40]>,
    /// Whether the process has ever been a replica, as far as the process knows.
    pub(crate) was_replica: bool,
    /// In whole seconds, by the server's wall clock.
    pub(crate) uptime: Duration,
    /// Whether the append-only file is on, and its last write went well.
    pub(crate) is_durable: bool,
    /// The server's own compare-and-delete command, if there is one.
    pub(crate) native: Option<Native>,
}

impl Identity {
    /// Returns `true` if this is the same process with the same data as `other`.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.run_id, self.replication, self.was_replica)
            == (other.run_id, other.replication, other.was_replica)
    }
}

/// The meaning of one reply in the handshake.
pub(crate) enum Progress {
    /// More replies are owed.
    More,
    /// The node has proved everything.
    Done(Identity),
    /// The node cannot vote.
    Failed(NodeError),
}

impl Handshake {
    /// Creates the handshake of a connection with this `login`.
    pub(crate) fn new(login: &Login) -> Self {
        let mut steps = Vec::with_capacity(14);
        if login.has_auth() {
            steps.push(Step::Auth);
        }
        if login.database != 0 {
            steps.push(Step::Select);
        }
        steps.extend(SECTIONS.map(Step::Info));
        steps.push(Step::Capabilities);
        steps.extend(script::ALL.map(Step::Load));
        Self { steps, answered: 0, info: Info::default() }
    }

    /// Returns the commands of all steps, in their order.
    pub(crate) fn commands(&self, login: &Login) -> Vec<BytesMut> {
        let encode = |step: &Step| {
            let mut command = BytesMut::new();
            step.encode(login, &mut command);
            command
        };
        self.steps.iter().map(encode).collect()
    }

    /// Handles the reply to the oldest step without a reply.
    pub(crate) fn handle_reply(&mut self, value: &Value<'_>) -> Progress {
        let Some(&step) = self.steps.get(self.answered) else {
            return Progress::Failed(NodeError::UnsolicitedReply);
        };
        self.answered += 1;
        let error = match (step, value) {
            // A node that forbids us to load scripts may still run their text. A node that does not
            // tell its commands is taken to have only the old ones.
            (Step::Load(_) | Step::Capabilities, Value::Error(_)) => None,
            (Step::Load(script), Value::Bulk(sha)) if *sha == script.sha.as_bytes() => None,
            (Step::Capabilities, Value::Array(commands)) => {
                self.info.native = native(commands.clone());
                None
            }
            (step, Value::Error(text)) => Some(refusal(step, ServerError::classify(text))),
            (Step::Auth | Step::Select, Value::Simple(b"OK")) => None,
            (Step::Info(_), Value::Bulk(text) | Value::Verbatim { text, .. }) => {
                self.info.read(text);
                None
            }
            _ => Some(NodeError::UnexpectedReply),
        };
        match error {
            Some(error) => Progress::Failed(error),
            None if self.answered < self.steps.len() => Progress::More,
            None => self.info.verdict(),
        }
    }
}

impl Step {
    fn encode(self, login: &Login, out: &mut BytesMut) {
        match self {
            Self::Auth => resp::command(out, &login.auth()),
            Self::Select => {
                resp::command(out, &[b"SELECT", login.database.to_string().as_bytes()]);
            }
            Self::Info(section) => resp::command(out, &[b"INFO", section]),
            Self::Capabilities => resp::command(out, &[b"COMMAND", b"INFO", b"DELIFEQ", b"DELEX"]),
            Self::Load(script) => {
                resp::command(out, &[b"SCRIPT", b"LOAD", script.text.as_bytes()]);
            }
        }
    }
}

/// Returns the meaning of an error reply to a step. An error about a login needs a person to mend
/// it, unless the server says that the error is only for the moment.
fn refusal(step: Step, error: ServerError) -> NodeError {
    let passing = matches!(error, ServerError::NotServing | ServerError::Overloaded);
    match step {
        Step::Auth | Step::Select if !passing => NodeError::LoginRefused,
        _ => NodeError::Server(error),
    }
}

/// Returns the first of the native commands that the server has.
fn native(commands: Elements<'_>) -> Option<Native> {
    let known = [Native::DelIfEq, Native::DelEx].into_iter().zip(commands);
    known.filter(|(_, entry)| matches!(entry, Value::Array(_))).map(|(native, _)| native).next()
}

impl Info {
    /// Reads the lines `field:value` of one section. Unknown fields are skipped.
    fn read(&mut self, text: &[u8]) {
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii_end();
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let (field, value) = (&line[..colon], &line[colon + 1..]);
            match field {
                b"run_id" => self.run_id = value.try_into().ok().map(RunId),
                b"uptime_in_seconds" => self.uptime = uptime(value),
                // Valkey has the name `server_mode`.
                b"redis_mode" | b"server_mode" => self.standalone = Some(value == b"standalone"),
                b"role" => self.master = Some(value == b"master"),
                b"master_replid" => self.replication = value.try_into().ok(),
                b"second_repl_offset" => self.was_replica = Some(value != b"-1"),
                b"aof_enabled" => self.appends = Some(value == b"1"),
                b"aof_last_write_status" => self.append_failed = Some(value != b"ok"),
                b"loading" => self.loading = Some(value != b"0"),
                b"maxmemory" => self.memory_limit = number(value),
                b"maxmemory_policy" => self.evicts = Some(value != b"noeviction"),
                _ => {}
            }
        }
    }

    fn verdict(&self) -> Progress {
        let lacks = |field| Progress::Failed(NodeError::IncompleteInfo(field));
        let Some(run_id) = self.run_id else { return lacks("run_id") };
        let Some(uptime) = self.uptime else { return lacks("uptime_in_seconds") };
        let error = match (self.standalone, self.master, self.loading) {
            (None, ..) => return lacks("redis_mode"),
            (_, None, _) => return lacks("role"),
            (_, _, None) => return lacks("loading"),
            (Some(false), ..) => NodeError::NotStandalone,
            (_, Some(false), _) => NodeError::Replica,
            (_, _, Some(true)) => NodeError::Loading,
            _ => match (self.memory_limit, self.evicts) {
                (None, _) => return lacks("maxmemory"),
                (Some(0), _) | (_, Some(false)) => {
                    return Progress::Done(self.identity(run_id, uptime));
                }
                (_, None) => return lacks("maxmemory_policy"),
                (_, Some(true)) => NodeError::EvictsKeys,
            },
        };
        Progress::Failed(error)
    }

    /// A missing value counts as the worse one: that costs the node its credit, not its vote.
    fn identity(&self, run_id: RunId, uptime: Duration) -> Identity {
        Identity {
            run_id,
            replication: self.replication,
            was_replica: self.was_replica != Some(false),
            uptime,
            is_durable: self.appends == Some(true) && self.append_failed == Some(false),
            native: self.native,
        }
    }
}

/// Reads an uptime. A negative one, after the wall clock was set back, counts as zero.
fn uptime(seconds: &[u8]) -> Option<Duration> {
    let (is_negative, digits) = seconds.strip_prefix(b"-").map_or((false, seconds), |d| (true, d));
    let uptime = number(digits).map(Duration::from_secs)?;
    Some(if is_negative { Duration::ZERO } else { uptime })
}

fn number(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns the identity of a master for tests, just started, with this process number.
#[cfg(test)]
pub(crate) fn identity(process: u8) -> Identity {
    Identity {
        run_id: RunId([process; 40]),
        replication: Some([process; 40]),
        was_replica: false,
        uptime: Duration::ZERO,
        is_durable: false,
        native: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN_ID: &[u8; 40] = b"0123456789abcdef0123456789abcdef01234567";

    fn info(changes: &[(&str, &str)]) -> Progress {
        let mut fields = vec![
            ("run_id", core::str::from_utf8(RUN_ID).expect("digits")),
            ("uptime_in_seconds", "77"),
            ("redis_mode", "standalone"),
            ("role", "master"),
            ("loading", "0"),
            ("maxmemory", "0"),
            ("maxmemory_policy", "noeviction"),
        ];
        for change in changes {
            fields.retain(|(field, _)| *field != change.0);
            fields.push(*change);
        }
        let mut info = Info::default();
        for (field, value) in fields.into_iter().filter(|(_, value)| *value != "-") {
            info.read(format!("# Section\r\n{field}:{value}\r\n").as_bytes());
        }
        info.verdict()
    }

    #[test]
    fn only_a_standalone_master_that_keeps_its_keys_votes() {
        type Row = (&'static [(&'static str, &'static str)], Option<NodeError>);
        let rows: [Row; 15] = [
            (&[], None),
            (&[("maxmemory", "100000000")], None),
            (&[("maxmemory_policy", "allkeys-lru")], None),
            (
                &[("maxmemory", "1"), ("maxmemory_policy", "volatile-lru")],
                Some(NodeError::EvictsKeys),
            ),
            (
                &[("maxmemory", "1"), ("maxmemory_policy", "-")],
                Some(NodeError::IncompleteInfo("maxmemory_policy")),
            ),
            (&[("maxmemory", "-")], Some(NodeError::IncompleteInfo("maxmemory"))),
            (&[("role", "slave")], Some(NodeError::Replica)),
            (&[("role", "-")], Some(NodeError::IncompleteInfo("role"))),
            (&[("loading", "1")], Some(NodeError::Loading)),
            (&[("loading", "-")], Some(NodeError::IncompleteInfo("loading"))),
            (&[("redis_mode", "cluster")], Some(NodeError::NotStandalone)),
            (&[("redis_mode", "-")], Some(NodeError::IncompleteInfo("redis_mode"))),
            (&[("run_id", "short")], Some(NodeError::IncompleteInfo("run_id"))),
            (&[("uptime_in_seconds", "-")], Some(NodeError::IncompleteInfo("uptime_in_seconds"))),
            (&[("uptime_in_seconds", "--5")], Some(NodeError::IncompleteInfo("uptime_in_seconds"))),
        ];
        for (changes, expected) in rows {
            let found = match info(changes) {
                Progress::Failed(error) => Some(error),
                Progress::Done(identity) => {
                    assert_eq!(identity.run_id, RunId(*RUN_ID));
                    assert_eq!(identity.uptime, Duration::from_secs(77));
                    None
                }
                Progress::More => panic!("all sections were read"),
            };
            assert_eq!(found, expected, "{changes:?}");
        }
    }

    #[test]
    fn an_identity_takes_what_is_not_said_for_the_worse() {
        type Row = (&'static [(&'static str, &'static str)], bool, bool);
        let rows: [Row; 7] = [
            (&[], true, false),
            (&[("second_repl_offset", "-1")], false, false),
            (&[("second_repl_offset", "0")], true, false),
            (&[("second_repl_offset", "1234")], true, false),
            (&[("aof_enabled", "1")], true, false),
            (&[("aof_enabled", "1"), ("aof_last_write_status", "err")], true, false),
            (&[("aof_enabled", "1"), ("aof_last_write_status", "ok")], true, true),
        ];
        for (changes, was_replica, is_durable) in rows {
            let Progress::Done(found) = info(changes) else { panic!("a master: {changes:?}") };
            assert_eq!(found.was_replica, was_replica, "{changes:?}");
            assert_eq!(found.is_durable, is_durable, "{changes:?}");
        }
    }

    #[test]
    fn a_negative_uptime_is_none() {
        for (text, seconds) in [("0", 0), ("-5", 0), ("5", 5)] {
            let Progress::Done(found) = info(&[("uptime_in_seconds", text)]) else {
                panic!("{text} is an uptime")
            };
            assert_eq!(found.uptime, Duration::from_secs(seconds), "{text}");
        }
    }

    #[test]
    fn login_comes_first_and_only_where_it_is_needed() {
        let commands = |login: &Login| {
            let commands = Handshake::new(login).commands(login);
            let text = String::from_utf8_lossy(&commands.concat()).into_owned();
            assert_eq!(text.matches("*2\r\n$4\r\nINFO").count(), SECTIONS.len());
            (commands.len(), text)
        };
        assert_eq!(commands(&Login::default()).0, 12);
        let mut login = Login { password: Some("p".into()), database: 3, ..Login::default() };
        let (len, text) = commands(&login);
        assert_eq!(len, 14);
        assert!(
            text.starts_with("*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n")
        );
        login.username = Some("u".into());
        assert!(commands(&login).1.starts_with("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n"));
        login.password = None;
        assert!(commands(&login).1.starts_with("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$0\r\n\r\n"));
    }

    #[test]
    fn a_wrong_type_or_a_reply_too_many_fails() {
        let mut handshake = Handshake::new(&Login::default());
        let progress = handshake.handle_reply(&Value::Simple(b"OK"));
        assert!(matches!(progress, Progress::Failed(NodeError::UnexpectedReply)));
        handshake.answered = handshake.steps.len();
        let progress = handshake.handle_reply(&Value::Simple(b"OK"));
        assert!(matches!(progress, Progress::Failed(NodeError::UnsolicitedReply)));
    }
}
