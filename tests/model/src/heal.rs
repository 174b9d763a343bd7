//! The form without clocks of masters: who has lost its numbers is given the largest of a majority.

use crate::state::{Node, State};
use crate::step::Step;
use crate::variants::Broken;
use crate::world::{Numbers, World};

impl<const N: usize, const A: usize> World<N, A> {
    /// Returns whether this master is to be given the numbers of others now.
    ///
    /// Whoever got a number from this master before the crash must have had it recorded by others,
    /// or have given up. So the others are read behind the quarantine.
    fn is_due(&self, node: &Node<A>) -> bool {
        node.blank && (node.fit_from == 0 || self.is(Broken::HealTooSoon))
    }

    /// Lists what the healer can do.
    pub fn heal_steps(&self, state: &State<N, A>, to: &mut Vec<Step>) {
        if self.form.numbers != Numbers::Heal || !state.nodes.iter().any(|node| self.is_due(node)) {
            return;
        }
        for (at, node) in state.nodes.iter().enumerate() {
            if !node.blank && !node.read {
                to.push(Step::HealRead(at as u8));
            }
        }
        let need = if self.is(Broken::HealByOne) { 1 } else { self.quorum() };
        if state.count(|node| node.read) >= need {
            to.push(Step::HealWrite);
        }
    }

    /// Reads the numbers of a master.
    pub fn heal_read(&self, state: &mut State<N, A>, at: usize) {
        state.nodes[at].read = true;
        state.healed = state.healed.max(state.nodes[at].numbers[0]);
    }

    /// Writes the largest number to those that lack theirs.
    pub fn heal_write(&self, state: &mut State<N, A>) {
        let healed = state.healed;
        for node in &mut state.nodes {
            if self.is_due(node) {
                node.numbers = [healed; 2];
                node.blank = false;
            }
            node.read = false;
        }
        state.healed = 0;
    }

    /// Begins to read anew, for a master that is due only now.
    pub fn heal_anew(&self, state: &mut State<N, A>) {
        if self.form.numbers == Numbers::Heal && state.nodes.iter().any(|node| self.is_due(node)) {
            state.nodes.iter_mut().for_each(|node| node.read = false);
            state.healed = 0;
        }
    }
}
