//! Many locks in flight, over nodes that answer at paces of their own, as in a real run.

use bytes::BytesMut;
use fastrand::Rng;
use redbolt::redlock::{Ask, Event, RedlockConfig};

use super::rig::{Rig, Step};

/// How many cycles a round has for each lock in flight. At the end of a round nothing is in flight,
/// so that all rounds are alike; the end should be a small part of the round.
const PER_LOCK: usize = 4;

/// How many replies a node gives in a turn: about as many as a server is read in a real run with
/// 512 in flight.
const SHARES: core::ops::Range<usize> = 40..150;

/// The name before the first one of a round, as long as the names of `redbolt bench`.
const NAME: [u8; 33] = *b"bench/0123456789abcdef/0000000000";

/// A core that has warmed up, and the steps of a round. A new lock is requested as soon as one is
/// released, and each lock has a name of its own.
///
/// The nodes answer different numbers of requests in a turn. So each node has other locks in a
/// group of releases, and hardly a request to one node is the same as that to the node before.
pub(crate) struct Flow {
    rig: Rig,
    in_flight: usize,
    name: [u8; 33],
    steps: Vec<Step>,
}

impl Flow {
    /// A flow over `nodes` nodes, with `in_flight` locks at a time, each of which asks as many
    /// nodes as `ask` says.
    pub(crate) fn new(nodes: usize, in_flight: usize, ask: Ask) -> Self {
        let mut config = RedlockConfig::default();
        config.ask = ask;
        let rig = Rig::new(nodes, config);
        let mut flow = Self { rig, in_flight, name: NAME, steps: Vec::new() };
        let mut owed = vec![BytesMut::new(); nodes];
        let mut rng = Rng::with_seed(1);
        let mut steps = Vec::new();
        flow.go_round(|rig, _| {
            let shares: Vec<_> = (0..nodes).map(|_| rng.usize(SHARES)).collect();
            steps.push(rig.record_step(&mut owed, &shares));
        });
        flow.steps = steps;
        // Buffers grow in the first rounds only.
        for _ in 0..3 {
            flow.run();
        }
        flow
    }

    /// Runs one round. Returns the number of cycles.
    pub(crate) fn run(&mut self) -> usize {
        let steps = core::mem::take(&mut self.steps);
        let cycles = self.go_round(|rig, number| rig.replay_step(&steps[number]));
        self.steps = steps;
        cycles
    }

    /// Runs one round, in which `step` takes the step with a number. Returns the number of cycles.
    fn go_round(&mut self, mut step: impl FnMut(&mut Rig, usize)) -> usize {
        let cycles = PER_LOCK * self.in_flight;
        // A majority of another name may be other nodes, which would be sent something else.
        self.name = NAME;
        let (mut started, mut ended) = (0, 0);
        let mut number = 0;
        while ended < cycles || self.rig.core().in_use() > 0 {
            while started < cycles && started - ended < self.in_flight {
                self.next_name();
                self.rig.acquire(&self.name);
                started += 1;
            }
            step(&mut self.rig, number);
            number += 1;
            while let Some(event) = self.rig.next_event() {
                match event {
                    Event::Acquired { lock, .. } => self.rig.release(lock),
                    Event::Released { .. } => ended += 1,
                    other => panic!("{other:?}"),
                }
            }
        }
        cycles
    }

    /// Adds one to the number at the end of the name.
    fn next_name(&mut self) {
        for digit in self.name.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
    }
}
