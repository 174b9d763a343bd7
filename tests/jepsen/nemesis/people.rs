//! Deeds to clients.

use super::damage::Damage;
use super::{Deed, Nemesis, say};
use crate::fleet::Fleet;

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
}
