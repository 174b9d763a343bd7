//! The ways to wait: one look, a sleep, a pause before the sleep, and spinning.

use core::time::Duration;
use std::{io, thread};

use super::Driver;
use crate::net::clock::Clock;
use crate::net::lull::Wait;
use crate::redlock::{NodeId, Redlock};
use crate::time::Instant;

impl Driver {
    /// Sleeps until something happens or `timeout` is over. With many requests on their way, leaves
    /// the sockets alone for a moment before.
    pub(super) fn doze(&mut self, redlock: &Redlock, timeout: Option<Duration>) -> io::Result<()> {
        let pause = self.next_pause(redlock, timeout);
        if !pause.is_zero() {
            self.pause(pause);
        }
        self.sleep(timeout.map(|timeout| timeout.saturating_sub(pause)))
    }

    /// Returns for how long to leave the sockets alone before a wait of `timeout`.
    fn next_pause(&mut self, redlock: &Redlock, timeout: Option<Duration>) -> Duration {
        if self.links.iter().any(|link| link.unread) {
            return Duration::ZERO;
        }
        let has_written = self.counters.writes != self.written;
        self.written = self.counters.writes;
        let wait = Wait {
            has_written,
            queues: redlock.nodes().into_iter().map(|id| redlock.unanswered(id)).collect(),
            most: timeout.unwrap_or(Duration::MAX),
            round_trip: |node| {
                NodeId::new(node).map_or(Duration::ZERO, |id| redlock.least_round_trip(id))
            },
            // Replies can wait, and so can whatever they decide. The end of a lock cannot.
            due_by: |at| redlock.first_due_without_reply(at),
        };
        self.lull.pause(wait, Clock::now)
    }

    #[expect(clippy::disallowed_methods, reason = "what comes meanwhile is to be handled together")]
    fn pause(&mut self, pause: Duration) {
        self.counters.pauses += 1;
        thread::sleep(pause);
    }

    /// Polls without sleeping for up to `busy_poll`, then sleeps for the rest of `timeout`.
    pub(super) fn spin(
        &mut self,
        redlock: &Redlock,
        timeout: Option<Duration>,
        busy_poll: Duration,
    ) -> io::Result<()> {
        let start = Clock::now();
        let patience = timeout.map_or(busy_poll, |timeout| timeout.min(busy_poll));
        let deadline = self.next_deadline(redlock).unwrap_or(Instant::FAR_FUTURE);
        loop {
            self.select(Some(Duration::ZERO))?;
            let now = Clock::now();
            if !self.events.is_empty() || now >= deadline {
                return Ok(());
            }
            if now - start >= patience {
                let left = timeout.map(|timeout| timeout.saturating_sub(now - start));
                return self.sleep(left);
            }
        }
    }

    /// Sleeps until something happens or `timeout` is over.
    ///
    /// The timer ends the sleep: `epoll_wait` would round `timeout` up to a whole millisecond.
    fn sleep(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if let Some(timeout) = timeout {
            self.counters.timers += u64::from(self.wakeup.arm(Clock::now() + timeout)?);
        }
        self.select(None)
    }

    pub(super) fn select(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.counters.waits += 1;
        match self.poll.poll(&mut self.events, timeout) {
            // A signal: the wait ends, so that the caller can look at what the signal changed.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.events.clear();
                Ok(())
            }
            result => result,
        }
    }
}
