//! Delayed restart, kept by the client (S11): from when to when a node is believed.
//!
//! A master that has lost its data, or part of it, may grant what it granted before. Redlock's page
//! asks that such a master stays away for the longest ttl. Nobody makes a server do so, therefore
//! each client does it for itself.
//!
//! Whatever a node may have forgotten was granted before the data began that the node has now. No
//! holder believes in that grant for longer than a *span* after that: `max_ttl` and its drift. So a
//! node votes from a span after the beginning of its data. `witness.rs` says when that was. A node
//! is looked at again and again, and votes for half a span after each look.

use core::time::Duration;

use super::inquiry::{Findings, Word};
use super::pace::{Pace, Reading};
use super::quarantine::QuarantineReason;
use super::terms::Terms;
use super::witness::{Alibi, Evidence, Excuse, Gap, Moment, Past, Service, judge};
use crate::redlock::config::RedlockConfig;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::sabotage::Saboteur;
use crate::time::Instant;

/// The evidence about one node, kept through all its sessions.
pub(crate) struct Record {
    past: Option<Past>,
    /// The moment since which the data is in one piece, and why not earlier; `None` before the
    /// first look.
    whole: Option<(Moment, QuarantineReason)>,
    gap: Option<Gap>,
    /// What the last answered look has told, if the node has shown its witness.
    service: Option<Service>,
    /// The time at which the last look left that was answered; `None` if there was none. Also
    /// `None` if the data may be other data since: a handshake had no answer to its look, or the
    /// node has said so.
    seen: Option<Instant>,
    /// Whether the clock of the node runs ahead of ours.
    pub(super) pace: Pace,
    /// The time at which the last look left that was answered, whatever came since.
    last_seen: Instant,
    /// The end of the quarantine, and the reason.
    quarantine: Option<(Instant, QuarantineReason)>,
    /// Nothing but a gap keeps the node out, and other nodes that have not been asked yet may still
    /// excuse the gap.
    pub(super) is_undecided: bool,
    /// The node is believed before this instant: [`Instant::ZERO`] in quarantine. One number,
    /// because every attempt asks for it.
    believed_until: Instant,
}

impl Record {
    pub(crate) const fn new() -> Self {
        Self {
            past: None,
            whole: None,
            gap: None,
            service: None,
            seen: None,
            pace: Pace::new(),
            last_seen: Instant::ZERO,
            quarantine: None,
            is_undecided: false,
            believed_until: Instant::ZERO,
        }
    }

    /// Judges a node by what a look has found. The look left at `sent`, and `now` is read after the
    /// answer was. Returns `false` if the data is not what the look before has seen. The caller
    /// calls [`settle`](Self::settle) behind this.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        sent: Instant,
        findings: &Findings,
        config: &RedlockConfig,
        terms: Terms,
    ) -> bool {
        let testimony = match findings.word {
            Word::Given(testimony) => Some(testimony),
            Word::Unasked | Word::Denied => None,
            // The node cannot be judged before the answer, and not by what was there before.
            Word::Later => {
                self.seen = None;
                return true;
            }
        };
        self.seen = Some(sent);
        let Findings { identity, is_durable, .. } = *findings;
        let found = Evidence { identity, is_durable, testimony, wall: terms.wall };
        let verdict = judge(self.past.as_ref(), &found, config);
        if let Some((age, reason)) = verdict {
            self.distrust(Moment::before(now, age), reason);
        }
        // A witness that is not shown any more may be gone, together with all other keys.
        if self.service.is_some() && testimony.is_none() {
            self.distrust(Moment::before(now, Duration::ZERO), QuarantineReason::WitnessDenied);
        }
        // No witness tells of the time in which this client did not look, or none is believed.
        let is_alone = testimony.is_none() || config.restart_guard == RestartGuard::Strict;
        let ignores = config.is_sabotaged(Saboteur::GapIgnored);
        if is_alone && self.past.is_some() && now - self.last_seen > terms.span && !ignores {
            self.distrust(Moment::before(now, Duration::ZERO), QuarantineReason::OutOfService);
        }
        self.last_seen = sent;
        let is_known = self.past.is_some();
        let shown = self.past.and_then(|past| past.testimony);
        self.past = Some(Past { identity, testimony: testimony.or(shown) });
        // A node that tells no more keeps the gap that it told.
        if let Some(word) = testimony {
            self.gap = Gap::read(sent, now, &word, self.gap);
            let reading = Reading { time: word.time, sent, answered: now };
            self.pace.read(identity.run_id, reading, config.drift, terms.span);
        }
        self.service = testimony.map(|word| Service::read(sent, now, &word, self.gap));
        !is_known || verdict.is_none()
    }

    /// The node said during a session that it keeps no locks, for this reason. The next look counts
    /// as a first one, and the witness proves nothing against this.
    pub(crate) fn start_over(&mut self, now: Instant, reason: QuarantineReason) {
        self.past = None;
        self.distrust(Moment::before(now, Duration::ZERO), reason);
    }

    /// The data of the node may be other data since the last look left. The caller settles the
    /// evidence behind this.
    pub(crate) fn doubt(&mut self) {
        self.seen = None;
        self.believed_until = Instant::ZERO;
    }

    /// The node has lost data, and no look can tell how much.
    pub(crate) fn lost_data(&mut self, now: Instant) {
        self.distrust(Moment::before(now, Duration::ZERO), QuarantineReason::DataLost);
    }

    /// The data of the node is in one piece only since then. An older quarantine can last longer
    /// than a new one, and is not shortened.
    fn distrust(&mut self, since: Moment, reason: QuarantineReason) {
        match self.whole {
            Some((whole, _)) if since <= whole => {}
            // The reason of the older quarantine says more.
            Some((_, why)) if reason == QuarantineReason::FirstContact => {
                self.whole = Some((since, why));
            }
            _ => self.whole = Some((since, reason)),
        }
    }

    /// Computes from when to when the node is believed. `span` is how long a lock can be believed
    /// after a crash of the node that granted it.
    pub(crate) fn settle(&mut self, now: Instant, config: &RedlockConfig, span: Duration) {
        self.quarantine = None;
        self.is_undecided = false;
        self.believed_until = Instant::FAR_FUTURE;
        let guard = config.restart_guard;
        if guard == RestartGuard::Off || config.is_sabotaged(Saboteur::QuarantineOff) {
            return;
        }
        let whole = self.whole.map(|(since, reason)| (since.after(span), reason));
        let gap = self.recent_gap(now, config, span);
        let ignores = guard == RestartGuard::Strict || config.is_sabotaged(Saboteur::GapIgnored);
        let gap = gap.filter(|gap| gap.is_excused != Some(true) && !ignores);
        let is_open = gap.is_some_and(|gap| gap.is_excused.is_none());
        let gap = gap.map(|gap| (gap.over_at(config, span), QuarantineReason::OutOfService));
        let latest = whole.into_iter().chain(gap).max_by_key(|(until, _)| *until);
        self.quarantine = latest.filter(|(until, _)| *until > now);
        let is_whole = whole.is_none_or(|(until, _)| until <= now);
        self.is_undecided = is_open && is_whole && self.quarantine.is_some();
        self.believed_until = match self.quarantine {
            None if self.whole.is_some() => self.seen.map_or(Instant::ZERO, |seen| seen + span / 2),
            _ => Instant::ZERO,
        };
    }

    /// Returns when the last look left that was answered.
    pub(super) fn last_seen(&self) -> Instant {
        self.last_seen
    }

    /// Returns the last time in which nobody looked at the node, if that was less than a span ago.
    pub(crate) fn recent_gap(
        &self,
        now: Instant,
        config: &RedlockConfig,
        span: Duration,
    ) -> Option<Gap> {
        self.gap.filter(|gap| gap.over_at(config, span) > now)
    }

    /// Takes note of what the other nodes say about the gap.
    pub(crate) fn excuse(&mut self, excuse: Excuse) {
        let Some(gap) = &mut self.gap else { return };
        gap.is_excused = match excuse {
            Excuse::Unknown => gap.is_excused,
            Excuse::Idle => Some(true),
            Excuse::InUse => Some(false),
            // What was known before stands.
            Excuse::TooFew => gap.is_excused.or(Some(false)),
        };
    }

    /// Returns the moment from which the data of the node has been in one piece, and in service,
    /// for `span`. Whether the node is believed otherwise is not asked.
    ///
    /// Other nodes excuse a time out of service by the locks that have ended since: `locks` is the
    /// span for which a lock can be believed. What has to be older than that has no excuse.
    pub(crate) fn whole_at(
        &self,
        now: Instant,
        config: &RedlockConfig,
        locks: Duration,
        span: Duration,
    ) -> Instant {
        let Some((since, _)) = self.whole else { return Instant::FAR_FUTURE };
        let gap = self.recent_gap(now, config, span);
        let is_counted = |gap: &Gap| {
            let is_excused = gap.is_excused == Some(true) && span <= locks;
            !is_excused && config.restart_guard != RestartGuard::Strict
        };
        let gap = gap.filter(is_counted).map(|gap| gap.over_at(config, span));
        since.after(span).max(gap.unwrap_or(Instant::ZERO))
    }

    /// Returns what the node says about a time in which another node was out of service.
    pub(crate) fn alibi(
        &self,
        about: &Gap,
        now: Instant,
        span: Duration,
        leeway: Duration,
    ) -> Alibi {
        match (self.service, self.past) {
            (Some(service), _) => service.alibi(about, now, span, leeway),
            (None, Some(_)) => Alibi::Silent,
            (None, None) => Alibi::Unknown,
        }
    }

    /// Returns the moment from which the node is believed, and why not before. Returns `None` if it
    /// is believed now, or as soon as somebody calls [`settle`](Self::settle).
    pub(crate) fn pending(&self, now: Instant) -> Option<(Instant, QuarantineReason)> {
        let is_due = self.quarantine.is_some_and(|(until, _)| until <= now);
        self.quarantine(now).filter(|_| !is_due)
    }

    /// Returns the same moment, which is over where the end of the quarantine is due, and the
    /// reason. Returns `None` if the node is believed now.
    pub(crate) fn quarantine(&self, now: Instant) -> Option<(Instant, QuarantineReason)> {
        let unseen = (now, QuarantineReason::Unseen);
        self.is_quarantined(now).then(|| self.quarantine.unwrap_or(unseen))
    }

    /// Returns `true` if the node is not believed, so its votes do not count.
    #[inline]
    pub(crate) fn is_quarantined(&self, now: Instant) -> bool {
        now >= self.believed_until
    }

    /// Returns the next instant at which somebody must call [`settle`](Self::settle).
    pub(crate) fn changes_at(&self, now: Instant) -> Instant {
        let end = self.quarantine.map_or(self.believed_until, |(until, _)| until);
        if end > now { end } else { Instant::FAR_FUTURE }
    }
}
