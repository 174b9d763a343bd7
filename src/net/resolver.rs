//! Names to addresses, off the hot path.
//!
//! `getaddrinfo` blocks for as long as it pleases. Each lookup therefore runs in a thread of its
//! own, at most one per node, and tells the loop through a waker. An address that is written in
//! numbers needs none of this.

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

/// What became of a lookup; no addresses when it failed.
pub(super) struct Answer {
    pub(super) node: NodeId,
    pub(super) addresses: Vec<SocketAddr>,
}

impl Resolver {
    pub(super) fn new(waker: Waker) -> Self {
        let (sender, answers) = channel();
        Self { waker, sender, answers }
    }

    /// Starts a lookup; its answer comes through [`next_answer`](Self::next_answer).
    pub(super) fn look_up(&self, node: NodeId, host: &str, port: u16) -> io::Result<()> {
        let (host, sender, waker) = (host.to_owned(), self.sender.clone(), self.waker.clone());
        let look_up = move || {
            let addresses = (host.as_str(), port).to_socket_addrs();
            let addresses = addresses.map(Iterator::collect).unwrap_or_default();
            // This fails only when the loop is gone, and then nobody waits.
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
