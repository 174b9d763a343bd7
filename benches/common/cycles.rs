//! The full cycle of the core, over and over: acquire and release, with every node granting.

use redbolt::redlock::{Event, RedlockConfig};

use super::rig::{Rig, Turn};

/// How many locks one script call releases.
pub(crate) const GROUP: usize = 64;

/// A core that has warmed up, and the two turns of a round.
pub(crate) struct Cycles {
    rig: Rig,
    names: Vec<String>,
    acquire: Turn,
    release: Turn,
}

impl Cycles {
    /// Cycles over `nodes` nodes, `in_flight` of them side by side.
    pub(crate) fn new(nodes: usize, in_flight: usize) -> Self {
        assert!((1..=GROUP).contains(&in_flight), "all releases leave in one call");
        // 24 bytes, as names of resources may be.
        let name = |number| format!("customers/12345/order-{number:02}");
        let names: Vec<_> = (0..in_flight).map(name).collect();
        let mut rig = Rig::new(nodes, RedlockConfig::default());
        acquire_all(&mut rig, &names);
        let acquire = rig.record();
        release_all(&mut rig, in_flight);
        let release = rig.record();
        expect_released(&mut rig, in_flight);
        let mut cycles = Self { rig, names, acquire, release };
        // Buffers grow in the first rounds only.
        for _ in 0..100 {
            cycles.run();
        }
        cycles
    }

    /// Runs one round: acquires every lock, then releases every lock. Returns the number of cycles.
    pub(crate) fn run(&mut self) -> usize {
        let count = self.names.len();
        acquire_all(&mut self.rig, &self.names);
        self.rig.replay(&self.acquire);
        release_all(&mut self.rig, count);
        self.rig.replay(&self.release);
        expect_released(&mut self.rig, count);
        count
    }
}

fn acquire_all(rig: &mut Rig, names: &[String]) {
    for name in names {
        rig.acquire(name.as_bytes());
    }
}

fn release_all(rig: &mut Rig, count: usize) {
    for _ in 0..count {
        match rig.event() {
            Event::Acquired { lock, valid_until, .. } if valid_until > rig.now() => {
                rig.release(lock)
            }
            other => panic!("{other:?}"),
        }
    }
}

fn expect_released(rig: &mut Rig, count: usize) {
    for _ in 0..count {
        match rig.event() {
            // The core reports a release as soon as a quorum has answered.
            Event::Released { outcome, .. } => {
                assert_eq!(outcome.released.len(), rig.core().quorum().need());
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(rig.core().in_use(), 0, "nothing is left behind");
}
