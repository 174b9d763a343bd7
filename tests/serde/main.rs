//! Configurations in files, as users of the feature `serde` have them.
#![cfg(all(feature = "serde", feature = "net"))]

mod reading;
mod refusals;
mod secrets;
mod texts;
