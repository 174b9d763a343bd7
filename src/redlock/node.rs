//! One master, as seen from here: its connection, its health, and what waits for it.

use core::time::Duration;
use std::collections::VecDeque;

use super::batch::Batch;
use super::cleanup::Cleanup;
use super::command::Native;
use super::config::{Config, Login};
use super::counters::{NodeCounters, NodeLatencies};
use super::handshake::{Handshake, Identity, RunId};
use super::outbox::Outbox;
use super::pipeline::{Expected, Pipeline, What};
use super::quarantine::{Quarantine, Record};
use super::sabotage::Saboteur;
use super::status::{NodeState, NodeStatus, Trouble};
use crate::resp::Parser;
use crate::time::Instant;

/// The first pause before a connection attempt is repeated. It doubles up to `reconnect_max`.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// How long a node that needs another configuration is left alone.
const MISCONFIGURED_PAUSE: Duration = Duration::from_secs(30);

/// How long a node is passed over after it said that it cannot serve for the moment.
const UNHEALTHY_PAUSE: Duration = Duration::from_millis(250);

/// After how long a session counts as a success: a server that lets us in and throws us out at the
/// first request must not be asked again every few milliseconds.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

/// How many characters of a server's error are kept.
const MESSAGE_MAX: usize = 128;

pub(super) struct Node {
    login: Login,
    session: Session,
    /// Sessions that failed or were not to be had since the last one that lasted.
    failures: u32,
    run_id: Option<RunId>,
    /// Whether the node may have forgotten locks (S11).
    record: Record,
    unhealthy_until: Option<Instant>,
    trouble: Option<Trouble>,
    message: String,
    /// Smoothed, in nanoseconds; zero before the first.
    round_trip: u64,
    pub(super) counters: NodeCounters,
    latencies: NodeLatencies,
    /// The server's own compare-and-delete, if it has one.
    pub(super) native: Option<Native>,
    pub(super) parser: Parser,
    pub(super) pipeline: Pipeline,
    pub(super) outbox: Outbox,
    pub(super) batch: Batch,
    pub(super) cleanup: Cleanup,
}

enum Session {
    /// None; the next connection is attempted at `retry_at`.
    Down {
        retry_at: Instant,
    },
    Connecting {
        until: Instant,
    },
    Handshake {
        until: Instant,
        handshake: Handshake,
    },
    Ready {
        since: Instant,
    },
}

/// What a node wants when its time has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Due {
    Connect,
    GiveUp(Trouble),
    /// To be looked at: its replies may be late.
    Look,
    CleanUp,
    BecomeHealthy,
    EndQuarantine,
}

impl Node {
    pub(super) fn new(login: Login, config: &Config) -> Self {
        Self {
            login,
            session: Session::Down { retry_at: Instant::ZERO },
            failures: 0,
            run_id: None,
            record: Record::default(),
            unhealthy_until: None,
            trouble: None,
            message: String::new(),
            round_trip: 0,
            counters: NodeCounters::default(),
            latencies: NodeLatencies::default(),
            native: None,
            parser: Parser::new(),
            pipeline: Pipeline::new(config),
            outbox: Outbox::default(),
            batch: Batch::default(),
            cleanup: Cleanup::new(config.max_cleanup),
        }
    }

    /// Whether requests may be sent: the handshake is over.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        matches!(self.session, Session::Ready { .. })
    }

    /// Whether bytes may come and go.
    pub(super) fn is_connected(&self) -> bool {
        matches!(self.session, Session::Ready { .. } | Session::Handshake { .. })
    }

    /// Whether the oldest request has waited for longer than a node timeout.
    #[inline]
    pub(super) fn is_stalled(&self, now: Instant) -> bool {
        self.pipeline.is_stalled(now)
    }

    pub(super) fn is_unhealthy(&self) -> bool {
        self.unhealthy_until.is_some()
    }

    /// Whether the node may have forgotten locks, so that its votes do not count (S11).
    #[inline]
    pub(super) fn is_quarantined(&self) -> bool {
        self.record.pending().is_some()
    }

    /// From when on its votes will count.
    #[inline]
    pub(super) fn quarantined_until(&self) -> Option<Instant> {
        self.record.pending().map(|(until, _)| until)
    }

    pub(super) fn end_quarantine(&mut self) {
        self.record.end();
    }

    /// The data of the node may have been exchanged while the session went on (S11).
    pub(super) fn doubt(&mut self, now: Instant, config: &Config) {
        if !config.is_sabotaged(Saboteur::QuarantineOff) {
            self.record.doubt(now, config.restart_guard, config.quarantine());
        }
    }

    fn is_misconfigured(&self) -> bool {
        self.trouble.is_some_and(Trouble::is_misconfiguration)
    }

    /// The process behind a session that is ready.
    pub(super) fn process(&self) -> Option<RunId> {
        self.run_id.filter(|_| self.is_ready())
    }

    pub(super) fn round_trip(&self) -> Duration {
        Duration::from_nanos(self.round_trip)
    }

    /// The next request was answered. True if the node was known as stalled until now.
    #[inline]
    pub(super) fn answered(&mut self, now: Instant, request: Expected) -> bool {
        // In nanoseconds, because a `Duration` costs a division.
        let sample = now.as_nanos().saturating_sub(request.sent.as_nanos());
        match request.what {
            What::Set | What::SetAll(_) | What::Fill | What::FillAll(_) => {
                self.latencies.set.record_nanos(sample);
            }
            What::Release(_) => self.latencies.release.record_nanos(sample),
            What::Extend(_) => self.latencies.extend.record_nanos(sample),
            What::Holder | What::Handshake => {}
        }
        // An eighth of each new sample, as TCP smooths its round trips.
        let old = self.round_trip;
        self.round_trip = if old == 0 { sample } else { old - old / 8 + sample / 8 };
        self.pipeline.answered(now)
    }

    pub(super) fn connecting(&mut self, until: Instant) {
        self.session = Session::Connecting { until };
    }

    /// The connection is up: sends the handshake. False if none was expected.
    pub(super) fn connected(&mut self, now: Instant, until: Instant) -> bool {
        if !matches!(self.session, Session::Connecting { .. }) {
            return false;
        }
        self.counters.connects += 1;
        self.parser.reset();
        let handshake = Handshake::begin(&self.login, self.outbox.buffer());
        for step in 0..handshake.len() as u32 {
            self.pipeline.push(Expected {
                what: What::Handshake,
                slot: step,
                serial: 0,
                sent: now,
            });
        }
        self.session = Session::Handshake { until, handshake };
        true
    }

    pub(super) fn handshake(&mut self) -> Option<&mut Handshake> {
        match &mut self.session {
            Session::Handshake { handshake, .. } => Some(handshake),
            _ => None,
        }
    }

    pub(super) fn ready(&mut self, now: Instant, mut identity: Identity, config: &Config) {
        if config.is_sabotaged(Saboteur::ReplicaCredited) {
            identity.was_replica = false;
        }
        if config.is_sabotaged(Saboteur::UptimeNotRounded) {
            identity.uptime += Duration::from_secs(1);
        }
        if !config.is_sabotaged(Saboteur::QuarantineOff) {
            self.record.meet(now, &identity, config.restart_guard, config.quarantine());
        }
        self.run_id = Some(identity.run_id);
        self.native = identity.native;
        self.session = Session::Ready { since: now };
        self.trouble = None;
        self.message.clear();
    }

    /// The session is over, or none could be had. Returns the requests whose fate is open.
    pub(super) fn down(
        &mut self,
        now: Instant,
        trouble: Trouble,
        reconnect_max: Duration,
        rng: &mut fastrand::Rng,
    ) -> VecDeque<Expected> {
        if matches!(self.session, Session::Ready { since } if now - since >= SETTLED_AFTER) {
            self.failures = 0;
        }
        let pause = if trouble.is_misconfiguration() {
            MISCONFIGURED_PAUSE
        } else {
            FIRST_PAUSE.saturating_mul(1 << self.failures.min(16)).min(reconnect_max)
        };
        // Half of it at random, so that many clients do not come back at the same moment.
        let spread = rng.u64(..=pause.as_nanos() as u64 / 2);
        self.session = Session::Down { retry_at: now + pause / 2 + Duration::from_nanos(spread) };
        self.failures = self.failures.saturating_add(1);
        self.counters.failures += 1;
        self.unhealthy_until = None;
        if !matches!(trouble, Trouble::Server(_) | Trouble::LoginRefused) {
            self.message.clear();
        }
        self.trouble = Some(trouble);
        self.outbox.clear();
        self.pipeline.take()
    }

    /// The node said that it cannot serve for the moment.
    pub(super) fn overloaded(&mut self, now: Instant, trouble: Trouble) {
        self.unhealthy_until = Some(now + UNHEALTHY_PAUSE);
        self.trouble = Some(trouble);
    }

    pub(super) fn healthy(&mut self) {
        self.unhealthy_until = None;
        self.trouble = None;
        self.message.clear();
    }

    /// Keeps what the server said, made safe for a terminal.
    pub(super) fn keep_message(&mut self, text: &[u8]) {
        // At most four bytes per character.
        let text = String::from_utf8_lossy(&text[..text.len().min(4 * MESSAGE_MAX)]);
        let safe = |c: char| if c.is_control() { '?' } else { c };
        self.message = text.chars().take(MESSAGE_MAX).map(safe).collect();
    }

    /// What the node wants now, if its time has come.
    pub(super) fn due(&self, now: Instant) -> Option<Due> {
        let at = self.next();
        if at > now {
            return None;
        }
        Some(match self.session {
            Session::Down { .. } => Due::Connect,
            Session::Connecting { .. } => Due::GiveUp(Trouble::ConnectTimeout),
            Session::Handshake { .. } => Due::GiveUp(Trouble::HandshakeTimeout),
            Session::Ready { .. } if at == self.pipeline.look_at() => Due::Look,
            Session::Ready { .. } if at == self.cleanup.due_at() => Due::CleanUp,
            Session::Ready { .. } if Some(at) == self.unhealthy_until => Due::BecomeHealthy,
            Session::Ready { .. } => Due::EndQuarantine,
        })
    }

    /// When the node wants something next. It is asked for every node after every call, and so
    /// leaves to [`due`](Self::due) what that is.
    #[inline]
    pub(super) fn next(&self) -> Instant {
        match self.session {
            Session::Down { retry_at } => retry_at,
            Session::Connecting { until } | Session::Handshake { until, .. } => until,
            Session::Ready { .. } => {
                let healthy_at = self.unhealthy_until.unwrap_or(Instant::FAR_FUTURE);
                let voting_at = self.quarantined_until().unwrap_or(Instant::FAR_FUTURE);
                let look_at = self.pipeline.look_at();
                self.cleanup.due_at().min(look_at).min(healthy_at).min(voting_at)
            }
        }
    }

    pub(super) fn state(&self, now: Instant) -> NodeState {
        match self.session {
            Session::Down { .. } if self.is_misconfigured() => NodeState::Misconfigured,
            Session::Down { .. } => NodeState::Down,
            Session::Connecting { .. } => NodeState::Connecting,
            Session::Handshake { .. } => NodeState::Handshake,
            Session::Ready { .. } if self.is_quarantined() => NodeState::Quarantined,
            Session::Ready { .. } if self.is_stalled(now) => NodeState::Stalled,
            Session::Ready { .. } if self.is_unhealthy() => NodeState::Unhealthy,
            Session::Ready { .. } => NodeState::Ready,
        }
    }

    pub(super) fn status(&self, now: Instant) -> NodeStatus<'_> {
        NodeStatus {
            state: self.state(now),
            trouble: self.trouble,
            quarantine: self
                .record
                .pending()
                .map(|(until, reason)| Quarantine { reason, remaining: until - now }),
            message: &self.message,
            in_flight: self.pipeline.len(),
            cleanup: self.cleanup.len(),
            round_trip: self.round_trip(),
            counters: self.counters,
            latencies: &self.latencies,
        }
    }
}
