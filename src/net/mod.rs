//! The system calls: sockets, the event loop, the clock, name lookup, entropy.
//!
//! This module moves bytes and reads the clock. Protocol decisions have no place here: which node
//! to ask, when to reconnect and what a reply means are decided in [`crate::redlock`]. Because of
//! this rule, a simulator can take the place of this driver.

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
mod line;
mod lull;
mod process;
mod race;
mod received;
mod resolver;
mod system;
mod transport;
mod visit;
mod waker;
mod wakeup;

#[cfg(feature = "serde")]
pub(crate) use self::address::Secret;
pub use self::address::{Address, AddressError, AddressErrorKind, Tls};
pub(crate) use self::audit::{Audited, Heard, Sample, audit};
pub use self::clock::Clock;
pub use self::credentials::Credentials;
pub(crate) use self::desk::Talk;
pub(crate) use self::driver::Driver;
pub(crate) use self::entropy::entropy;
pub use self::io_counters::IoCounters;
pub use self::process::OtherProcess;
pub(crate) use self::process::Process;
#[doc(hidden)]
pub use self::system::Timer;
pub(crate) use self::visit::{Visit, in_threads};
pub use self::waker::Waker;
