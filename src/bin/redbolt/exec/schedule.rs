//! When a command that outlives its lock is told to end, and when it is made to.

use std::time::Duration;

use redbolt::time::Instant;

/// Both are before the end of the validity: when that comes, another may have the lock, and
/// nothing of the command may run any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Schedule {
    /// The signal that was wished for: the lock will hardly be renewed any more.
    pub(super) warn_at: Instant,
    /// `SIGTERM`: time to finish in good order.
    pub(super) terminate_at: Instant,
    /// `SIGKILL`: time for this process to be woken and for the kernel to do it.
    pub(super) kill_at: Instant,
}

impl Schedule {
    /// Now: the lock is gone.
    pub(super) fn at_once(now: Instant) -> Self {
        Self { warn_at: now, terminate_at: now, kill_at: now }
    }

    /// For a lock that was acquired or renewed at `now`.
    pub(super) fn new(now: Instant, valid_until: Instant) -> Self {
        let validity = valid_until - now;
        let terminate = (validity / 10).clamp(Duration::from_millis(100), Duration::from_secs(10));
        let kill = (validity / 50).clamp(Duration::from_millis(20), Duration::from_secs(1));
        Self {
            warn_at: valid_until - (validity / 3).max(terminate.min(validity / 2)),
            terminate_at: valid_until - terminate.min(validity / 2),
            kill_at: valid_until - kill.min(validity / 4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leads_are_shares_of_the_validity_between_bounds() {
        let rows = [
            // validity in ms, then how many ms before its end SIGTERM and SIGKILL are sent
            (8, 4, 2),
            (100, 50, 20),
            (1_000, 100, 20),
            (10_000, 1_000, 200),
            (30_000, 3_000, 600),
            (3_600_000, 10_000, 1_000),
        ];
        let now = Instant::from_nanos(1_000_000_000);
        for (validity, terminate, kill) in rows {
            let valid_until = now + Duration::from_millis(validity);
            let schedule = Schedule::new(now, valid_until);
            let before = |at: Instant| (valid_until - at).as_millis();
            assert_eq!(before(schedule.terminate_at), terminate, "{validity}");
            assert_eq!(before(schedule.kill_at), kill, "{validity}");
            assert!(schedule.warn_at <= schedule.terminate_at, "{validity}");
        }
    }

    #[test]
    fn a_validity_that_has_ended_leaves_no_time_at_all() {
        let now = Instant::from_nanos(1_000_000_000);
        let schedule = Schedule::new(now, now);
        assert_eq!(schedule, Schedule::at_once(now));
    }
}
