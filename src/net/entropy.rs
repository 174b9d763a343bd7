//! Random bytes from the operating system.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// Returns `N` random bytes from the kernel.
///
/// Blocks only in the first seconds after a boot, until the kernel has gathered enough entropy.
///
/// # Errors
///
/// Returns the error of `getrandom`, a system call that kernels have since 3.17.
pub(crate) fn entropy<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}
