//! Opening and closing the connections to the nodes, as the state machine asks.

use std::net::{IpAddr, SocketAddr};

use mio::Token;

use super::Driver;
use crate::net::clock::Clock;
use crate::net::connection::Connection;
use crate::net::resolver::Answer;
use crate::redlock::{Action, NodeError, NodeId, Redlock};

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
        let (host, port) = (link.address.host(), link.address.port());
        if let Ok(ip) = host.parse::<IpAddr>() {
            return self.open(redlock, id, SocketAddr::new(ip, port));
        }
        link.wanted = true;
        if !link.resolving {
            match self.resolver.look_up(id, host, port) {
                Ok(()) => link.resolving = true,
                Err(error) => self.broken(redlock, id, NodeError::Connect(error.kind())),
            }
        }
    }

    pub(super) fn resolved(&mut self, redlock: &mut Redlock, answer: Answer) {
        let link = &mut self.links[answer.node.index()];
        link.resolving = false;
        link.addresses = answer.addresses;
        if !core::mem::take(&mut link.wanted) {
            return;
        }
        if link.addresses.is_empty() {
            return self.broken(redlock, answer.node, NodeError::NameNotResolved);
        }
        // Each attempt to connect takes the next address of the host.
        let address = link.addresses[link.next_address % link.addresses.len()];
        link.next_address = link.next_address.wrapping_add(1);
        self.open(redlock, answer.node, address);
    }

    fn open(&mut self, redlock: &mut Redlock, id: NodeId, address: SocketAddr) {
        match Connection::open(address, self.poll.registry(), Token(id.index())) {
            Ok(connection) => self.links[id.index()].connection = Some(connection),
            Err(error) => self.broken(redlock, id, NodeError::Connect(error.kind())),
        }
    }

    /// Closes the connection of a node, which broke or never came up, and tells the state machine.
    pub(super) fn broken(&mut self, redlock: &mut Redlock, id: NodeId, error: NodeError) {
        self.close(id);
        redlock.handle_closed(Clock::now(), id, error);
    }

    fn close(&mut self, id: NodeId) {
        let link = &mut self.links[id.index()];
        link.wanted = false;
        link.unread = false;
        link.inbox.clear();
        if let Some(connection) = link.connection.take() {
            connection.close(self.poll.registry());
        }
    }
}
