//! What differs between operating systems. The rest of `net` does not know which system this is.
//!
//! Each system has a file with the same items:
//!
//! * `since_boot` reads a clock that is monotonic, is never set, and counts the time in which the
//!   machine sleeps (S9);
//! * `fill` gets random bytes;
//! * `Timer` is a file descriptor that becomes readable at an instant of that clock, also when the
//!   instant passes while the machine sleeps;
//! * `end_when_silent` has the kernel end a TCP connection on which the other side is silent.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub use self::linux::Timer;
#[cfg(target_os = "linux")]
pub(super) use self::linux::{end_when_silent, fill, since_boot};
#[cfg(target_os = "macos")]
pub use self::macos::Timer;
#[cfg(target_os = "macos")]
pub(super) use self::macos::{end_when_silent, fill, since_boot};

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!(
    "redbolt's driver knows the clocks and timers of Linux and macOS. Locks are safe only by a \
     clock that counts the time in which the machine sleeps (SAFETY.md, S9). Turn the feature \
     `net` off, or write a file for this system beside src/net/system/linux.rs"
);
