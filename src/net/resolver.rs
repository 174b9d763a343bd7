//! The lookup of host names, off the hot path.
//!
//! `getaddrinfo` can block for any length of time. Each lookup therefore runs in a thread of its
//! own, at most one per node, and wakes the loop when the answer is there. A host that is written
//! as an IP address needs no lookup.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

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
}

impl Resolver {
    pub(super) fn new(waker: Waker) -> Self {
        let (sender, answers) = channel();
        Self { waker, sender, answers }
    }

    /// Starts a lookup. [`next_answer`](Self::next_answer) returns the result later.
    pub(super) fn look_up(&self, node: NodeId, host: &str, port: u16) -> io::Result<()> {
        let (host, sender, waker) = (host.to_owned(), self.sender.clone(), self.waker.clone());
        let look_up = move || {
            let addresses = (host.as_str(), port).to_socket_addrs();
            let addresses = addresses.map(Iterator::collect).unwrap_or_default();
            // Sending fails only after the loop was dropped. Nobody waits for the answer then.
            let _ = sender.send(Answer { node, addresses });
            waker.wake();
        };
        thread::Builder::new().name("redbolt-resolver".into()).spawn(look_up)?;
        Ok(())
    }

    pub(super) fn next_answer(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }
}
