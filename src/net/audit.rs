//! Audits of nodes: the conversation of an operator who only wants to know.

use core::time::Duration;
use std::net::IpAddr;

use bytes::BytesMut;

use super::address::Address;
use super::clock::Clock;
use super::credentials::Credentials;
use super::entropy::entropy;
use super::line::{Line, resolve};
use super::transport::{Failure, Target};
use super::visit::login;
use crate::redlock::{
    Answers, Audit, FirstLook, Message, NodeError, RedlockConfig, Unanswered, Visitor, read_time,
};
use crate::resp;
use crate::time::Instant;

/// How many round trips are measured.
const SAMPLES: usize = 11;

/// What an audit of one node has found.
#[derive(Clone, Debug)]
pub(crate) struct Audited {
    /// The node listens to a Unix socket.
    pub(crate) is_local: bool,
    /// For how long the certificates of the server and ours are valid, if there are any.
    pub(crate) certificates: [Option<Duration>; 2],
    /// The machine of the node, if its name is known.
    pub(crate) machine: Option<IpAddr>,
    user: Option<String>,
    pub(crate) result: Result<Heard, Unanswered>,
    pub(crate) samples: Vec<Sample>,
}

/// The answers of a node, and when they came.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    /// The time of the questions, that of the last answer, and the wall clock then.
    sent: Instant,
    answered: Instant,
    since_1970: Duration,
    pub(crate) answers: Answers,
}

/// One question for the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) round_trip: Duration,
    /// Our wall clock in the middle of the round trip, in microseconds since 1970.
    pub(crate) ours: u64,
    /// The clock of the node; `None` if the node does not tell.
    pub(crate) theirs: Option<u64>,
}

impl Audited {
    /// Returns the answers, if there are any.
    pub(crate) fn answers(&self) -> Option<&Answers> {
        self.result.as_ref().ok().map(|heard| &heard.answers)
    }

    /// Returns the user of the login; `None` for `default`.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Returns the last error of the server.
    pub(crate) fn message(&self) -> &Message {
        match &self.result {
            Ok(heard) => &heard.answers.message,
            Err(unanswered) => &unanswered.message,
        }
    }

    /// Returns the answers as a look of a client.
    pub(crate) fn look(&self) -> Option<FirstLook<'_>> {
        self.result.as_ref().ok().map(Heard::look)
    }
}

impl Heard {
    /// Returns the answers as a look of a client.
    pub(crate) fn look(&self) -> FirstLook<'_> {
        let Self { sent, answered, since_1970, ref answers } = *self;
        FirstLook { sent, answered, since_1970, answers }
    }
}

/// Asks the questions of an audit.
pub(super) fn hear(line: &mut Line, mut audit: Audit<'_>) -> Result<Heard, Unanswered> {
    let sent = Clock::now();
    let commands = audit.commands();
    let answers = line.ask(&commands, |value| Ok(audit.handle_reply(value)));
    let (answered, since_1970) = (Clock::now(), Clock::since_1970());
    let answers = answers.unwrap_or_else(|error| Err(Unanswered::of(error)))?;
    Ok(Heard { sent, answered, since_1970, answers })
}

/// Asks a node for everything, and measures some round trips. Connecting, the audit and the round
/// trips may take `connect_timeout` each, and the last of the round trips once more.
pub(crate) fn audit(
    address: &Address,
    credentials: Option<&Credentials>,
    config: &RedlockConfig,
    nodes: usize,
) -> Audited {
    let login = login(address, credentials);
    let targets = resolve(address);
    let mut found = Audited {
        is_local: address.path().is_some(),
        certificates: [None; 2],
        machine: targets.first().map(Target::machine),
        user: login.username.clone(),
        result: Err(Unanswered::of(NodeError::NameNotResolved)),
        samples: Vec::new(),
    };
    let mut line = match Line::open_any(address, targets, config.connect_timeout) {
        Ok(line) => line,
        Err(Failure { error, detail }) => {
            let message = Message::of_detail(&detail, &login);
            found.result = Err(Unanswered { error, message });
            return found;
        }
    };
    let now = Clock::since_1970();
    let rest = |end: u64| Duration::from_secs(end).saturating_sub(now);
    found.certificates = line.certificates_end().map(|end| end.map(rest));
    found.machine = line.machine().or(found.machine);
    let visitor = Visitor { config, nodes, since_1970: Clock::since_1970() };
    let entropy = entropy().map_err(|error| Unanswered::of(NodeError::Io(error.kind())));
    found.result =
        entropy.and_then(|entropy| hear(&mut line, Audit::full(&login, visitor, entropy)));
    if found.result.is_ok() {
        found.samples = samples(&mut line, config.connect_timeout);
    }
    found
}

/// Asks for the time again and again. Ends early where the node does not answer, or too slowly.
fn samples(line: &mut Line, timeout: Duration) -> Vec<Sample> {
    let mut command = BytesMut::new();
    resp::command(&mut command, &[b"TIME"]);
    let end = Clock::now() + timeout;
    let mut samples = Vec::with_capacity(SAMPLES);
    while samples.len() < SAMPLES && Clock::now() < end {
        let (sent, wall) = (Clock::now(), Clock::since_1970());
        let Ok(theirs) = line.ask(&command, |value| Ok(Some(read_time(value)))) else { break };
        let round_trip = Clock::now() - sent;
        samples.push(Sample { round_trip, ours: micros(wall + round_trip / 2), theirs });
    }
    samples
}

fn micros(since_1970: Duration) -> u64 {
    u64::try_from(since_1970.as_micros()).unwrap_or(u64::MAX)
}
