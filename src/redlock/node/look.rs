//! Looks: how a node is asked again and again whether it still has its data (S11).

use core::time::Duration;

use super::Node;
use super::inquiry::{Findings, Inquiry, Means, Progress, Renewal, Word};
use super::pace::Reading;
use super::quarantine::QuarantineReason;
use super::request::{Expected, Request};
use super::terms::Terms;
use super::witness::{Alibi, Excuse, Gap};
use crate::redlock::config::RedlockConfig;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::token::Nonce;
use crate::redlock::validity::Drift;
use crate::resp::Value;
use crate::time::Instant;

/// The time that may pass between the readings of two clocks, because the process was not running.
const BETWEEN_READINGS: Duration = Duration::from_millis(20);

/// What all looks of an engine have in common.
pub(crate) struct Watch {
    max_ttl: Duration,
    span: Duration,
    /// The wall clock of this machine, and when it was told.
    wall: Option<(Instant, Duration)>,
    /// Whether the wall clock has been set forward since the last look that was made for it.
    is_wall_set: bool,
    /// No look is made for the wall clock before this.
    rest_until: Instant,
    phase: u64,
    nonce: Nonce,
}

impl Watch {
    pub(crate) fn new(config: &RedlockConfig, nonce: &Nonce) -> Self {
        let phase = nonce.iter().fold(0, |phase, byte| (phase << 8) | u64::from(*byte));
        Self {
            max_ttl: config.max_ttl,
            span: config.quarantine(),
            wall: None,
            is_wall_set: false,
            rest_until: Instant::ZERO,
            phase,
            nonce: *nonce,
        }
    }

    /// Sets the wall clock of this machine. Returns `true` if the wall clock has run ahead of the
    /// clock that measures, so that the nodes should be looked at.
    ///
    /// After a stop of the machine, both clocks lack the time of the stop, and somebody sets the
    /// wall clock: a hypervisor's agent, or NTP. A wall clock that is set for other reasons, or is
    /// slewed for long, makes at most four looks out of each planned one.
    pub(crate) fn set_wall(&mut self, now: Instant, since_1970: Duration, drift: Drift) -> bool {
        if let Some((then, wall)) = self.wall.replace((now, since_1970)) {
            let passed = since_1970.saturating_sub(wall);
            self.is_wall_set |= drift.valid_until(then, passed) > now + BETWEEN_READINGS;
        }
        if !self.is_wall_set || now < self.rest_until {
            return false;
        }
        self.is_wall_set = false;
        self.rest_until = now + self.span / 12;
        true
    }

    /// A witness has told this `max_ttl`, which has this span.
    pub(crate) fn raise(&mut self, max_ttl: Duration, span: Duration) {
        self.max_ttl = self.max_ttl.max(max_ttl);
        self.span = self.span.max(span);
    }

    pub(crate) fn terms(&self, now: Instant, nodes: usize) -> Terms {
        let wall = self.wall.map(|(then, wall)| wall.saturating_add(now - then).as_micros());
        let wall = wall.map(|micros| u64::try_from(micros).unwrap_or(u64::MAX));
        let Self { max_ttl, span, phase, nonce, .. } = *self;
        Terms { max_ttl, span, wall, nodes, nonce, phase }
    }
}

/// Returns how far apart the last looks of one client at two nodes may be: one handshake may take
/// this much longer than another.
fn leeway(config: &RedlockConfig, terms: Terms) -> Duration {
    config.connect_timeout.min(terms.span / 6)
}

impl Node {
    /// Returns `true` if it is time to look at the node.
    pub(crate) fn wants_look(&self, now: Instant) -> bool {
        self.is_ready() && self.look.is_none() && self.look_at <= now
    }

    /// Makes a look due now. A look that is under way is followed by another one, because its
    /// answer may be older than what this look is for.
    pub(crate) fn look_now(&mut self, now: Instant) {
        self.look_at = now;
    }

    #[cfg(test)]
    pub(crate) fn is_looking(&self) -> bool {
        self.look.is_some()
    }

    /// Returns whether the last look is so old that a node at which a look leaves now would seem to
    /// have been in use for longer.
    pub(crate) fn lags(&self, now: Instant, config: &RedlockConfig, terms: Terms) -> bool {
        let can_tell = self.is_ready() && self.look.is_none() && self.means == Means::Witness;
        // Less than the leeway, of which the ways to the nodes need a part.
        can_tell && now - self.record.last_seen() > leeway(config, terms) / 4 * 3
    }

    /// Looks at the node.
    pub(crate) fn start_look(&mut self, now: Instant, config: &RedlockConfig, terms: Terms) {
        self.tracking.asks(now);
        let look = Inquiry::look(self.means, config.restart_guard).labelled(config);
        let look = if self.runs_scripts() { look } else { look.retrying_scripts() };
        let look = if self.tracking.take_renewal() { look.tracking_anew() } else { look };
        self.ask(now, &look, Request::Look, config, terms);
        self.look = Some(look);
        self.look_at = Instant::FAR_FUTURE;
    }

    /// Sends the commands of an inquiry that have no answer yet, each with its own expected reply.
    pub(super) fn ask(
        &mut self,
        now: Instant,
        inquiry: &Inquiry,
        request: Request,
        config: &RedlockConfig,
        terms: Terms,
    ) {
        let look = terms.look(config, self.login.database);
        let count = inquiry.encode(&self.login, &look, self.outbox.buffer());
        for _ in 0..count {
            self.pipeline.push(Expected { request, sent: now });
        }
    }

    /// Handles the next reply to the look under way. Returns what the node has proved.
    pub(crate) fn look_answered(
        &mut self,
        now: Instant,
        value: &Value<'_>,
        config: &RedlockConfig,
        terms: Terms,
    ) -> Progress {
        let Some(mut look) = self.look.take() else { return Progress::More };
        let progress = look.handle_reply(value);
        match look.renewal() {
            Renewal::Asked => {}
            Renewal::PutOff => self.tracking.use_up(),
            Renewal::Refused => self.tracking.end(),
        }
        match progress {
            Progress::More => self.look = Some(look),
            Progress::Again => {
                self.ask(now, &look, Request::Look, config, terms);
                self.look = Some(look);
            }
            Progress::Unanswered { is_denied: true } => {
                self.means = Means::Denied;
                self.look_at = now;
            }
            // A time that was set meanwhile stands.
            Progress::Unanswered { is_denied: false } => {
                self.look_at = self.look_at.min(terms.look_again(now));
            }
            Progress::Done(_) => self.look_at = self.look_at.min(terms.next_look(now)),
            Progress::Failed(_) => {}
        }
        if self.look.is_none() {
            self.look_at = self.tracking.look_at(self.look_at);
        }
        progress
    }

    /// Sets the time of the first look of a session, whose handshake has found this.
    pub(super) fn plan_looks(&mut self, now: Instant, found: &Findings, terms: Terms) {
        self.means = match found.word {
            Word::Unasked => Means::Unwanted,
            Word::Denied => Means::Denied,
            Word::Given(_) | Word::Later => Means::Witness,
        };
        self.look = None;
        let next = match found.word {
            Word::Later => terms.look_again(now),
            Word::Unasked | Word::Denied | Word::Given(_) => terms.next_look(now),
        };
        // A time that was set during the handshake stands.
        self.look_at = self.tracking.look_at(self.look_at.min(next));
    }

    /// Judges the node by what a look, which left at `sent`, has found. Returns `false` if the data
    /// is not what the look before has seen.
    pub(crate) fn judge(
        &mut self,
        now: Instant,
        sent: Instant,
        found: &Findings,
        config: &RedlockConfig,
        terms: Terms,
    ) -> bool {
        if let Some(time) = found.time {
            self.fitness.reading = Some(Reading { time, sent, answered: now });
        }
        // Somebody may have given the user the rights. The next request for a number will show.
        self.fitness.is_denied = false;
        let is_same = self.record.look(now, sent, found, config, terms);
        self.answer_doubt(now, found);
        is_same || config.restart_guard == RestartGuard::Off
    }

    /// Returns the last time in which nobody looked at the node, if that was less than a span ago.
    pub(super) fn recent_gap(
        &self,
        now: Instant,
        config: &RedlockConfig,
        terms: Terms,
    ) -> Option<Gap> {
        self.record.recent_gap(now, config, terms.span)
    }

    /// Returns what this node says about a time in which another node was out of service.
    pub(super) fn alibi(
        &self,
        about: &Gap,
        now: Instant,
        config: &RedlockConfig,
        terms: Terms,
    ) -> Alibi {
        match self.record.alibi(about, now, terms.span, leeway(config, terms)) {
            // A node that cannot be reached has been asked.
            Alibi::Unknown if self.counters.failures > 0 => Alibi::Silent,
            alibi => alibi,
        }
    }

    /// Takes note that the node cannot be reached, or cannot vote. Nobody needs to wait for what it
    /// says about the others ([`alibi`](Self::alibi)).
    #[cfg(feature = "net")]
    pub(super) fn not_reached(&mut self) {
        self.counters.failures += 1;
    }

    /// Takes note of what the other nodes say about the last time in which nobody looked.
    pub(super) fn excuse(&mut self, excuse: Excuse) {
        self.record.excuse(excuse);
    }

    /// Returns `true` if nothing but a time in which nobody looked keeps the node out, and not all
    /// other nodes have said yet whether they were idle too.
    pub(crate) fn is_undecided(&self) -> bool {
        self.record.is_undecided
    }

    /// Starts a quarantine: the data of the node may have been exchanged during the session.
    pub(crate) fn distrust(
        &mut self,
        now: Instant,
        reason: QuarantineReason,
        config: &RedlockConfig,
        terms: Terms,
    ) {
        self.record.start_over(now, reason);
        self.settle(now, config, terms);
    }

    /// Brings the evidence up to date, which changes with time, with each look, and with the looks
    /// at other nodes. Returns `true` if the node begins to vote or ends to, or if it is decided
    /// that the node does not.
    pub(crate) fn settle(&mut self, now: Instant, config: &RedlockConfig, terms: Terms) -> bool {
        let (was_believed, was_undecided) = (self.is_believed, self.record.is_undecided);
        self.record.settle(now, config, terms.span);
        let look_at = if self.look.is_none() { self.look_at } else { Instant::FAR_FUTURE };
        self.watch_at = look_at.min(self.record.changes_at(now));
        self.is_believed = !self.is_quarantined(now);
        was_believed != self.is_believed || was_undecided != self.record.is_undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_each_third_of_a_span_at_the_same_times_for_all_nodes() {
        let terms = |phase| Terms {
            max_ttl: Duration::from_secs(59),
            span: Duration::from_secs(60),
            wall: None,
            nodes: 3,
            nonce: [0; 12],
            phase,
        };
        let secs = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
        let rows = [(0, 0, 20), (0, 19, 20), (0, 20, 40), (0, 41, 60), (7, 0, 7), (7, 7, 27)];
        for (phase, now, next) in rows {
            let found = terms(phase * 1_000_000_000).next_look(secs(now));
            assert_eq!(found, secs(next), "phase {phase}, now {now}");
        }
        let all = Terms { span: Duration::ZERO, ..terms(u64::MAX) };
        assert!(all.next_look(secs(1)) > secs(1), "time goes on");
    }
}
