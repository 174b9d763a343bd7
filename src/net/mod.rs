//! System calls: sockets, the loop, the clock, names, entropy.
//!
//! This folder knows how to move bytes and what time it is. It must never decide anything about the
//! protocol: which node is worth asking, when to reconnect, what a reply means are questions that
//! [`crate::redlock`] answers. A driver that holds to that can be replaced by a simulator.

#[cfg(not(target_os = "linux"))]
compile_error!("redbolt's driver needs the clocks and timers of Linux; turn the feature `net` off");

mod address;
mod clock;
mod connection;
mod driver;
mod entropy;
mod inbox;
mod resolver;
mod waker;
mod wakeup;

pub use self::address::{Address, AddressError};
pub use self::clock::Clock;
pub(crate) use self::driver::Driver;
pub use self::driver::IoCounters;
pub(crate) use self::entropy::entropy;
pub use self::waker::Waker;
