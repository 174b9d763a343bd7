//! Requests with options: tries, pauses, a node timeout and a token of the caller's own.

use core::time::Duration;

use super::Redlock;
use crate::redlock::ask::Ask;
use crate::redlock::event::LockId;
use crate::redlock::fence::FenceRefusal;
use crate::redlock::lock::Way;
use crate::redlock::options::{AcquireOptions, RetryContext};
use crate::redlock::request_error::RequestError;
use crate::redlock::restart_guard::RestartGuard;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::token::{Token, TokenRefusal};
use crate::redlock::wire::keys::{self, Names, Resource};
use crate::time::Instant;

impl Redlock {
    /// Requests one lock on `resources`, with `options`. Everything else is as in
    /// [`acquire_all`](Self::acquire_all), and, for one resource, as in [`acquire`](Self::acquire).
    ///
    /// The cost: an entry in a side table more than without options.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] as [`acquire_all`](Self::acquire_all) does, and also for options
    /// that are out of bounds, and for a token that this engine knows to be no good.
    ///
    /// ```
    /// # use redbolt::redlock::{Login, Redlock, RedlockConfig};
    /// # use redbolt::time::Instant;
    /// # let now = Instant::from_nanos(1);
    /// # let nodes = vec![Login::default(); 3];
    /// # let mut redlock = Redlock::new(RedlockConfig::default(), nodes, 42, [7; 12])?;
    /// use redbolt::redlock::AcquireOptions;
    /// use std::time::Duration;
    ///
    /// let (ttl, wait) = (Duration::from_secs(10), Duration::from_secs(2));
    /// let options = AcquireOptions::new().tries(3);
    /// let lock = redlock.acquire_with(now, &["orders/42"], ttl, wait, &options)?;
    /// # assert!(redlock.resources(lock).eq([b"orders/42"]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn acquire_with<R: AsRef<[u8]>>(
        &mut self,
        now: Instant,
        resources: &[R],
        ttl: Duration,
        wait: Duration,
        options: &AcquireOptions,
    ) -> Result<LockId, RequestError> {
        let resources = self.check_resources(resources)?;
        options.check(wait)?;
        if let Some(token) = &options.token {
            self.check_token(token, &resources)?;
        }
        if options.fence.is_some() {
            return Err(RequestError::Fence(FenceRefusal::NewLock));
        }
        if options.ask == Some(Ask::Majority) && self.config.restart_guard == RestartGuard::Off {
            return Err(RequestError::UnguardedMajority);
        }
        let slot = self.claim(now, ttl, wait)?;
        self.set_resources(slot, &resources);
        self.set_options(now, slot, wait, options.for_lock());
        if options.is_fenced {
            self.table[slot].way = Way::Fenced;
            self.table.expect_draws(slot);
        }
        Ok(self.begin(now, slot, wait))
    }

    /// Requests to take over a lock, as [`adopt`](Self::adopt) does, with `options`.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] as [`adopt`](Self::adopt) does, and also for options that are out
    /// of bounds, and for options with a token.
    pub fn adopt_with<R: AsRef<[u8]>>(
        &mut self,
        now: Instant,
        resources: &[R],
        token: Token,
        ttl: Duration,
        wait: Duration,
        options: &AcquireOptions,
    ) -> Result<LockId, RequestError> {
        let resources = self.check_resources(resources)?;
        options.check(wait)?;
        if options.token.is_some() {
            return Err(RequestError::Token(TokenRefusal::Adoption));
        }
        if options.is_fenced {
            return Err(RequestError::Fence(FenceRefusal::Adoption));
        }
        let slot = self.claim(now, ttl, wait)?;
        self.set_resources(slot, &resources);
        self.table[slot].way = Way::Adopted;
        self.set_options(now, slot, wait, options.for_adoption(token));
        if let Some(fence) = options.fence {
            self.table.expect_draws(slot).bring(fence);
        }
        // Its former owner knows the token as well.
        self.table.spend_token(slot);
        Ok(self.begin(now, slot, wait))
    }

    /// Checks that a token of the caller's can be told from all tokens that this engine has to do
    /// with on the same resources.
    fn check_token(&self, token: &Token, resources: &[&[u8]]) -> Result<(), RequestError> {
        if *token == Token::NONE {
            return Err(RequestError::Token(TokenRefusal::Zero));
        }
        if token.is_drawn_with(&self.nonce) {
            return Err(RequestError::Token(TokenRefusal::Drawn));
        }
        let mut key = Resource::new();
        for resource in resources {
            key.clear();
            keys::join(&mut key, &self.config.prefix, resource);
            match self.table.claims().refusal(Names { count: 1, bytes: &key }, token) {
                Some(TokenRefusal::Spent)
                    if self.config.is_sabotaged(Saboteur::SpentTokenReused) => {}
                Some(refusal) => return Err(RequestError::Token(refusal)),
                None => {}
            }
        }
        Ok(())
    }

    /// Gives options to a new lock whose resources are set.
    pub(super) fn set_options(
        &mut self,
        now: Instant,
        slot: u32,
        wait: Duration,
        options: AcquireOptions,
    ) {
        self.table.set_options(slot, options);
        let ttl = self.table[slot].ttl.duration();
        let timeout = self.own_node_timeout(slot).unwrap_or_else(|| self.config.node_timeout(ttl));
        self.table[slot].deadline = now + wait.max(timeout);
    }

    /// Returns the pause before the next attempt: `pause`, unless a function of the caller chooses
    /// another. Returns `None` if the caller has asked for no more attempts.
    pub(super) fn own_pause(&mut self, slot: u32, pause: Duration) -> Option<Duration> {
        let failed = self.table[slot].retries.saturating_add(1);
        let Some(options) = self.table.options(slot) else { return Some(pause) };
        if options.is_over(failed) {
            return None;
        }
        let random = if options.has_delay() { self.rng.u64(..) } else { 0 };
        Some(options.pause(RetryContext { failed, pause, random }))
    }
}
