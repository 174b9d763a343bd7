//! Opening and closing the connections to the nodes, as the state machine asks.

use std::net::{IpAddr, SocketAddr};

use mio::Token;

use super::Driver;
use crate::net::address::Place;
use crate::net::clock::Clock;
use crate::net::race::{Progress, Race};
use crate::net::resolver::Answer;
use crate::net::transport::{Failure, Target};
use crate::redlock::{Action, NodeError, NodeId, Redlock};
use crate::time::Instant;

impl Driver {
    /// Tells the state machine that a connection is up, the time, and the login if it can change.
    pub(super) fn connected(&mut self, redlock: &mut Redlock, id: NodeId) {
        self.ask_for_login(redlock, id);
        self.tell_wall_clock(redlock);
        redlock.handle_connected(Clock::now(), id);
    }

    /// Tells the state machine the present login, if somebody else knows it.
    fn ask_for_login(&mut self, redlock: &mut Redlock, id: NodeId) {
        let Some(credentials) = &self.credentials else { return };
        match credentials.login(&self.links[id.index()].address) {
            Some(login) => redlock.set_login(id, login),
            // The login that was known before stands.
            None => self.credential_panics += 1,
        }
    }

    /// Opens and closes connections as the state machine asks.
    pub(super) fn run_actions(&mut self, redlock: &mut Redlock) {
        while let Some(action) = redlock.poll_action() {
            match action {
                Action::Close(id) => self.close(id),
                Action::Connect(id) => self.connect(redlock, id),
                Action::Login(id) => self.ask_for_login(redlock, id),
            }
        }
    }

    fn connect(&mut self, redlock: &mut Redlock, id: NodeId) {
        self.close(id);
        let link = &mut self.links[id.index()];
        match link.address.place() {
            Place::Unix { path } => {
                let target = Target::Unix(path.into());
                return self.open(redlock, id, vec![target]);
            }
            Place::Host { host, port, tls: None } => {
                if let Ok(ip) = host.parse::<IpAddr>() {
                    let target = Target::Tcp(SocketAddr::new(ip, *port));
                    return self.open(redlock, id, vec![target]);
                }
            }
            // The files are read off the hot path.
            Place::Host { .. } => {}
        }
        link.wanted = true;
        if !link.resolving {
            match self.resolver.look_up(id, &link.address) {
                Ok(()) => link.resolving = true,
                Err(error) => self.broken(redlock, id, NodeError::Connect(error.kind())),
            }
        }
    }

    pub(super) fn resolved(&mut self, redlock: &mut Redlock, answer: Answer) {
        let link = &mut self.links[answer.node.index()];
        link.resolving = false;
        if !core::mem::take(&mut link.wanted) {
            return;
        }
        match answer.setup {
            Ok(setup) => link.setup = setup,
            Err(failure) => return self.failed(redlock, answer.node, &failure),
        }
        let mut targets: Vec<_> = answer.addresses.into_iter().map(Target::Tcp).collect();
        // Each attempt begins with another address: one of them may let us in and serve nobody.
        let first = link.attempts % targets.len().max(1);
        targets.rotate_left(first);
        link.attempts = link.attempts.wrapping_add(1);
        self.open(redlock, answer.node, targets);
    }

    /// Begins to connect to a node, at one of these places.
    fn open(&mut self, redlock: &mut Redlock, id: NodeId, targets: Vec<Target>) {
        let race = Race::new(targets, redlock.config().connect_timeout);
        self.links[id.index()].race = Some(race);
        self.go_on(redlock, id);
    }

    /// Looks what has come of the attempts to connect to a node, and tries its next address if that
    /// is due.
    pub(super) fn go_on(&mut self, redlock: &mut Redlock, id: NodeId) {
        let link = &mut self.links[id.index()];
        let Some(race) = &mut link.race else { return };
        let (now, token) = (Clock::now(), Token(id.index()));
        match race.go_on(now, self.poll.registry(), token) {
            Progress::Up(connection) => {
                link.race = None;
                link.connection = Some(connection);
                self.begin(redlock, id);
            }
            Progress::Pending => self.race_at = self.race_at.min(race.next_at()),
            Progress::Failed(error) => self.broken(redlock, id, error),
        }
    }

    /// Begins what comes between a socket that is connected and the first byte.
    fn begin(&mut self, redlock: &mut Redlock, id: NodeId) {
        let link = &mut self.links[id.index()];
        let Some(connection) = &mut link.connection else { return };
        let setup = link.setup.take();
        if setup.is_some() {
            redlock.handle_reached(Clock::now(), id);
        }
        match connection.begin(setup.as_ref()) {
            Ok(()) => drop(self.establish(redlock, id)),
            Err(failure) => self.failed(redlock, id, &failure),
        }
    }

    /// Goes on with that, and tells the state machine when the connection is up. Returns whether it
    /// is.
    pub(super) fn establish(&mut self, redlock: &mut Redlock, id: NodeId) -> bool {
        let Some(connection) = &mut self.links[id.index()].connection else { return false };
        match connection.establish() {
            Ok(true) => {
                self.connected(redlock, id);
                true
            }
            Ok(false) => false,
            Err(failure) => {
                self.failed(redlock, id, &failure);
                false
            }
        }
    }

    /// Tries the next address of every node for which that is due.
    pub(super) fn go_on_all(&mut self, redlock: &mut Redlock, now: Instant) {
        self.race_at = Instant::FAR_FUTURE;
        for id in redlock.nodes() {
            match &self.links[id.index()].race {
                Some(race) if race.next_at() <= now => self.go_on(redlock, id),
                Some(race) => self.race_at = self.race_at.min(race.next_at()),
                None => {}
            }
        }
    }

    /// Closes the connection of a node, which broke or never came up, and tells the state machine.
    pub(super) fn broken(&mut self, redlock: &mut Redlock, id: NodeId, error: NodeError) {
        self.close(id);
        redlock.handle_closed(Clock::now(), id, error);
    }

    /// The same as [`broken`](Self::broken), with what else is known.
    pub(super) fn failed(&mut self, redlock: &mut Redlock, id: NodeId, failure: &Failure) {
        self.close(id);
        redlock.handle_failed(Clock::now(), id, failure.error, &failure.detail);
    }

    fn close(&mut self, id: NodeId) {
        let link = &mut self.links[id.index()];
        link.setup = None;
        link.wanted = false;
        link.unread = false;
        link.inbox.clear();
        if let Some(mut race) = link.race.take() {
            race.end(self.poll.registry());
        }
        if let Some(connection) = link.connection.take() {
            connection.close(self.poll.registry());
        }
    }
}
