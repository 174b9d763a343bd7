//! One state of a world: what the masters, the attempts and the storage know.
//!
//! A message is a state of the pair of an attempt and a master. Nothing keeps two messages in
//! order. A message may be late without bound, or never come. A client that crashed or stands still
//! is one that takes none of its steps. An answer is no step: a client looks at any of the answers
//! that exist, at any time. A lost answer is one at which no client ever looks.

/// The token at a key that is free.
pub const NOBODY: u8 = u8::MAX;

/// The `SET` of an attempt at a master, with the number that belongs to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Vote {
    /// Not sent, or of no use any more.
    None,
    /// On the way.
    Sent,
    /// The `SET` was executed, the command about the number comes behind.
    Half {
        /// The key was set.
        granted: bool,
    },
    /// The key was set, and this number accepted.
    Granted(u8),
    /// The key was set. The number was not larger than what it had to be larger than.
    Lacking,
    /// The key was refused, and this number accepted.
    Refused(u8),
}

/// The request to record a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Raise {
    /// Not sent, or of no use any more.
    None,
    /// On the way.
    Sent(u8),
    /// The number was larger than all before, and is recorded.
    Accepted(u8),
}

/// The request to keep a key for longer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Round {
    /// Not sent, or of no use any more.
    None,
    /// On the way.
    Sent,
    /// The key was the attempt's, and lives for longer.
    Kept,
}

/// A master.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Node<const A: usize> {
    /// What its wall clock shows when time begins.
    pub clock: u8,
    /// The attempts whose tokens stand at the two keys.
    pub keys: [u8; 2],
    /// When the two keys end.
    pub expires: [u8; 2],
    /// The largest number of each of the two stripes.
    pub numbers: [u8; 2],
    /// Not asked before this time.
    pub fit_from: u8,
    /// Numbers up to this one do not count (`Numbers::Count`).
    pub floor: u8,
    /// The numbers are lost, and no others were written yet (`Numbers::Heal`).
    pub blank: bool,
    /// The numbers were read for a blank master.
    pub read: bool,
    /// By attempt.
    pub votes: [Vote; A],
    /// By attempt.
    pub raises: [Raise; A],
    /// By attempt.
    pub rounds: [Round; A],
}

/// Where an attempt stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Not begun.
    Idle,
    /// The masters are asked for their votes.
    Asking,
    /// A majority has voted with different numbers, and a larger one is being recorded.
    Raising,
    /// The lock is held.
    Held,
    /// Given up, let go, handed over, or ended.
    Over,
}

/// An attempt, with a token of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Attempt {
    /// Where it stands.
    pub phase: Phase,
    /// What it proposes.
    pub proposal: u8,
    /// The number that is being recorded, or that was handed out.
    pub fence: u8,
    /// How many numbers it has had recorded.
    pub raised: u8,
    /// Its number was handed out.
    pub granted: bool,
    /// The attempts, by bit, whose numbers have to be smaller.
    pub before: u8,
    /// When its validity ends.
    pub valid: u8,
    /// When its extension began, and one more; 0: none is on its way.
    pub round: u8,
    /// It was extended.
    pub extended: bool,
    /// It has written to the storage.
    pub wrote: bool,
    /// It has read from the storage.
    pub read: bool,
}

impl Attempt {
    /// An attempt that has not begun.
    pub const IDLE: Self = Self {
        phase: Phase::Idle,
        proposal: 0,
        fence: 0,
        raised: 0,
        granted: false,
        before: 0,
        valid: 0,
        round: 0,
        extended: false,
        wrote: false,
        read: false,
    };

    /// Returns whether its number is still sought.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Asking | Phase::Raising)
    }
}

/// Everything.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State<const N: usize, const A: usize> {
    /// The true time.
    pub now: u8,
    /// Crashes that may still come.
    pub crashes: u8,
    /// Requests that may still be executed a second time.
    pub again: u8,
    /// The largest number that was read for blank masters.
    pub healed: u8,
    /// The largest number that the storage has accepted.
    pub stored: u8,
    /// What must never be, as bits of `properties`.
    pub wrong: u8,
    /// The masters, sorted: they are interchangeable.
    pub nodes: [Node<A>; N],
    /// The attempts.
    pub attempts: [Attempt; A],
}

impl<const N: usize, const A: usize> State<N, A> {
    /// Returns how many masters are as described.
    pub fn count(&self, is: impl Fn(&Node<A>) -> bool) -> usize {
        self.nodes.iter().filter(|node| is(node)).count()
    }

    /// Brings a state into the form that stands for all states like it.
    pub fn tidy(&mut self) {
        for index in 0..A {
            let attempt = &mut self.attempts[index];
            let is_underway =
                |node: &Node<A>| matches!(node.votes[index], Vote::Sent | Vote::Half { .. });
            if !attempt.is_open() && !self.nodes.iter().any(is_underway) {
                attempt.proposal = 0;
            }
        }
        self.nodes.sort_unstable();
    }
}
