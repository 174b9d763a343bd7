//! What one run is about: the form of the protocol, what is broken in it, and the bounds.

use crate::properties::Tally;
use crate::variants::Broken;

/// Where a master's numbers come from, and what keeps them growing when its memory is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// The client's proposal, cut to the master's own clock, or one more than the master has.
    Clock,
    /// The client's proposal, or one more than the master has. A master that has lost its memory is
    /// asked again once the largest number of a majority has been written there.
    Heal,
    /// One more than the master has. Such a number counts only if it is larger than the master's
    /// floor: what its clock showed at the end of its quarantine. Clients know the floor.
    Count,
    /// The client's proposal, which the client takes from the masters' clocks, if it is larger than
    /// what the master has. Otherwise none.
    Estimate,
}

/// A form of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Where the numbers come from.
    pub numbers: Numbers,
    /// `SET` and the number are two commands. Those of other clients can come between them, and a
    /// master that refuses the key counts all the same.
    pub split: bool,
    /// A master accepts a raised number without a look at the key.
    pub blind: bool,
}

/// What one attempt wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Bit 0 for the first resource, bit 1 for the second.
    pub resources: u8,
    /// The attempt draws a number.
    pub fenced: bool,
    /// The attempt takes over the lock of an earlier one, and has a new number recorded.
    pub heir_of: Option<u8>,
}

impl Part {
    /// A lock on the first resource.
    pub const FIRST: Self = Self { resources: 1, fenced: true, heir_of: None };
    /// A lock on the second resource.
    pub const SECOND: Self = Self { resources: 2, ..Self::FIRST };
    /// A lock on both.
    pub const BOTH: Self = Self { resources: 3, ..Self::FIRST };
    /// A lock on the first resource without a number.
    pub const PLAIN: Self = Self { fenced: false, ..Self::FIRST };
    /// The heir of the first attempt.
    pub const HEIR: Self = Self { heir_of: Some(0), ..Self::FIRST };
}

/// The bounds of a world with clocks. Times are ticks.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    /// When time ends.
    pub horizon: u8,
    /// For how long a key lives, and a client believes.
    pub ttl: u8,
    /// For how long a master is not asked after a crash.
    pub quarantine: u8,
    /// Numbers in a tick.
    pub unit: u8,
    /// By how many numbers a master's clock is off, at most, either way.
    pub skew: u8,
    /// By how many numbers a proposal can differ from the master's clock.
    pub window: u8,
    /// Crashes, in all.
    pub crashes: u8,
    /// A crashed master comes back with an old number instead of none.
    pub stale: bool,
    /// A holder extends its lock once.
    pub extensions: bool,
    /// A holder gives its key to masters that lack it.
    pub fills: bool,
}

/// A run: N masters, A attempts.
#[derive(Debug)]
pub struct World<const N: usize, const A: usize> {
    /// The form of the protocol.
    pub form: Form,
    /// What is broken in it.
    pub broken: Option<Broken>,
    /// What each attempt wants.
    pub parts: [Part; A],
    /// What an attempt can propose.
    pub proposals: &'static [u8],
    /// Both resources share one stripe, so that neighbours count together.
    pub one_stripe: bool,
    /// How often an attempt can have another number recorded.
    pub raises: u8,
    /// How often a `SET` is executed a second time.
    pub again: u8,
    /// Holders write to the storage.
    pub storage: bool,
    /// None: the world without clocks.
    pub clocks: Option<Clocks>,
    /// What the run has come across.
    pub tally: Tally,
}

impl<const N: usize, const A: usize> World<N, A> {
    /// The world without clocks, in which all want the same resource.
    pub fn free(proposals: &'static [u8]) -> Self {
        Self {
            form: Form { numbers: Numbers::Clock, split: false, blind: false },
            broken: None,
            parts: [Part::FIRST; A],
            proposals,
            one_stripe: false,
            raises: 1,
            again: 0,
            storage: false,
            clocks: None,
            tally: Tally::default(),
        }
    }

    /// The world with clocks.
    pub fn timed(proposals: &'static [u8], clocks: Clocks) -> Self {
        Self { clocks: Some(clocks), ..Self::free(proposals) }
    }

    /// Returns how many masters must agree.
    pub fn quorum(&self) -> usize {
        if self.is(Broken::Half) { N / 2 } else { N / 2 + 1 }
    }

    /// Returns whether this is what is broken.
    pub fn is(&self, broken: Broken) -> bool {
        self.broken == Some(broken)
    }

    /// Returns whose token an attempt has.
    pub fn token(&self, attempt: usize) -> u8 {
        self.parts[attempt].heir_of.unwrap_or(attempt as u8)
    }

    /// Returns the resources of an attempt.
    pub fn resources(&self, attempt: usize) -> impl Iterator<Item = usize> + use<N, A> {
        let resources = self.parts[attempt].resources;
        (0..2).filter(move |resource| resources & (1 << resource) != 0)
    }

    /// Returns the stripes of an attempt, in which its numbers are.
    pub fn stripes(&self, attempt: usize) -> impl Iterator<Item = usize> + use<N, A> {
        let resources = self.parts[attempt].resources;
        let stripes = if self.one_stripe { 1 } else { resources };
        (0..2).filter(move |stripe| stripes & (1 << stripe) != 0)
    }

    /// Returns whether two attempts have numbers in a common stripe.
    pub fn meet(&self, one: usize, other: usize) -> bool {
        self.stripes(one).any(|stripe| self.stripes(other).any(|other| other == stripe))
    }
}
