//! What is to be done on a node, and what was done.

use core::fmt;
use core::time::Duration;

use crate::engine::deployment::Deployment;
use crate::time::{format_duration, format_rounded};

/// The time for which clients must still leave a node alone, before the deployment can be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct InitWait {
    /// For how long they have, by the clock of the node: since the last look of a client, or since
    /// the data of the node began. `None` if the node cannot tell: its witness is of another
    /// process or of other data, and [`InitPlan::measure`](super::InitPlan::measure) has it begin.
    pub ago: Option<Duration>,
    /// For how long they must still, if no client looks meanwhile.
    pub left: Duration,
}

impl fmt::Display for InitWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = format_rounded(self.left);
        match self.ago {
            Some(ago) => write!(f, "last look {} ago, {left} too early", format_rounded(ago)),
            None => write!(f, "last look unknown, {left} too early"),
        }
    }
}

/// What is to be done on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InitStep {
    /// To keep the witness that stands.
    Keep,
    /// To write a witness.
    Write,
    /// To declare the node fresh.
    Declare,
    /// To raise the `max_ttl` of the deployment.
    Raise {
        /// The `max_ttl` now.
        from: Duration,
        /// The `max_ttl` to be.
        to: Duration,
    },
    /// To change the constants of the deployment.
    Change {
        /// What the node has now.
        from: Deployment,
        /// What the node is to have.
        to: Deployment,
    },
    /// To open a node that an earlier change has closed.
    Open {
        /// What the node is to have.
        to: Deployment,
    },
}

impl fmt::Display for InitStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.write_str("will be kept"),
            Self::Write => f.write_str("a witness will be written"),
            Self::Declare => f.write_str("will be declared fresh"),
            Self::Raise { from, to } => {
                let [from, to] = [from, to].map(|ttl| format_duration(*ttl));
                write!(f, "max_ttl will be raised from {from} to {to}")
            }
            Self::Change { from, to } if from == to => f.write_str("will be confirmed"),
            Self::Change { from, to } => write!(f, "will be changed {}", Difference(*from, *to)),
            Self::Open { to } => write!(f, "will be opened for {to}"),
        }
    }
}

/// What a change of the constants changes.
struct Difference(Deployment, Deployment);

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(from, to) = self;
        if from.nodes != to.nodes {
            write!(f, "from {} nodes to {}", from.nodes, to.nodes)?;
        }
        if from.max_ttl == to.max_ttl {
            return Ok(());
        }
        let [old, new] = [from, to].map(|constants| format_duration(constants.max_ttl));
        let comma = if from.nodes == to.nodes { "" } else { ", " };
        write!(f, "{comma}from max_ttl {old} to {new}")
    }
}

/// What was done on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InitAction {
    /// Nothing yet: this is to be done.
    Planned(InitStep),
    /// Nothing, because another node was missing or unfit.
    Nothing,
    /// The witness that stood was kept.
    Kept,
    /// A witness was written.
    Written,
    /// The node was declared fresh.
    Declared,
    /// The `max_ttl` of the deployment was raised.
    Raised {
        /// The `max_ttl` before.
        from: Duration,
        /// The `max_ttl` from now on.
        to: Duration,
    },
    /// The constants of the deployment were changed.
    Changed {
        /// What the node had before.
        from: Deployment,
        /// What the node has now.
        to: Deployment,
    },
    /// A node that an earlier change had closed was opened.
    Opened {
        /// What the node has now.
        to: Deployment,
    },
}

impl fmt::Display for InitAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Planned(step) => step.fmt(f),
            Self::Changed { from, to } if from == to => f.write_str("confirmed"),
            Self::Changed { from, to } => write!(f, "changed {}", Difference(*from, *to)),
            Self::Opened { to } => write!(f, "opened for {to}"),
            Self::Nothing => f.write_str("fit, nothing written"),
            Self::Kept => f.write_str("kept"),
            Self::Written => f.write_str("a witness written"),
            Self::Declared => f.write_str("declared fresh"),
            Self::Raised { from, to } => {
                let [from, to] = [from, to].map(|ttl| format_duration(*ttl));
                write!(f, "max_ttl raised from {from} to {to}")
            }
        }
    }
}
