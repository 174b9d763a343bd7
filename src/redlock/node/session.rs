//! The life of a connection: the attempt, the handshake, the session, and the end.

use core::time::Duration;
use std::collections::VecDeque;

use super::error::NodeError;
use super::inquiry::{Findings, Inquiry};
use super::message::Message;
use super::patience::Limits;
use super::request::{Expected, Request};
use super::terms::Terms;
use super::{Node, Session};
use crate::redlock::config::RedlockConfig;
use crate::redlock::login::Login;
use crate::time::Instant;

/// The first pause before a connection attempt is repeated. The pause doubles up to
/// `reconnect_max`.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The pause before the next attempt to a node that needs another configuration.
const MISCONFIGURED_PAUSE: Duration = Duration::from_secs(30);

/// The age from which a session counts as a success. A server may let us in and throw us out at the
/// first request, and must not be asked again every few milliseconds.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

impl Node {
    /// Sets the login for the handshakes to come. After the login was refused, another one is tried
    /// at once.
    pub(crate) fn set_login(&mut self, login: Login) {
        self.has_other_logins = true;
        if let Session::Down { retry_at, ask_at } = &mut self.session {
            if *ask_at < Instant::FAR_FUTURE && login != self.login {
                (*retry_at, *ask_at) = (Instant::ZERO, Instant::FAR_FUTURE);
            }
        }
        self.login = login;
    }

    /// Keeps the text of a server's error.
    pub(crate) fn keep_message(&mut self, text: &[u8]) {
        self.message = Message::of_error(text, &self.login);
    }

    /// Keeps what else is known of an error, such as the name of a file.
    #[cfg(feature = "net")]
    pub(crate) fn keep_detail(&mut self, detail: &str) {
        self.message = Message::of_detail(detail, &self.login);
    }

    /// Records that the driver is asked for another login, and plans the next question. The pause
    /// is that before a reconnect: a login may be another one each time, and be refused each time.
    pub(crate) fn asked_for_login(
        &mut self,
        now: Instant,
        reconnect_max: Duration,
        rng: &mut fastrand::Rng,
    ) {
        let next = now + self.reconnect_pause(reconnect_max, rng);
        if let Session::Down { ask_at, .. } = &mut self.session {
            *ask_at = next;
        }
        self.failures = self.failures.saturating_add(1);
    }

    /// Returns the pause before the next attempt. Half of the pause is random.
    fn reconnect_pause(&self, max: Duration, rng: &mut fastrand::Rng) -> Duration {
        spread(FIRST_PAUSE.saturating_mul(1 << self.failures.min(16)).min(max), rng)
    }

    /// Records that the driver is asked to connect, at the latest by `until`.
    pub(crate) fn connecting(&mut self, now: Instant, until: Instant) {
        self.round_trip.connecting(now);
        self.session = Session::Connecting { until };
    }

    /// Records that the server has accepted the connection, whose TLS comes next.
    #[cfg(feature = "net")]
    pub(crate) fn reached(&mut self, now: Instant) {
        if let Session::Connecting { until } = self.session {
            self.session = Session::Securing { until };
            self.round_trip.connected(now);
        }
    }

    /// Sends the handshake on a connection that is up. Returns `false` if no connection was
    /// expected.
    pub(crate) fn connected(&mut self, now: Instant, config: &RedlockConfig, terms: Terms) -> bool {
        match self.session {
            Session::Connecting { .. } => self.round_trip.connected(now),
            // The round trips of TLS would count as one, and its arithmetic as a distance.
            #[cfg(feature = "net")]
            Session::Securing { .. } => {}
            _ => return false,
        }
        self.counters.connects += 1;
        self.parser.reset();
        self.tracking.reset();
        let handshake = Inquiry::handshake(&self.login, config.restart_guard);
        let handshake = handshake.sparing_scripts().introduced(config).labelled(config);
        self.ask(now, &handshake, Request::Handshake, config, terms);
        let until = now + config.connect_timeout;
        self.session = Session::Handshake { until, handshake: Box::new(handshake) };
        true
    }

    /// Returns the handshake, if it is under way.
    pub(crate) fn handshake(&mut self) -> Option<&mut Inquiry> {
        match &mut self.session {
            Session::Handshake { handshake, .. } => Some(handshake),
            _ => None,
        }
    }

    /// Sends what a handshake still has to ask. The facts so far were asked for at `sent`, so all
    /// that the handshake finds is as old as that.
    pub(crate) fn go_on_asking(&mut self, sent: Instant, config: &RedlockConfig, terms: Terms) {
        let look = terms.look(config, self.login.database);
        let Session::Handshake { handshake, .. } = &self.session else { return };
        for _ in 0..handshake.encode(&self.login, &look, self.outbox.buffer()) {
            self.pipeline.push(Expected { request: Request::Handshake, sent });
        }
    }

    /// Returns whether the node runs scripts for us. Without them the node grants locks and takes
    /// them back, one resource at a time, and can neither extend a lock nor keep a witness.
    #[inline]
    pub(crate) fn runs_scripts(&self) -> bool {
        self.missing.allows_scripts()
    }

    /// Takes over what a look has found about scripts. Returns `true` if the node runs them now,
    /// and did not before: somebody has given the user the rights. The witness waits for the next
    /// connection.
    pub(crate) fn allow_scripts(&mut self, found: &Findings) -> bool {
        if self.runs_scripts() || !found.missing.for_locks(false).is_empty() {
            return false;
        }
        self.missing = found.missing;
        self.batch.set_scripts(true);
        true
    }

    /// Ends the handshake: the node proved what it must, and may be asked. The caller settles the
    /// evidence behind this.
    pub(crate) fn ready(
        &mut self,
        now: Instant,
        found: &Findings,
        config: &RedlockConfig,
        terms: Terms,
    ) {
        self.settle_patience(Limits::new(config, config.max_ttl));
        self.run_id = Some(found.identity.run_id);
        self.native = found.native;
        self.missing = found.missing;
        self.batch.set_scripts(self.runs_scripts());
        self.tracking.begin(found);
        self.session = Session::Ready { since: now };
        self.plan_looks(now, found, terms);
        self.error = None;
        self.message.clear();
    }

    /// Ends the session, or an attempt to open one. Returns the requests whose fate is open.
    pub(crate) fn down(
        &mut self,
        now: Instant,
        error: NodeError,
        reconnect_max: Duration,
        rng: &mut fastrand::Rng,
    ) -> VecDeque<Expected> {
        if matches!(self.session, Session::Ready { since } if now - since >= SETTLED_AFTER) {
            self.failures = 0;
        }
        let pause = if error.is_misconfiguration() {
            spread(MISCONFIGURED_PAUSE, rng)
        } else {
            self.reconnect_pause(reconnect_max, rng)
        };
        let ask_at = if self.has_other_logins && error.is_about_login() {
            now + self.reconnect_pause(reconnect_max, rng)
        } else {
            Instant::FAR_FUTURE
        };
        self.session = Session::Down { retry_at: now + pause, ask_at };
        self.failures = self.failures.saturating_add(1);
        self.counters.failures += 1;
        self.unhealthy_until = None;
        if !matches!(error, NodeError::Server(_) | NodeError::LoginRefused) {
            self.message.clear();
        }
        self.error = Some(error);
        self.look = None;
        self.look_at = Instant::FAR_FUTURE;
        self.outbox.clear();
        let mut lost = self.pipeline.take();
        lost.extend(self.give_up_gathered(now));
        lost
    }
}

/// Returns a random time between half of `pause` and all of it, so that many clients do not come
/// back at the same moment.
fn spread(pause: Duration, rng: &mut fastrand::Rng) -> Duration {
    pause / 2 + Duration::from_nanos(rng.u64(..=pause.as_nanos() as u64 / 2))
}
