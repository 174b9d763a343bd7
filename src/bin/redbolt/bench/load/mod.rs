//! The load on engines, and what is counted of it.
//!
//! `engines` has a thread for each engine, and `shares` the parts of the load. `cycles` runs them on
//! one engine and knows nothing of who measures: `names` says what to lock, and `schedule` when an
//! open loop does so. `tally` counts what `cycles` sees, `snapshot` has all counters at one moment,
//! and `live` shows them at a terminal. This room must never know how figures are printed.

pub(crate) mod cycles;
pub(crate) mod engines;
mod live;
pub(crate) mod names;
mod schedule;
mod shares;
pub(crate) mod snapshot;
pub(crate) mod tally;
