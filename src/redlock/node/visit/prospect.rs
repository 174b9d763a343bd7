//! What a client that meets all nodes for the first time would make of them (S10, S11).
//!
//! Whether a node may have forgotten locks (S11) is the engine's own judgement: a [`Nodes`], as
//! every engine has one, is told of one look at each node, and asked which of them it believes.
//! What keeps a node out before that is decided here ([`joins`]), by the rules and in the order of
//! `machine/session.rs`: one process counts once (S10), and the constants of the deployment agree.

use core::time::Duration;

use super::answers::Answers;
use crate::redlock::config::RedlockConfig;
use crate::redlock::login::Login;
use crate::redlock::node::error::NodeError;
use crate::redlock::node::inquiry::{Findings, Word};
use crate::redlock::node::nodes::Nodes;
use crate::redlock::node::quarantine::QuarantineReason;
use crate::redlock::node::terms::Terms;
use crate::redlock::node::witness::disagreement;
use crate::redlock::node_set::NodeId;
use crate::redlock::quorum::Quorum;
use crate::redlock::token::Nonce;
use crate::time::Instant;

/// One look at a node, by an audit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstLook<'a> {
    pub(crate) sent: Instant,
    /// Read after the answers were.
    pub(crate) answered: Instant,
    /// The wall clock of this machine at the same time.
    pub(crate) since_1970: Duration,
    pub(crate) answers: &'a Answers,
}

/// What a client would make of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Prospect {
    /// The node votes.
    Votes,
    /// The node does not vote yet. The time is zero if nobody knows when it will.
    Waits(Duration, QuarantineReason),
    /// The node has not answered, or cannot vote.
    Out(Option<NodeError>),
}

/// Judges all nodes at `now`, by a look at each that has answered. There is one look for each
/// configured node, in their order.
pub(crate) fn prospects(
    now: Instant,
    looks: &[Option<FirstLook<'_>>],
    config: &RedlockConfig,
    quorum: Quorum,
) -> Vec<Prospect> {
    let mut nodes = Nodes::new(vec![Login::default(); looks.len()], config);
    let mut errors = vec![None; looks.len()];
    for (id, look) in nodes.ids().into_iter().zip(looks) {
        let Some(look) = look else { continue };
        errors[id.index()] = Some(joins(&looks[..id.index()], &errors, look, config, looks.len()));
    }
    let is_in = |id: NodeId| matches!(errors[id.index()], Some(Ok(())));
    let max_ttl = nodes.ids().into_iter().filter(|id| is_in(*id));
    let max_ttl = max_ttl.filter_map(|id| recorded(looks[id.index()].as_ref()?)).max();
    let max_ttl = max_ttl.unwrap_or_default().max(config.max_ttl);
    let terms = |wall: Option<u64>| Terms {
        max_ttl,
        span: config.span(max_ttl),
        wall,
        nodes: looks.len(),
        // Nothing is sent.
        nonce: Nonce::default(),
        phase: 0,
    };
    for (id, look) in nodes.ids().into_iter().zip(looks) {
        match look {
            Some(look) if is_in(id) => {
                let wall = u64::try_from(look.since_1970.as_micros()).ok();
                if let Some(found) = findings(look.answers) {
                    nodes[id].judge(look.answered, look.sent, &found, config, terms(wall));
                }
            }
            // A client would have tried by now.
            _ => nodes[id].not_reached(),
        }
    }
    nodes.settle(now, quorum, config, terms(None));
    let prospect = |(id, error): (NodeId, Option<Result<(), NodeError>>)| match error {
        None => Prospect::Out(None),
        Some(Err(error)) => Prospect::Out(Some(error)),
        Some(Ok(())) => match nodes[id].record.pending(now) {
            None => Prospect::Votes,
            Some((until, reason)) => Prospect::Waits(until - now, reason),
        },
    };
    nodes.ids().into_iter().zip(errors).map(prospect).collect()
}

/// Returns the error with which a client refuses a node, if it does.
fn joins(
    before: &[Option<FirstLook<'_>>],
    errors: &[Option<Result<(), NodeError>>],
    look: &FirstLook<'_>,
    config: &RedlockConfig,
    nodes: usize,
) -> Result<(), NodeError> {
    let identity = look.answers.verdict?;
    let is_twin = |(other, error): (&Option<FirstLook<'_>>, &Option<Result<(), NodeError>>)| {
        let other = other.as_ref().and_then(|other| other.answers.verdict.ok());
        let is_in = matches!(error, Some(Ok(())));
        is_in && other.is_some_and(|other| other.run_id == identity.run_id)
    };
    let twin = before.iter().zip(errors).position(is_twin).and_then(NodeId::new);
    if let Some(twin) = twin {
        return Err(NodeError::SameProcess(twin));
    }
    let error = match look.answers.word {
        Word::Given(word) => disagreement(config, nodes, word.constants),
        Word::Unasked | Word::Denied | Word::Later => None,
    };
    error.map_or(Ok(()), Err)
}

fn recorded(look: &FirstLook<'_>) -> Option<Duration> {
    match look.answers.word {
        Word::Given(word) => Some(word.constants.longest_ttl()),
        Word::Unasked | Word::Denied | Word::Later => None,
    }
}

/// Returns the answers in the form in which a handshake has them.
fn findings(answers: &Answers) -> Option<Findings> {
    Some(Findings {
        time: None,
        identity: answers.verdict.ok()?,
        is_durable: answers.is_durable,
        native: None,
        missing: answers.missing,
        speaks_resp3: false,
        tracks: false,
        word: answers.word,
    })
}
