//! Surveys: what an operator asks of a node, who wants to know what stands under some resources.
//!
//! A survey has two parts. The *introduction* is the login, and whatever tells whether the answers
//! of the node count. Then come the looks at the keys. Unlike a handshake, a survey leaves nothing
//! on the node: no key, not even for a moment, and no script.

use core::time::Duration;

use bytes::BytesMut;

use super::Standing;
use crate::redlock::bounds::LONGEST_TTL;
use crate::redlock::config::RedlockConfig;
use crate::redlock::login::Login;
use crate::redlock::node::error::NodeError;
use crate::redlock::node::identity::{Identity, Info, RunId};
use crate::redlock::node::inquiry::SECTIONS;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::wire::peek::Unread;
use crate::redlock::wire::server_error::ServerError;
use crate::redlock::wire::witness::WITNESS;
use crate::resp::{self, Value};

/// The steps of an introduction, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Auth,
    Select,
    Info(&'static [u8]),
    Witness,
    Time,
}

/// An introduction under way.
pub(crate) struct Introduction {
    steps: Vec<Step>,
    answered: usize,
    database: u32,
    info: Info,
    /// The first error of `INFO`.
    error: Option<NodeError>,
    witness: Option<Vec<u8>>,
    /// The time by the clock of the node, in microseconds since 1970.
    time: Option<u64>,
}

/// What a node has said about itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Introduced {
    /// Who the node is, or why it cannot vote.
    identity: Result<Identity, NodeError>,
    witness: Option<Standing>,
    time: Option<u64>,
}

/// What the answers of a node are worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Worth {
    /// They count.
    Full,
    /// They count, unless the other nodes have a witness and this node has lost its own.
    NoWitness,
    /// The node may have forgotten keys, for so much longer where that is known.
    Quarantined(Option<Duration>),
    /// The node has no vote.
    Out(NodeError),
}

impl Introduction {
    pub(crate) fn new(login: &Login) -> Self {
        let auth = login.has_auth().then_some(Step::Auth);
        let select = (login.database != 0).then_some(Step::Select);
        let steps = auth.into_iter().chain(select).chain(SECTIONS.map(Step::Info));
        Self {
            steps: steps.chain([Step::Witness, Step::Time]).collect(),
            answered: 0,
            database: login.database,
            info: Info::default(),
            error: None,
            witness: None,
            time: None,
        }
    }

    /// Returns all commands of the introduction.
    pub(crate) fn commands(&self, login: &Login, prefix: &[u8]) -> BytesMut {
        let mut out = BytesMut::new();
        for step in &self.steps {
            match step {
                Step::Auth => resp::command(&mut out, &login.auth()),
                Step::Select => {
                    resp::command(&mut out, &[b"SELECT", login.database.to_string().as_bytes()]);
                }
                Step::Info(section) => resp::command(&mut out, &[b"INFO", section]),
                Step::Witness => resp::command(&mut out, &[b"GET", &[prefix, WITNESS].concat()]),
                Step::Time => resp::command(&mut out, &[b"TIME"]),
            }
        }
        out
    }

    /// Handles the next reply. Returns `None` if more replies are owed.
    ///
    /// # Errors
    ///
    /// Returns the reason why the node cannot be asked anything.
    pub(crate) fn handle_reply(
        &mut self,
        value: &Value<'_>,
    ) -> Result<Option<Introduced>, NodeError> {
        use Value::{Array, Bulk, BulkError, Error, Null, Simple, Verbatim};
        let step = self.steps.get(self.answered).ok_or(NodeError::UnsolicitedReply)?;
        match (step, value) {
            (Step::Auth | Step::Select, Error(text) | BulkError(text)) => {
                let error = ServerError::classify(text);
                let is_passing = error.is_passing();
                return Err(match is_passing {
                    true => NodeError::Server(error),
                    false => NodeError::LoginRefused,
                });
            }
            (Step::Info(_), Error(text) | BulkError(text)) => {
                self.error = self.error.or_else(|| Some(refused(text)));
            }
            // Whoever may not read the witness does not know what it says.
            (Step::Witness | Step::Time, Error(_) | BulkError(_)) | (Step::Witness, Null) => {}
            (Step::Auth | Step::Select, Simple(b"OK")) => {}
            (Step::Info(_), Bulk(text) | Verbatim { text, .. }) => self.info.read(text),
            (Step::Witness, Bulk(text)) => self.witness = Some(text.to_vec()),
            (Step::Time, Array(parts)) => {
                let mut parts = parts.clone().map(|part| match part {
                    Bulk(digits) => core::str::from_utf8(digits).ok()?.parse::<u64>().ok(),
                    _ => None,
                });
                if let (Some(Some(seconds)), Some(Some(micros))) = (parts.next(), parts.next()) {
                    self.time = Some(seconds.saturating_mul(1_000_000).saturating_add(micros));
                }
            }
            _ => return Err(NodeError::UnexpectedReply),
        }
        self.answered += 1;
        Ok((self.answered == self.steps.len()).then(|| self.introduced()))
    }

    fn introduced(&self) -> Introduced {
        let identity = self.error.map_or_else(|| self.info.verdict(), Err);
        let own = identity.as_ref().ok().map(|identity| identity.in_witness(self.database));
        let own = own.unwrap_or_default();
        let witness = self.witness.as_deref().and_then(|text| Standing::read(text, &own));
        Introduced { identity, witness, time: self.time }
    }
}

impl Introduced {
    pub(crate) fn run_id(&self) -> Option<RunId> {
        self.identity.ok().map(|identity| identity.run_id)
    }

    pub(crate) fn has_witness(&self) -> bool {
        self.witness.is_some()
    }

    /// Returns what the answers of this node are worth, if the deployment has this number of nodes.
    /// A `max_ttl` that is not that of the deployment does no harm here: nobody takes a lock.
    pub(crate) fn worth(&self, config: &RedlockConfig, nodes: usize) -> Worth {
        if let Err(error) = self.identity {
            return Worth::Out(error);
        }
        let (ours, Some(witness)) = (nodes as u64, self.witness) else { return Worth::NoWitness };
        let recorded = witness.constants.nodes;
        if recorded != ours {
            return Worth::Out(NodeError::OtherNodes { ours, recorded });
        }
        if config.restart_guard == RestartGuard::Off || witness.is_declared() {
            return Worth::Full;
        }
        let (true, Some(time)) = (witness.is_own, self.time) else {
            return Worth::Quarantined(None);
        };
        let age = Duration::from_micros(time.saturating_sub(witness.born));
        let max_ttl = Duration::from_millis(witness.constants.max_ttl).min(LONGEST_TTL);
        let span = RedlockConfig { max_ttl, ..config.clone() }.quarantine();
        match span.saturating_sub(age) {
            Duration::ZERO => Worth::Full,
            left => Worth::Quarantined(Some(left)),
        }
    }
}

fn refused(text: &[u8]) -> NodeError {
    NodeError::Server(ServerError::classify(text))
}

impl From<Unread> for NodeError {
    fn from(error: Unread) -> Self {
        match error {
            Unread::Refused(error) => Self::Server(error),
            Unread::Unexpected => Self::UnexpectedReply,
        }
    }
}
