//! What a client does: it asks, has a number recorded, holds, extends, hands over, lets go.

use crate::state::{Attempt, Node, Phase, Raise, Round, State, Vote};
use crate::step::Step;
use crate::variants::Broken;
use crate::world::{Numbers, World};

impl<const N: usize, const A: usize> World<N, A> {
    /// Lists what the client of this attempt can do.
    pub fn client_steps(&self, state: &State<N, A>, attempt: usize, to: &mut Vec<Step>) {
        let client = &state.attempts[attempt];
        let index = attempt as u8;
        match client.phase {
            Phase::Idle => self.start_steps(state, attempt, to),
            Phase::Asking | Phase::Raising => self.number_steps(state, attempt, to),
            Phase::Held => self.holder_steps(state, attempt, to),
            Phase::Over => {}
        }
        if self.clocks.is_some() && (client.is_open() || client.phase == Phase::Held) {
            to.push(Step::LetGo(index));
        }
    }

    /// Attempts that want the same are interchangeable: they start in the order of their indices.
    fn start_steps(&self, state: &State<N, A>, attempt: usize, to: &mut Vec<Step>) {
        let is_behind = |other: usize| {
            self.parts[other] == self.parts[attempt] && state.attempts[other].phase == Phase::Idle
        };
        if (0..attempt).any(is_behind) {
            return;
        }
        let index = attempt as u8;
        let Some(former) = self.parts[attempt].heir_of else {
            self.proposals(state.now, |proposal| to.push(Step::Start(index, proposal)));
            return;
        };
        let former = &state.attempts[usize::from(former)];
        if former.phase == Phase::Held {
            to.push(Step::Start(index, former.fence + 1));
            let larger = |proposal: u8| proposal > former.fence + 1;
            self.proposals(state.now, |proposal| {
                if larger(proposal) {
                    to.push(Step::Start(index, proposal));
                }
            });
        }
    }

    /// Names what an attempt can propose.
    fn proposals(&self, now: u8, mut each: impl FnMut(u8)) {
        match self.clocks {
            // The masters' clocks, as the client has seen them, are in between.
            Some(clocks) if self.form.numbers == Numbers::Estimate => {
                let low = clocks.unit * (now + 1);
                each(low.saturating_sub(clocks.window));
                each(low + 2 * clocks.skew + clocks.window);
            }
            _ => self.proposals.iter().copied().for_each(each),
        }
    }

    /// Begins an attempt, or takes a lock over.
    pub fn start(&self, state: &mut State<N, A>, attempt: usize, proposal: u8) {
        let (now, former) = (state.now, self.parts[attempt].heir_of.map(usize::from));
        let before = if self.clocks.is_none() { self.granted(state, attempt) } else { 0 };
        let valid = match former {
            Some(former) => state.attempts[former].valid,
            None => self.clocks.map_or(0, |clocks| now + clocks.ttl),
        };
        if let Some(former) = former {
            self.end(state, former);
        }
        let client = &mut state.attempts[attempt];
        *client = Attempt { before, valid, ..Attempt::IDLE };
        if former.is_some() {
            client.phase = Phase::Raising;
            client.fence = proposal;
            client.raised = 1;
        } else {
            client.phase = Phase::Asking;
            client.proposal = proposal;
        }
        for node in state.nodes.iter_mut().filter(|node| self.is_asked(node, now)) {
            if former.is_some() {
                node.raises[attempt] = Raise::Sent(proposal);
            } else {
                node.votes[attempt] = Vote::Sent;
            }
        }
    }

    /// Returns whether this master is asked for a vote.
    fn is_asked(&self, node: &Node<A>, now: u8) -> bool {
        let is_fit = now >= node.fit_from || self.is(Broken::NoQuarantine);
        is_fit && !node.blank
    }

    /// Lists the numbers that can be handed out, and those that can be recorded.
    fn number_steps(&self, state: &State<N, A>, attempt: usize, to: &mut Vec<Step>) {
        let client = &state.attempts[attempt];
        let index = attempt as u8;
        let drawn = |node: &Node<A>| match node.votes[attempt] {
            Vote::Granted(number) | Vote::Refused(number) => Some(number),
            _ => None,
        };
        let mut numbers: Vec<u8> = state.nodes.iter().filter_map(drawn).collect();
        if client.phase == Phase::Raising {
            numbers.push(client.fence);
        }
        numbers.sort_unstable();
        numbers.dedup();
        for &number in &numbers {
            if self.is_enough(state, attempt, number) {
                to.push(Step::Grant(index, number));
            }
        }
        if self.parts[attempt].fenced && client.raised < self.raises {
            for number in self.raisable(state, attempt, &numbers) {
                to.push(Step::Raise(index, number));
            }
        }
    }

    /// Returns the numbers that the client could have recorded, by what it can have heard.
    fn raisable(&self, state: &State<N, A>, attempt: usize, drawn: &[u8]) -> Vec<u8> {
        let client = &state.attempts[attempt];
        let largest = |node: &Node<A>| self.largest(node, attempt);
        let mut numbers: Vec<u8> = drawn.to_vec();
        if client.phase == Phase::Raising {
            // A master says by how much the number was too small.
            let is_late = |node: &&Node<A>| match node.raises[attempt] {
                Raise::Sent(number) => number <= largest(node),
                _ => false,
            };
            numbers = state.nodes.iter().filter(is_late).map(largest).collect();
        } else {
            let lacks = |node: &&Node<A>| node.votes[attempt] == Vote::Lacking;
            numbers.extend(state.nodes.iter().filter(lacks).map(largest));
            numbers.retain(|most| {
                let is_seen = |node: &Node<A>| match node.votes[attempt] {
                    Vote::Granted(number) => number <= *most,
                    Vote::Lacking => true,
                    _ => false,
                };
                state.count(is_seen) >= self.quorum()
            });
        }
        let floors = state.nodes.iter().map(|node| node.floor);
        let floor = if self.is(Broken::NoFloor) { 0 } else { floors.max().unwrap_or(0) };
        let next = u8::from(!self.is(Broken::LargestAsItIs));
        for number in &mut numbers {
            *number = (*number).max(floor) + next;
        }
        numbers.retain(|number| *number > client.fence);
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Asks the masters that have voted to record a number.
    pub fn raise(&self, state: &mut State<N, A>, attempt: usize, number: u8) {
        let client = &mut state.attempts[attempt];
        let is_first = client.phase == Phase::Asking;
        client.phase = Phase::Raising;
        client.fence = number;
        client.raised += 1;
        let now = state.now;
        // A request without a look at the key goes along the connection by which the vote came. A
        // master that has come back has another.
        let is_free = !self.form.blind || self.is(Broken::RaiseAnywhere);
        let may_be_sent = |node: &&mut Node<A>| is_free || self.is_asked(node, now);
        for node in state.nodes.iter_mut().filter(may_be_sent) {
            let is_asked = match (node.votes[attempt], node.raises[attempt]) {
                (Vote::Granted(drawn), Raise::None) if is_first => drawn < number,
                (Vote::Lacking, Raise::None) => is_first,
                (_, Raise::Accepted(_)) => true,
                _ => false,
            };
            if is_asked {
                node.raises[attempt] = Raise::Sent(number);
            }
        }
    }

    /// Returns whether this number is the attempt's to have.
    fn is_enough(&self, state: &State<N, A>, attempt: usize, number: u8) -> bool {
        let drew = |node: &Node<A>| match node.votes[attempt] {
            Vote::Granted(drawn) => Some(drawn),
            _ => None,
        };
        let agrees = |node: &Node<A>| {
            node.votes[attempt] == Vote::Granted(number)
                || node.votes[attempt] == Vote::Refused(number)
                || node.raises[attempt] == Raise::Accepted(number)
        };
        let smaller = |node: &Node<A>| drew(node).is_some_and(|drawn| drawn <= number);
        let larger = |node: &Node<A>| drew(node).is_some_and(|drawn| drawn >= number);
        let need = self.quorum();
        match self.broken {
            Some(Broken::NoSecondTrip) => state.count(smaller) >= need,
            Some(Broken::Median) => state.count(smaller) >= need && state.count(larger) >= need,
            Some(Broken::RefusedCount) => {
                state.count(|node| drew(node).is_some()) >= need && state.count(agrees) >= need
            }
            _ => state.count(agrees) >= need,
        }
    }

    fn holder_steps(&self, state: &State<N, A>, attempt: usize, to: &mut Vec<Step>) {
        let Some(clocks) = self.clocks else {
            return;
        };
        let client = &state.attempts[attempt];
        let index = attempt as u8;
        if clocks.extensions && !client.extended {
            if client.round == 0 {
                to.push(Step::Extend(index));
            } else {
                // The answer of a master in quarantine does not count.
                let kept = |node: &Node<A>| {
                    node.rounds[attempt] == Round::Kept && self.is_asked(node, state.now)
                };
                if state.count(kept) >= self.quorum() {
                    to.push(Step::Extended(index));
                }
            }
        }
        if clocks.fills {
            for (at, node) in state.nodes.iter().enumerate() {
                if self.resources(attempt).all(|key| node.keys[key] == crate::state::NOBODY) {
                    to.push(Step::Fill(index, at as u8));
                }
            }
        }
    }

    /// Asks all masters to keep the key for longer.
    pub fn extend(&self, state: &mut State<N, A>, attempt: usize) {
        state.attempts[attempt].round = state.now + 1;
        for node in &mut state.nodes {
            node.rounds[attempt] = Round::Sent;
        }
    }

    /// Believes in the extension, which a majority has confirmed within the old validity.
    pub fn extended(&self, state: &mut State<N, A>, attempt: usize) {
        let client = &mut state.attempts[attempt];
        client.valid = client.round - 1 + self.clocks.map_or(0, |clocks| clocks.ttl);
        client.round = 0;
        client.extended = true;
        for node in &mut state.nodes {
            node.rounds[attempt] = Round::None;
        }
    }

    /// Gives up or lets go, and deletes the keys.
    pub fn let_go(&self, state: &mut State<N, A>, attempt: usize) {
        self.end(state, attempt);
        let token = self.token(attempt);
        for node in &mut state.nodes {
            for key in 0..2 {
                if node.keys[key] == token {
                    node.keys[key] = crate::state::NOBODY;
                    node.expires[key] = 0;
                }
            }
            // Nothing is recorded for a token whose key is gone.
            if !self.form.blind && node.raises[attempt] != Raise::None {
                node.raises[attempt] = Raise::None;
            }
        }
    }

    /// Ends an attempt. What its clients still have on the way stays there.
    fn end(&self, state: &mut State<N, A>, attempt: usize) {
        let client = &mut state.attempts[attempt];
        let Attempt { fence, granted, before, wrote, read, .. } = *client;
        let fence = if granted { fence } else { 0 };
        *client = Attempt { phase: Phase::Over, fence, granted, before, wrote, read, ..*client };
        client.valid = 0;
        client.round = 0;
        client.extended = false;
        client.raised = 0;
        self.forget(state, attempt);
        for node in &mut state.nodes {
            node.rounds[attempt] = Round::None;
        }
    }

    /// Forgets the answers, which are of no use any more.
    pub fn forget(&self, state: &mut State<N, A>, attempt: usize) {
        for node in &mut state.nodes {
            if !matches!(node.votes[attempt], Vote::Sent | Vote::Half { .. }) {
                node.votes[attempt] = Vote::None;
            }
            if !matches!(node.raises[attempt], Raise::Sent(_)) {
                node.raises[attempt] = Raise::None;
            }
        }
    }
}
