//! A Redlock engine for services in which the lock is on the hot path.
#![forbid(unsafe_code)]

#[cfg(feature = "embedded")]
pub mod embedded;
pub mod resp;
pub mod time;
