//! The steps that a world can take, and the model that the checker sees.

use stateright::{Model, Property};

use crate::properties;
use crate::state::{Attempt, NOBODY, Node, Raise, Round, State, Vote};
use crate::world::{Numbers, World};

/// A step. The first number is an attempt; the second is a master, or a number of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A client asks the masters, and proposes a number. An heir takes the lock over.
    Start(u8, u8),
    /// A master executes `SET … NX`, grants the key, and draws a number.
    Set(u8, u8),
    /// A master refuses the key. The command about the number follows.
    Refuse(u8, u8),
    /// A master executes the command about the number.
    Number(u8, u8),
    /// A master executes the same `SET` again, and this answer is the one that the client hears.
    SetAgain(u8, u8),
    /// The same, but the client has heard the first answer.
    SetAgainUnheard(u8, u8),
    /// A client has a number recorded.
    Raise(u8, u8),
    /// A master records it.
    Accept(u8, u8),
    /// A client is handed out its number.
    Grant(u8, u8),
    /// A client lets go, or gives up.
    LetGo(u8),
    /// A client asks for an extension.
    Extend(u8),
    /// A master keeps the key for longer.
    Keep(u8, u8),
    /// A client believes in its extension.
    Extended(u8),
    /// A master that lacks the key of a held lock is given it.
    Fill(u8, u8),
    /// A holder writes to the storage.
    Write(u8),
    /// A holder reads from the storage.
    Read(u8),
    /// Time passes.
    Tick,
    /// A master crashes, and comes back without its keys.
    Crash(u8),
    /// A master's numbers are read for a blank one.
    HealRead(u8),
    /// The largest of them is written to the blank ones.
    HealWrite,
}

impl<const N: usize, const A: usize> Model for World<N, A> {
    type State = State<N, A>;
    type Action = Step;

    /// Some of the clocks are as slow as they may be, the others as fast.
    fn init_states(&self) -> Vec<Self::State> {
        let (unit, skew) = self.clocks.map_or((0, 0), |clocks| (clocks.unit, clocks.skew));
        let node = |clock: u8| Node {
            clock,
            keys: [NOBODY; 2],
            expires: [0; 2],
            numbers: match self.form.numbers {
                Numbers::Clock | Numbers::Estimate => [0; 2],
                Numbers::Heal => [1; 2],
                Numbers::Count => [clock; 2],
            },
            fit_from: 0,
            floor: if self.form.numbers == Numbers::Count { clock } else { 0 },
            blank: false,
            read: false,
            votes: [Vote::None; A],
            raises: [Raise::None; A],
            rounds: [Round::None; A],
        };
        let most = if skew > 0 { N } else { 0 };
        let state = |fast: usize| {
            let mut state = State {
                now: 0,
                crashes: self.clocks.map_or(0, |clocks| clocks.crashes),
                again: self.again,
                healed: 0,
                stored: 0,
                wrong: 0,
                nodes: [node(unit); N],
                attempts: [Attempt::IDLE; A],
            };
            state.nodes[..fast].fill(node(unit + 2 * skew));
            state.tidy();
            state
        };
        (0..=most).map(state).collect()
    }

    fn actions(&self, state: &Self::State, steps: &mut Vec<Step>) {
        if state.wrong != 0 {
            return;
        }
        for attempt in 0..A {
            self.client_steps(state, attempt, steps);
            self.storage_steps(state, attempt, steps);
            for at in 0..N {
                self.node_steps(state, attempt, at, steps);
            }
        }
        self.clock_steps(state, steps);
        self.heal_steps(state, steps);
    }

    fn next_state(&self, last: &Self::State, step: Step) -> Option<Self::State> {
        let mut next = last.clone();
        let state = &mut next;
        let at = usize::from;
        match step {
            Step::Start(attempt, proposal) => self.start(state, at(attempt), proposal),
            Step::Set(attempt, node) => self.set(state, at(attempt), at(node)),
            Step::Refuse(attempt, node) => self.refuse(state, at(attempt), at(node)),
            Step::Number(attempt, node) => self.number(state, at(attempt), at(node)),
            Step::SetAgain(attempt, node) => self.set_again(state, at(attempt), at(node), true),
            Step::SetAgainUnheard(attempt, node) => {
                self.set_again(state, at(attempt), at(node), false);
            }
            Step::Raise(attempt, number) => self.raise(state, at(attempt), number),
            Step::Accept(attempt, node) => self.accept(state, at(attempt), at(node)),
            Step::Grant(attempt, number) => self.grant(state, at(attempt), number),
            Step::LetGo(attempt) => self.let_go(state, at(attempt)),
            Step::Extend(attempt) => self.extend(state, at(attempt)),
            Step::Keep(attempt, node) => self.keep(state, at(attempt), at(node)),
            Step::Extended(attempt) => self.extended(state, at(attempt)),
            Step::Fill(attempt, node) => {
                let valid = state.attempts[at(attempt)].valid;
                self.give_keys(&mut state.nodes[at(node)], at(attempt), valid);
            }
            Step::Write(attempt) => self.write(state, at(attempt)),
            Step::Read(attempt) => state.attempts[at(attempt)].read = true,
            Step::Tick => self.tick(state),
            Step::Crash(node) => self.crash(state, at(node)),
            Step::HealRead(node) => self.heal_read(state, at(node)),
            Step::HealWrite => self.heal_write(state),
        }
        state.tidy();
        self.tally.is_news(state.wrong).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
