//! What time does: keys and validities end, quarantines are served. And crashes.

use crate::state::{NOBODY, Node, Phase, Raise, Round, State, Vote};
use crate::step::Step;
use crate::variants::Broken;
use crate::world::{Numbers, World};

impl<const N: usize, const A: usize> World<N, A> {
    /// Lists what can happen to all.
    pub fn clock_steps(&self, state: &State<N, A>, to: &mut Vec<Step>) {
        let Some(clocks) = self.clocks else {
            return;
        };
        if state.crashes > 0 {
            to.extend((0..N as u8).map(Step::Crash));
        }
        if state.now < clocks.horizon {
            to.push(Step::Tick);
        }
    }

    /// Lets a tick pass.
    pub fn tick(&self, state: &mut State<N, A>) {
        state.now += 1;
        let now = state.now;
        for node in &mut state.nodes {
            for key in 0..2 {
                if node.expires[key] <= now {
                    node.keys[key] = NOBODY;
                    node.expires[key] = 0;
                }
            }
            if node.fit_from != 0 && node.fit_from <= now {
                node.fit_from = 0;
                if !self.is(Broken::FloorTooSoon) {
                    node.floor = self.floor(node, now);
                }
            }
        }
        self.heal_anew(state);
        for attempt in 0..A {
            let client = &state.attempts[attempt];
            let is_spared = client.is_open() && self.is(Broken::LateGrant);
            let is_alive = client.is_open() || client.phase == Phase::Held;
            if is_alive && now >= client.valid && !is_spared {
                self.let_go(state, attempt);
            }
        }
    }

    /// Returns the number that a master's clock stands for, where numbers have to be larger.
    fn floor(&self, node: &Node<A>, now: u8) -> u8 {
        match self.clocks {
            Some(clocks) if self.form.numbers == Numbers::Count => clocks.unit * now + node.clock,
            _ => 0,
        }
    }

    /// A master crashes and comes back at once, without its keys.
    pub fn crash(&self, state: &mut State<N, A>, at: usize) {
        let Some(clocks) = self.clocks else {
            return;
        };
        state.crashes -= 1;
        let now = state.now;
        let node = &mut state.nodes[at];
        node.keys = [NOBODY; 2];
        node.expires = [0; 2];
        node.numbers = if clocks.stale { node.numbers.map(|number| number / 2) } else { [0; 2] };
        node.fit_from = now + clocks.quarantine;
        node.read = false;
        node.blank = self.form.numbers == Numbers::Heal;
        node.floor = self.floor(node, now);
        // What was on its way died with the connection. Its answers may still be read.
        for vote in &mut node.votes {
            if matches!(vote, Vote::Sent | Vote::Half { .. }) {
                *vote = Vote::None;
            }
        }
        for raise in &mut node.raises {
            if matches!(raise, Raise::Sent(_)) {
                *raise = Raise::None;
            }
        }
        for round in &mut node.rounds {
            if *round == Round::Sent {
                *round = Round::None;
            }
        }
        self.heal_anew(state);
    }
}
