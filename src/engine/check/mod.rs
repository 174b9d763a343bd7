//! [`Check`]: what an operator asks about all nodes of a deployment, without changing anything.
//!
//! [`facts`] reads what a server tells about itself, and [`clock`] compares the clocks.
//! [`mod@advice`] and [`waiting`] say why a node does not vote, [`notes`] what is worth a word
//! although the nodes vote, and [`verdict`] whether locks can be had. None of them knows a
//! connection. [`report`] and [`mod@state`] have the types of the result, and [`words`] writes
//! times.

mod advice;
mod clock;
mod facts;
mod notes;
mod report;
mod state;
mod verdict;
mod waiting;
mod words;

use core::fmt;
use std::io;

pub(super) use self::advice::{Advice, Case};
pub use self::clock::{CheckClock, CheckOffset};
pub use self::facts::CheckServer;
pub use self::report::{CheckFinding, CheckNode, CheckReport, CheckSubject};
pub use self::state::CheckState;
pub use self::verdict::{CheckStep, CheckVerdict};
use self::waiting::Waiting;
use super::config::Config;
use super::deployment::Deployment;
use crate::net::{Address, Audited, Clock, audit, in_threads};
use crate::redlock::{
    ConfigError, Found, MissingRights, NodeError, Prospect, QuarantineReason, RestartGuard, Word,
    prospects,
};

/// Asks the nodes of a deployment whether they can vote, and what is wrong with those that cannot.
///
/// The judgement is that of a client which meets all nodes now for the first time. Nothing is
/// written on any node: no key, no stamp, no script. Rights are tried by commands that a server
/// refuses for their arguments, which its statistics count as errors. A client that has known the
/// nodes for longer can distrust a node that this check calls ready: such a client remembers
/// another process under the same name.
///
/// ```no_run
/// use redbolt::{Check, Config};
///
/// let report = Check::new(Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?).run()?;
/// for finding in report.findings() {
///     println!("{finding}");
/// }
/// println!("{}", report.verdict()); // 3 of 3 can vote, 2 needed: 1 may fail
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `run`"]
pub struct Check {
    config: Config,
}

impl Check {
    /// Checks these nodes. Their logins, `prefix`, `quorum`, `max_ttl`, `drift`, `restart_guard`
    /// and `connect_timeout` of the configuration count.
    pub fn new(config: Config) -> Self {
        Self { config }
    }

    /// Asks all nodes, and blocks meanwhile. Connecting, the questions and the round trips may take
    /// `connect_timeout` each, the last round trip once more, and the lookup of a name as long as
    /// the system lets it.
    ///
    /// Each node is asked in a thread of its own, and some forty requests go to each. `run` can be
    /// called again and again.
    ///
    /// # Errors
    ///
    /// Returns [`CheckError::Config`] before the first connection, and [`CheckError::Io`] if the
    /// system cannot start a thread. What is wrong with a node is no error, but in the report.
    pub fn run(&self) -> Result<CheckReport, CheckError> {
        let Config { nodes, redlock: config, credentials, .. } = &self.config;
        let quorum = self.config.check_engine()?;
        let credentials = credentials.as_ref();
        let ask = |address| audit(address, credentials, config, nodes.len());
        let audited = in_threads(nodes.iter().collect(), ask)?;
        let looks: Vec<_> = audited.iter().map(Audited::look).collect();
        let prospects = prospects(Clock::now(), &looks, config, quorum);
        let samples: Vec<_> = audited.iter().map(|node| &node.samples[..]).collect();
        let clocks = clock::compare(&samples);
        let (mut found, mut findings) = (Vec::new(), Vec::new());
        for (place, (audited, prospect)) in audited.iter().zip(&prospects).enumerate() {
            let state = state(audited, *prospect, config.restart_guard);
            let mut node =
                CheckNode { clock: clocks[place], ..node(&nodes[place], audited, state) };
            let twin = match state {
                CheckState::Out(NodeError::SameProcess(twin)) => nodes.get(twin.index()),
                _ => None,
            };
            let server = node.server.as_ref();
            let (user, message, is_local) = (audited.user(), audited.message(), audited.is_local);
            let case = Case { config, user, is_local, message, server, twin };
            if let Some(advice) = advice(&case, audited, state) {
                node.label = advice.label;
                findings.push(CheckFinding {
                    nodes: vec![node.address.clone()],
                    subject: advice.subject,
                    blocks: true,
                    cause: advice.cause,
                    remedy: advice.remedy,
                });
            }
            found.push(node);
        }
        findings.extend(notes::notes(config, &found, &audited));
        let states: Vec<_> = found.iter().map(|node| node.state).collect();
        let verdict = CheckVerdict::new(&states, quorum);
        Ok(CheckReport { nodes: found, findings: merged(findings), verdict })
    }
}

/// Returns what to say of a node; `None` if the node votes.
fn advice(case: &Case<'_>, audited: &Audited, state: CheckState) -> Option<Advice> {
    match state {
        CheckState::Ready => None,
        CheckState::Out(error) => Some(case.of_error(error)),
        CheckState::Quarantined { remaining, reason, is_running } => {
            let answers = audited.answers();
            Some(Waiting { case, answers, remaining, reason, is_running }.advice())
        }
    }
}

fn state(audited: &Audited, prospect: Prospect, guard: RestartGuard) -> CheckState {
    let (remaining, reason) = match (prospect, &audited.result) {
        (Prospect::Votes, _) => return CheckState::Ready,
        (Prospect::Out(Some(error)), _) => return CheckState::Out(error),
        (Prospect::Out(None), Err(unanswered)) => return CheckState::Out(unanswered.error),
        (Prospect::Out(None), Ok(_)) => return CheckState::Out(NodeError::UnexpectedReply),
        (Prospect::Waits(remaining, reason), _) => (remaining, reason),
    };
    let word = audited.answers().map(|answers| answers.word);
    let is_running = match word {
        _ if guard == RestartGuard::Strict => false,
        // The time in which nobody looked ends with the next look.
        Some(Word::Given(word)) if reason == QuarantineReason::OutOfService => {
            word.unseen.1 != word.time
        }
        Some(Word::Given(word)) => word.found == Found::Same,
        _ => false,
    };
    CheckState::Quarantined { remaining, reason, is_running }
}

fn node(address: &Address, audited: &Audited, state: CheckState) -> CheckNode {
    let answers = audited.answers();
    let deployment = answers.and_then(|answers| match answers.word {
        Word::Given(word) if word.found != Found::Nothing => {
            Some(Deployment::recorded(word.constants))
        }
        _ => None,
    });
    let mut round_trips: Vec<_> = audited.samples.iter().map(|one| one.round_trip).collect();
    round_trips.sort_unstable();
    CheckNode {
        address: address.clone(),
        state,
        label: "ready",
        server: answers.map(|answers| CheckServer::read(&answers.facts, &answers.settings)),
        round_trip: round_trips.get(round_trips.len() / 2).copied(),
        clock: None,
        missing: answers.map_or_else(MissingRights::default, |answers| answers.missing),
        machine: audited.machine,
        deployment,
    }
}

/// Makes one finding of those that say the same, and puts first what keeps nodes from voting.
fn merged(findings: Vec<CheckFinding>) -> Vec<CheckFinding> {
    let mut merged: Vec<CheckFinding> = Vec::new();
    for finding in findings {
        let is_same = |other: &&mut CheckFinding| {
            (&other.cause, &other.remedy) == (&finding.cause, &finding.remedy)
        };
        match merged.iter_mut().find(is_same) {
            Some(other) => other.nodes.extend(finding.nodes),
            None => merged.push(finding),
        }
    }
    merged.sort_by_key(|finding| !finding.blocks);
    merged
}

/// The error returned when nothing could be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckError {
    /// A setting is out of bounds, or a node is given twice. No node was asked.
    Config(ConfigError),
    /// The system could not start a thread.
    Io(io::Error),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Io(error) => write!(f, "the system cannot ask the nodes: {error}"),
        }
    }
}

impl core::error::Error for CheckError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            // `Display` already shows this error, so the chain goes on with its source.
            Self::Config(error) => error.source(),
            Self::Io(error) => Some(error),
        }
    }
}

impl From<ConfigError> for CheckError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<io::Error> for CheckError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
