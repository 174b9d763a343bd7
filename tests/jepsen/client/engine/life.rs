//! The end of an engine, and the next one.

use redbolt::{Engine, Event};

use super::{Client, Stage};
use crate::client::{PATIENCE, SHUTDOWN, SOON, lifetime};
use crate::log::{What, nanos};
use crate::support::{now, until};

impl Client {
    /// Shuts the engine down if its time is over, and goes on with another one. The next engine
    /// knows nothing of the old locks.
    pub(super) fn begin_anew(&mut self) {
        if self.log.is_in_a_hurry() {
            self.ends = self.ends.min(now() + SOON);
        }
        if now() < self.ends || self.order.is_clinging() {
            return;
        }
        self.end_requests();
        self.write(0, nanos(), What::Closing);
        let is_complete = self.engine.drain(SHUTDOWN).expect("polling works");
        self.write(0, nanos(), What::Closed { is_complete });
        self.engine = Engine::new(self.order.config()).expect("an engine can be made");
        self.queries.clear();
        self.ends = now() + lifetime(&mut self.rng);
    }

    /// Releases all locks, waits for the end of all requests, and writes that the client leaves.
    pub(super) fn leave(&mut self) {
        self.end_requests();
        // A quorum has answered. The other nodes are there too, and take their time.
        let is_settled = until(PATIENCE, || {
            self.turn();
            self.engine.in_use() == 0
        });
        assert!(is_settled, "a reply never comes: {:?}", self.engine);
        let is_of_lock = |event: &Event| event.lock().is_some();
        assert_eq!(self.engine.next_event().filter(is_of_lock), None);
        self.write(0, nanos(), What::Left);
    }

    /// Releases all locks, and waits for the end of all requests.
    fn end_requests(&mut self) {
        let ended = until(PATIENCE, || {
            let held = self.requests.iter().filter(|(_, r)| r.stage == Stage::Held);
            let held: Vec<_> = held.map(|(id, _)| *id).collect();
            for lock in held {
                self.release(lock);
                self.take_events();
            }
            self.turn();
            self.requests.is_empty()
        });
        assert!(ended, "{} requests never end: {:?}", self.requests.len(), self.engine);
    }
}
