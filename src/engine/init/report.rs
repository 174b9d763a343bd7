//! What was found on all nodes, and what is to be done or was done there.

use core::fmt;
use core::time::Duration;

use super::finding::InitFinding;
use super::refusal::InitRefusal;
use super::step::{InitAction, InitWait};
use crate::net::Address;
use crate::time::{format_duration, format_rounded};

/// What was found and done, node by node, in the order of the configuration. `Display` writes a
/// line for each node, indented by two spaces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InitReport {
    pub(super) nodes: Vec<InitNode>,
    pub(super) look_period: Duration,
}

impl InitReport {
    pub(super) const fn new(nodes: Vec<InitNode>) -> Self {
        Self { nodes, look_period: Duration::ZERO }
    }

    /// Makes a report of a plan that is not carried out.
    pub(super) fn refused(mut self) -> Self {
        for node in &mut self.nodes {
            let is_planned = matches!(node.result, Ok(InitAction::Planned(_)));
            match node.wait {
                Some(wait) if is_planned => node.result = Err(InitRefusal::InUse(wait)),
                _ if is_planned => node.result = Ok(InitAction::Nothing),
                _ => {}
            }
        }
        self
    }

    /// Returns the nodes.
    pub fn nodes(&self) -> &[InitNode] {
        &self.nodes
    }

    /// Returns whether every node has what was wanted.
    pub fn is_complete(&self) -> bool {
        self.done() == self.nodes.len()
    }

    /// Returns the number of nodes that have what was wanted.
    pub fn done(&self) -> usize {
        self.nodes.iter().filter(|node| node.result.is_ok()).count()
    }

    /// Returns for how long the nodes must still be left alone by all clients before the deployment
    /// can be changed. Zero if nothing else is to be done, or if something else is in the way.
    pub fn wait(&self) -> Duration {
        let wait = |node: &InitNode| match &node.result {
            Err(InitRefusal::InUse(wait)) => Some(wait.left),
            Err(InitRefusal::Closed | InitRefusal::NotReached) => Some(Duration::ZERO),
            Err(_) => None,
            Ok(_) => Some(node.wait.map_or(Duration::ZERO, |wait| wait.left)),
        };
        let waits: Option<Vec<_>> = self.nodes.iter().map(wait).collect();
        waits.and_then(|waits| waits.into_iter().max()).unwrap_or_default()
    }

    /// Returns what to do about nodes that have other constants; nothing if there are none.
    pub(super) fn advice(&self) -> String {
        let advice = |node: &InitNode| match node.result.as_ref().err()? {
            InitRefusal::OtherNodes { quiet, .. } => Some(format!(
                "stop all clients, then `redbolt init --reconfigure`, which waits for {} after the \
                 last of them\n",
                format_rounded(*quiet)
            )),
            InitRefusal::LongerMaxTtl { ours, quiet, .. } => Some(format!(
                "stop all clients, then `redbolt init --reconfigure --max-ttl {}`, which waits for \
                 {} after the last of them\n",
                format_duration(*ours),
                format_rounded(*quiet)
            )),
            InitRefusal::HalfChanged => {
                Some("stop all clients, then `redbolt init --reconfigure` again\n".to_owned())
            }
            InitRefusal::TooFewKept { of, .. } => Some(format!(
                "the others could be a quorum: keep {} of the {of}, and change the rest in a \
                 second step; if a node has lost its data, `redbolt init` with the old list \
                 first\n",
                of - of / 2
            )),
            _ => None,
        };
        self.nodes.iter().find_map(advice).unwrap_or_default()
    }

    /// Returns for how long clients with a longer `max_ttl` have to wait before they start: until
    /// every client that runs has looked at the nodes again. Zero unless `max_ttl` was raised.
    pub fn look_period(&self) -> Duration {
        self.look_period
    }
}

impl fmt::Display for InitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nodes.iter().try_for_each(|node| writeln!(f, "  {node}"))
    }
}

/// What was found and done on one node.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct InitNode {
    /// The address, as configured. `Display` does not show the login.
    pub address: Address,
    /// What the inspection has found; `None` if the node could not be inspected.
    pub finding: Option<InitFinding>,
    /// For how long clients must still leave the node alone, if they have not yet for long enough.
    /// Only a change of the deployment asks for that.
    pub wait: Option<InitWait>,
    /// What is to be done or was done, or why nothing could be.
    pub result: Result<InitAction, InitRefusal>,
    /// What is wrong and what to do, in the words of [`Check`](crate::Check), if the node cannot
    /// serve.
    pub advice: Option<InitAdvice>,
}

/// What is wrong with a node, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct InitAdvice {
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for InitNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.address)?;
        match (&self.result, &self.finding, &self.advice) {
            (Err(_), _, Some(InitAdvice { cause, remedy })) => write!(f, "{cause} → {remedy}"),
            (Err(refusal), ..) => refusal.fmt(f),
            (Ok(action), Some(finding), _) => write!(f, "{finding}: {action}"),
            (Ok(action), None, _) => action.fmt(f),
        }?;
        match (self.wait, &self.result) {
            (Some(wait), Ok(InitAction::Planned(_))) => write!(f, "; {wait}"),
            _ => Ok(()),
        }
    }
}
