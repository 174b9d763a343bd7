//! What is seen of a step from beside the load: by the servers, by the system, at the terminal.
//!
//! [`Watch`] asks the servers what they have done (`servers`), reads how busy the machine was
//! (`machine`), and shows a line a second (`live`) of what the load publishes in `progress`. A load
//! reads by itself what it has cost (`processor`). This room must never start a request for a lock.

mod live;
mod machine;
pub(crate) mod processor;
pub(crate) mod progress;
pub(crate) mod servers;

use std::thread;
use std::time::Duration;

use redbolt::time::Instant;
use redbolt::{Address, Clock};

use self::live::Live;
use self::machine::Processors;
use self::progress::Progress;
use self::servers::{Asked, ask_all};
use crate::bench::signals::Signals;

/// How often to look whether a step is over, or a signal has come.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long before the end the servers are asked for the second time at least, so that they answer
/// under load. A short step gives a quarter of itself at most.
const LEAD: Duration = Duration::from_millis(50);

/// The measured time of a step.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) begin: Instant,
    pub(crate) end: Instant,
}

impl Window {
    pub(crate) fn new(warm_up: Duration, seconds: Duration) -> Self {
        let begin = Clock::now() + warm_up;
        Self { begin, end: begin + seconds }
    }
}

/// What was seen of one step.
#[derive(Default)]
pub(crate) struct Seen {
    /// The answers of all nodes at the beginning and at the end; empty if the step ended early.
    pub(crate) before: Vec<Asked>,
    pub(crate) after: Vec<Asked>,
    /// How much of all processors of this machine was in use; `None` where the system does not
    /// tell.
    pub(crate) machine_cpu: Option<f64>,
}

/// Watches the steps of a run.
pub(crate) struct Watch<'a> {
    nodes: &'a [Address],
    signals: &'a Signals,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(nodes: &'a [Address], signals: &'a Signals) -> Self {
        Self { nodes, signals }
    }

    /// Watches until the measured time is over, a signal comes, or `is_over` says that the load has
    /// ended. `each` is called at every look, with the time.
    pub(crate) fn step(
        &self,
        window: Window,
        progress: &[Progress],
        mut each: impl FnMut(Instant),
        is_over: impl Fn() -> bool,
    ) -> Seen {
        let mut live = Live::new(window.begin);
        let mut wait_until = |until: Instant| {
            loop {
                let now = Clock::now();
                if now >= until || self.signals.caught() || is_over() {
                    return;
                }
                live.show(now, progress);
                each(now);
                thread::park_timeout((until - now).min(LOOK_EVERY));
            }
        };
        wait_until(window.begin);
        let asking = Clock::now();
        let (before, busy) = (ask_all(self.nodes), Processors::now());
        // Far servers take as long as this time, or a little longer.
        let lead = LEAD.max(2 * (Clock::now() - asking)).min((window.end - window.begin) / 4);
        wait_until(window.end - lead);
        // A load that has ended early is none.
        let is_on = Clock::now() < window.end && !self.signals.caught() && !is_over();
        let after = if is_on { ask_all(self.nodes) } else { Vec::new() };
        let busy = Processors::share(busy, Processors::now());
        wait_until(window.end);
        live.clear();
        Seen { before, after, machine_cpu: busy }
    }
}
