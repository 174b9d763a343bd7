//! The system calls: sockets, the event loop, the clock, name lookup, entropy.
//!
//! This module moves bytes and reads the clock. Protocol decisions have no place here: which node
//! to ask, when to reconnect and what a reply means are decided in [`crate::redlock`]. Because of
//! this rule, a simulator can take the place of this driver.

#[cfg(not(target_os = "linux"))]
compile_error!("redbolt's driver needs the clocks and timers of Linux; turn the feature `net` off");

mod address;
mod audit;
pub(crate) mod callback;
mod clock;
mod connection;
mod credentials;
mod desk;
mod driver;
mod entropy;
mod inbox;
mod io_counters;
mod process;
mod resolver;
mod visit;
mod waker;
mod wakeup;

#[cfg(feature = "serde")]
pub(crate) use self::address::Secret;
pub use self::address::{Address, AddressError, AddressErrorKind};
pub(crate) use self::audit::{Audited, Heard, Sample, audit};
pub use self::clock::Clock;
pub use self::credentials::Credentials;
pub(crate) use self::desk::Talk;
pub(crate) use self::driver::Driver;
pub(crate) use self::entropy::entropy;
pub use self::io_counters::IoCounters;
pub use self::process::OtherProcess;
pub(crate) use self::process::Process;
pub(crate) use self::visit::{Visit, in_threads};
pub use self::waker::Waker;
