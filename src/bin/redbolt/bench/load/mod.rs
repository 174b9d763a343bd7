//! The load on engines, and what is counted of it.
//!
//! `engines` has a thread for each engine, and `shares` the parts of the `demand`. `cycles` runs
//! them on one engine and knows nothing of who measures: `names` says what to lock, some more often
//! than others by `zipf`, and `schedule` when an open loop does so. `tally` counts what `cycles`
//! sees, in `slices` of time and in `latencies`, and `lanes` whose turn it was. `ending` is the end
//! of any load on an engine, and `snapshot` has all counters at one moment. This room must never
//! know how figures are printed.

pub(crate) mod cycles;
pub(crate) mod demand;
pub(crate) mod ending;
pub(crate) mod engines;
mod lanes;
pub(crate) mod latencies;
pub(crate) mod names;
pub(crate) mod schedule;
mod shares;
pub(crate) mod slices;
pub(crate) mod snapshot;
pub(crate) mod tally;
pub(crate) mod zipf;
