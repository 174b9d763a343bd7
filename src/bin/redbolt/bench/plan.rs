//! Which loads a run measures, and in which order.

/// How often each load is measured at most.
pub(crate) const MOST_ROUNDS: u32 = 1000;

/// One load: what a level of a sweep differs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Level {
    /// The locks in flight, or the threads or tasks of a client.
    pub(crate) in_flight: usize,
    /// Starts a second; `None` for a closed loop.
    pub(crate) rate: Option<u32>,
}
