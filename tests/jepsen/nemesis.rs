//! The nemesis: the one that makes things go wrong.
//!
//! All choices of the nemesis follow from one seed. Their effects do not, because the processes run
//! as the machine lets them. Most deeds have an end, at which the damage is repaired, and several
//! may be under way at any time. No deed breaks the model of `SAFETY.md`, because the clients keep
//! the guard on: any number of nodes may restart at any time, and come back empty.

use std::fmt;
use std::time::Duration;

use fastrand::Rng;

use crate::fleet::{Fleet, MAJORITY, NODES};
use crate::support::{now, until};

/// The longest pause between two deeds, in milliseconds.
const PAUSE: u64 = 600;

/// How often each deed was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deeds {
    pub(crate) kills: u64,
    pub(crate) stops: u64,
    pub(crate) cuts: u64,
    pub(crate) steps: u64,
}

impl Deeds {
    /// Returns whether a run of this length had enough deeds. Half of the deeds are stops.
    pub(crate) fn are_enough(self, long: Duration) -> bool {
        self.kills + self.stops >= long.as_secs() / 2
    }
}

pub(crate) struct Nemesis {
    rng: Rng,
    /// The damage under way, and the time of each repair.
    damage: Vec<(Duration, Damage)>,
    clocks_are_ahead: bool,
    pub(crate) deeds: Deeds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Dead(usize),
    Stopped(usize),
    StoppedClient(usize),
}

impl Nemesis {
    pub(crate) fn new(seed: u64) -> Self {
        let (rng, deeds) = (Rng::with_seed(seed), Deeds::default());
        Self { rng, damage: Vec::new(), clocks_are_ahead: false, deeds }
    }

    /// Does damage for so long, then repairs everything.
    pub(crate) fn rage(&mut self, fleet: &mut Fleet, long: Duration) {
        let end = now() + long;
        while now() < end {
            self.strike(fleet);
            let pause = Duration::from_millis(self.rng.u64(..PAUSE));
            until(pause, || {
                self.repair(fleet, now());
                fleet.check_clients();
                false
            });
        }
        self.repair(fleet, Duration::MAX);
        fleet.log.nemesis("rests");
    }

    /// Does one deed, mostly to one victim, sometimes to a majority at once.
    fn strike(&mut self, fleet: &mut Fleet) {
        let victims = if self.rng.u32(..5) == 0 { MAJORITY } else { 1 };
        let mut nodes: Vec<_> = (0..NODES).collect();
        self.rng.shuffle(&mut nodes);
        let deed = self.rng.u32(..20);
        for &node in nodes.iter().take(victims) {
            match deed {
                0..=3 => self.kill(fleet, node),
                4..=7 => self.stop(fleet, node),
                8..=10 => self.cut(fleet, node),
                11..=13 => return self.step_clocks(fleet, &nodes),
                14..=17 => self.stop_client(fleet),
                _ => return self.kill_client(fleet),
            }
        }
    }

    /// Kills a node, which comes back without its memory.
    fn kill(&mut self, fleet: &mut Fleet, node: usize) {
        if self.is_damaged(Damage::Dead(node)) {
            return;
        }
        self.damage.retain(|(_, damage)| *damage != Damage::Stopped(node));
        say(fleet, format_args!("kills node {node}"));
        fleet.nodes[node].kill();
        self.deeds.kills += 1;
        self.break_for_a_while(Damage::Dead(node));
    }

    /// Stops a node, which receives everything, says nothing, and may execute the requests long
    /// after.
    fn stop(&mut self, fleet: &Fleet, node: usize) {
        if self.is_away(node) {
            return;
        }
        say(fleet, format_args!("stops node {node}"));
        fleet.nodes[node].stop();
        self.deeds.stops += 1;
        self.break_for_a_while(Damage::Stopped(node));
    }

    /// Ends all connections of a node, with everything under way in them.
    fn cut(&mut self, fleet: &Fleet, node: usize) {
        // A node that is away cannot cut its connections.
        if self.is_away(node) {
            return;
        }
        say(fleet, format_args!("cuts off node {node}"));
        fleet.nodes[node].command(&[b"CLIENT", b"KILL", b"TYPE", b"normal"]);
        self.deeds.cuts += 1;
    }

    /// Steps clocks as far as is allowed, and back: any number of steps during a lock adds up to an
    /// allowed one. A step forward meets a majority at once, because fewer nodes end no lock early.
    fn step_clocks(&mut self, fleet: &Fleet, nodes: &[usize]) {
        self.clocks_are_ahead = !self.clocks_are_ahead;
        let ahead = if self.clocks_are_ahead { fleet.step() } else { Duration::ZERO };
        let victims = if self.clocks_are_ahead { MAJORITY } else { NODES };
        for &node in nodes.iter().take(victims) {
            if fleet.set_clock(node, ahead) {
                say(fleet, format_args!("sets the clock of node {node} ahead by {ahead:?}"));
                self.deeds.steps += 1;
            }
        }
    }

    /// Stops a client, which must not keep its beliefs when it goes on.
    fn stop_client(&mut self, fleet: &Fleet) {
        let index = self.rng.usize(..fleet.clients.len());
        if self.is_damaged(Damage::StoppedClient(index)) {
            return;
        }
        say(fleet, format_args!("stops client {}", fleet.clients[index].number));
        fleet.clients[index].stop();
        self.deeds.stops += 1;
        self.break_for_a_while(Damage::StoppedClient(index));
    }

    /// Kills a client, whose locks stay on the nodes until they end.
    fn kill_client(&mut self, fleet: &mut Fleet) {
        let index = self.rng.usize(..fleet.clients.len());
        self.damage.retain(|(_, damage)| *damage != Damage::StoppedClient(index));
        say(fleet, format_args!("kills client {}", fleet.clients[index].number));
        fleet.replace(index);
        self.deeds.kills += 1;
    }

    /// Schedules the repair: mostly after a moment, sometimes after longer than any lock lasts.
    fn break_for_a_while(&mut self, damage: Damage) {
        let most = if self.rng.u32(..4) == 0 { 1_500 } else { 150 };
        let long = Duration::from_millis(self.rng.u64(..most));
        self.damage.push((now() + long, damage));
    }

    fn is_away(&self, node: usize) -> bool {
        self.is_damaged(Damage::Dead(node)) || self.is_damaged(Damage::Stopped(node))
    }

    fn is_damaged(&self, damage: Damage) -> bool {
        self.damage.iter().any(|(_, other)| *other == damage)
    }

    /// Repairs the damage that is due by then.
    fn repair(&mut self, fleet: &mut Fleet, by: Duration) {
        let (due, later) = self.damage.iter().partition(|(due, _)| *due <= by);
        self.damage = later;
        let due: Vec<(Duration, Damage)> = due;
        for (_, damage) in due {
            match damage {
                Damage::Dead(node) => fleet.nodes[node].restart(),
                Damage::Stopped(node) => fleet.nodes[node].cont(),
                Damage::StoppedClient(index) => fleet.clients[index].cont(),
            }
            say(fleet, format_args!("repairs {damage:?}"));
        }
    }
}

fn say(fleet: &Fleet, deed: fmt::Arguments<'_>) {
    fleet.log.nemesis(&deed.to_string());
}
