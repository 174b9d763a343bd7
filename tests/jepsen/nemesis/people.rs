//! Deeds to clients, and by strangers.

use super::damage::Damage;
use super::{Deed, Nemesis, say};
use crate::fleet::{Fleet, NODES};
use crate::support::servers::Node;
use crate::support::wire::Reply;

/// How far the clock of a stranger is ahead, in microseconds: less than what a script cuts.
const AHEAD: u64 = 900_000;

/// What is left of attempts for all locks at once that got none of them: the number that was
/// proposed, in each stripe that had a smaller one.
const LEFT: &str = "
    for _, stripe in ipairs(redis.call('HKEYS', KEYS[1])) do
        if tonumber(redis.call('HGET', KEYS[1], stripe)) < tonumber(ARGV[1]) then
            redis.call('HSET', KEYS[1], stripe, ARGV[1])
        end
    end";

impl Nemesis {
    /// Stops a client, which must not keep its beliefs when it goes on.
    pub(super) fn stop_client(&mut self, fleet: &Fleet) {
        let index = self.rng.usize(..fleet.clients.len());
        if self.is_damaged(Damage::StoppedClient(index)) {
            return;
        }
        say(fleet, format_args!("stops client {}", fleet.clients[index].number));
        fleet.clients[index].stop();
        self.deeds.count(Deed::StopClient);
        let long = self.a_while();
        self.break_for(long, Damage::StoppedClient(index));
    }

    /// Kills a client, whose locks stay on the nodes until they end.
    pub(super) fn kill_client(&mut self, fleet: &mut Fleet) {
        let index = self.rng.usize(..fleet.clients.len());
        self.damage.retain(|(_, damage)| *damage != Damage::StoppedClient(index));
        say(fleet, format_args!("kills client {}", fleet.clients[index].number));
        fleet.replace(index);
        self.deeds.count(Deed::KillClient);
    }

    /// Lets a stranger ask all nodes for all locks, with the same number, which is ahead of those
    /// that the clients propose. For a while, the nodes count on from there, each by itself.
    pub(super) fn send_stranger(&mut self, fleet: &Fleet) {
        let nodes = (0..NODES).filter(|node| !self.is_away(*node));
        let nodes: Vec<_> = nodes.map(|node| &fleet.homes[node].node).collect();
        // No script would accept what is far ahead of its own clock.
        let Some(time) = nodes.iter().map(|node| time(node)).min() else { return };
        let number = (time + AHEAD).to_string();
        say(fleet, format_args!("sends a stranger with the number {number}"));
        for node in nodes {
            let call: [&[u8]; 4] = [b"EVAL", LEFT.as_bytes(), b"1", b"redbolt:fence"];
            node.command(&[&call[..], &[number.as_bytes()]].concat());
        }
        self.deeds.count(Deed::Stranger);
    }
}

/// Returns the clock of a node, in microseconds.
fn time(node: &Node) -> u64 {
    let Reply::Array(parts) = node.command(&[b"TIME"]) else { panic!("a node has no time") };
    let parts = parts.iter().map(|part| match part {
        Reply::Bulk(part) => String::from_utf8_lossy(part).parse::<u64>().expect("digits"),
        other => panic!("a part of the time: {other:?}"),
    });
    // Seconds, and the microseconds in the last of them.
    parts.fold(0, |sum, part| sum * 1_000_000 + part)
}
