//! Random bytes from the operating system.

use std::io;

use super::system;

/// Returns `N` random bytes from the kernel.
///
/// # Errors
///
/// Returns the error of the system: that of `getrandom`, which Linux has since 3.17, or that of
/// `/dev/urandom` on macOS.
pub(crate) fn entropy<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    system::fill(&mut bytes)?;
    Ok(bytes)
}
