//! The lookup of host names, off the hot path.
//!
//! `getaddrinfo` can block for any length of time, and so can a file. Each lookup therefore runs in
//! a thread of its own, at most one per node, reads the files of TLS where there are any, and wakes
//! the loop when the answer is there. Every attempt to connect looks the name up anew, so that a
//! name may move. A host that is written as an IP address needs no lookup, unless it has a zone:
//! the system knows the numbers of the interfaces.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::address::Address;
use super::race::MAX_ADDRESSES;
use super::transport::{Failure, Setup};
use super::waker::Waker;
use crate::redlock::NodeId;

pub(super) struct Resolver {
    waker: Waker,
    sender: Sender<Answer>,
    answers: Receiver<Answer>,
}

/// The result of a lookup. A failed lookup has no addresses.
pub(super) struct Answer {
    pub(super) node: NodeId,
    pub(super) addresses: Vec<SocketAddr>,
    /// What the files of TLS have, if the node speaks TLS.
    pub(super) setup: Result<Option<Setup>, Failure>,
}

impl Resolver {
    pub(super) fn new(waker: Waker) -> Self {
        let (sender, answers) = channel();
        Self { waker, sender, answers }
    }

    /// Starts a lookup. [`next_answer`](Self::next_answer) returns the result later.
    pub(super) fn look_up(&self, node: NodeId, address: &Address) -> io::Result<()> {
        let (sender, waker) = (self.sender.clone(), self.waker.clone());
        let address = address.clone();
        let look_up = move || {
            let place = (address.host().unwrap_or_default(), address.port().unwrap_or_default());
            let addresses = place.to_socket_addrs();
            let addresses = addresses.map(|all| all.take(MAX_ADDRESSES).collect());
            let addresses = addresses.unwrap_or_default();
            let setup = Setup::read(&address);
            // Sending fails only after the loop was dropped. Nobody waits for the answer then.
            let _ = sender.send(Answer { node, addresses, setup });
            waker.wake();
        };
        thread::Builder::new().name("redbolt-resolver".into()).spawn(look_up)?;
        Ok(())
    }

    pub(super) fn next_answer(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }
}
