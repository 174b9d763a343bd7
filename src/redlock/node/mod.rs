//! One master, as seen from here: its connection, its health, and what waits for it.

use core::time::Duration;

pub(super) mod batch;
pub(super) mod cleanup;
pub(super) mod error;
pub(super) mod handshake;
pub(super) mod nodes;
mod outbox;
pub(super) mod pipeline;
pub(super) mod quarantine;
mod session;
pub(super) mod status;

use self::batch::Batch;
use self::cleanup::Cleanup;
use self::error::NodeError;
use self::handshake::{Handshake, RunId};
use self::outbox::Outbox;
use self::pipeline::{Lateness, Pipeline};
use self::quarantine::{Quarantine, Record};
use self::status::{NodeState, NodeStatus};
use crate::redlock::config::{Config, Login};
use crate::redlock::counters::{NodeCounters, NodeLatencies};
use crate::redlock::sabotage::Saboteur;
use crate::redlock::wire::command::Native;
use crate::redlock::wire::request::{Class, Expected};
use crate::resp::{self, Parser, Status, Value};
use crate::time::Instant;

/// How long a node is passed over after it said that it cannot serve for the moment.
const UNHEALTHY_PAUSE: Duration = Duration::from_millis(250);

/// How many characters of a server's error are kept.
const MESSAGE_MAX: usize = 128;

pub(crate) struct Node {
    login: Login,
    session: Session,
    /// Sessions that failed or were not to be had since the last one that lasted.
    failures: u32,
    run_id: Option<RunId>,
    /// Whether the node may have forgotten locks (S11).
    record: Record,
    unhealthy_until: Option<Instant>,
    error: Option<NodeError>,
    message: String,
    /// Smoothed, in nanoseconds; zero before the first.
    round_trip: u64,
    pub(crate) counters: NodeCounters,
    latencies: NodeLatencies,
    /// The server's own compare-and-delete, if it has one.
    pub(crate) native: Option<Native>,
    parser: Parser,
    /// What is owed a reply, and the bytes that wait to be written. Only [`Node::send`] adds to
    /// either, so that each request is owed exactly one reply (S4).
    pipeline: Pipeline,
    outbox: Outbox,
    pub(crate) batch: Batch,
    pub(crate) cleanup: Cleanup,
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
pub(crate) enum Due {
    Connect,
    GiveUp(NodeError),
    /// To be checked: its replies may be late.
    Check,
    CleanUp,
    BecomeHealthy,
    EndQuarantine,
}

impl Node {
    pub(crate) fn new(login: Login, config: &Config) -> Self {
        Self {
            login,
            session: Session::Down { retry_at: Instant::ZERO },
            failures: 0,
            run_id: None,
            record: Record::default(),
            unhealthy_until: None,
            error: None,
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
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.session, Session::Ready { .. })
    }

    /// Whether bytes may come and go.
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.session, Session::Ready { .. } | Session::Handshake { .. })
    }

    /// Queues a request: its bytes to be written, and its reply to be expected (S4).
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8], expected: Expected) {
        self.outbox.buffer().extend_from_slice(bytes);
        self.pipeline.push(expected);
    }

    /// The bytes that wait to be written, which the driver is handed now.
    pub(crate) fn transmit(&mut self) -> Option<&[u8]> {
        self.pipeline.show();
        let unsent = self.outbox.unsent();
        (!unsent.is_empty()).then_some(unsent)
    }

    /// The first `count` bytes of those were written.
    pub(crate) fn transmitted(&mut self, count: usize) {
        self.outbox.advance(count);
    }

    /// Reads the next reply from the beginning of `bytes`.
    #[inline]
    pub(crate) fn parse<'b>(
        &mut self,
        bytes: &'b [u8],
    ) -> Result<Status<(Value<'b>, usize)>, resp::Error> {
        self.parser.parse(bytes)
    }

    /// The request that the next reply belongs to.
    #[inline]
    pub(crate) fn next_expected(&self) -> Option<Expected> {
        self.pipeline.next()
    }

    /// When the oldest request was sent that is owed a reply.
    pub(crate) fn oldest_request(&self) -> Option<Instant> {
        self.pipeline.oldest()
    }

    /// Checks whether replies are late.
    pub(crate) fn check(&mut self, now: Instant) -> Lateness {
        self.pipeline.check(now)
    }

    /// Whether the node is connected and its pipeline has room.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.is_ready() && self.pipeline.has_room()
    }

    /// Whether a `SET` to the node is worth sending.
    #[inline]
    pub(crate) fn can_take(&self, now: Instant) -> bool {
        self.has_room() && !self.is_unhealthy() && !self.is_stalled(now)
    }

    /// Whether the node can vote. In quarantine its vote would not count (S11), so that a `SET`
    /// would be for nothing.
    #[inline]
    pub(crate) fn can_vote(&self, now: Instant) -> bool {
        self.can_take(now) && !self.is_quarantined()
    }

    /// Whether the oldest request has waited for longer than a node timeout.
    #[inline]
    pub(crate) fn is_stalled(&self, now: Instant) -> bool {
        self.pipeline.is_stalled(now)
    }

    pub(crate) fn is_unhealthy(&self) -> bool {
        self.unhealthy_until.is_some()
    }

    /// Whether the node may have forgotten locks, so that its votes do not count (S11).
    #[inline]
    pub(crate) fn is_quarantined(&self) -> bool {
        self.record.pending().is_some()
    }

    /// From when on its votes will count.
    #[inline]
    pub(crate) fn quarantined_until(&self) -> Option<Instant> {
        self.record.pending().map(|(until, _)| until)
    }

    pub(crate) fn end_quarantine(&mut self) {
        self.record.end();
    }

    /// The data of the node may have been exchanged while the session went on (S11).
    pub(crate) fn distrust(&mut self, now: Instant, config: &Config) {
        if !config.is_sabotaged(Saboteur::QuarantineOff) {
            self.record.distrust(now, config.restart_guard, config.quarantine());
        }
    }

    fn is_misconfigured(&self) -> bool {
        self.error.is_some_and(NodeError::is_misconfiguration)
    }

    /// The process behind a session that is ready.
    pub(crate) fn process(&self) -> Option<RunId> {
        self.run_id.filter(|_| self.is_ready())
    }

    pub(crate) fn round_trip(&self) -> Duration {
        Duration::from_nanos(self.round_trip)
    }

    /// The oldest request, which was `sent` then, was answered. True if the node was known as
    /// stalled until now.
    #[inline(always)]
    pub(crate) fn answered(&mut self, now: Instant, sent: Instant, class: Class) -> bool {
        // In nanoseconds, because a `Duration` costs a division.
        let sample = now.as_nanos().saturating_sub(sent.as_nanos());
        match class {
            Class::Set => self.latencies.set.record_nanos(sample),
            Class::Release => self.latencies.release.record_nanos(sample),
            Class::Extend => self.latencies.extend.record_nanos(sample),
            Class::Other => {}
        }
        // An eighth of each new sample, as TCP smooths its round trips.
        let old = self.round_trip;
        self.round_trip = if old == 0 { sample } else { old - old / 8 + sample / 8 };
        self.pipeline.answered(now)
    }

    /// The node said that it cannot serve for the moment.
    pub(crate) fn overloaded(&mut self, now: Instant, error: NodeError) {
        self.unhealthy_until = Some(now + UNHEALTHY_PAUSE);
        self.error = Some(error);
    }

    pub(crate) fn healthy(&mut self) {
        self.unhealthy_until = None;
        self.error = None;
        self.message.clear();
    }

    /// Keeps what the server said, made safe for a terminal.
    pub(crate) fn keep_message(&mut self, text: &[u8]) {
        // At most four bytes per character.
        let text = String::from_utf8_lossy(&text[..text.len().min(4 * MESSAGE_MAX)]);
        let safe = |c: char| if c.is_control() { '?' } else { c };
        self.message = text.chars().take(MESSAGE_MAX).map(safe).collect();
    }

    /// What the node wants now, if its time has come.
    pub(crate) fn due(&self, now: Instant) -> Option<Due> {
        let at = self.next();
        if at > now {
            return None;
        }
        Some(match self.session {
            Session::Down { .. } => Due::Connect,
            Session::Connecting { .. } => Due::GiveUp(NodeError::ConnectTimeout),
            Session::Handshake { .. } => Due::GiveUp(NodeError::HandshakeTimeout),
            Session::Ready { .. } if at == self.pipeline.check_at() => Due::Check,
            Session::Ready { .. } if at == self.cleanup.due_at() => Due::CleanUp,
            Session::Ready { .. } if Some(at) == self.unhealthy_until => Due::BecomeHealthy,
            Session::Ready { .. } => Due::EndQuarantine,
        })
    }

    /// When the node wants something next. It is asked for every node after every call, and so
    /// leaves to [`due`](Self::due) what that is.
    #[inline]
    pub(crate) fn next(&self) -> Instant {
        match self.session {
            Session::Down { retry_at } => retry_at,
            Session::Connecting { until } | Session::Handshake { until, .. } => until,
            Session::Ready { .. } => {
                let healthy_at = self.unhealthy_until.unwrap_or(Instant::FAR_FUTURE);
                let voting_at = self.quarantined_until().unwrap_or(Instant::FAR_FUTURE);
                let check_at = self.pipeline.check_at();
                self.cleanup.due_at().min(check_at).min(healthy_at).min(voting_at)
            }
        }
    }

    pub(crate) fn state(&self, now: Instant) -> NodeState {
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

    pub(crate) fn status(&self, now: Instant) -> NodeStatus<'_> {
        NodeStatus {
            state: self.state(now),
            error: self.error,
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
