//! What all workers of a client share: their measured time, what they have done, and their end.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Client, Clock, LockRequest};

use super::figures::Crowd;
use super::status;
use super::sums::Shares;
use crate::bench::load::demand::Demand;
use crate::bench::signals::Signals;
use crate::bench::watch::progress::Progress;
use crate::bench::watch::{Seen, Watch, Window, processor};
use crate::output::say;

/// How often to check whether a signal ends the run.
pub(super) const CHECK_EVERY: Duration = Duration::from_millis(50);

/// How often the line at the terminal is brought up to date.
const PUBLISH_EVERY: Duration = Duration::from_millis(500);

/// How long to wait for a lock: longer than any fair queue takes.
const WAIT: Duration = Duration::from_secs(30);

/// How long the last requests may take after the end of the run before the client ends them.
const GRACE: Duration = Duration::from_secs(5);

/// How long they may take after a signal.
const SHORT_GRACE: Duration = Duration::from_secs(1);

/// How long the end may take in silence.
const SILENCE: Duration = Duration::from_millis(500);

/// How long the last releases may then take to arrive.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// What the workers share.
pub(super) struct Work {
    pub(super) window: Window,
    is_over: AtomicBool,
    /// How many workers have not come to their end.
    pub(super) left: AtomicUsize,
    /// When the lock that all workers want was released last, in nanoseconds.
    pub(super) released_at: AtomicU64,
    /// Starts that were due and never made.
    pub(super) overdue: AtomicU64,
    /// Starts that were due in the measured time.
    pub(super) due: AtomicU64,
    pub(super) demand: Demand,
    pub(super) is_contended: bool,
    pub(super) shares: Shares,
}

/// What a step took, and what was seen of it.
pub(super) struct Measured {
    seconds: Duration,
    cpu: Duration,
    /// When it was over.
    at: Instant,
    further_trips: u64,
    widened: u64,
    absent: Vec<String>,
    seen: Seen,
}

impl Work {
    pub(super) fn new(demand: &Demand, [warm_up, seconds]: [Duration; 2]) -> Self {
        let window = Window::new(warm_up, seconds);
        Self {
            window,
            is_over: AtomicBool::new(false),
            left: AtomicUsize::new(demand.in_flight),
            released_at: AtomicU64::new(0),
            overdue: AtomicU64::new(0),
            due: AtomicU64::new(0),
            demand: demand.clone(),
            is_contended: demand.resources.count() == Some(1),
            shares: Shares::new(window.begin, seconds),
        }
    }

    /// Waits for the end of the run. Returns its length and what it took.
    pub(super) fn measure(&self, client: &Client, watch: &Watch<'_>) -> Measured {
        let progress = [Progress::default()];
        let (mut start, mut cpu) = (Clock::now(), processor::of_process());
        let [mut slice_end, mut publish_at] = [Instant::FAR_FUTURE, start + PUBLISH_EVERY];
        let mut trips = status::trips(client);
        let mut is_begun = false;
        let each = |now| {
            if now >= self.window.begin && !is_begun {
                is_begun = true;
                trips = status::trips(client);
                (start, cpu) = (Clock::now(), processor::of_process());
                slice_end = self.shares.next_slice(self.window.begin);
            }
            if now >= slice_end {
                self.shares.close_slice(now);
                slice_end = self.shares.next_slice(now);
            }
            if now >= publish_at {
                self.shares.publish(&progress[0]);
                progress[0].publish_absent(status::absent(client));
                publish_at = now + PUBLISH_EVERY;
            }
        };
        let seen = watch.step(self.window, &progress, each, || false);
        let (now, cpu_after) = (Clock::now(), processor::of_process());
        self.is_over.store(true, Ordering::Relaxed);
        self.shares.end(now);
        let after = status::trips(client);
        let seconds = now - self.window.begin;
        // The processor time is read a moment after the beginning.
        let share = seconds.as_secs_f64() / (now - start).as_secs_f64().max(1e-9);
        Measured {
            seconds,
            cpu: cpu_after.saturating_sub(cpu).mul_f64(share.min(2.0)),
            at: now,
            further_trips: after[0].saturating_sub(trips[0]),
            widened: after[1].saturating_sub(trips[1]),
            absent: status::absent(client),
            seen,
        }
    }

    /// Whether the measured time is over.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Returns a request for the next lock of a worker.
    pub(super) fn request(&self, client: &Client, name: &[u8]) -> LockRequest {
        let request = client.lock(name).ttl(self.demand.ttl).wait(WAIT);
        if self.demand.is_fenced { request.fenced() } else { request }
    }

    /// Waits until the workers have come to their end, and shuts the client down, which ends what
    /// they still wait for. Returns whether all releases were confirmed.
    pub(super) fn wind_down(&self, client: &Client, signals: &Signals) -> bool {
        let over = Clock::now();
        let mut is_told = false;
        let left = || self.left.load(Ordering::Acquire);
        let grace = || if signals.caught() { SHORT_GRACE } else { GRACE };
        while left() > 0 && Clock::now() - over < grace() {
            if !is_told && Clock::now() - over >= SILENCE {
                is_told = true;
                match left() {
                    1 => say("ending: 1 request still waits for its lock"),
                    count => {
                        say(format_args!("ending: {count} requests still wait for their lock"));
                    }
                }
            }
            thread::park_timeout(CHECK_EVERY);
        }
        client.blocking_shutdown(SHUTDOWN_TIMEOUT).is_complete()
    }
    /// Puts together what all workers have done, when they have added their cycles and are gone.
    pub(super) fn into_crowd(self, measured: Measured, is_clean: bool) -> Crowd {
        let (overdue, due) = (self.overdue.into_inner(), self.due.into_inner());
        Crowd {
            seconds: measured.seconds,
            cpu: measured.cpu,
            counted: self.shares.count(measured.at, [overdue, due]),
            is_clean,
            wound_down: Clock::now() - measured.at,
            further_trips: measured.further_trips,
            widened: measured.widened,
            kept: None,
            absent: measured.absent,
            seen: measured.seen,
        }
    }
}
