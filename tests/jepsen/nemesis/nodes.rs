//! Deeds to the processes of nodes, and to their clocks.

use std::time::Duration;

use super::damage::Damage;
use super::{Deed, Nemesis, say};
use crate::fleet::{Fleet, MAJORITY, NODES};
use crate::order::Order;

impl Nemesis {
    /// Kills a node, which comes back with what its files have.
    pub(super) fn kill(&mut self, fleet: &mut Fleet, node: usize) {
        if self.is_damaged(Damage::Dead(node)) {
            return;
        }
        if !self.is_away(node) && self.rng.bool() {
            fleet.homes[node].save();
        }
        self.damage.retain(|(_, damage)| *damage != Damage::Stopped(node));
        say(fleet, format_args!("kills node {node}"));
        fleet.homes[node].node.kill();
        self.deeds.count(Deed::Kill);
        let long = self.a_while();
        self.break_for(long, Damage::Dead(node));
    }

    /// Takes a minority of the nodes away while nothing else is wrong, for longer than a shutdown
    /// may take. At first they stand still, so that requests to them are on their way; then some of
    /// them die.
    pub(crate) fn drain(&mut self, fleet: &mut Fleet) {
        let mut nodes: Vec<_> = (0..NODES).collect();
        self.rng.shuffle(&mut nodes);
        nodes.truncate(self.rng.usize(1..=NODES - MAJORITY));
        for &node in &nodes {
            self.forecast(fleet, node);
            self.stop(fleet, node);
        }
        fleet.pass(Order::shuts_down() / 2);
        fleet.log.hurry();
        for node in nodes {
            if self.rng.bool() {
                self.kill(fleet, node);
            }
        }
        // Requests take their time before a client can shut down.
        fleet.pass(3 * Order::shuts_down());
        fleet.log.let_be();
        self.repair(fleet, Duration::MAX);
        self.clear_up(fleet);
    }

    /// Lets a majority stand still while nothing else is wrong and all clients wait for the same
    /// lock. Afterwards nothing is wrong at all, for as long as two waits take: the stall must not
    /// shorten a wait that has begun behind it.
    pub(crate) fn stall(&mut self, fleet: &mut Fleet) {
        let max_ttl = fleet.rules.max_ttl;
        fleet.log.gather();
        fleet.pass(max_ttl);
        for stall in Order::stalls() {
            let mut nodes: Vec<_> = (0..NODES).collect();
            self.rng.shuffle(&mut nodes);
            for &node in nodes.iter().take(MAJORITY) {
                self.forecast(fleet, node);
                self.stop(fleet, node);
            }
            fleet.pass(stall);
            self.repair(fleet, Duration::MAX);
            self.clear_up(fleet);
            fleet.pass(2 * max_ttl);
        }
        fleet.log.disperse();
    }

    /// Stops a node, which receives everything, says nothing, and may execute the requests long
    /// after.
    pub(super) fn stop(&mut self, fleet: &Fleet, node: usize) {
        if self.is_away(node) {
            return;
        }
        say(fleet, format_args!("stops node {node}"));
        fleet.homes[node].node.stop();
        self.deeds.count(Deed::Stop);
        let long = self.a_while();
        self.break_for(long, Damage::Stopped(node));
    }

    /// Ends all connections of a node, with everything under way in them.
    pub(super) fn cut(&mut self, fleet: &Fleet, node: usize) {
        // A node that is away cannot cut its connections.
        if self.is_away(node) {
            return;
        }
        say(fleet, format_args!("cuts off node {node}"));
        fleet.homes[node].node.command(&[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
        self.deeds.count(Deed::Cut);
    }

    /// Deletes all keys of a node, under clients that are told so at once.
    pub(super) fn flush(&mut self, fleet: &Fleet, node: usize) {
        if self.is_away(node) {
            return;
        }
        say(fleet, format_args!("flushes node {node}"));
        fleet.homes[node].node.command(&[b"FLUSHALL"]);
        self.deeds.count(Deed::Flush);
    }

    /// Steps clocks as far as is allowed, and back: any number of steps during a lock adds up to an
    /// allowed one. A step forward meets a majority at once, because fewer nodes end no lock early.
    pub(super) fn step_clocks(&mut self, fleet: &Fleet, nodes: &[usize]) {
        self.clocks_are_ahead = !self.clocks_are_ahead;
        let ahead = if self.clocks_are_ahead { fleet.rules.step } else { Duration::ZERO };
        let victims = if self.clocks_are_ahead { MAJORITY } else { NODES };
        for &node in nodes.iter().take(victims) {
            if fleet.set_clock(node, ahead) {
                say(fleet, format_args!("sets the clock of node {node} ahead by {ahead:?}"));
                self.deeds.count(Deed::Clock);
            }
        }
    }
}
