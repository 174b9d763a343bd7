//! Random bytes from the operating system.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// `N` random bytes. Blocks only in the first seconds after a boot, until the kernel has gathered
/// enough.
///
/// # Errors
///
/// What `getrandom` says; kernels since 3.17 have it.
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
