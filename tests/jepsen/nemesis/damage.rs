//! The damage under way, and its repair.

use std::time::Duration;

use super::{Nemesis, say};
use crate::fleet::Fleet;
use crate::home::promote;
use crate::support::now;
use crate::support::proxy::{Rule, Way};

/// How long a repair is put off that needs a node which is away.
const LATER: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    Dead(usize),
    Stopped(usize),
    StoppedClient(usize),
    /// The link holds back bytes of one direction.
    Held(usize),
    /// The link loses bytes of one direction.
    Swallowed(usize),
    /// The settings of the node are not those of its start.
    Set(usize),
    /// The node is a replica.
    Demoted(usize),
    /// The spare is a replica of the node.
    Followed(usize),
}

impl Damage {
    /// Returns the node, if the damage is to the process of one.
    fn of_process(self) -> Option<usize> {
        match self {
            Self::Dead(node) | Self::Stopped(node) | Self::Set(node) | Self::Demoted(node) => {
                Some(node)
            }
            _ => None,
        }
    }

    /// Returns the node to which or to whose link the damage is.
    pub(super) fn of_node(self) -> Option<usize> {
        match self {
            Self::StoppedClient(_) => None,
            Self::Held(node) | Self::Swallowed(node) | Self::Followed(node) => Some(node),
            Self::Dead(_) | Self::Stopped(_) | Self::Set(_) | Self::Demoted(_) => self.of_process(),
        }
    }

    /// Returns the place of the repair among those that are due together.
    fn turn(self) -> u8 {
        match self {
            // The process behind the name changes.
            Self::Followed(_) => 2,
            _ if self.needs().is_some() => 1,
            _ => 0,
        }
    }

    /// Returns the node that must answer for the repair.
    fn needs(self) -> Option<usize> {
        match self {
            Self::Set(node) | Self::Demoted(node) => Some(node),
            _ => None,
        }
    }
}

impl Nemesis {
    pub(super) fn break_for(&mut self, long: Duration, damage: Damage) {
        self.damage.push((now() + long, damage));
    }

    pub(super) fn is_away(&self, node: usize) -> bool {
        self.is_damaged(Damage::Dead(node)) || self.is_damaged(Damage::Stopped(node))
    }

    pub(super) fn is_damaged(&self, damage: Damage) -> bool {
        self.damage.iter().any(|(_, other)| *other == damage)
    }

    /// Returns whether the process of the node is as it was at its start.
    pub(super) fn is_whole(&self, node: usize) -> bool {
        self.damage.iter().all(|(_, damage)| damage.of_process() != Some(node))
    }

    /// Forgets the damage to the process of a node, which is to be replaced.
    pub(super) fn write_off(&mut self, node: usize) {
        self.damage.retain(|(_, damage)| damage.of_process() != Some(node));
    }

    /// Repairs the damage that is due by then, first what others need for their repair.
    pub(super) fn repair(&mut self, fleet: &mut Fleet, by: Duration) {
        let (mut due, later): (Vec<_>, _) = self.damage.drain(..).partition(|(due, _)| *due <= by);
        self.damage = later;
        due.sort_by_key(|(_, damage)| damage.turn());
        for (_, damage) in due {
            if damage.needs().is_some_and(|node| self.is_away(node)) {
                self.break_for(LATER, damage);
                continue;
            }
            self.mend(fleet, damage);
            say(fleet, format_args!("repairs {damage:?}"));
        }
    }

    fn mend(&mut self, fleet: &mut Fleet, damage: Damage) {
        match damage {
            Damage::Dead(node) => fleet.homes[node].node.restart(),
            Damage::Stopped(node) => fleet.homes[node].node.cont(),
            Damage::StoppedClient(index) => fleet.clients[index].cont(),
            Damage::Held(node) => {
                for way in [Way::Requests, Way::Replies] {
                    fleet.homes[node].link.set_all(way, Rule::Pass);
                }
            }
            Damage::Swallowed(node) => fleet.homes[node].link.renew(),
            Damage::Set(node) => Self::reset(fleet, node),
            Damage::Demoted(node) => promote(&fleet.homes[node].node),
            Damage::Followed(node) => self.promote(fleet, node),
        }
    }
}
