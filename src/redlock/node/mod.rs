//! One master, as this engine sees it.
//!
//! This room knows the connection of a master and its health, the evidence that the master may
//! vote, the bytes that wait to be written, and the replies that are expected. [`Node::send`]
//! queues the bytes of a request and the expected reply together, so each request is owed exactly
//! one reply (S4). The room must never know a lock: which nodes are asked, and what follows from an
//! answer, is the business of `machine`.

use core::time::Duration;
use std::collections::VecDeque;

pub(super) mod batch;
pub(super) mod cleanup;
mod doubt;
pub(super) mod error;
mod fences;
pub(super) mod fitness;
pub(super) mod gathered;
pub(super) mod identity;
pub(super) mod inquiry;
pub(super) mod look;
pub(super) mod message;
pub(super) mod nodes;
mod outbox;
mod pace;
pub(super) mod patience;
pub(super) mod pipeline;
pub(super) mod quarantine;
mod record;
pub(super) mod request;
mod round_trip;
mod session;
pub(super) mod status;
pub(super) mod terms;
mod tracking;
#[cfg(feature = "net")]
pub(super) mod visit;
pub(super) mod witness;

use self::batch::Batch;
use self::cleanup::Cleanup;
use self::error::NodeError;
#[cfg(feature = "net")]
use self::error::tls::TlsError;
use self::fitness::Fitness;
use self::identity::RunId;
use self::inquiry::{Inquiry, Means};
use self::message::Message;
use self::outbox::Outbox;
use self::pipeline::Pipeline;
use self::record::Record;
use self::request::{Expected, LatencyClass, SetRequest};
use self::round_trip::RoundTrip;
use self::tracking::Tracking;
use crate::redlock::config::RedlockConfig;
use crate::redlock::counters::{NodeCounters, NodeLatencies};
use crate::redlock::histogram::Alike;
use crate::redlock::login::Login;
use crate::redlock::wire::command::Native;
use crate::redlock::wire::probe::MissingRights;
use crate::resp::{self, Parser, Status, Value};
use crate::time::Instant;

/// The pause after an error that says that the node cannot serve for the moment. Attempts and
/// repairs pass the node over until then.
const UNHEALTHY_PAUSE: Duration = Duration::from_millis(250);

/// One master: its session, its health and its queues.
pub(crate) struct Node {
    login: Login,
    /// Whether the driver reports logins, and so may have another one after a refusal.
    has_other_logins: bool,
    session: Session,
    /// Sessions that failed or could not be opened, and questions for another login, since the last
    /// session that lasted.
    failures: u32,
    run_id: Option<RunId>,
    /// The evidence whether the node may have forgotten locks (S11).
    record: Record,
    /// How the node is looked at. Each handshake tries the better way first.
    means: Means,
    /// The commands that the node does not run for us. No lock needs one of them.
    missing: MissingRights,
    /// The look that is under way on this session.
    look: Option<Inquiry>,
    /// What the session hears unasked.
    tracking: Tracking,
    /// What matters for fencing numbers alone (S13).
    fitness: Fitness,
    /// The time of the next look. While a look is under way, the next one waits for its answer, and
    /// has a time here only if somebody has asked for it.
    look_at: Instant,
    /// The next time at which the evidence changes or is looked for. One number, because this is
    /// asked after every call.
    watch_at: Instant,
    /// Whether the node was believed when that was last looked at.
    is_believed: bool,
    /// The end of the pause after an error that says "not for the moment".
    unhealthy_until: Option<Instant>,
    error: Option<NodeError>,
    /// The last error of the server.
    message: Message,
    round_trip: RoundTrip,
    pub(crate) counters: NodeCounters,
    latencies: NodeLatencies,
    /// The server's own compare-and-delete command, if there is one.
    pub(crate) native: Option<Native>,
    parser: Parser,
    /// Requests that are owed a reply, and the bytes that wait to be written. Only [`Node::send`],
    /// [`Node::send_joined`] and [`Node::ask`] add to either, so each request is owed exactly one
    /// reply (S4).
    pipeline: Pipeline,
    outbox: Outbox,
    /// Requests for fencing numbers that wait to leave together.
    gathered: VecDeque<SetRequest>,
    pub(crate) batch: Batch,
    pub(crate) cleanup: Cleanup,
}

/// The state of the connection.
enum Session {
    /// No connection. The next attempt is due at `retry_at`. After a login was refused, the driver
    /// is asked at `ask_at` whether there is another one.
    Down {
        retry_at: Instant,
        ask_at: Instant,
    },
    Connecting {
        until: Instant,
    },
    /// The server has accepted the connection, and TLS comes before the handshake. With a state of
    /// its own, the kind of a session is one number, for which every call asks every node.
    #[cfg(feature = "net")]
    Securing {
        until: Instant,
    },
    Handshake {
        until: Instant,
        handshake: Box<Inquiry>,
    },
    Ready {
        since: Instant,
    },
}

/// What a node needs at its next deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    Connect,
    AskForLogin,
    GiveUp(NodeError),
    /// A check whether the replies are late.
    Check,
    CleanUp,
    BecomeHealthy,
    /// A look, or a change of what the looks have shown.
    Watch,
}

impl Node {
    pub(crate) fn new(login: Login, config: &RedlockConfig) -> Self {
        Self {
            login,
            has_other_logins: false,
            session: Session::Down { retry_at: Instant::ZERO, ask_at: Instant::FAR_FUTURE },
            failures: 0,
            run_id: None,
            record: Record::new(),
            means: Means::Witness,
            missing: MissingRights::default(),
            look: None,
            tracking: Tracking::new(),
            fitness: Fitness::default(),
            look_at: Instant::FAR_FUTURE,
            watch_at: Instant::FAR_FUTURE,
            is_believed: false,
            unhealthy_until: None,
            error: None,
            message: Message::default(),
            round_trip: RoundTrip::new(),
            counters: NodeCounters::default(),
            latencies: NodeLatencies::default(),
            native: None,
            parser: Parser::new(),
            pipeline: Pipeline::new(config),
            outbox: Outbox::default(),
            gathered: VecDeque::new(),
            batch: Batch::new(),
            cleanup: Cleanup::new(config.max_cleanup),
        }
    }

    /// Returns `true` if requests may be sent: the handshake is over.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.session, Session::Ready { .. })
    }

    /// Returns `true` if bytes may come and go.
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.session, Session::Ready { .. } | Session::Handshake { .. })
    }

    /// Sends a request: queues its bytes, and the reply to be expected (S4).
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8], expected: Expected) {
        self.outbox.buffer().extend_from_slice(bytes);
        self.pipeline.push(expected);
    }

    /// Returns the bytes that wait to be written. The driver has these bytes from here on, so their
    /// replies can come.
    pub(crate) fn transmit(&mut self) -> Option<&[u8]> {
        self.pipeline.hand_out();
        let unsent = self.outbox.unsent();
        (!unsent.is_empty()).then_some(unsent)
    }

    /// Removes the first `count` of the waiting bytes, which were written.
    pub(crate) fn transmitted(&mut self, count: usize) {
        self.outbox.advance(count);
    }

    /// Returns `true` if the bytes of no reply have come in part.
    #[inline]
    pub(crate) fn is_between_replies(&self) -> bool {
        self.parser.needed() == 0
    }

    /// Parses the next reply at the beginning of `bytes`.
    #[inline]
    pub(crate) fn parse<'b>(
        &mut self,
        bytes: &'b [u8],
    ) -> Result<Status<(Value<'b>, usize)>, resp::Error> {
        self.parser.parse(bytes)
    }

    /// Returns the request to which the next reply belongs.
    #[inline]
    pub(crate) fn next_expected(&self) -> Option<Expected> {
        self.pipeline.next_expected()
    }

    /// Returns `true` if a key of ours may be on the node although nobody needs it: an answer about
    /// a lock is owed, a release waits, or a token has to be cleaned up.
    pub(crate) fn owes(&self) -> bool {
        let waits = self.batch.len() > 0 || self.gathered() > 0;
        self.cleanup.len() > 0 || waits || self.pipeline.has_lock_request()
    }

    /// Returns the time at which the oldest request without a reply was sent.
    pub(crate) fn oldest_request(&self) -> Option<Instant> {
        self.pipeline.oldest()
    }

    /// Returns `true` if the node is ready and its pipeline has room.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.is_ready() && self.pipeline.has_room()
    }

    /// Returns `true` if a `SET` to the node is worth sending.
    #[inline]
    pub(crate) fn can_take(&self, now: Instant) -> bool {
        self.has_room() && !self.is_unhealthy() && !self.is_stalled(now)
    }

    /// Returns `true` if the node can vote. In quarantine its vote would not count (S11), so a
    /// `SET` would be for nothing.
    #[inline]
    pub(crate) fn can_vote(&self, now: Instant) -> bool {
        self.can_take(now) && !self.is_quarantined(now)
    }

    /// Returns `true` if the node can vote, or lacks nothing but room.
    pub(crate) fn can_vote_with_room(&self, now: Instant) -> bool {
        let is_well = self.is_ready() && !self.is_unhealthy() && !self.is_stalled(now);
        is_well && !self.is_quarantined(now)
    }

    /// Returns `true` if the oldest request has waited for longer than the round trips allow.
    #[inline]
    pub(crate) fn is_stalled(&self, now: Instant) -> bool {
        self.pipeline.is_stalled(now)
    }

    pub(crate) fn is_unhealthy(&self) -> bool {
        self.unhealthy_until.is_some()
    }

    /// Returns `true` if the node may have forgotten locks, so its votes do not count (S11).
    #[inline]
    pub(crate) fn is_quarantined(&self, now: Instant) -> bool {
        self.record.is_quarantined(now)
    }

    /// Returns the moment from which the votes of the node count, or `None` outside quarantine.
    pub(crate) fn quarantined_until(&self, now: Instant) -> Option<Instant> {
        self.record.pending(now).map(|(until, _)| until)
    }

    fn is_misconfigured(&self) -> bool {
        self.error.is_some_and(NodeError::is_misconfiguration)
    }

    /// Returns the process behind a session that is ready.
    pub(crate) fn process(&self) -> Option<RunId> {
        self.run_id.filter(|_| self.is_ready())
    }

    /// Takes the oldest request off the pipeline: it was sent at `sent`, and its reply has come.
    /// Returns `true` if the node was known as stalled until now.
    // A function of its own would cost 210 instructions of a lone cycle, 92 of one in groups.
    #[inline(always)]
    pub(crate) fn answered(&mut self, now: Instant, sent: Instant, class: LatencyClass) -> bool {
        let sample = nanos_between(sent, now);
        match class {
            LatencyClass::Set => self.latencies.set.record_nanos(sample),
            LatencyClass::Release => self.latencies.release.record_nanos(sample),
            LatencyClass::Extend => self.latencies.extend.record_nanos(sample),
            LatencyClass::Other => {}
        }
        self.reply_came(now, sent)
    }

    /// Does the same for a `SET` in a run of replies, whose latencies are recorded at the end.
    #[inline(always)]
    pub(crate) fn set_answered(&mut self, now: Instant, sent: Instant, run: &mut Alike) -> bool {
        self.latencies.set.record_with(run, nanos_between(sent, now));
        self.reply_came(now, sent)
    }

    /// Ends a run of replies to `SET`s.
    pub(crate) fn run_ended(&mut self, run: Alike) {
        self.latencies.set.record_alike(run);
    }

    #[inline(always)]
    fn reply_came(&mut self, now: Instant, sent: Instant) -> bool {
        self.round_trip.answered(now, sent, nanos_between(sent, now));
        self.pipeline.answered(now)
    }

    /// Marks the node as unhealthy after an error that says "not for the moment".
    pub(crate) fn overloaded(&mut self, now: Instant, error: NodeError) {
        self.unhealthy_until = Some(now + UNHEALTHY_PAUSE);
        self.error = Some(error);
    }

    /// Ends the unhealthy pause.
    pub(crate) fn healthy(&mut self) {
        self.unhealthy_until = None;
        self.error = None;
        self.message.clear();
    }

    /// Returns what the node needs now, if its deadline has come.
    pub(crate) fn due(&self, now: Instant) -> Option<Due> {
        let at = self.next_due();
        if at > now {
            return None;
        }
        Some(match self.session {
            Session::Down { retry_at, .. } if retry_at <= now => Due::Connect,
            Session::Down { .. } => Due::AskForLogin,
            Session::Connecting { .. } => Due::GiveUp(NodeError::ConnectTimeout),
            #[cfg(feature = "net")]
            Session::Securing { .. } => Due::GiveUp(NodeError::Tls(TlsError::HandshakeTimeout)),
            Session::Handshake { .. } => Due::GiveUp(NodeError::HandshakeTimeout),
            Session::Ready { .. } if at == self.pipeline.check_at() => Due::Check,
            Session::Ready { .. } if at == self.cleanup.due_at() => Due::CleanUp,
            Session::Ready { .. } if Some(at) == self.unhealthy_until => Due::BecomeHealthy,
            Session::Ready { .. } => Due::Watch,
        })
    }

    /// Returns the next deadline of the node. The reason is left to [`due`](Self::due), because
    /// this method runs for every node after every call.
    #[inline]
    pub(crate) fn next_due(&self) -> Instant {
        match self.session {
            Session::Down { retry_at, ask_at } => retry_at.min(ask_at),
            Session::Connecting { until } | Session::Handshake { until, .. } => until,
            #[cfg(feature = "net")]
            Session::Securing { until } => until,
            Session::Ready { .. } => {
                let healthy_at = self.unhealthy_until.unwrap_or(Instant::FAR_FUTURE);
                let check_at = self.pipeline.check_at();
                self.cleanup.due_at().min(check_at).min(healthy_at).min(self.watch_at)
            }
        }
    }
}

/// Returns a time in nanoseconds, because a `Duration` costs a division.
#[inline]
fn nanos_between(start: Instant, end: Instant) -> u64 {
    end.as_nanos().saturating_sub(start.as_nanos())
}
