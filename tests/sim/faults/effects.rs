//! What each fault does to the world, and how everything gets well again.

use super::Fault;
use crate::answer::Mood;
use crate::book::State;
use crate::client::{Client, Sleep};
use crate::clock::{MS, SECOND};
use crate::net::Net;
use crate::options::Outside;
use crate::world::World;

impl World {
    /// Lets one fault happen.
    pub(crate) fn fault(&mut self) {
        if self.options.faults.is_empty() {
            return;
        }
        let fault = self.net.weather.chance.pick(&self.options.faults);
        let chance = &mut self.net.weather.chance;
        let (master, client) =
            (chance.index(self.net.nodes.len()), chance.index(self.clients.len()));
        let longest = chance.pick(&[5 * MS, 60 * MS, 900 * MS, 3 * SECOND]);
        let until = self.net.now + chance.below(longest);
        self.net.trace.say(self.net.now, format_args!("{fault:?}: {master}, {client}, {until}"));
        self.faults += 1;
        self.faults_until = self.faults_until.max(until);
        self.note_clocks();
        match fault {
            Fault::Reset | Fault::HalfOpen | Fault::Clog | Fault::Misroute => {
                self.break_link(fault, client, master, until);
            }
            Fault::PartitionMaster | Fault::PartitionClient => {
                self.partition(fault, client, master, until);
            }
            Fault::Pause => self.clients[client].sleep(self.net.now, until, Sleep::Pause),
            Fault::Suspend => self.clients[client].sleep(self.net.now, until, Sleep::Suspend),
            Fault::Stop => self.clients[client].sleep(self.net.now, until, Sleep::Stop),
            Fault::ClientCrash => self.replace_client(client),
            Fault::Wall => {
                let chance = &mut self.net.weather.chance;
                let most = (2 * self.options.max_ttl()) as i64;
                self.clients[client].wall_error = chance.around_zero(most);
            }
            Fault::Rate => self.change_rate(client, master),
            Fault::Flush => {
                let Net { now, weather, nodes, checks, .. } = &mut self.net;
                nodes[master].flush(*now, weather, checks);
            }
            Fault::Move => self.move_name(self.options.mover.unwrap_or(master)),
            Fault::OldFile => self.load_old_file(master, until),
            Fault::Crash | Fault::PowerLoss => {
                let clock = self.clock_at_restart(master);
                let (now, node) = (self.net.now, &mut self.net.nodes[master]);
                if let Some(error) = clock.filter(|_| !node.face.is_durable) {
                    node.set_error(now, error);
                }
                self.strike(fault, master, until);
            }
            _ => self.strike(fault, master, until),
        }
        self.note_clocks();
    }

    fn break_link(&mut self, fault: Fault, client: usize, master: usize, until: u64) {
        let net = &mut self.net;
        match fault {
            Fault::Reset if !net.weather.chance.one_in(3) => {
                self.clients[client].cut(net, master);
            }
            Fault::Reset | Fault::HalfOpen => {
                let (is_silent, chance) = (fault == Fault::HalfOpen, &mut net.weather.chance);
                let mut links = net.nodes[master].links.iter_mut();
                if let Some(link) = links.find(|link| link.client == client && link.is_served) {
                    link.abandon(net.now, is_silent, chance);
                }
            }
            Fault::Misroute => {
                // Keys that went to the wrong master are looked for at the right one.
                self.is_littered = true;
                net.addresses[master] = net.weather.chance.index(net.nodes.len());
                for client in &mut self.clients {
                    client.cut(net, master);
                }
            }
            _ => {
                for direction in net.directions() {
                    net.clog(client, master, direction, until);
                }
            }
        }
    }

    fn partition(&mut self, fault: Fault, client: usize, master: usize, until: u64) {
        for direction in self.net.directions() {
            if fault == Fault::PartitionMaster {
                (0..self.clients.len()).for_each(|c| self.net.clog(c, master, direction, until));
            } else {
                (0..self.net.nodes.len()).for_each(|m| self.net.clog(client, m, direction, until));
            }
        }
    }

    fn change_rate(&mut self, client: usize, master: usize) {
        let chance = &mut self.net.weather.chance;
        let rate = chance.around_zero(self.options.rate_max);
        if chance.one_in(2) {
            self.clients[client].clock.set_rate(self.net.now, rate);
        } else {
            self.net.nodes[master].clock.set_rate(self.net.now, rate);
        }
    }

    fn replace_client(&mut self, client: usize) {
        if self.births == u8::MAX {
            return;
        }
        self.births += 1;
        let old = &mut self.clients[client];
        if old.is_awake() && self.net.weather.chance.one_in(2) {
            old.bow_out(&mut self.net);
        }
        old.die(&mut self.net);
        let open: Vec<_> = old.locks_in(State::Wanted).collect();
        let end = old.clock(self.net.now);
        open.into_iter().for_each(|id| old.account_for(&mut self.net, id, end));
        let (clock, chance) = (old.clock, &mut self.net.weather.chance);
        let new = Client::new(client, self.births, &self.options, clock, chance);
        let mut old = core::mem::replace(old, new);
        self.clients[client].passwords = core::mem::take(&mut old.passwords);
        self.grants += old.grants;
        self.extensions += old.extensions;
        self.stepped += old.redlock.counters().stepped;
        self.is_littered = true;
    }

    /// Lets a name move to another process, unless the end of an idle time is too near: who then
    /// believes the process that comes back is a limit that SAFETY.md names.
    fn move_name(&mut self, master: usize) {
        let (net, options) = (&mut self.net, &self.options);
        let Net { now, weather, nodes, .. } = net;
        let leeway = options.leeway();
        if nodes.iter().all(|node| node.in_use_for(*now).is_none_or(|time| time > leeway)) {
            nodes[master].move_name(*now, options.apart(), &mut weather.chance);
        }
    }

    /// Lets one fault happen to a master.
    fn strike(&mut self, fault: Fault, master: usize, until: u64) {
        let (net, options) = (&mut self.net, &self.options);
        let now = net.now;
        let node = &mut net.nodes[master];
        let chance = &mut net.weather.chance;
        match fault {
            Fault::Stall => node.stalled_until = until,
            Fault::Refuse => node.down_until = node.down_until.max(until),
            Fault::FlushScripts => {
                node.command(now, &[b"SCRIPT", b"FLUSH"]);
                node.out.clear();
            }
            Fault::Scripts => node.change_scripts(now, chance),
            Fault::Evict if !node.face.may_evict(now, options.max_ttl()) => {}
            // A trusted master keeps its files: no operator replaces them by those of another.
            Fault::RoleChange | Fault::Failover | Fault::RoundTrip | Fault::Restore
                if node.face.is_durable => {}
            Fault::Evict => node.face.evicted += node.evict(now, chance),
            Fault::Loss => _ = node.evict(now, chance),
            Fault::Step if options.is_edgy => node.set_far(now, options.step_max),
            Fault::Step => node.set_clock(now, options.step_max, chance),
            Fault::Mood => {
                use Mood::{Busy, Denied, Full, KeyDenied, Loading, Replica, Spoiled, Unclear};
                let moods = [Full, Busy, Loading, Unclear, KeyDenied, Replica, Spoiled];
                // Rare, because a client comes back to such a node only after half a minute.
                let mood = if chance.one_in(60) { Denied } else { chance.pick(&moods) };
                (node.face.mood, node.face.mood_until) = (mood, until);
            }
            Fault::RoleChange => {
                node.drop_links(now, false, chance);
                (node.face.mood, node.face.mood_until) = (Mood::Replica, until);
                node.face.begin_lineage(now);
                node.suspect_at = now;
                if chance.one_in(2) {
                    node.forget(now);
                }
            }
            // With losses the round trip is unseen until the next look, which is outside the model.
            Fault::RoundTrip => {
                node.face.begin_lineage(now);
                (node.face.mood, node.face.mood_until) = (Mood::Replica, until);
                if options.outside == Some(Outside::Losses) {
                    node.forget(now);
                }
            }
            Fault::Policy => node.face.begin_to_evict(now),
            Fault::Spare => node.be_spared(now, chance),
            Fault::Restore => {
                node.drop_links(now, chance.one_in(2), chance);
                node.restore(now, until.max(node.down_until));
            }
            Fault::Failover => {
                node.drop_links(now, chance.one_in(2), chance);
                node.face.be_replaced(now);
                node.down_until = node.down_until.max(until);
                node.suspect_at = now;
                node.evict(now, chance);
            }
            _ => {
                node.drop_links(now, fault == Fault::PowerLoss, chance);
                let until = until.max(node.down_until);
                node.restart(now, until, fault == Fault::Restart);
                if chance.one_in(4) {
                    let loaded = until + chance.below(50 * MS);
                    (node.face.mood, node.face.mood_until) = (Mood::Loading, loaded);
                }
            }
        }
    }

    /// Ends all faults, and wakes everybody.
    pub(crate) fn heal(&mut self) {
        self.net.weather.clear_up();
        let now = self.net.now;
        for (index, node) in self.net.nodes.iter_mut().enumerate() {
            (node.stalled_until, node.face.mood_until) = (0, 0);
            node.face.end_to_evict();
            node.let_strangers_go(now);
            // A wrong address is corrected, and a dead connection is noticed after all.
            node.drop_strays(now, &mut self.net.weather.chance);
            for link in node.links.iter_mut().filter(|link| !link.is_served) {
                link.ends_at = link.ends_at.min(now);
            }
            self.net.addresses[index] = index;
        }
        self.give_scripts_back();
        self.tell_passwords();
        for client in &mut self.clients {
            client.rouse(now);
        }
    }
}
