//! Events of the engine for `tracing` and `metrics`, each behind its feature: `log` and `count`.
//! [`board`] knows what was told of the nodes. Without these features nothing of this folder is
//! compiled but an empty [`Observer`] and an empty [`Board`].

use core::time::Duration;

#[cfg(any(feature = "tracing", feature = "metrics"))]
mod board;
#[cfg(feature = "metrics")]
mod count;
#[cfg(feature = "tracing")]
mod log;

#[cfg(any(feature = "tracing", feature = "metrics"))]
pub(crate) use self::board::Board;
#[cfg(any(feature = "tracing", feature = "metrics"))]
use self::board::Seat;
#[cfg(feature = "metrics")]
use self::count::Metrics;
#[cfg(feature = "tracing")]
pub use self::log::TRACING_TARGET;
#[cfg(feature = "tracing")]
use crate::engine::{display::Told, shown::Status};
use crate::net::Address;
#[cfg(any(feature = "tracing", feature = "metrics"))]
use crate::net::Clock;
use crate::redlock::{Event, Redlock};

/// What the engines of one client have told together: nothing without the features.
#[cfg(not(any(feature = "tracing", feature = "metrics")))]
#[derive(Clone, Copy, Default)]
pub(crate) struct Board(());

/// Tells of the events of one engine.
pub(super) struct Observer {
    #[cfg(any(feature = "tracing", feature = "metrics"))]
    seat: Seat,
    #[cfg(feature = "metrics")]
    metrics: Metrics,
}

impl Observer {
    /// Creates the observer of an engine that shares `board` with the other engines of its client.
    pub(super) fn new(board: &Board) -> Self {
        let _ = board;
        Self {
            #[cfg(any(feature = "tracing", feature = "metrics"))]
            seat: board.join(),
            #[cfg(feature = "metrics")]
            metrics: Metrics::default(),
        }
    }

    /// Reports an event that is on its way to the owner of the engine. `addresses` are those of the
    /// nodes.
    #[cfg_attr(
        not(any(feature = "tracing", feature = "metrics")),
        allow(clippy::needless_pass_by_ref_mut, reason = "what was told is kept with a feature")
    )]
    #[inline]
    pub(super) fn told(&mut self, redlock: &Redlock, addresses: &[Address], event: &Event) {
        #[cfg(any(feature = "tracing", feature = "metrics"))]
        if let Event::Node(id) = event {
            let Some(status) = redlock.node(Clock::now(), *id) else { return };
            let news = self.seat.news(*id, status.state);
            #[cfg(feature = "tracing")]
            log::node(&addresses[id.index()], Status { status: &status, addresses }, news);
            #[cfg(feature = "metrics")]
            if let Some(news) = news {
                self.metrics.node(*id, addresses, news.state, status.round_trip);
            }
            return;
        }
        #[cfg(feature = "tracing")]
        log::lock(Told { redlock, addresses }, event);
        #[cfg(feature = "metrics")]
        self.metrics.lock(redlock, addresses, event);
        let _ = (redlock, addresses, event);
    }

    /// Takes note of a lock that has ended without an event.
    #[cfg_attr(
        not(feature = "metrics"),
        allow(clippy::needless_pass_by_ref_mut, reason = "what was told is kept with the feature")
    )]
    pub(super) fn disowned(&mut self, redlock: &Redlock) {
        #[cfg(feature = "metrics")]
        self.metrics.count_held(redlock);
        let _ = redlock;
    }

    /// Reports that a function of the caller's has panicked.
    pub(super) fn panicked(&self, callback: &'static str) {
        #[cfg(feature = "tracing")]
        log::panicked(callback);
        #[cfg(feature = "metrics")]
        count::panicked(callback);
        let _ = callback;
    }

    /// Reports how long the caller of a granted lock has waited.
    #[inline]
    pub(super) fn waited(&self, wait: Duration) {
        #[cfg(feature = "metrics")]
        count::waited(wait);
        let _ = wait;
    }
}
