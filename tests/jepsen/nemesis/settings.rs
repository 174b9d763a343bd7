//! Deeds to the configuration of nodes, by `CONFIG SET`.

use std::time::Duration;

use super::damage::Damage;
use super::{Deed, Nemesis, say};
use crate::fleet::Fleet;
use crate::home::Files;
use crate::support::now;

/// The least time between two nodes that evict keys: clients come back to such a node only after
/// half a minute.
const BETWEEN_EVICTING: Duration = Duration::from_secs(45);

impl Nemesis {
    /// Sets a policy under which the node may evict keys, with room enough or without a limit.
    pub(super) fn make_evicting(&mut self, fleet: &Fleet, node: usize) {
        if now() < self.evicts_from || self.is_away(node) || !self.is_whole(node) {
            return;
        }
        self.evicts_from = now() + BETWEEN_EVICTING;
        let limit = if self.rng.bool() { "0" } else { "1gb" };
        config(fleet, node, &[("maxmemory", limit), ("maxmemory-policy", "allkeys-lru")]);
        self.deeds.count(Deed::Evicting);
        let long = self.a_while();
        self.break_for(long, Damage::Set(node));
    }

    /// Leaves no room for keys, or ends connections that are idle.
    pub(super) fn set(&mut self, fleet: &Fleet, node: usize, deed: Deed) {
        if self.is_away(node) || !self.is_whole(node) {
            return;
        }
        let setting = if deed == Deed::Memory { ("maxmemory", "1") } else { ("timeout", "1") };
        config(fleet, node, &[setting]);
        self.deeds.count(deed);
        let long = self.a_while();
        self.break_for(long, Damage::Set(node));
    }

    /// Changes how and whether a node writes its files. The next process writes them as before.
    pub(super) fn change_files(&mut self, fleet: &Fleet, node: usize) {
        let files = fleet.homes[node].files;
        if self.is_away(node) || !matches!(files, Files::EveryWrite | Files::EverySecond) {
            return;
        }
        let settings = [
            ("appendfsync", "always"),
            ("appendfsync", "everysec"),
            ("appendfsync", "no"),
            ("appendonly", "no"),
            ("appendonly", "yes"),
        ];
        config(fleet, node, &[settings[self.rng.usize(..settings.len())]]);
        self.deeds.count(Deed::Files);
    }

    /// Replaces the password of a node. The connections stay, or end and need the new one.
    pub(super) fn rotate(&mut self, fleet: &mut Fleet, node: usize) {
        if self.is_away(node) {
            return;
        }
        let password = format!("p{}", self.password);
        self.password += 1;
        say(fleet, format_args!("sets the password of node {node} to {password}"));
        fleet.homes[node].rotate(&fleet.secrets, &password);
        self.deeds.count(Deed::Password);
        if self.rng.bool() {
            self.cut(fleet, node);
        }
    }

    /// Brings back the settings that all nodes have at first.
    pub(super) fn reset(fleet: &Fleet, node: usize) {
        let first = [("maxmemory-policy", "noeviction"), ("maxmemory", "0"), ("timeout", "0")];
        config(fleet, node, &first);
    }
}

fn config(fleet: &Fleet, node: usize, settings: &[(&str, &str)]) {
    for (name, value) in settings {
        say(fleet, format_args!("sets {name} of node {node} to {value}"));
        let command: [&[u8]; 4] = [b"CONFIG", b"SET", name.as_bytes(), value.as_bytes()];
        fleet.homes[node].node.command(&command);
    }
}
