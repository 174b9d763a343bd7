//! What a node must prove before it votes (S10).
//!
//! The commands leave in one write as soon as the connection is up, and their replies arrive in
//! order before the first vote can. Any doubt keeps the node out: a node that does not vote costs
//! availability, one that votes wrongly costs the lock.

use core::time::Duration;

use bytes::BytesMut;

use super::command::Native;
use super::config::Login;
use super::reply::ServerError;
use super::script::{self, Script};
use super::status::Trouble;
use crate::resp::{self, Elements, Value};

/// The steps, in the order in which they are sent. `Auth` and `Select` only where needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Auth,
    Select,
    Info,
    Capabilities,
    Load(Script),
}

/// The sections of `INFO` that are read. One call each: several sections in one call need Redis 7.
const SECTIONS: [&[u8]; 4] = [b"server", b"replication", b"memory", b"persistence"];

/// A handshake under way on one connection.
pub(super) struct Handshake {
    steps: Vec<Step>,
    answered: usize,
    info: Info,
}

/// What a node said about itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Info {
    run_id: Option<RunId>,
    replication: Option<[u8; 40]>,
    /// Whether it is written what the process was a replica of.
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

/// Forty hex digits that a server process draws when it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RunId([u8; 40]);

/// Who a node is, once the handshake is over. Delayed restart (S11) is decided from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Identity {
    pub(super) run_id: RunId,
    /// Drawn anew by a replica that becomes a master; `None` where the server has no such thing.
    pub(super) replication: Option<[u8; 40]>,
    /// Whether the process has ever been a replica, as far as it knows.
    pub(super) was_replica: bool,
    /// In whole seconds, by the server's wall clock.
    pub(super) uptime: Duration,
    /// Whether the append-only file is on and its last write went well.
    pub(super) is_durable: bool,
    /// The server's own compare-and-delete, if it has one.
    pub(super) native: Option<Native>,
}

impl Identity {
    /// Whether this is the same process with the same data as `other`.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.run_id, self.replication, self.was_replica)
            == (other.run_id, other.replication, other.was_replica)
    }
}

/// What one reply of the handshake means.
pub(super) enum Progress {
    /// More replies are owed.
    More,
    /// The node proved all that was asked.
    Done(Identity),
    /// It did not.
    Failed(Trouble),
}

impl Handshake {
    /// Appends the commands of the handshake to `out`.
    pub(super) fn begin(login: &Login, out: &mut BytesMut) -> Self {
        let mut steps = Vec::with_capacity(14);
        if let Some(password) = &login.password {
            match &login.username {
                Some(user) => resp::command(out, &[b"AUTH", user.as_bytes(), password.as_bytes()]),
                None => resp::command(out, &[b"AUTH", password.as_bytes()]),
            }
            steps.push(Step::Auth);
        }
        if login.database != 0 {
            resp::command(out, &[b"SELECT", login.database.to_string().as_bytes()]);
            steps.push(Step::Select);
        }
        for section in SECTIONS {
            resp::command(out, &[b"INFO", section]);
            steps.push(Step::Info);
        }
        resp::command(out, &[b"COMMAND", b"INFO", b"DELIFEQ", b"DELEX"]);
        steps.push(Step::Capabilities);
        for script in script::ALL {
            resp::command(out, &[b"SCRIPT", b"LOAD", script.text.as_bytes()]);
            steps.push(Step::Load(script));
        }
        Self { steps, answered: 0, info: Info::default() }
    }

    /// How many replies are owed in all.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Takes the reply to the oldest step that has none.
    pub(super) fn handle_reply(&mut self, value: &Value<'_>) -> Progress {
        let Some(&step) = self.steps.get(self.answered) else {
            return Progress::Failed(Trouble::UnsolicitedReply);
        };
        self.answered += 1;
        let trouble = match (step, value) {
            // A node that does not let us load scripts may still let us run them by their text, and
            // one that does not tell its commands has none but those of old.
            (Step::Load(_) | Step::Capabilities, Value::Error(_)) => None,
            (Step::Load(script), Value::Bulk(sha)) if *sha == script.sha.as_bytes() => None,
            (Step::Capabilities, Value::Array(commands)) => {
                self.info.native = native(commands.clone());
                None
            }
            (step, Value::Error(text)) => Some(refusal(step, ServerError::classify(text))),
            (Step::Auth | Step::Select, Value::Simple(b"OK")) => None,
            (Step::Info, Value::Bulk(text) | Value::Verbatim { text, .. }) => {
                self.info.read(text);
                None
            }
            _ => Some(Trouble::UnexpectedReply),
        };
        match trouble {
            Some(trouble) => Progress::Failed(trouble),
            None if self.answered < self.steps.len() => Progress::More,
            None => self.info.verdict(),
        }
    }
}

/// What an error reply to a step means. Whatever stands against a login is for somebody to mend,
/// unless the server says that it is only for the moment.
fn refusal(step: Step, error: ServerError) -> Trouble {
    let passing = matches!(error, ServerError::NotServing | ServerError::Overloaded);
    match step {
        Step::Auth | Step::Select if !passing => Trouble::LoginRefused,
        _ => Trouble::Server(error),
    }
}

/// The first of the commands that were asked about that the server has.
fn native(commands: Elements<'_>) -> Option<Native> {
    let known = [Native::DelIfEq, Native::DelEx].into_iter().zip(commands);
    known.filter(|(_, entry)| matches!(entry, Value::Array(_))).map(|(native, _)| native).next()
}

impl Info {
    /// Reads the lines `field:value` of one section; what is not known is passed over.
    fn read(&mut self, text: &[u8]) {
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii_end();
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let (field, value) = (&line[..colon], &line[colon + 1..]);
            match field {
                b"run_id" => self.run_id = value.try_into().ok().map(RunId),
                b"uptime_in_seconds" => self.uptime = uptime(value),
                // Valkey calls it server_mode.
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
        let lacks = |field| Progress::Failed(Trouble::IncompleteInfo(field));
        let Some(run_id) = self.run_id else { return lacks("run_id") };
        let Some(uptime) = self.uptime else { return lacks("uptime_in_seconds") };
        let trouble = match (self.standalone, self.master, self.loading) {
            (None, ..) => return lacks("redis_mode"),
            (_, None, _) => return lacks("role"),
            (_, _, None) => return lacks("loading"),
            (Some(false), ..) => Trouble::NotStandalone,
            (_, Some(false), _) => Trouble::Replica,
            (_, _, Some(true)) => Trouble::Loading,
            _ => match (self.memory_limit, self.evicts) {
                (None, _) => return lacks("maxmemory"),
                (Some(0), _) | (_, Some(false)) => {
                    return Progress::Done(self.identity(run_id, uptime));
                }
                (_, None) => return lacks("maxmemory_policy"),
                (_, Some(true)) => Trouble::EvictsKeys,
            },
        };
        Progress::Failed(trouble)
    }

    /// What is not said is taken for the worse: it costs the node its credit, not its vote.
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

/// A wall clock that was set back since the server started makes it negative: that is no time.
fn uptime(seconds: &[u8]) -> Option<Duration> {
    let (is_negative, digits) = seconds.strip_prefix(b"-").map_or((false, seconds), |d| (true, d));
    let uptime = number(digits).map(Duration::from_secs)?;
    Some(if is_negative { Duration::ZERO } else { uptime })
}

fn number(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

/// A master for tests, just started, by the number of its process.
#[cfg(test)]
pub(super) fn identity(process: u8) -> Identity {
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
        type Row = (&'static [(&'static str, &'static str)], Option<Trouble>);
        let rows: [Row; 15] = [
            (&[], None),
            (&[("maxmemory", "100000000")], None),
            (&[("maxmemory_policy", "allkeys-lru")], None),
            (
                &[("maxmemory", "1"), ("maxmemory_policy", "volatile-lru")],
                Some(Trouble::EvictsKeys),
            ),
            (
                &[("maxmemory", "1"), ("maxmemory_policy", "-")],
                Some(Trouble::IncompleteInfo("maxmemory_policy")),
            ),
            (&[("maxmemory", "-")], Some(Trouble::IncompleteInfo("maxmemory"))),
            (&[("role", "slave")], Some(Trouble::Replica)),
            (&[("role", "-")], Some(Trouble::IncompleteInfo("role"))),
            (&[("loading", "1")], Some(Trouble::Loading)),
            (&[("loading", "-")], Some(Trouble::IncompleteInfo("loading"))),
            (&[("redis_mode", "cluster")], Some(Trouble::NotStandalone)),
            (&[("redis_mode", "-")], Some(Trouble::IncompleteInfo("redis_mode"))),
            (&[("run_id", "short")], Some(Trouble::IncompleteInfo("run_id"))),
            (&[("uptime_in_seconds", "-")], Some(Trouble::IncompleteInfo("uptime_in_seconds"))),
            (&[("uptime_in_seconds", "--5")], Some(Trouble::IncompleteInfo("uptime_in_seconds"))),
        ];
        for (changes, expected) in rows {
            let found = match info(changes) {
                Progress::Failed(trouble) => Some(trouble),
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
            let mut out = BytesMut::new();
            let handshake = Handshake::begin(login, &mut out);
            let text = String::from_utf8_lossy(&out).into_owned();
            assert_eq!(text.matches("*2\r\n$4\r\nINFO").count(), SECTIONS.len());
            (handshake.len(), text)
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
    }

    #[test]
    fn a_wrong_type_or_a_reply_too_many_fails() {
        let mut out = BytesMut::new();
        let mut handshake = Handshake::begin(&Login::default(), &mut out);
        let progress = handshake.handle_reply(&Value::Simple(b"OK"));
        assert!(matches!(progress, Progress::Failed(Trouble::UnexpectedReply)));
        handshake.answered = handshake.len();
        let progress = handshake.handle_reply(&Value::Simple(b"OK"));
        assert!(matches!(progress, Progress::Failed(Trouble::UnsolicitedReply)));
    }
}
