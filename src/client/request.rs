//! [`LockRequest`], which collects what a caller wants, setting by setting.

use core::fmt;
use core::future::IntoFuture;
use core::time::Duration;
use std::sync::Arc;

use super::acquire::Acquire;
use super::guard::Guard;
use super::lock_error::LockError;
use super::notice::LockNotice;
use super::shared::Shared;
use super::sync::Mutex;
use super::ticket::{Order, Ticket};
use crate::net::callback;
use crate::redlock::{AcquireOptions, Ask, Fence, RetryContext, Token};

/// A request for a lock, before the request is sent.
///
/// [`blocking_acquire`](Self::blocking_acquire) blocks, `.await` does not, and both send the same
/// request.
///
/// ```no_run
/// # use std::time::Duration;
/// # async fn both(client: redbolt::Client) -> Result<(), redbolt::LockError> {
/// let ask = |client: &redbolt::Client| {
///     client.lock("orders/42").ttl(Duration::from_secs(10)).wait(Duration::from_secs(2))
/// };
/// let guard = ask(&client).await?; // in a task
/// drop(guard);
/// let guard = ask(&client).blocking_acquire()?; // in a thread
/// # drop(guard);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is asked for before `acquire` or `await`"]
pub struct LockRequest {
    shared: Arc<Shared>,
    order: Order,
}

impl LockRequest {
    pub(super) fn new(shared: Arc<Shared>, order: Order) -> Self {
        Self { shared, order }
    }

    /// Sets the ttl, which is how long the lock lasts unless it is extended or kept alive. When the
    /// lock is granted, as little as half of it may be left: [`Guard::remaining`] says how much.
    ///
    /// Default: the ttl of the [builder](crate::ClientBuilder::ttl), else 10 s, or the configured
    /// `max_ttl` if that is less. The ttl counts in whole milliseconds, from 10 ms to `max_ttl`.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.order.ttl = ttl;
        self
    }

    /// Sets how long to wait for the lock. With zero, the request makes one attempt. Default: the
    /// wait of the [builder](crate::ClientBuilder::wait), else zero.
    ///
    /// That one attempt waits for connections that are still being set up, but not for longer than
    /// 5 % of the ttl, at least 5 ms and at most 50 ms, unless
    /// [configured](crate::RedlockConfig::node_timeout). The first request of a process that has
    /// just started therefore needs a wait of a second or more.
    ///
    /// A request that stands in line behind another request or lock of this client for the same
    /// resource ends with its wait. A request that waits for nodes may end later, by a node timeout
    /// at most ([`longest_node_timeout`]), because an attempt under way needs its round trip; a
    /// wait that is shorter than a node timeout can then last as long as one. [`Redlock::acquire`]
    /// has the latest moment.
    ///
    /// A wait lasts to its end also where masters that have restarted may not vote before: evidence
    /// from other masters can end a quarantine early. [`LockError::retry_after`] then says when to
    /// come back.
    ///
    /// [`Redlock::acquire`]: crate::redlock::Redlock::acquire
    /// [`longest_node_timeout`]: crate::RedlockConfig::longest_node_timeout
    /// [`LockError::retry_after`]: crate::LockError::retry_after
    pub fn wait(mut self, wait: Duration) -> Self {
        self.order.wait = wait;
        self
    }

    /// Sets the maximum number of attempts. The request fails with the result of the last of them,
    /// or when its [`wait`](Self::wait) is over, whichever comes first. Default: no limit but the
    /// wait.
    ///
    /// Several tries need a wait, else the request is refused with
    /// [`RequestError::TriesWithoutWait`]: without a wait there is one attempt. Time in line behind
    /// another lock of this client, and time without a quorum of nodes, is no attempt.
    ///
    /// ```no_run
    /// # async fn job(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// use std::time::Duration;
    ///
    /// let request = client.lock("jobs/7").tries(5).wait(Duration::from_secs(10));
    /// let guard = request.retry_delay(|retry| Duration::from_millis(100) * retry.failed()).await?;
    /// # drop(guard);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`RequestError::TriesWithoutWait`]: crate::RequestError::TriesWithoutWait
    pub fn tries(self, tries: u32) -> Self {
        self.option(|options| options.tries(tries))
    }

    /// Sets the function that chooses the pause before each retry. Default: a random time, short at
    /// first, which doubles up to the configured
    /// [`retry_max`](crate::RedlockConfig::retry_max).
    ///
    /// `delay` is told how many attempts have failed, and the pause that the client would choose.
    /// The pause is cut to between 100 µs and 1 h, and, near the end of the wait, so that there is
    /// one last try. Clients that pause for the same time meet again at each retry, and can split
    /// the votes of the nodes each time: a pause should have a random part.
    ///
    /// `delay` is called on the engine's thread, and must return at once, without waiting for this
    /// client. If `delay` panics, the pause is the one that the client would choose.
    ///
    /// ```no_run
    /// # async fn job(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// use std::time::Duration;
    ///
    /// let (least, most) = (Duration::from_millis(50), Duration::from_millis(250));
    /// let request = client.lock("jobs/7").wait(Duration::from_secs(10));
    /// let guard = request.retry_delay(move |retry| retry.random_between(least, most)).await?;
    /// # drop(guard);
    /// # Ok(())
    /// # }
    /// ```
    pub fn retry_delay(
        self,
        delay: impl Fn(RetryContext) -> Duration + Send + Sync + 'static,
    ) -> Self {
        // The options go as far as the table of the engine, which may be their last owner.
        let delay = callback::Owned::new(delay);
        let guarded = move |retry: RetryContext| {
            let own = retry.engine_pause();
            delay.call(retry).unwrap_or(own)
        };
        self.option(|options| options.retry_delay(guarded))
    }

    /// Sets how long each attempt, and each extension of the lock, waits for the nodes: from 1 ms
    /// to 1 min, however near or far they are. By default the nodes are waited for as long as their
    /// measured round trips are worth, from the configured
    /// [`node_timeout`](crate::RedlockConfig::node_timeout) up to a quarter of the ttl. Where
    /// another library has a timeout factor, use that factor times the ttl.
    pub fn node_timeout(self, timeout: Duration) -> Self {
        self.option(|options| options.node_timeout(timeout))
    }

    /// Sets the token, which is the value of the keys, in place of one that the client draws. A
    /// process that writes its token down first can [`adopt`](crate::Client::adopt) its lock after
    /// a crash. The old process must be gone for certain: as long as it lives, both hold the lock.
    ///
    /// The request makes one attempt. A wait covers only the time until that attempt can start.
    ///
    /// **The token must be unique**: nobody may have used it for the same resource before, this
    /// process included. Else a release that was sent for the earlier lock and arrives late deletes
    /// the keys of this one. The client refuses a token with [`RequestError::Token`] where it knows
    /// that the token could not be told from another's; [`TokenRefusal`] lists the reasons. Clients
    /// with several threads know less: each thread knows its own locks.
    ///
    /// Nodes that have the token already refuse the lock as if the token were somebody else's, and
    /// the attempt that fails releases the token on all other nodes. So do not ask for a lock that
    /// may exist under this token, left by a process that is gone: adopt the lock.
    ///
    /// ```no_run
    /// # use redbolt::{Client, LockError};
    /// # async fn job(client: Client, random: [u8; 20]) -> Result<(), LockError> {
    /// let token = redbolt::Token::from_bytes(random); // written down by the caller
    /// let guard = client.lock("jobs/7").token(token).await?;
    /// assert_eq!(guard.token(), token);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`RequestError::Token`]: crate::RequestError::Token
    /// [`TokenRefusal`]: crate::TokenRefusal
    pub fn token(self, token: Token) -> Self {
        self.option(|options| options.token(token))
    }

    /// Sets how many masters each attempt asks at first, in place of the configured
    /// [`ask`](crate::RedlockConfig::ask). Fenced requests and adoptions ask all of them.
    ///
    /// [`Ask::Majority`] is refused with [`RequestError::UnguardedMajority`] where the client has
    /// no restart guard.
    ///
    /// ```no_run
    /// # async fn job(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// let guard = client.lock("orders/42").ask(redbolt::Ask::Majority).await?;
    /// # drop(guard);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`RequestError::UnguardedMajority`]: crate::RequestError::UnguardedMajority
    pub fn ask(self, ask: Ask) -> Self {
        self.option(|options| options.ask(ask))
    }

    /// Asks for a fencing number (S13), which [`Guard::fence`] returns: larger than those of all
    /// earlier holders of the resource, so that the storage can refuse a holder that was stopped
    /// and writes late.
    ///
    /// Only masters take part that have kept their numbers, and whose clocks are near those of a
    /// majority ([`fence_skew`](crate::RedlockConfig::fence_skew)). A lock on several resources has
    /// one number for all of them. A request to [`adopt`](crate::Client::adopt) a lock is refused
    /// with [`RequestError::Fence`]: see [`with_fence`](Self::with_fence).
    /// [`AcquireOptions::fenced`](crate::AcquireOptions::fenced) says what a number costs.
    ///
    /// ```no_run
    /// # use redbolt::{Client, LockError};
    /// # fn write(body: &str, fence: u64) {}
    /// # async fn job(client: Client) -> Result<(), LockError> {
    /// let guard = client.lock("orders/42").fenced().await?;
    /// if let Some(fence) = guard.fence() {
    ///     // UPDATE orders SET body = $1, fence = $2 WHERE id = 42 AND fence <= $2
    ///     write("paid", fence.get());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`RequestError::Fence`]: crate::RequestError::Fence
    pub fn fenced(self) -> Self {
        self.option(AcquireOptions::fenced)
    }

    /// Sets the fencing number of a lock that is [adopted](crate::Client::adopt), which
    /// [`Guard::fence`] then returns. [`Handover::fence`](crate::Handover::fence) has the number;
    /// `None` changes nothing. A request for a new lock is refused with [`RequestError::Fence`].
    ///
    /// To the storage, the former owner and this one are the same holder as long as both write with
    /// this number. Where the former owner may still be at work, draw a new number
    /// ([`Guard::draw_fence`]), and leave that number in the storage. The client does not check the
    /// number that is set here.
    ///
    /// ```no_run
    /// # use redbolt::{Client, Handover, LockError};
    /// # async fn worker(client: Client, handover: Handover) -> Result<(), LockError> {
    /// let request = client.adopt(&handover.resources, handover.token).with_fence(handover.fence);
    /// let guard = request.await?;
    /// assert_eq!(guard.fence(), handover.fence);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`RequestError::Fence`]: crate::RequestError::Fence
    pub fn with_fence(self, fence: impl Into<Option<Fence>>) -> Self {
        match fence.into() {
            Some(fence) => self.option(|options| options.with_fence(fence)),
            None => self,
        }
    }

    fn option(mut self, set: impl FnOnce(AcquireOptions) -> AcquireOptions) -> Self {
        let options =
            self.order.options.take().map_or_else(AcquireOptions::new, |options| *options);
        self.order.options = Some(Box::new(set(options)));
        self
    }

    /// Keeps the lock alive: the client extends the lock again and again, until `max_hold` after
    /// the acquisition.
    ///
    /// A `max_hold` of less than the ttl does not shorten the ttl. See [`Redlock::keep_alive`].
    /// At its end the lock is lost, with [`LostReason::MaxHold`]: release before, or end the work
    /// at [`Guard::expiring`].
    ///
    /// `max_hold` may not be more than the configured one (S12), an hour unless
    /// [`RedlockConfig::max_hold`] says otherwise: without a limit, a holder that hangs would hold
    /// the lock for ever. Check [`Guard::is_held`] before every step, or wait for [`Guard::lost`].
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn work() {}
    /// # async fn run(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// let guard = client.lock("reports/7").keep_alive_for(Duration::from_secs(600)).await?;
    /// tokio::select! {
    ///     () = work() => {}
    ///     end = guard.lost() => eprintln!("{end}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A process that leads for as long as it can has a
    /// [`campaign`](crate::Client::campaign) instead.
    ///
    /// [`LostReason::MaxHold`]: crate::LostReason::MaxHold
    /// [`RedlockConfig::max_hold`]: crate::RedlockConfig::max_hold
    /// [`Redlock::keep_alive`]: crate::redlock::Redlock::keep_alive
    pub fn keep_alive_for(mut self, max_hold: Duration) -> Self {
        self.order.max_hold = Some(max_hold);
        self
    }

    /// Asks for a warning: [`Guard::expiring`] fires when no more than `ahead` is left of the
    /// validity.
    ///
    /// With keep-alive, choose less than two thirds of the ttl. Otherwise the warning fires before
    /// the first renewal.
    pub fn warn_before(mut self, ahead: Duration) -> Self {
        self.order.ahead = ahead;
        self
    }

    /// Registers `call`, which is called once, on the engine's thread, if the lock is lost. The
    /// notice names the resource, and its kind is [`LockNoticeKind::Lost`].
    ///
    /// A lock that ends because the client ends ([`LockNoticeKind::Closed`]) is not reported to
    /// `call`.
    ///
    /// [`LockNoticeKind::Lost`]: crate::LockNoticeKind::Lost
    /// [`LockNoticeKind::Closed`]: crate::LockNoticeKind::Closed
    ///
    /// `call` must return at once, because all locks of the engine's thread wait meanwhile. A call
    /// in `call` that would have to wait for a client panics;
    /// [`blocking_shutdown`](crate::Client::blocking_shutdown) has a rule of its own. A panic in
    /// `call` is caught, and [`ClientCounters::panics`](crate::ClientCounters::panics) counts the
    /// panic.
    pub fn on_lost(mut self, call: impl FnOnce(LockNotice) + Send + 'static) -> Self {
        self.order.on_lost = Mutex::new(Some(Box::new(call)));
        self
    }

    /// Sends the request, and returns at once. The result is a future, which a thread can wait for
    /// with [`Acquire::blocking_wait`]. `request.await` does the same.
    pub fn acquire(self) -> Acquire {
        Acquire::new(self.shared, Arc::new(Ticket::new(self.order)))
    }

    /// Makes one attempt, whatever [`wait`](Self::wait) and [`tries`](Self::tries) say. Else as
    /// [`acquire`](Self::acquire). [`LockError::is_contended`] says that somebody else has the
    /// lock.
    pub fn try_acquire(self) -> Acquire {
        let is_limited = self.order.options.is_some();
        let request = if is_limited { self.tries(1) } else { self };
        request.wait(Duration::ZERO).acquire()
    }

    /// Sends the request, and blocks the thread until the lock is held or the request has failed.
    ///
    /// A task must not call this method: the thread of its runtime would do nothing else meanwhile.
    /// The crate page says how such a call is noticed.
    ///
    /// # Errors
    ///
    /// A [`LockError`]: the request is out of bounds, or the request ended without a lock.
    #[track_caller]
    pub fn blocking_acquire(self) -> Result<Guard, LockError> {
        self.acquire().blocking_wait()
    }

    /// Makes one attempt, as [`try_acquire`](Self::try_acquire) does, and blocks the thread until
    /// the attempt is decided.
    ///
    /// # Errors
    ///
    /// As [`blocking_acquire`](Self::blocking_acquire).
    #[track_caller]
    pub fn blocking_try_acquire(self) -> Result<Guard, LockError> {
        self.try_acquire().blocking_wait()
    }
}

impl IntoFuture for LockRequest {
    type Output = Result<Guard, LockError>;
    type IntoFuture = Acquire;

    fn into_future(self) -> Acquire {
        self.acquire()
    }
}

impl fmt::Debug for LockRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockRequest")
            .field("resources", &self.order.resources.len())
            .field("ttl", &self.order.ttl)
            .field("wait", &self.order.wait)
            .field("options", &self.order.options)
            .finish_non_exhaustive()
    }
}
