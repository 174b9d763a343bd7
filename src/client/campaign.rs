//! [`Campaign`], which stands for the lead again and again, and [`Candidacy`], which waits for it.

use core::fmt;
use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::Arc;

use smallvec::smallvec;

use super::acquire::Acquire;
use super::leadership::Leadership;
use super::lock_error::LockError;
use super::shared::Shared;
use super::sync::Mutex;
use super::ticket::{Order, Ticket};
use crate::engine::Resources;
use crate::redlock::AcquireOptions;

/// The settings with which a client stands for the lead: one of several processes leads, and
/// another follows when it resigns, loses the lead or dies.
///
/// The lead is a lock that is kept alive, so that a campaign and a
/// [`lock`](super::Client::lock) on the same resource exclude each other. `&campaign` can be
/// awaited again and again: each time is a [`Candidacy`], which ends with a [`Leadership`].
///
/// ```no_run
/// # use std::time::Duration;
/// # async fn one_step() {}
/// # async fn run(client: redbolt::Client) -> Result<(), redbolt::LockError> {
/// let campaign = client.campaign("service/leader").ttl(Duration::from_secs(5));
/// loop {
///     let leadership = campaign.elect().await?;
///     while leadership.is_leader() {
///         one_step().await;
///     }
///     // Notices that are planned, such as the end of a term, are no reason for an alarm.
///     eprintln!("{}", leadership.lost().await);
/// }
/// # }
/// ```
///
/// # Whose turn is next
///
/// Candidates of one client stand in line. After a resignation within the
/// [`tenure`](crate::RedlockConfig::tenure) of the client (half a second from its first election),
/// the next of them leads at once: the lock is
/// [passed on](crate::ReleaseOutcome::is_passed_on), unless the campaign is fenced. After the
/// tenure the client leaves the lead to other clients for a moment, the
/// [`tenure_gap`](crate::RedlockConfig::tenure_gap) (25 to 50 ms; zero for none), and then the next
/// of its own candidates leads within two round trips, one for the release and one for the lock.
/// Candidates of other clients are told by the nodes, where these speak RESP3; elsewhere, and soon
/// after another election, they look again after pauses, of
/// [`retry_max`](crate::RedlockConfig::retry_max) (100 ms) at most unless many wait. A leader that
/// was elected without a refusal has seen nobody, and can be faster than all of them when it
/// resigns and stands again at once: let it pause for longer than `retry_max`.
///
/// When a leader dies without having resigned, or loses its nodes, the next one leads after one ttl
/// at most, and the pause of a candidate. A short ttl makes that short, and asks the nodes more
/// often: three times in a ttl.
///
/// # Who leads
///
/// [`Client::query`](super::Client::query) says whether somebody leads and for how long yet, and
/// which [token](crate::Holder::token) is that of the leader. [`Who`](crate::Who) also has the
/// machine, the process and the [label](super::ClientBuilder::label) of the leader, as
/// `redbolt who` shows them:
///
/// ```no_run
/// use redbolt::{Config, Who};
///
/// let config = Config::new(["10.0.0.1", "10.0.0.2", "10.0.0.3"])?;
/// let report = Who::new(config, ["service/leader"]).run()?;
/// for resource in report.resources() {
///     // The first value is that of the holder, where there is one.
///     let leader = resource.values.first().and_then(|value| value.client.as_ref());
///     println!("{}: {:?}", resource.state, leader.map(|client| &client.label));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Both answers are advice: the leader may have changed while they were on their way. Let storage
/// refuse the writes of a former leader, by a number ([`fenced`](Self::fenced)).
#[must_use = "nobody stands for the lead before `elect` or `await`"]
pub struct Campaign {
    shared: Arc<Shared>,
    resource: Box<[u8]>,
    ttl: Duration,
    max_hold: Duration,
    wait: Duration,
    ahead: Duration,
    is_fenced: bool,
}

impl Campaign {
    pub(super) fn new(shared: Arc<Shared>, resource: &[u8]) -> Self {
        let (ttl, max_hold) = (shared.defaults.ttl, shared.defaults.max_hold);
        let (resource, wait, ahead) = (resource.into(), Duration::MAX, Duration::ZERO);
        Self { shared, resource, ttl, max_hold, wait, ahead, is_fenced: false }
    }

    /// Sets the ttl, which is how long the others wait for a leader that has died. Default: the ttl
    /// of the [builder](crate::ClientBuilder::ttl), else 10 s, or the configured `max_ttl` if that
    /// is less. From 10 ms to `max_ttl`, in whole milliseconds.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn lead(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// let leadership = client.campaign("service/leader").ttl(Duration::from_secs(3)).await?;
    /// # drop(leadership);
    /// # Ok(())
    /// # }
    /// ```
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets the longest time to lead without a new election. At its end the lead is lost, with
    /// [`LostReason::MaxHold`](crate::LostReason::MaxHold). Default, and the most that is possible:
    /// the configured [`max_hold`](crate::RedlockConfig::max_hold), which is an hour unless it was
    /// changed. A `max_hold` of less than the ttl is the ttl as well.
    ///
    /// A leader that hangs would lead for ever without that end (S12).
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn lead(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// let campaign = client.campaign("service/leader").max_hold(Duration::from_secs(600));
    /// let leadership = campaign.elect().await?;
    /// let end = leadership.lost().await;
    /// if end.is_planned() {
    ///     println!("our term is over: {end}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.max_hold = max_hold;
        self
    }

    /// Sets how long a candidate waits for the lead, and then gives up with an error of which
    /// [`is_contended`](LockError::is_contended) is true where another leads. Default: without an
    /// end, whatever the wait of the [builder](crate::ClientBuilder::wait) is. Zero is one attempt.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # fn lead(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// let campaign = client.campaign("service/leader").wait(Duration::from_secs(60));
    /// match campaign.blocking_elect() {
    ///     Ok(leadership) => drop(leadership),
    ///     Err(error) if error.is_contended() => println!("another has led all the time"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Asks for a warning: [`Leadership::expiring`] fires when no more than `ahead` is left of the
    /// validity. Choose less than two thirds of the ttl, because the first renewal comes after one
    /// third. Default: zero, which is no warning.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn lead(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// let campaign = client.campaign("service/leader").ttl(Duration::from_secs(6));
    /// let leadership = campaign.warn_before(Duration::from_secs(2)).await?;
    /// println!("time to save what there is: {}", leadership.expiring().await);
    /// # Ok(())
    /// # }
    /// ```
    pub fn warn_before(mut self, ahead: Duration) -> Self {
        self.ahead = ahead;
        self
    }

    /// Asks for a fencing number (S13) in each election, which [`Leadership::fence`] returns:
    /// larger than those of all earlier leaders, so that storage can refuse a leader that was
    /// stopped and writes late. [`LockRequest::fenced`](super::LockRequest::fenced) says more.
    ///
    /// ```no_run
    /// # async fn lead(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// let leadership = client.campaign("service/leader").fenced().await?;
    /// println!("every write goes with {:?}", leadership.fence());
    /// # Ok(())
    /// # }
    /// ```
    pub fn fenced(mut self) -> Self {
        self.is_fenced = true;
        self
    }

    /// Stands for the lead from now on. The result is a future, which a thread can wait for with
    /// [`Candidacy::blocking_wait`]. `(&campaign).await` and `campaign.await` do the same.
    ///
    /// The cost while another leads: nothing where a candidate of this client leads, else a read of
    /// one key at one node after each pause.
    pub fn elect(&self) -> Candidacy {
        let options = self.is_fenced.then(|| Box::new(AcquireOptions::new().fenced()));
        let order = Order {
            resources: smallvec![self.resource.clone()],
            count: 1,
            // A key outlives a dead leader for no longer than a term.
            ttl: self.ttl.min(self.max_hold),
            wait: self.wait,
            adopts: None,
            options,
            max_hold: Some(self.max_hold),
            ahead: self.ahead,
            on_lost: Mutex::new(None),
        };
        let ticket = Arc::new(Ticket::new(order));
        Candidacy { request: Acquire::new(Arc::clone(&self.shared), ticket) }
    }

    /// Stands for the lead, and blocks the thread until this client leads or has failed.
    ///
    /// # Errors
    ///
    /// A [`LockError`]: a setting is out of bounds, the client has ended, the [wait](Self::wait) is
    /// over, or the client has too many requests already
    /// ([`is_overloaded`](LockError::is_overloaded)), which a later try may find otherwise.
    #[track_caller]
    pub fn blocking_elect(&self) -> Result<Leadership, LockError> {
        self.elect().blocking_wait()
    }
}

impl IntoFuture for Campaign {
    type Output = Result<Leadership, LockError>;
    type IntoFuture = Candidacy;

    fn into_future(self) -> Candidacy {
        self.elect()
    }
}

impl IntoFuture for &Campaign {
    type Output = Result<Leadership, LockError>;
    type IntoFuture = Candidacy;

    fn into_future(self) -> Candidacy {
        self.elect()
    }
}

impl fmt::Debug for Campaign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = Resources { first: &self.resource, count: 1 };
        f.debug_struct("Campaign")
            .field("resource", &format_args!("{resource}"))
            .field("ttl", &self.ttl)
            .field("max_hold", &self.max_hold)
            .field("wait", &self.wait)
            .field("is_fenced", &self.is_fenced)
            .finish_non_exhaustive()
    }
}

/// A candidate that waits for the lead: a future for tasks, with
/// [`blocking_wait`](Self::blocking_wait) for threads.
///
/// Dropping a `Candidacy` takes it back, and leaves nothing on the nodes. Once the result has been
/// returned, polling stays pending for ever.
///
/// ```no_run
/// # async fn stopped() {}
/// # async fn stand(campaign: redbolt::Campaign) -> Result<(), redbolt::LockError> {
/// tokio::select! {
///     leadership = campaign.elect() => drop(leadership?),
///     () = stopped() => println!("nobody needs a leader any more"),
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "to drop a candidacy takes it back"]
pub struct Candidacy {
    request: Acquire,
}

impl Candidacy {
    /// Blocks until this client leads or has failed.
    ///
    /// # Errors
    ///
    /// As [`Campaign::blocking_elect`].
    #[track_caller]
    pub fn blocking_wait(self) -> Result<Leadership, LockError> {
        self.request.blocking_wait().map(Leadership::new)
    }
}

impl Future for Candidacy {
    type Output = Result<Leadership, LockError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let result = ready!(Pin::new(&mut self.request).poll(context));
        Poll::Ready(result.map(Leadership::new))
    }
}

impl fmt::Debug for Candidacy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidacy").field("request", &self.request).finish()
    }
}
