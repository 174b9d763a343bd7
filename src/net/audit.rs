//! Audits of nodes: the conversation of an operator who only wants to know.

use core::time::Duration;
use std::net::IpAddr;

use bytes::BytesMut;

use super::address::Address;
use super::clock::Clock;
use super::credentials::Credentials;
use super::entropy::entropy;
use super::visit::{Line, login, resolve};
use crate::redlock::{
    Answers, Audit, FirstLook, NodeError, RedlockConfig, Unanswered, Visitor, read_time,
};
use crate::resp;
use crate::time::Instant;

/// How many round trips are measured.
const SAMPLES: usize = 11;

/// What an audit of one node has found.
#[derive(Clone, Debug)]
pub(crate) struct Audited {
    /// The machine of the node, if its name is known.
    pub(crate) machine: Option<IpAddr>,
    /// The user of the login; `None` for `default`.
    pub(crate) user: Option<String>,
    pub(crate) result: Result<Answers, Unanswered>,
    /// The time of the questions, that of the last answer, and the wall clock then.
    sent: Instant,
    answered: Instant,
    since_1970: Duration,
    pub(crate) samples: Vec<Sample>,
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
    /// Returns the answers as a look of a client.
    pub(crate) fn look(&self) -> Option<FirstLook<'_>> {
        let answers = self.result.as_ref().ok()?;
        let Self { sent, answered, since_1970, .. } = *self;
        Some(FirstLook { sent, answered, since_1970, answers })
    }
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
    let addresses = resolve(address);
    let failed = |error| Unanswered { error, message: String::new() };
    let mut found = Audited {
        machine: addresses.first().map(|address| address.ip()),
        user: login.username.clone(),
        result: Err(failed(NodeError::NameNotResolved)),
        sent: Clock::now(),
        answered: Clock::now(),
        since_1970: Clock::since_1970(),
        samples: Vec::new(),
    };
    let mut line = match Line::open_any(&addresses, config.connect_timeout) {
        Ok(line) => line,
        Err(error) => {
            found.result = Err(failed(error));
            return found;
        }
    };
    found.machine = line.peer().or(found.machine);
    let entropy = match entropy() {
        Ok(entropy) => entropy,
        Err(error) => {
            found.result = Err(failed(NodeError::Io(error.kind())));
            return found;
        }
    };
    found.sent = Clock::now();
    let visitor = Visitor { config, nodes, since_1970: Clock::since_1970() };
    let mut audit = Audit::new(&login, visitor, entropy);
    let commands = audit.commands(&login);
    let answer = line.ask(&commands, |value| Ok(audit.handle_reply(value)));
    (found.answered, found.since_1970) = (Clock::now(), Clock::since_1970());
    found.result = answer.unwrap_or_else(|error| Err(failed(error)));
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
