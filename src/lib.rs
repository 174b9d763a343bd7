//! A Redlock engine for services in which the lock is on the hot path.
#![forbid(unsafe_code)]

#[cfg(feature = "net")]
mod engine;
#[cfg(feature = "net")]
mod net;
pub mod redlock;
pub mod resp;
pub mod time;

#[cfg(feature = "net")]
pub use self::engine::{Config, Engine, EngineError};
#[cfg(feature = "net")]
pub use self::net::{Address, AddressError, Clock, IoCounters};
pub use self::redlock::{
    AcquireError, ConfigError, Event, ExtendError, LockId, LostReason, NodeId, NodeState,
    NodeStatus, ReleaseOutcome, RequestError, Token,
};
