//! Events of the engine for `tracing` and `metrics`, each behind its feature: `log` and `count`.
//! Without these features nothing of this folder is compiled but an empty [`Observer`].

use core::time::Duration;

#[cfg(feature = "metrics")]
mod count;
#[cfg(feature = "tracing")]
mod log;

#[cfg(feature = "metrics")]
use self::count::Metrics;
#[cfg(feature = "tracing")]
pub use self::log::TRACING_TARGET;
#[cfg(feature = "tracing")]
use crate::engine::{display::Told, shown::Status};
use crate::net::Address;
use crate::redlock::{Event, Redlock};
#[cfg(any(feature = "tracing", feature = "metrics"))]
use crate::{engine::changes::Changes, net::Clock};

/// Tells of the events of one engine.
#[derive(Default)]
pub(super) struct Observer {
    #[cfg(any(feature = "tracing", feature = "metrics"))]
    changes: Changes,
    #[cfg(feature = "metrics")]
    metrics: Metrics,
}

impl Observer {
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
            let is_news = self.changes.is_news(*id, status.state);
            #[cfg(feature = "tracing")]
            log::node(&addresses[id.index()], Status { status: &status, addresses }, is_news);
            #[cfg(feature = "metrics")]
            if is_news {
                self.metrics.node(*id, addresses, &status);
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

    /// Reports how long the caller of a granted lock has waited.
    #[inline]
    pub(super) fn waited(&self, wait: Duration) {
        #[cfg(feature = "metrics")]
        count::waited(wait);
        let _ = wait;
    }
}
