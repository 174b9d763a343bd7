//! The plan of a client for one lock.

use std::time::Duration;

use fastrand::Rng;

use crate::order::Habit;

/// The intentions for one lock. Times are since boot.
pub(crate) struct Plan {
    pub(crate) ttl: Duration,
    /// How long the client waits for the lock.
    pub(crate) wait: Duration,
    /// When the next step is due; `None` leaves the lock alone.
    pub(crate) due: Option<Duration>,
    /// How long the client holds the lock until the first step; `None` lets the lock lapse.
    holds: Option<Duration>,
    /// How many steps are extensions, before the step that releases.
    extensions: u32,
}

impl Plan {
    pub(crate) fn draw(rng: &mut Rng, habit: Habit, max_ttl: Duration, now: Duration) -> Self {
        match habit {
            Habit::Mixed => Self::mixed(rng, max_ttl, now),
            Habit::Clinging => {
                let (ttl, wait) = (max_ttl, 10 * max_ttl);
                Self { ttl, wait, due: None, holds: None, extensions: 0 }
            }
        }
    }

    /// Most locks are held briefly, so that many change hands. Some locks are held beyond their
    /// validity, to be lost; some are extended a few times; some lapse; and some requests are
    /// cancelled before they are granted.
    fn mixed(rng: &mut Rng, max_ttl: Duration, now: Duration) -> Self {
        let ttl = share(max_ttl, rng.u32(20..=100));
        let wait = if rng.u32(..5) == 0 { Duration::ZERO } else { max_ttl * rng.u32(1..=2) };
        let (holds, extensions) = match rng.u32(..40) {
            0..=33 => (Some(Duration::from_millis(rng.u64(..20))), 0),
            34..=35 => (Some(share(ttl, rng.u32(..150))), 0),
            36..=38 => (Some(share(ttl, rng.u32(10..80))), rng.u32(1..5)),
            _ => (None, 0),
        };
        let cancels = rng.u32(..20) == 0;
        let due = cancels.then(|| now + share(max_ttl, rng.u32(..50)));
        Self { ttl, wait, due, holds, extensions }
    }

    /// Starts the clock of the steps: the lock is held since now.
    pub(crate) fn hold(&mut self, now: Duration) {
        self.due = self.holds.map(|holds| now + holds);
    }

    /// Returns the ttl of the extension in this step, after which the next step is due, or `None`
    /// if the lock is to be released.
    pub(crate) fn next_extension(&mut self, rng: &mut Rng, now: Duration) -> Option<Duration> {
        self.extensions = self.extensions.checked_sub(1)?;
        self.due = Some(now + share(self.ttl, rng.u32(10..90)));
        Some(self.ttl)
    }
}

fn share(of: Duration, percent: u32) -> Duration {
    of * percent / 100
}
