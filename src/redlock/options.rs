//! [`AcquireOptions`]: what a request for a lock can ask for beyond its resources, its ttl and its
//! wait.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::ask::Ask;
use super::bounds::{MAX_NODE_TIMEOUT, MIN_NODE_TIMEOUT};
use super::fence::Fence;
use super::request_error::RequestError;
use super::token::{Token, TokenRefusal};

/// The shortest pause that a function of the caller can choose. With no pause at all, one waiting
/// lock would keep the nodes busy.
const LEAST_DELAY: Duration = Duration::from_micros(100);

/// The longest such pause. Every retry has a moment, however long the wait is.
const LONGEST_DELAY: Duration = Duration::from_secs(3600);

/// The options of a request for a lock: all that most requests leave alone.
///
/// Options can be used for any number of requests, by
/// [`Redlock::acquire_with`](super::Redlock::acquire_with) and
/// [`Redlock::adopt_with`](super::Redlock::adopt_with). A request with options costs an entry in a
/// side table; a request without them costs nothing more.
///
/// ```
/// use redbolt::redlock::AcquireOptions;
/// use std::time::Duration;
///
/// let options = AcquireOptions::new()
///     .tries(32)
///     .retry_delay(|retry| {
///         retry.random_between(Duration::from_millis(50), Duration::from_millis(250))
///     })
///     .node_timeout(Duration::from_millis(20));
/// # drop(options);
/// ```
#[must_use = "options do nothing until a request is made with them"]
#[derive(Clone, Default)]
pub struct AcquireOptions {
    tries: Option<u32>,
    delay: Option<Arc<Delay>>,
    pub(super) node_timeout: Option<Duration>,
    pub(super) token: Option<Token>,
    pub(super) is_fenced: bool,
    pub(super) ask: Option<Ask>,
    pub(super) fence: Option<Fence>,
}

/// A function of the caller that chooses the pause before a retry.
type Delay = dyn Fn(RetryContext) -> Duration + Send + Sync;

impl AcquireOptions {
    /// Creates options that change nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of attempts, at least 1. The request fails with the result of the
    /// last of them, or when its wait is over, whichever comes first.
    ///
    /// More than one attempt takes a wait: a request with a wait of zero and several tries is
    /// refused with [`RequestError::TriesWithoutWait`]. Only attempts count. The time in line
    /// behind another lock of this engine, and the time until a quorum of nodes can be asked, are
    /// bounded by the wait alone.
    pub fn tries(mut self, tries: u32) -> Self {
        self.tries = Some(tries);
        self
    }

    /// Sets the function that chooses the pause before each retry, in place of the engine's own
    /// rule: a random time that doubles up to [`retry_max`](super::RedlockConfig::retry_max).
    ///
    /// A pause is at least 100 µs and at most 1 h long; what the function returns beyond that is
    /// cut. A pause that would outlast the wait is cut as well, to one half of what is left of the
    /// wait, for one last try.
    ///
    /// `delay` is called by the engine, once for each failed attempt that has another one behind
    /// it, and must return at once: all locks of the engine wait meanwhile. A panic in `delay` goes
    /// through the engine to the caller of the engine.
    ///
    /// Clients that pause for the same time meet again at each retry, and can split the votes of
    /// the nodes each time. So a pause should have a random part:
    /// [`RetryContext::random_between`].
    pub fn retry_delay(
        mut self,
        delay: impl Fn(RetryContext) -> Duration + Send + Sync + 'static,
    ) -> Self {
        self.delay = Some(Arc::new(delay));
        self
    }

    /// Sets how long each attempt, and each extension of the lock, waits for the nodes: from 1 ms
    /// to 1 min, exactly. The measured round trips, by which far nodes get more time than the
    /// configured [`node_timeout`](super::RedlockConfig::node_timeout), do not count then.
    ///
    /// Other libraries have a factor of the ttl for this: a factor of 0.05 is `ttl / 20`, which is
    /// also what redbolt chooses by itself for nodes that are near, within 5 ms and 50 ms. No
    /// attempt waits for longer than half of its validity. Which nodes are skipped, because an old
    /// request to them has no reply, is still decided by the configuration and the round trips.
    pub fn node_timeout(mut self, timeout: Duration) -> Self {
        self.node_timeout = Some(timeout);
        self
    }

    /// Sets how many nodes each attempt asks at first, in place of the configured
    /// [`ask`](super::RedlockConfig::ask). Requests for fencing numbers and adoptions ask all.
    ///
    /// [`Ask::Majority`] is refused with [`RequestError::UnguardedMajority`] where the engine has
    /// no restart guard.
    pub fn ask(mut self, ask: Ask) -> Self {
        self.ask = Some(ask);
        self
    }

    /// Sets the token, which becomes the value of the keys, in place of one that the engine draws.
    ///
    /// The request makes one attempt, because a retry would need another token (S1). A wait covers
    /// the time until that attempt can start: in line, and until a quorum of nodes can be asked.
    ///
    /// **The token must be unique**, as those of the engine are: nobody may have used it for the
    /// same resource before. The safety of this lock depends on that. A release that was sent for
    /// an earlier use, and arrives late, deletes the keys of a later lock that has the same token.
    /// For different resources the same token may be used.
    ///
    /// A second use inside this engine is safe where the first one has ended with an answer to
    /// every request. The engine refuses any other second use, with a [`TokenRefusal`] as the
    /// reason, as far as it knows of one: it remembers the last 65 536 pairs of a token and a
    /// resource whose fate it does not know.
    ///
    /// A node that has the token already refuses the lock as if the token were somebody else's. The
    /// attempt fails, and then releases the token on the nodes that have not refused it. So do not
    /// ask for a lock that may exist under this token, left by a process that is gone: adopt the
    /// lock.
    pub fn token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Asks for a fencing number (S13): a [`Fence`] that is larger than those of all earlier
    /// holders of the resource. [`Event::Acquired`](super::Event::Acquired) brings the number. An
    /// extension does not change it.
    ///
    /// Only nodes take part that have kept their numbers, and whose clocks are near those of a
    /// majority ([`fence_skew`](super::RedlockConfig::fence_skew)).
    /// [`NodeStatus::fence_bar`](super::NodeStatus::fence_bar) says why a node does not. With
    /// [`RestartGuard::Off`](super::RestartGuard::Off) nobody looks, and a number after a restart
    /// of nodes can be smaller than one before.
    ///
    /// A lock on several resources has one number, which is larger than those of all earlier
    /// holders of each of them. An adoption draws no number, and is refused with
    /// [`RequestError::Fence`]: see [`with_fence`](Self::with_fence).
    ///
    /// A second trip can delay the end of the request by a node timeout, four times at most, and
    /// never beyond half of the validity of the attempt.
    ///
    /// The cost: a script in place of `SET`, and a second round trip where the numbers of a quorum
    /// differ, which is rare.
    pub fn fenced(mut self) -> Self {
        self.is_fenced = true;
        self
    }

    /// Sets the fencing number that the lock has, for an adoption: the number travels with the
    /// token. A request for a new lock is refused with [`RequestError::Fence`]. The engine does not
    /// check the number, and asks the nodes for nothing that follows from it.
    ///
    /// To the storage, the former owner and the new one are the same holder as long as both write
    /// with this number. Where the former owner may still be at work, draw a new number once the
    /// lock is adopted ([`Redlock::draw_fence`](super::Redlock::draw_fence)), and leave that number
    /// in the storage.
    pub fn with_fence(mut self, fence: Fence) -> Self {
        self.fence = Some(fence);
        self
    }

    /// Checks the bounds that need no knowledge of other locks.
    pub(super) fn check(&self, wait: Duration) -> Result<(), RequestError> {
        let tries = self.tries.unwrap_or(1);
        if tries == 0 {
            return Err(RequestError::NoTries);
        }
        if tries > 1 && self.token.is_some() {
            return Err(RequestError::Token(TokenRefusal::Tries { tries }));
        }
        if tries > 1 && wait.is_zero() {
            return Err(RequestError::TriesWithoutWait { tries });
        }
        let (least, most) = (MIN_NODE_TIMEOUT, MAX_NODE_TIMEOUT);
        match self.node_timeout {
            Some(timeout) if timeout < least || timeout > most => {
                Err(RequestError::NodeTimeout { timeout, least, most })
            }
            _ => Ok(()),
        }
    }

    /// Returns the options for one request for a lock.
    pub(super) fn for_lock(&self) -> Self {
        // S1: a retry would need a token of its own.
        let tries = if self.token.is_some() { Some(1) } else { self.tries };
        Self { tries, ..self.clone() }
    }

    /// Returns the options for a lock on one resource that a set takes on its way.
    pub(super) fn for_step(&self) -> Self {
        Self { node_timeout: self.node_timeout, ask: self.ask, ..Self::default() }
    }

    /// Returns the options for one request to go on with the lock that has the `token`.
    pub(super) fn for_adoption(&self, token: Token) -> Self {
        Self { token: Some(token), ..self.clone() }
    }

    /// Returns `true` if no attempt may follow when `failed` attempts have failed.
    pub(super) fn is_over(&self, failed: u32) -> bool {
        self.tries.is_some_and(|tries| failed >= tries)
    }

    /// Returns `true` if the caller counts the attempts, or chooses the pauses between them.
    pub(super) const fn has_own_tries(&self) -> bool {
        self.tries.is_some() || self.delay.is_some()
    }

    /// Returns `true` if a function of the caller chooses the pauses.
    pub(super) const fn has_delay(&self) -> bool {
        self.delay.is_some()
    }

    /// Returns the pause before the next attempt.
    pub(super) fn pause(&self, retry: RetryContext) -> Duration {
        match &self.delay {
            Some(delay) => delay(retry).clamp(LEAST_DELAY, LONGEST_DELAY),
            None => retry.pause,
        }
    }
}

/// Prints no function, and the short form of the token.
impl fmt::Debug for AcquireOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcquireOptions")
            .field("tries", &self.tries)
            .field("retry_delay", &self.has_delay())
            .field("node_timeout", &self.node_timeout)
            .field("ask", &self.ask)
            .field("token", &self.token)
            .field("fenced", &self.is_fenced)
            .field("fence", &self.fence)
            .finish()
    }
}

/// What is known when the pause before a retry is chosen: the argument of the function that
/// [`AcquireOptions::retry_delay`] takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RetryContext {
    pub(super) failed: u32,
    pub(super) pause: Duration,
    pub(super) random: u64,
}

impl RetryContext {
    /// Returns how many attempts of this request have failed: 1 at the first call.
    #[must_use]
    pub const fn failed(&self) -> u32 {
        self.failed
    }

    /// Returns the pause that the engine would choose: random, a few round trips long at first, and
    /// twice as long at each retry up to [`retry_max`](super::RedlockConfig::retry_max).
    #[must_use]
    pub const fn engine_pause(&self) -> Duration {
        self.pause
    }

    /// Returns a random time from `least` to `most`; `least` if it is the longer one. The engine
    /// draws one random number for each retry, so that equal calls return equal times.
    #[must_use]
    pub fn random_between(&self, least: Duration, most: Duration) -> Duration {
        let span = u64::try_from(most.saturating_sub(least).as_nanos()).unwrap_or(u64::MAX);
        let part = (u128::from(self.random) * (u128::from(span) + 1)) >> u64::BITS;
        // Less than the span and one, which fits.
        least.saturating_add(Duration::from_nanos(part as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn retry(random: u64) -> RetryContext {
        RetryContext { failed: 1, pause: 7 * MS, random }
    }

    #[test]
    fn a_random_time_lies_between_its_bounds() {
        let rows = [
            (0, 50, 250, 50 * MS),
            (u64::MAX, 50, 250, 250 * MS),
            (1 << 63, 50, 250, 150 * MS),
            (u64::MAX, 50, 50, 50 * MS),
            (1 << 63, 50, 10, 50 * MS),
        ];
        for (random, least, most, expected) in rows {
            let found = retry(random).random_between(least * MS, most * MS);
            assert_eq!(found, expected, "{random} {least} {most}");
        }
        assert_eq!(retry(u64::MAX).random_between(MS, Duration::MAX).as_secs(), 18_446_744_073);
        assert_eq!(retry(1).random_between(Duration::MAX, Duration::MAX), Duration::MAX);
    }

    #[test]
    fn a_pause_of_the_caller_is_cut_to_its_bounds() {
        let pause = |delay: Duration| AcquireOptions::new().retry_delay(move |_| delay);
        let rows = [(Duration::ZERO, LEAST_DELAY), (MS, MS), (Duration::MAX, LONGEST_DELAY)];
        for (delay, expected) in rows {
            assert_eq!(pause(delay).pause(retry(0)), expected, "{delay:?}");
        }
        assert_eq!(AcquireOptions::new().pause(retry(0)), 7 * MS);
    }

    #[test]
    fn tries_are_counted_and_a_token_has_one() {
        let is_over = |options: &AcquireOptions| {
            let options = options.for_lock();
            [1, 2, 3].map(|failed| options.is_over(failed))
        };
        assert_eq!(is_over(&AcquireOptions::new()), [false; 3]);
        assert_eq!(is_over(&AcquireOptions::new().tries(2)), [false, true, true]);
        let token = Token::from_bytes([7; 20]);
        assert_eq!(is_over(&AcquireOptions::new().token(token)), [true; 3]);
        assert!(!AcquireOptions::new().for_adoption(token).is_over(9), "the token is there");
    }

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let new = AcquireOptions::new;
        let own = new().token(Token::from_bytes([7; 20]));
        let error = |options: AcquireOptions, wait: Duration| {
            options.check(wait).expect_err("out of bounds").to_string()
        };
        assert_eq!(error(new().tries(0), MS), "0 tries are asked for, at least 1 is needed");
        assert_eq!(
            error(new().tries(3), Duration::ZERO),
            "3 tries need a wait, and the request has none"
        );
        assert_eq!(
            error(own.clone().tries(2), MS),
            "the token is refused: it is for 1 try, and 2 were asked for"
        );
        assert_eq!(
            error(new().node_timeout(61_000 * MS), MS),
            "the node timeout is 61s, between 1ms and 1m is possible"
        );
        assert_eq!(
            error(new().node_timeout(MS / 2), MS),
            "the node timeout is 500us, between 1ms and 1m is possible"
        );
        for options in [new(), new().tries(1), new().node_timeout(MS), own] {
            assert_eq!(options.check(Duration::ZERO), Ok(()), "{options:?}");
        }
    }

    #[test]
    fn a_token_is_shown_shortened() {
        let shown = format!("{:?}", AcquireOptions::new().token(Token::from_bytes([0xab; 20])));
        assert!(shown.contains("Token(abab…abab)"), "{shown}");
    }
}
