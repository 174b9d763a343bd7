//! When a command that outlives its lock is asked to end, and when it is killed.

use std::time::Duration;

use redbolt::time::Instant;

/// The times of the signals. All are before the end of the validity: from the end on another may
/// have the lock, and nothing of the command may run any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Schedule {
    /// The signal of `--expiring-signal`: from then on a renewal is unlikely.
    pub(super) warn_at: Instant,
    /// `SIGTERM`: the command gets time to finish in good order.
    pub(super) terminate_at: Instant,
    /// `SIGKILL`: this process needs time to wake up, and the kernel to kill.
    pub(super) kill_at: Instant,
}

impl Schedule {
    /// The schedule for a lock that was acquired or renewed at `now`.
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
        let at_once = Schedule { warn_at: now, terminate_at: now, kill_at: now };
        assert_eq!(Schedule::new(now, now), at_once);
    }
}
