//! Waiting for the engine, signals and the time, all at once.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use redbolt::time::Instant;
use redbolt::{Config, Engine, Event, Timer};
use rustix::process::Signal;

use super::failure::Failure;
use super::signals::Signals;

pub(super) struct Watch {
    pub(super) engine: Engine,
    signals: Signals,
    timer: Timer,
    poll: Poll,
    events: Events,
}

pub(super) enum News {
    /// The time has come that the caller has named. `Time` comes before all other news.
    Time,
    /// The engine has an event.
    Engine(Event),
    /// A signal has come.
    Signal(Signal),
}

impl Watch {
    pub(super) fn new(config: Config) -> Result<Self, Failure> {
        let engine = Engine::new(config)?;
        let (signals, timer, poll) = (Signals::new()?, Timer::new()?, Poll::new()?);
        watch(&poll, &engine)?;
        watch(&poll, &signals)?;
        watch(&poll, &timer)?;
        Ok(Self { engine, signals, timer, poll, events: Events::with_capacity(4) })
    }

    /// Waits for the next news.
    pub(super) fn next(&mut self, until: Instant) -> io::Result<News> {
        loop {
            self.engine.poll(Some(Duration::ZERO))?;
            if self.engine.now() >= until {
                return Ok(News::Time);
            }
            if let Some(event) = self.engine.next_event() {
                return Ok(News::Engine(event));
            }
            if let Some(signal) = self.signals.next() {
                return Ok(News::Signal(signal));
            }
            self.sleep(until)?;
        }
    }

    /// Returns whether a signal to continue has come, and forgets the signal.
    pub(super) fn take_continue(&mut self) -> bool {
        self.signals.take_continue()
    }

    /// Forgets the signals by which jobs are stopped and continued, as far as they have come.
    pub(super) fn forget_job_control(&mut self) {
        self.signals.forget_job_control();
    }

    fn sleep(&mut self, until: Instant) -> io::Result<()> {
        // The engine arms its own timer before its turn. The deadlines that its last turn has set
        // are known only now.
        let deadline = self.engine.next_deadline().unwrap_or(Instant::FAR_FUTURE);
        self.timer.went_off();
        self.timer.set(until.min(deadline))?;
        match self.poll.poll(&mut self.events, None) {
            // A signal has interrupted the call, and `signals` has it.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            result => result,
        }
    }
}

/// Registers a source. All sources have the same token, because all are checked after every sleep.
fn watch(poll: &Poll, source: &impl AsRawFd) -> io::Result<()> {
    poll.registry().register(&mut SourceFd(&source.as_raw_fd()), Token(0), Interest::READABLE)
}
