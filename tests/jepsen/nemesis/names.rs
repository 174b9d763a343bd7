//! Deeds to what is behind the name of a node.
//!
//! No name moves twice within a span, as `SAFETY.md` demands. So in a storm a name moves once: the
//! process that has served becomes the spare, and comes back in a calm or as a new process.

use std::time::Duration;

use super::damage::Damage;
use super::{Deed, Nemesis, say};
use crate::fleet::Fleet;
use crate::support::now;

impl Nemesis {
    /// Lets a spare take the name of a node. The spare has been up for some time, and knows
    /// nothing. The old process lives on, or has a new life as the spare.
    pub(super) fn take_over(&mut self, fleet: &mut Fleet, node: usize) {
        if !self.may_move(fleet, node) {
            return;
        }
        say(fleet, format_args!("moves the name of node {node} to a spare"));
        self.replace(fleet, node);
        self.deeds.count(Deed::Spare);
    }

    /// Makes the spare a replica of the node, to be promoted later.
    pub(super) fn follow(&mut self, fleet: &Fleet, node: usize) {
        if !self.may_move(fleet, node) || self.is_away(node) {
            return;
        }
        say(fleet, format_args!("gives node {node} a replica"));
        fleet.homes[node].follow();
        let long = Duration::from_millis(self.rng.u64(100..1_500));
        self.break_for(long, Damage::Followed(node));
    }

    /// Lets the replica of a node take its name, whether or not the node still lives.
    pub(super) fn promote(&mut self, fleet: &mut Fleet, node: usize) {
        let home = &fleet.homes[node];
        let replica = home.spare.as_ref().expect("there is a spare");
        crate::home::promote(replica);
        say(fleet, format_args!("promotes the replica of node {node}"));
        self.replace(fleet, node);
        self.deeds.count(Deed::Promotion);
    }

    /// Makes a node a replica of another one for a while, without an end of its connections.
    pub(super) fn demote(&mut self, fleet: &Fleet, node: usize, other: usize) {
        if self.is_away(node) || !self.is_whole(node) {
            return;
        }
        say(fleet, format_args!("makes node {node} a replica of node {other}"));
        fleet.homes[node].demote(&fleet.homes[other]);
        self.deeds.count(Deed::Demotion);
        let long = Duration::from_millis(self.rng.u64(50..1_500));
        self.break_for(long, Damage::Demoted(node));
    }

    /// Gives new processes to the spares that have served, before a storm in which names move.
    pub(crate) fn renew_spares(fleet: &mut Fleet) {
        std::thread::scope(|scope| {
            for home in &mut fleet.homes {
                scope.spawn(|| home.renew_spare());
            }
        });
    }

    /// Lets a former member have its name back. All must be calm, for a span before and after: a
    /// client that asks must be able to learn from the others that they were in use.
    pub(crate) fn bring_back(&mut self, fleet: &mut Fleet) {
        let span = fleet.rules.span();
        let is_due = |home: &crate::home::Home| home.has_former && home.moved + span < now();
        let Some(node) = fleet.homes.iter().position(is_due) else { return };
        say(fleet, format_args!("brings the former process of node {node} back"));
        self.forecast(fleet, node);
        fleet.homes[node].take_over();
        self.clear_up(fleet);
        self.deeds.count(Deed::Return);
    }

    fn may_move(&self, fleet: &Fleet, node: usize) -> bool {
        let home = &fleet.homes[node];
        let is_fresh = home.spare.is_some() && !home.has_former;
        let is_time = home.moved + fleet.rules.span() < now() || home.moved.is_zero();
        is_fresh && is_time && !self.is_damaged(Damage::Followed(node))
    }

    /// Moves the name to the spare. A process that is not whole is started anew.
    fn replace(&mut self, fleet: &mut Fleet, node: usize) {
        let is_whole = self.is_whole(node);
        self.write_off(node);
        let home = &mut fleet.homes[node];
        home.take_over();
        if !is_whole || self.rng.bool() {
            let former = home.spare.as_mut().expect("it has just changed places");
            former.restart();
        }
    }
}
