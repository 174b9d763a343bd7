//! The home of one name: the link under which all clients know a node, the process behind that
//! name, and a spare that can take its place.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use crate::log::Log;
use crate::secrets::{DEAF, FIRST, Secrets};
use crate::support::clocks::Clocks;
use crate::support::now;
use crate::support::proxy::Proxy;
use crate::support::servers::Node;
use crate::wire;

/// What a master has when it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Files {
    /// Nothing.
    None,
    /// What was there when somebody saved it.
    Snapshot,
    /// All that was answered.
    EveryWrite,
    /// Most of what was answered.
    EverySecond,
}

pub(crate) struct Home {
    // The link is dropped first, so that no client sees the end of the processes.
    pub(crate) link: Proxy,
    pub(crate) node: Node,
    pub(crate) spare: Option<Node>,
    pub(crate) files: Files,
    /// Whether the spare has served under this name before.
    pub(crate) has_former: bool,
    /// When the name last moved, since boot.
    pub(crate) moved: Duration,
    password: String,
}

impl Home {
    pub(crate) fn start(
        number: usize,
        files: Files,
        has_spare: bool,
        clocks: Option<&Clocks>,
        log: &Arc<Log>,
    ) -> Self {
        // A spare shares the clock of its machine.
        let start = || match clocks {
            Some(clocks) => clocks.start_with(number, &files.args()),
            None => Node::start_with(&files.args()),
        };
        let node = start();
        let link = wire::link(log, number, &node.addr());
        let spare = has_spare.then(start);
        let password = FIRST.to_owned();
        let moved = Duration::ZERO;
        Self { link, node, spare, files, has_former: false, moved, password }
    }

    /// Makes the user that has no right to be told that keys are gone.
    pub(crate) fn add_deaf_user(&self) {
        let name: [&[u8]; 4] = [b"ACL", b"SETUSER", DEAF.as_bytes(), b"on"];
        let password = format!(">{FIRST}");
        let rules: [&[u8]; 4] = [password.as_bytes(), b"~*", b"+@all", b"-client|tracking"];
        self.node.command(&[name, rules].concat());
    }

    /// Writes what a master with snapshots has when it comes back.
    pub(crate) fn save(&self) {
        if self.files == Files::Snapshot {
            self.node.command(&[b"SAVE"]);
        }
    }

    /// Leads the name to the spare. The process behind the name becomes the spare.
    pub(crate) fn take_over(&mut self) {
        let spare = self.spare.as_mut().expect("there is a spare");
        mem::swap(&mut self.node, spare);
        self.link.move_to(&self.node.addr());
        (self.has_former, self.moved) = (true, now());
    }

    /// Makes the spare a replica of the node.
    pub(crate) fn follow(&self) {
        let spare = self.spare.as_ref().expect("there is a spare");
        // The first copy starts without the usual pause.
        self.node.command(&[b"CONFIG", b"SET", b"repl-diskless-sync-delay", b"0"]);
        follow(spare, &self.node.addr(), &self.password);
    }

    /// Makes the node a replica of the node of another home.
    pub(crate) fn demote(&self, other: &Self) {
        follow(&self.node, &other.node.addr(), &other.password);
    }

    /// Makes a new process of a spare that has served.
    pub(crate) fn renew_spare(&mut self) {
        if let Some(spare) = self.spare.as_mut().filter(|_| self.has_former) {
            spare.restart();
            self.has_former = false;
        }
    }

    /// Replaces the password on both processes, then in the store of secrets.
    pub(crate) fn rotate(&mut self, secrets: &Secrets, password: &str) {
        self.node.set_password(password);
        if let Some(spare) = &mut self.spare {
            spare.set_password(password);
        }
        self.password = password.to_owned();
        secrets.set(&self.link.addr(), password);
    }
}

pub(crate) fn promote(node: &Node) {
    node.command(&[b"REPLICAOF", b"NO", b"ONE"]);
}

fn follow(replica: &Node, master: &str, password: &str) {
    let (host, port) = master.split_once(':').expect("an address has a port");
    replica.command(&[b"CONFIG", b"SET", b"masterauth", password.as_bytes()]);
    replica.command(&[b"REPLICAOF", host.as_bytes(), port.as_bytes()]);
}

impl Files {
    fn args(self) -> Vec<&'static str> {
        let files: &[&str] = match self {
            Self::None | Self::Snapshot => &[],
            Self::EveryWrite => &["--appendonly", "yes", "--appendfsync", "always"],
            Self::EverySecond => &["--appendonly", "yes", "--appendfsync", "everysec"],
        };
        [&["--requirepass", FIRST], files].concat()
    }
}
