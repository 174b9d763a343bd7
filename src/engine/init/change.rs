//! A change of the deployment: another number of nodes, other nodes, or another `max_ttl`.
//!
//! Clients of the old constants and clients of the new ones must never both find a quorum, whatever
//! moment the change is cut short at. So each node is first *closed*, which no client agrees with,
//! and only when all are closed is the first of them opened. A node is closed if no client has
//! looked at it for so long that no lock can be left of which the node was a part. Every quorum of
//! the old deployment has such a node, because at least half of its nodes must be on the list.
//!
//! Everything here is a pure function of what was found, and has table tests.

use core::time::Duration;

use super::finding::InitFinding;
use super::refusal::InitRefusal;
use super::report::InitNode;
use super::step::{InitStep, InitWait};
use super::verdict::{Decision, judge_each, quiet};
use crate::engine::deployment::Deployment;
use crate::net::Address;
use crate::redlock::{NodeError, Order, RedlockConfig, Sight, Standing};

/// A hundred years.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 86_400);

/// A change of the deployment, as far as it is known before the first node is written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Change {
    /// What all nodes are to have.
    pub(super) target: Deployment,
    /// For how long nobody must have looked at a node.
    pub(super) quiet: Duration,
    /// The number of the change, which each node that takes part in it keeps.
    pub(super) id: u64,
    /// The number of nodes that belong to the old deployment and are not on the list.
    pub(super) dropped: u64,
    pub(super) state: State,
}

/// How far a change has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Nodes are still to be closed.
    Begun,
    /// All nodes were closed, and some have been opened since.
    Opening,
    /// Nothing is left to do.
    Done,
}

impl Change {
    /// Plans the change to the number of nodes and the `max_ttl` of the configuration. With
    /// `keeps_longer`, a longer `max_ttl` of the deployment stays. `id` is a number that no change
    /// has had.
    pub(super) fn plan(
        config: &RedlockConfig,
        keeps_longer: bool,
        sights: &[Result<Sight, NodeError>],
        id: u64,
    ) -> Self {
        let found = Found::of(sights);
        let recorded = found.standing().map(|old| old.constants.longest_ttl()).max();
        let longest = recorded.unwrap_or(config.max_ttl);
        let max_ttl = if keeps_longer { config.max_ttl.max(longest) } else { config.max_ttl };
        let target = Deployment { nodes: sights.len() as u64, max_ttl };
        let last = found.last_change(target);
        let state = match last {
            _ if found.all_have(target) => State::Done,
            Some(_) => State::Opening,
            None => State::Begun,
        };
        let members = found.standing().map(|old| old.constants.nodes);
        let dropped = members
            .filter(|of| state == State::Begun && (*of != target.nodes || !found.has_other(*of)));
        let dropped = dropped.map(|of| of.saturating_sub(found.kept(of))).max();
        Self {
            target,
            quiet: quiet(config, longest),
            id: last.unwrap_or(id),
            dropped: dropped.unwrap_or_default(),
            state,
        }
    }

    /// Judges all nodes by what their inspections have found.
    pub(super) fn judge(
        &self,
        addresses: &[Address],
        sights: &[Result<Sight, NodeError>],
    ) -> Vec<InitNode> {
        judge_each(addresses, sights, |sight, finding| self.decide(sights, sight, finding))
    }

    fn decide(
        &self,
        sights: &[Result<Sight, NodeError>],
        sight: &Sight,
        finding: InitFinding,
    ) -> Decision {
        let Some(old) = sight.standing else { return (Ok(InitStep::Write), None) };
        let to = self.target;
        if self.state != State::Begun {
            let is_open = to.is_of(old.constants);
            return (Ok(if is_open { InitStep::Keep } else { InitStep::Open { to } }), None);
        }
        let of = old.constants.nodes;
        let found = Found::of(sights);
        let kept = found.kept(of);
        // Where the deployment has another number of nodes, those with the new number are new.
        let is_new = of == to.nodes && found.has_other(of);
        if kept < of - of / 2 && !is_new {
            return (Err(InitRefusal::TooFewKept { of, kept }), None);
        }
        if old.constants.is_closed {
            return (Ok(InitStep::Open { to }), None);
        }
        let from = Deployment::recorded(old.constants);
        (Ok(InitStep::Change { from, to }), self.wait(sight, old, finding))
    }

    /// Returns for how long a node must still be left alone. The node itself decides, by the same
    /// comparison, when it is to be closed.
    fn wait(&self, sight: &Sight, old: Standing, finding: InitFinding) -> Option<InitWait> {
        let begins = InitWait { ago: None, left: self.quiet };
        if matches!(finding, InitFinding::Other { .. }) || old.born > sight.time {
            return Some(begins);
        }
        let Some(seen) = sight.seen.filter(|seen| *seen <= sight.time) else {
            return Some(begins);
        };
        let alone = Duration::from_micros(sight.time - seen.max(old.born));
        let left = self.quiet.saturating_sub(alone);
        (!left.is_zero()).then_some(InitWait { ago: Some(alone), left })
    }

    /// Returns what is sent to the nodes, one after the other. All nodes of a turn have done what
    /// was ordered before the next begins.
    pub(super) fn turns(&self) -> &'static [Turn] {
        match self.state {
            State::Begun => &[Turn::CloseUnused, Turn::CloseUsed, Turn::Open],
            State::Opening => &[Turn::Open],
            State::Done => &[],
        }
    }

    pub(super) const fn order(&self, turn: Turn) -> Order {
        match turn {
            Turn::CloseUnused | Turn::CloseUsed => self.close(),
            Turn::Open => Order::Open { change: self.id },
        }
    }

    const fn close(&self) -> Order {
        Order::Close { quiet: self.quiet, change: self.id }
    }

    /// Returns the order to measure for how long a node is left alone, if it cannot tell: nobody
    /// leaves it alone for long enough to be closed by this order.
    pub(super) const fn measure(&self) -> Order {
        Order::Close { quiet: FOREVER, change: self.id }
    }
}

/// A part of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// Closes the nodes that no client of the old constants can use. Clients with the new ones
    /// could find a quorum among them, while the others are being closed.
    CloseUnused,
    /// Closes the other nodes.
    CloseUsed,
    /// Opens all nodes.
    Open,
}

impl Turn {
    /// Whether the turn comes to a node with which this is to be done.
    pub(super) const fn takes(self, step: InitStep) -> bool {
        let is_used = matches!(step, InitStep::Change { .. });
        match self {
            Self::CloseUnused => !is_used,
            Self::CloseUsed => is_used,
            Self::Open => !matches!(step, InitStep::Keep),
        }
    }
}

/// The nodes of a list that could be inspected.
struct Found<'a>(&'a [Result<Sight, NodeError>]);

impl<'a> Found<'a> {
    const fn of(sights: &'a [Result<Sight, NodeError>]) -> Self {
        Self(sights)
    }

    fn standing(&self) -> impl Iterator<Item = Standing> + 'a {
        self.0.iter().filter_map(|sight| sight.as_ref().ok()?.standing)
    }

    fn all_have(&self, target: Deployment) -> bool {
        let count = self.standing().filter(|old| target.is_of(old.constants)).count();
        count == self.0.len()
    }

    /// Returns the number of a change that has opened a node with these constants and has not
    /// opened all. So all nodes of its list had been closed.
    ///
    /// A witness that is written anew by a look loses the number.
    fn last_change(&self, target: Deployment) -> Option<u64> {
        let is_open = |old: &Standing| target.is_of(old.constants);
        let is_closed = |old: &Standing| old.constants.is_closed;
        let change = self.standing().find(is_open)?.change?;
        let takes_part = |old: Standing| match old.change {
            Some(id) => id == change && (is_open(&old) || is_closed(&old)),
            None => is_closed(&old),
        };
        (self.standing().any(|old| is_closed(&old)) && self.standing().all(takes_part))
            .then_some(change)
    }

    /// Returns how many nodes are, or were before they were closed, of a deployment with this
    /// number of nodes.
    fn kept(&self, of: u64) -> u64 {
        self.standing().filter(|old| old.constants.nodes == of).count() as u64
    }

    /// Returns whether a node is, or was, of a deployment with another number of nodes than this.
    fn has_other(&self, of: u64) -> bool {
        let mut members = self.standing().map(|old| old.constants.nodes);
        members.any(|other| other != of && other != 0)
    }
}

#[cfg(test)]
mod tests;
