//! What a master does: it executes requests, each in one step.
//!
//! A request that would change nothing stays on its way: a key that is taken, a number that is not
//! larger. There it can do all that a refused one can, and more.

use crate::state::{NOBODY, Node, Phase, Raise, Round, State, Vote};
use crate::step::Step;
use crate::variants::Broken;
use crate::world::{Numbers, World};

impl<const N: usize, const A: usize> World<N, A> {
    /// Lists what this master can do for this attempt.
    pub fn node_steps(&self, state: &State<N, A>, attempt: usize, at: usize, to: &mut Vec<Step>) {
        let (node, pair) = (&state.nodes[at], (attempt as u8, at as u8));
        match node.votes[attempt] {
            Vote::Sent => {
                let is_free = self.resources(attempt).all(|key| node.keys[key] == NOBODY);
                // Without clocks a key can end at any moment: it ends when somebody wants it.
                if is_free || self.clocks.is_none() {
                    to.push(Step::Set(pair.0, pair.1));
                }
                if !is_free && (self.form.split || self.is(Broken::RefusedCount)) {
                    to.push(Step::Refuse(pair.0, pair.1));
                }
            }
            Vote::Half { .. } => to.push(Step::Number(pair.0, pair.1)),
            Vote::Granted(_) if state.again > 0 && !self.has_keys(node, attempt) => {
                to.push(Step::SetAgain(pair.0, pair.1));
                to.push(Step::SetAgainUnheard(pair.0, pair.1));
            }
            _ => {}
        }
        if self.raised_to(state, attempt, at).is_some() {
            to.push(Step::Accept(pair.0, pair.1));
        }
        if node.rounds[attempt] == Round::Sent && self.has_keys(node, attempt) {
            to.push(Step::Keep(pair.0, pair.1));
        }
    }

    /// Returns whether the attempt's token stands at all of its keys.
    pub fn has_keys(&self, node: &Node<A>, attempt: usize) -> bool {
        let token = self.token(attempt);
        self.resources(attempt).all(|key| node.keys[key] == token)
    }

    /// Executes `SET … NX` where the key is free, and what belongs to it.
    pub fn set(&self, state: &mut State<N, A>, attempt: usize, at: usize) {
        let (now, phase) = (state.now, state.attempts[attempt].phase);
        let node = &mut state.nodes[at];
        if self.is(Broken::NumberDiesWithKey) && node.keys[0] != NOBODY {
            node.numbers = [0; 2];
        }
        // What an attempt that is over sets is deleted at once. If the key stayed for longer,
        // others would come later, which they can anyhow.
        if self.clocks.is_none() || phase != Phase::Over {
            self.give_keys(node, attempt, now + self.clocks.map_or(0, |clocks| clocks.ttl));
        }
        if self.form.split && self.parts[attempt].fenced {
            node.votes[attempt] = Vote::Half { granted: true };
        } else {
            self.vote(state, attempt, at, true);
        }
    }

    /// Refuses the key. Where the number is a command of its own, that command is executed behind.
    pub fn refuse(&self, state: &mut State<N, A>, attempt: usize, at: usize) {
        if self.form.split {
            state.nodes[at].votes[attempt] = Vote::Half { granted: false };
        } else {
            self.vote(state, attempt, at, false);
        }
    }

    /// Executes the command about the number, with the answer to the `SET` before it.
    pub fn number(&self, state: &mut State<N, A>, attempt: usize, at: usize) {
        let granted = state.nodes[at].votes[attempt] == Vote::Half { granted: true };
        self.vote(state, attempt, at, granted);
    }

    /// Draws a number, which counts as a vote if the key was granted.
    fn vote(&self, state: &mut State<N, A>, attempt: usize, at: usize, granted: bool) {
        let now = state.now;
        let client = state.attempts[attempt];
        let node = &mut state.nodes[at];
        let is_fenced = self.parts[attempt].fenced;
        let number =
            if is_fenced { self.draw(node, attempt, client.proposal, now) } else { Some(0) };
        node.votes[attempt] = match number {
            _ if !client.is_open() => Vote::None,
            Some(number) if granted => Vote::Granted(number),
            Some(number) if self.is(Broken::RefusedCount) => Vote::Refused(number),
            None if granted => Vote::Lacking,
            _ => Vote::None,
        };
        // A vote that comes late is asked to record the number as well.
        let wants_raise = match node.votes[attempt] {
            Vote::Granted(number) => number < client.fence,
            Vote::Lacking => true,
            _ => false,
        };
        if client.phase == Phase::Raising && wants_raise {
            node.raises[attempt] = Raise::Sent(client.fence);
        }
    }

    /// Executes the same `SET` once more, where its key is gone.
    pub fn set_again(&self, state: &mut State<N, A>, attempt: usize, at: usize, heard: bool) {
        state.again -= 1;
        let (now, client) = (state.now, state.attempts[attempt]);
        let node = &mut state.nodes[at];
        self.give_keys(node, attempt, 0);
        let number = self.draw(node, attempt, client.proposal, now);
        // The client has heard either answer, never both.
        if heard {
            node.votes[attempt] = number.map_or(Vote::Lacking, Vote::Granted);
        }
    }

    /// Writes the attempt's token to all of its keys.
    pub fn give_keys(&self, node: &mut Node<A>, attempt: usize, until: u8) {
        for key in self.resources(attempt) {
            node.keys[key] = self.token(attempt);
            node.expires[key] = if self.clocks.is_some() { until } else { 0 };
        }
    }

    /// Returns the largest number that this master has in the stripes of the attempt.
    pub fn largest(&self, node: &Node<A>, attempt: usize) -> u8 {
        let mut stripes = self.stripes(attempt).map(|stripe| node.numbers[stripe]);
        if self.is(Broken::OneStripeOfSet) {
            return stripes.next().unwrap_or(0);
        }
        stripes.max().unwrap_or(0)
    }

    fn record(&self, node: &mut Node<A>, attempt: usize, number: u8) {
        for stripe in self.stripes(attempt) {
            node.numbers[stripe] = number;
        }
    }

    /// Draws a number that is larger than all before.
    fn draw(&self, node: &mut Node<A>, attempt: usize, proposal: u8, now: u8) -> Option<u8> {
        let largest = self.largest(node, attempt);
        let number = match self.form.numbers {
            Numbers::Clock => self.cut(node, largest, proposal, now).max(largest + 1),
            Numbers::Heal => proposal.max(largest + 1),
            Numbers::Count => largest + 1,
            Numbers::Estimate if proposal <= largest => return None,
            Numbers::Estimate => proposal,
        };
        self.record(node, attempt, number);
        (number > node.floor || self.is(Broken::NoFloor)).then_some(number)
    }

    /// Returns the proposal, cut to the master's own clock.
    fn cut(&self, node: &Node<A>, largest: u8, proposal: u8, now: u8) -> u8 {
        let Some(clocks) = self.clocks else {
            return proposal;
        };
        let (clock, window) = (clocks.unit * now + node.clock, clocks.window);
        match self.broken {
            Some(Broken::NoClock) => proposal,
            Some(Broken::ClockOnlyIfBlank) if largest > 0 => proposal,
            Some(Broken::FarProposals) => proposal.max(clock.saturating_sub(window)),
            _ => proposal.clamp(clock.saturating_sub(window), clock + window),
        }
    }

    /// Returns the number that this master would record now for this attempt.
    ///
    /// On one connection a second request to record follows the first. So a master that does not
    /// take the first goes on with the second.
    fn raised_to(&self, state: &State<N, A>, attempt: usize, at: usize) -> Option<u8> {
        let node = &state.nodes[at];
        let Raise::Sent(first) = node.raises[attempt] else {
            return None;
        };
        if !self.form.blind && !self.has_keys(node, attempt) {
            return None;
        }
        if self.is(Broken::NotLargerIsYes) || self.is(Broken::LargestAsItIs) {
            return Some(first);
        }
        let second = state.attempts[attempt].fence;
        let largest = self.largest(node, attempt);
        [first, second].into_iter().find(|number| *number > largest)
    }

    /// Records a number that is larger than all before.
    pub fn accept(&self, state: &mut State<N, A>, attempt: usize, at: usize) {
        let Some(number) = self.raised_to(state, attempt, at) else {
            return;
        };
        let client = state.attempts[attempt];
        let node = &mut state.nodes[at];
        let largest = self.largest(node, attempt);
        self.record(node, attempt, number.max(largest));
        node.raises[attempt] = match client.phase {
            Phase::Raising if number == client.fence => Raise::Accepted(number),
            Phase::Raising => Raise::Sent(client.fence),
            _ => Raise::None,
        };
    }

    /// Lets a key live for longer, and never for less.
    pub fn keep(&self, state: &mut State<N, A>, attempt: usize, at: usize) {
        let until = state.now + self.clocks.map_or(0, |clocks| clocks.ttl);
        let node = &mut state.nodes[at];
        for key in self.resources(attempt) {
            node.expires[key] = node.expires[key].max(until);
        }
        node.rounds[attempt] = Round::Kept;
    }
}
