//! How busy the processors of this machine are, whoever uses them.

use std::fs;

/// The processor time of this machine since it was started, in the ticks of the system.
#[derive(Clone, Copy)]
pub(crate) struct Processors {
    busy: u64,
    total: u64,
}

impl Processors {
    /// Returns `None` where the system does not tell, as outside of Linux.
    pub(crate) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Reads the line `cpu user nice system idle iowait irq softirq steal …`. The time of guests is
    /// a part of that of users.
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> =
            line.split_whitespace().take(8).map_while(|ticks| ticks.parse().ok()).collect();
        let idle = ticks.get(3)? + ticks.get(4)?;
        let total = ticks.iter().sum();
        Some(Self { busy: total - idle, total })
    }

    /// Returns the percentage of all processors that was in use between two moments.
    pub(crate) fn share(before: Option<Self>, after: Option<Self>) -> Option<f64> {
        let (before, after) = (before?, after?);
        let total = after.total.checked_sub(before.total).filter(|&ticks| ticks > 0)?;
        Some(100.0 * after.busy.saturating_sub(before.busy) as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_idle_nor_waiting_for_a_disk_is_in_use() {
        let before = Processors::parse("cpu  100 0 100 1000 0 0 0 0 50 0\ncpu0 1 1 1 1\n");
        let after = Processors::parse("cpu  140 0 110 1040 5 3 2 0 90 0\n");
        assert_eq!(Processors::share(before, after), Some(55.0));
        assert_eq!(Processors::share(after, after), None);
        for text in ["", "cpu \n", "cpu  1 2 3\n", "cpu  a b c d e\n"] {
            assert!(Processors::parse(text).is_none(), "{text}");
        }
    }
}
