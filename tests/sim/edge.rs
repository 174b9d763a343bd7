//! Worlds at the edge of a span: what decides there between a lock that was forgotten and one that
//! has ended (S11).
//!
//! A rule about the last hundredth of a span breaks nothing in a world that ends before the first
//! span, or in which nobody comes just then. In these worlds a span sees dozens of requests and
//! some faults, clients that know nothing come again and again, and clocks are set.

use std::time::Duration;

use redbolt::redlock::{Drift, RestartGuard};

use crate::chance::Chance;
use crate::clock::MS;
use crate::faults::Fault;
use crate::options::Options;

impl Options {
    /// Lets some worlds live around the ends of their spans.
    pub(crate) fn draw_edge(&mut self, chance: &mut Chance) {
        // A single vote that comes too early shows most often where there are few masters.
        let rare = match self.mover {
            Some(_) => 2,
            None if self.masters <= 2 => 4,
            None => 16,
        };
        if chance.one_in(rare) {
            self.go_to_the_edge(chance);
        }
    }

    fn go_to_the_edge(&mut self, chance: &mut Chance) {
        let max_ttl = self.max_ttl();
        if self.mover.is_some() {
            // A former member comes back with a witness that is old enough, and a lock that the
            // other process granted in between is forgotten.
            self.faults.extend([Fault::Move, Fault::Move, Fault::ClientCrash, Fault::ClientCrash]);
            if chance.one_in(3) {
                self.config.restart_guard = RestartGuard::Strict;
            }
        } else {
            // A witness is born as soon as the data is lost, and then the clocks that date it are
            // set forward.
            self.config.reconnect_max = Duration::from_millis(20);
            let rate = self.config.drift.rate_ppm;
            let step = max_ttl / 8 + chance.below(max_ttl / 8);
            self.config.drift = Drift::new(rate, Duration::from_nanos(step));
            self.step_max = step;
            if self.config.restart_guard == RestartGuard::Strict {
                self.config.restart_guard = RestartGuard::On;
            }
            self.faults.retain(|_| chance.one_in(4));
            self.faults.extend([Fault::Spare, Fault::Step, Fault::Step, Fault::Wall]);
            self.faults.extend([Fault::ClientCrash, Fault::ClientCrash]);
        }
        let span = self.config.quarantine().as_nanos() as u64;
        self.request_gap = span / chance.between(30, 60);
        self.requests = chance.between(120, 240);
        self.fault_gap = (span / chance.between(3, 12)).max(MS);
        self.is_edgy = true;
    }
}
