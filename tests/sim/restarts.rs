//! Restarts from an older file, and clocks that show another time behind a restart.

use crate::chance::Chance;
use crate::clock::MS;
use crate::master::Node;
use crate::names;
use crate::world::World;

/// By how much less a clock may show than when the file was written, only because it is slow.
const SLOW: i64 = 50 * MS as i64;

impl World {
    /// Lets a master begin again with the file that it has written last: its keys, its witness and
    /// its fencing numbers are those of an earlier moment. Then some masters write their files.
    pub(crate) fn load_old_file(&mut self, master: usize, until: u64) {
        let clock = self.clock_at_restart(master);
        let net = &mut self.net;
        let (now, chance) = (net.now, &mut net.weather.chance);
        let node = &mut net.nodes[master];
        // Nobody exchanges the files of a master that is trusted.
        if !node.face.is_durable && node.file.is_some() {
            // Keys of released locks are there again.
            self.is_littered = true;
            node.drop_links(now, chance.one_in(2), chance);
            node.begin_with_file(now, until.max(node.down_until), clock);
        }
        for node in &mut net.nodes {
            node.write_file(now, chance);
        }
    }
}

impl Node {
    fn write_file(&mut self, now: u64, chance: &mut Chance) {
        if self.file.is_none() || chance.one_in(2) {
            self.file = Some((Box::new(self.store.clone()), self.error(now)));
        }
    }

    fn begin_with_file(&mut self, now: u64, up_at: u64, clock: Option<i64>) {
        let Some((store, written_at)) = self.file.clone() else { return };
        self.store = *store;
        self.forget_strangers(now);
        if let Some(error) = clock {
            self.set_error(now, error);
        }
        if self.error(now) + SLOW < written_at {
            // By a clock that was set back, keys would live for longer than their ttls.
            let at = self.clock.show(now);
            for key in (0..names::COUNT).flat_map(names::both_keys) {
                self.store.delete(0, key, at);
            }
        }
        self.restart(now, up_at, true);
        (self.forgot_at, self.lost_numbers) = (now, true);
    }

    /// Returns how far the clock is ahead of true time.
    pub(crate) fn error(&self, now: u64) -> i64 {
        self.clock.show(now).as_nanos() as i64 - now as i64
    }

    /// Sets the clock so far ahead of true time, and as far as it was stepped besides.
    pub(crate) fn set_error(&mut self, now: u64, error: i64) {
        self.clock.step(now, error + self.ahead as i64 - self.error(now));
    }
}
