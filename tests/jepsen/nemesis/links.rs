//! Deeds to the links, in one direction: bytes that come late or never, while those of the other
//! direction flow.

use std::time::Duration;

use super::damage::Damage;
use super::{Deed, Nemesis, say};
use crate::fleet::Fleet;
use crate::support::proxy::{Rule, Way};

impl Nemesis {
    /// Holds back the bytes of one direction, or loses them. What was held is delivered at the end,
    /// also where the client has left the connection meanwhile. Where something was lost, the
    /// connection ends: within a connection, messages arrive in order or not at all.
    pub(super) fn harm_link(&mut self, fleet: &Fleet, node: usize, deed: Deed) {
        if self.is_damaged(Damage::Held(node)) || self.is_damaged(Damage::Swallowed(node)) {
            return;
        }
        let way = if self.rng.bool() { Way::Requests } else { Way::Replies };
        let (rule, damage, long) = match deed {
            Deed::Swallow => (Rule::Swallow, Damage::Swallowed(node), self.a_while()),
            Deed::Hold => (Rule::Hold, Damage::Held(node), self.a_while()),
            _ => {
                let delay = Duration::from_millis(self.rng.u64(5..60));
                (Rule::Hold, Damage::Held(node), delay)
            }
        };
        say(fleet, format_args!("{deed:?} of the {way:?} of node {node} for {long:?}"));
        fleet.homes[node].link.set_all(way, rule);
        self.deeds.count(deed);
        self.break_for(long, damage);
    }
}
