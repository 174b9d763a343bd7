//! What must hold in every state, and what a run must have come across.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use stateright::Property;

use crate::state::{Node, Phase, State, Vote};
use crate::world::World;

/// A number is not larger than one that has to be smaller.
pub const ORDER: u8 = 1;
/// A number was handed out twice in one stripe.
pub const TWICE: u8 = 2;
/// The storage took a write of an older holder behind a newer one.
pub const STORAGE: u8 = 4;
/// Two clients hold the same lock.
pub const TWO_HOLDERS: u8 = 8;

/// What each of the bits means.
pub const ALWAYS: [(u8, &str); 4] =
    [(ORDER, "order"), (TWICE, "uniqueness"), (STORAGE, "storage"), (TWO_HOLDERS, "exclusion")];

/// Every attempt has been granted its number in some state.
pub const ALL_GRANTED: &str = "everybody is granted";

/// Counts what a run comes across.
#[derive(Debug, Default)]
pub struct Tally {
    /// Grants in one round trip.
    pub one_trip: AtomicU64,
    /// Grants in more than one.
    pub two_trips: AtomicU64,
    /// Something wrong was found.
    found: AtomicBool,
    /// The search is over.
    is_over: AtomicBool,
}

impl Tally {
    /// Returns whether the checker is to see this state.
    ///
    /// The first state that is wrong ends a shortest counterexample, because the search goes by
    /// breadth. The checker would remember the last.
    pub fn is_news(&self, wrong: u8) -> bool {
        wrong == 0
            || self.is_over.load(Ordering::Relaxed)
            || !self.found.swap(true, Ordering::Relaxed)
    }

    /// Lets the checker walk the path to what was found.
    pub fn end_search(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl<const N: usize, const A: usize> World<N, A> {
    /// Returns the attempts, by bit, that were granted a number in a stripe of this one.
    pub fn granted(&self, state: &State<N, A>, attempt: usize) -> u8 {
        let is_before =
            |other: &usize| state.attempts[*other].granted && self.meet(*other, attempt);
        (0..A).filter(is_before).map(|other| 1 << other).sum()
    }

    /// Hands out a number, and looks at all that were handed out before.
    ///
    /// Without clocks, a number has to be larger than those that were handed out before its attempt
    /// began. With clocks, larger than all that were handed out before.
    pub fn grant(&self, state: &mut State<N, A>, attempt: usize, number: u8) {
        if self.parts[attempt].fenced {
            self.hand_out(state, attempt, number);
        }
        self.look_for_holders(state, attempt);
        state.attempts[attempt].phase = Phase::Held;
        self.forget(state, attempt);
    }

    fn hand_out(&self, state: &mut State<N, A>, attempt: usize, number: u8) {
        if self.clocks.is_some() {
            state.attempts[attempt].before = self.granted(state, attempt);
        }
        let before = state.attempts[attempt].before;
        for other in (0..A).filter(|other| *other != attempt && self.meet(*other, attempt)) {
            let other_client = &state.attempts[other];
            if !other_client.granted {
                continue;
            }
            if other_client.fence == number {
                state.wrong |= TWICE;
            }
            if before & (1 << other) != 0 && other_client.fence >= number {
                state.wrong |= ORDER;
            }
        }
        let drew = |node: &Node<A>| node.votes[attempt] == Vote::Granted(number);
        let is_fast = state.count(drew) >= self.quorum();
        let trips = if is_fast { &self.tally.one_trip } else { &self.tally.two_trips };
        trips.fetch_add(1, Ordering::Relaxed);
        let client = &mut state.attempts[attempt];
        client.fence = number;
        client.granted = true;
        if !self.storage {
            client.before = 0;
        }
    }

    fn look_for_holders(&self, state: &mut State<N, A>, attempt: usize) {
        let resources = self.parts[attempt].resources;
        for other in (0..A).filter(|other| *other != attempt) {
            let is_held = state.attempts[other].phase == Phase::Held;
            let meets = self.parts[other].resources & resources != 0;
            if self.clocks.is_some() && is_held && meets {
                state.wrong |= TWO_HOLDERS;
            }
        }
    }
}

/// Returns all properties.
pub fn all<const N: usize, const A: usize>() -> Vec<Property<World<N, A>>> {
    fn is_right<const N: usize, const A: usize, const BIT: u8>(
        _: &World<N, A>,
        state: &State<N, A>,
    ) -> bool {
        state.wrong & BIT == 0
    }
    vec![
        Property::always("order", is_right::<N, A, ORDER>),
        Property::always("uniqueness", is_right::<N, A, TWICE>),
        Property::always("storage", is_right::<N, A, STORAGE>),
        Property::always("exclusion", is_right::<N, A, TWO_HOLDERS>),
        Property::sometimes(ALL_GRANTED, |world, state: &State<N, A>| {
            let is_granted =
                |index: usize| state.attempts[index].granted || !world.parts[index].fenced;
            (0..A).all(is_granted)
        }),
    ]
}
