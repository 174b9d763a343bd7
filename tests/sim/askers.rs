//! Clients that ask a majority of the masters first, beside clients that ask all of them.
//!
//! Every world has some of both, as far as it has several clients. In the second life, one master
//! says nothing to a client for a while, and the client must not miss it: a free lock is granted by
//! the others in one attempt, and a lock of the first quorum alone is extended, because the others
//! are given the key before.

use redbolt::redlock::{Ask, NodeState, RedlockConfig, RestartGuard};

use crate::book::State;
use crate::chance::Chance;
use crate::checks::Violation;
use crate::clock::{MS, SECOND};
use crate::manner::Manner;
use crate::names::Resources;
use crate::net::THERE;
use crate::world::World;

/// Sets the stream of these draws apart from all others.
const STREAM: u64 = 0xd1b5_4a32_d192_ed03;

const WANTED: Resources = Resources(1);

/// The clients that ask a majority, with a bit for each place.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Askers(u8);

impl Askers {
    pub(crate) fn draw(seed: u64, config: &RedlockConfig) -> Self {
        if config.restart_guard == RestartGuard::Off {
            return Self::default();
        }
        Self(Chance::new(seed ^ STREAM).below(256) as u8)
    }

    /// Returns how many masters the client in this place asks.
    pub(crate) fn ask(self, client: usize) -> Ask {
        if self.0 & (1 << (client % 8)) == 0 { Ask::All } else { Ask::Majority }
    }
}

impl World {
    /// Lets each client that asks a majority take and extend a lock, while one master says nothing.
    pub(crate) fn nobody_is_missed(&mut self) -> Result<(), Violation> {
        if !self.can_miss_one() {
            return Ok(());
        }
        let weather = &mut self.net.weather;
        let usual = (weather.hiccups, weather.splits);
        (weather.hiccups, weather.splits) = (0, 0);
        for index in 0..self.clients.len() {
            if self.options.askers.ask(index) == Ask::Majority {
                self.others_grant(index)?;
                self.others_confirm(index)?;
            }
        }
        (self.net.weather.hiccups, self.net.weather.splits) = usual;
        // Who was silent may have lost its session.
        self.become_free()
    }

    /// Returns whether a quorum is left without one master, and both the first masters and the
    /// others have the time to answer.
    fn can_miss_one(&self) -> bool {
        let options = &self.options;
        let far = 2 * options.latency + 4 * options.turn + MS;
        let most = options.config.node_timeout(options.config.max_ttl).as_nanos() as u64;
        let in_time = 16 * far < options.max_ttl() && 4 * far < most;
        // With less room, a look that is under way keeps a `SET` from its node. A password that was
        // changed last keeps a master away for longer than a world lasts.
        let has_room = options.config.max_pipeline >= 16 && options.config.max_locks >= 4;
        let waits = self.clients.iter().any(|client| client.waits_for_a_node(self.net.now));
        let is_plain = options.distances.is_none() && options.outside.is_none();
        let has_spare = options.masters > self.net.checks.rules.quorum;
        in_time && has_room && !waits && is_plain && has_spare && options.config.repair
    }

    /// Lets a client ask for a free lock, while one master does not hear it.
    fn others_grant(&mut self, index: usize) -> Result<(), Violation> {
        self.become_free()?;
        let silent = self.net.weather.chance.index(self.options.masters);
        let until = self.be_silent(index, silent);
        if !self.take(index)? && self.has_all_but(index, silent) {
            let what = format!("client {index} was refused a free lock without master {silent}");
            self.net.fail(format_args!("majority: {what}"));
        }
        self.give_back_of(index);
        self.live(until)
    }

    /// Lets a client extend a lock, while one of the masters that have granted it does not hear it.
    fn others_confirm(&mut self, index: usize) -> Result<(), Violation> {
        self.become_free()?;
        if !self.take(index)? {
            return Ok(());
        }
        let client = &self.clients[index];
        let Some(id) = client.first_in(State::Held) else { return Ok(()) };
        let before = client.extensions;
        let asked = client.redlock.nodes().into_iter().map(|id| id.index());
        let chosen = self.net.weather.chance.index(self.options.masters);
        let Some(silent) = asked.cycle().nth(chosen) else { return Ok(()) };
        let until = self.be_silent(index, silent);
        let ttl = self.options.max_ttl() / MS;
        let (net, client) = (&mut self.net, &mut self.clients[index]);
        if client.extend(net, id, ttl) {
            client.settle(net);
            let end = net.now + SECOND;
            let mut has_others = true;
            while self.net.now < end && self.clients[index].extensions == before {
                self.advance(end)?;
                has_others &= self.has_all_but(index, silent);
                if self.clients[index].first_in(State::Held).is_none() {
                    break;
                }
            }
            let is_kept = self.clients[index].extensions > before;
            if !is_kept && has_others {
                let what = format!("client {index} extended nothing without master {silent}");
                self.net.fail(format_args!("majority: {what}"));
            }
        }
        self.give_back_of(index);
        self.live(until)
    }

    /// Keeps everything that a client says from one master, for as long as the client tries.
    /// Returns the end of that time.
    fn be_silent(&mut self, index: usize, silent: usize) -> u64 {
        let until = self.net.now + self.options.max_ttl() / 2;
        self.net.clog(index, silent, THERE, until);
        until
    }

    /// Returns whether a client believes all masters but one. A look that a silence has held up can
    /// come so late that a master is not believed for a while.
    fn has_all_but(&self, index: usize, silent: usize) -> bool {
        let client = &self.clients[index];
        let now = client.clock(self.net.now);
        let others = client.redlock.nodes().into_iter().filter(|id| id.index() != silent);
        let mut states = others.filter_map(|id| client.redlock.node(now, id));
        states.all(|status| status.state == NodeState::Ready)
    }

    /// Lets a client ask for the lock in one attempt. Returns whether the lock was granted.
    fn take(&mut self, index: usize) -> Result<bool, Violation> {
        let ttl = self.options.max_ttl() / MS;
        let (net, client) = (&mut self.net, &mut self.clients[index]);
        let grants = client.grants;
        client.acquire(net, WANTED, &Manner::default(), ttl, 0);
        client.settle(net);
        let end = net.now + SECOND;
        while self.net.now < end && self.clients[index].first_in(State::Wanted).is_some() {
            self.advance(end)?;
        }
        Ok(self.clients[index].grants == grants + 1)
    }

    fn give_back_of(&mut self, index: usize) {
        let (net, client) = (&mut self.net, &mut self.clients[index]);
        if let Some(id) = client.first_in(State::Held) {
            client.release(net, id);
            client.settle(net);
        }
    }
}
