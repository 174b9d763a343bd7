//! The nemesis: the one that makes things go wrong.
//!
//! All choices of the nemesis follow from one seed. Their effects do not, because the processes run
//! as the machine lets them. Most deeds have an end, at which the damage is repaired, and several
//! may be under way at any time. No deed breaks the model of `SAFETY.md`, because the clients keep
//! the guard on and are told of flushes: any number of nodes may restart at any time and come back
//! with old data or none, and other masters may take their names.
//!
//! - [`deeds`] are the things that can be done, and [`damage`] what is to be repaired;
//! - [`nodes`] are deeds to the process of a node, [`names`] to what is behind its name, [`links`]
//!   to its connections, [`settings`] to its configuration;
//! - [`people`] are deeds to clients.

mod damage;
mod deeds;
mod links;
mod names;
mod nodes;
mod people;
mod settings;

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use fastrand::Rng;

use self::damage::Damage;
pub(crate) use self::deeds::{Deed, Deeds};
use crate::fleet::{Fleet, MAJORITY, NODES};
use crate::log::{Weather, nanos};
use crate::support::{now, until};

/// The longest pause between two deeds, in milliseconds.
const PAUSE: u64 = 600;

pub(crate) struct Nemesis {
    rng: Rng,
    /// The deeds that can be done in this run, each as often as it is likely.
    menu: Vec<Deed>,
    /// What is left of the menu, in the order in which it will be done.
    deck: Vec<Deed>,
    /// The damage under way, and the time of each repair.
    damage: Vec<(Duration, Damage)>,
    /// The nodes of which the log says that something is wrong.
    foul: BTreeSet<usize>,
    clocks_are_ahead: bool,
    /// When a node may be made to evict keys again.
    evicts_from: Duration,
    /// The number of the next password.
    password: u32,
    pub(crate) deeds: Deeds,
}

impl Nemesis {
    pub(crate) fn new(seed: u64, fleet: &Fleet) -> Self {
        Self {
            rng: Rng::with_seed(seed),
            menu: Deed::menu(&fleet.rules),
            deck: Vec::new(),
            damage: Vec::new(),
            foul: BTreeSet::new(),
            clocks_are_ahead: false,
            evicts_from: Duration::ZERO,
            password: 1,
            deeds: Deeds::default(),
        }
    }

    /// Does damage for so long, then repairs everything.
    pub(crate) fn rage(&mut self, fleet: &mut Fleet, long: Duration) {
        let end = now() + long;
        while now() < end {
            self.strike(fleet);
            let pause = Duration::from_millis(self.rng.u64(..PAUSE));
            until(pause, || {
                self.repair(fleet, now());
                self.clear_up(fleet);
                fleet.check_clients();
                false
            });
        }
        self.repair(fleet, Duration::MAX);
        self.clear_up(fleet);
        say(fleet, format_args!("rests"));
    }

    /// Does one deed, mostly to one victim, sometimes to a majority at once.
    fn strike(&mut self, fleet: &mut Fleet) {
        if self.deck.is_empty() {
            self.deck = self.menu.clone();
            self.rng.shuffle(&mut self.deck);
        }
        let deed = self.deck.pop().expect("the menu is not empty");
        self.deeds.menus += u64::from(self.deck.is_empty());
        let is_large = self.rng.u32(..5) == 0;
        // A minority that loses its keys does no harm to anybody.
        let victims = if is_large || deed == Deed::Flush { MAJORITY } else { 1 };
        let mut nodes: Vec<_> = (0..NODES).collect();
        self.rng.shuffle(&mut nodes);
        for &node in nodes.iter().take(victims) {
            if deed.is_to_node() {
                self.forecast(fleet, node);
            }
            match deed {
                Deed::Kill => self.kill(fleet, node),
                Deed::Stop => self.stop(fleet, node),
                Deed::Cut => self.cut(fleet, node),
                Deed::Flush => self.flush(fleet, node),
                Deed::Delay | Deed::Hold | Deed::Swallow => self.harm_link(fleet, node, deed),
                // One node at a time, because no run has more than one name to spare for longer.
                Deed::Evicting => return self.make_evicting(fleet, node),
                Deed::Memory | Deed::Timeout => self.set(fleet, node, deed),
                Deed::Files => self.change_files(fleet, node),
                Deed::Password => self.rotate(fleet, node),
                Deed::Spare => return self.take_over(fleet, node),
                Deed::Promotion => return self.follow(fleet, node),
                Deed::Demotion => return self.demote(fleet, node, nodes[1]),
                Deed::Return => {}
                Deed::Clock => return self.step_clocks(fleet, &nodes),
                Deed::Stranger => return self.send_stranger(fleet),
                Deed::StopClient => self.stop_client(fleet),
                Deed::KillClient => self.kill_client(fleet),
            }
        }
        // Clients that know nothing meet nodes that have forgotten.
        if is_large && matches!(deed, Deed::Kill | Deed::Flush) {
            self.kill_client(fleet);
        }
    }

    /// Writes that something will be wrong with a node, at least for a moment.
    fn forecast(&mut self, fleet: &Fleet, node: usize) {
        if self.foul.insert(node) {
            fleet.log.weather(Weather { at: nanos(), node, is_foul: true });
        }
    }

    /// Writes which nodes have nothing wrong any more.
    fn clear_up(&mut self, fleet: &Fleet) {
        let damaged: BTreeSet<_> =
            self.damage.iter().filter_map(|(_, damage)| damage.of_node()).collect();
        for &node in self.foul.difference(&damaged) {
            fleet.log.weather(Weather { at: nanos(), node, is_foul: false });
        }
        self.foul.retain(|node| damaged.contains(node));
    }

    /// Returns how long damage lasts: mostly a moment, sometimes longer than any lock lasts.
    fn a_while(&mut self) -> Duration {
        let most = if self.rng.u32(..4) == 0 { 1_500 } else { 150 };
        Duration::from_millis(self.rng.u64(..most))
    }
}

fn say(fleet: &Fleet, deed: fmt::Arguments<'_>) {
    fleet.log.nemesis(&deed.to_string());
}
