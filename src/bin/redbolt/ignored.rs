//! The signals that this process ignores since its start, as `nohup` and shells want it for what
//! runs in the background.

use std::fs;

/// A set of signals.
#[derive(Clone, Copy)]
pub(crate) struct Ignored(u64);

impl Ignored {
    /// Returns the signals that are ignored now; none where the system does not say.
    pub(crate) fn at_start() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        Self(set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0))
    }

    pub(crate) fn has(self, signal: i32) -> bool {
        let shift = u32::try_from(signal - 1).ok();
        let bit = shift.and_then(|shift| 1_u64.checked_shl(shift)).unwrap_or(0);
        self.0 & bit != 0
    }
}
