//! [`Leadership`], the lead of one client until it resigns or the lead is lost.

use core::fmt;
use core::time::Duration;

use super::guard::Guard;
use super::lock_error::ClientClosed;
use super::pending::PendingAnswer;
use super::release::ReleaseReport;
use super::signal::LockSignal;
use crate::redlock::Fence;
use crate::time::Instant;

/// The lead, which a [`Campaign`](super::Campaign) has won. Dropping it resigns, as dropping a
/// [`Guard`] releases its lock: without blocking.
///
/// The client keeps the lead alive, until `max_hold` after the election at the latest. The lead can
/// end while the work of the leader goes on: check [`is_leader`](Self::is_leader) before each step,
/// or wait for [`lost`](Self::lost).
///
/// ```no_run
/// # async fn work() {}
/// # async fn run(client: redbolt::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let leadership = client.campaign("service/leader").await?;
/// tokio::select! {
///     biased;
///     end = leadership.lost() => eprintln!("we lead no more: {end}"),
///     () = work() => {
///         let report = leadership.resign().await?;
///         println!("{report}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "to drop a leadership resigns: name it `_leadership`, `let _ =` drops it"]
pub struct Leadership {
    guard: Guard,
}

impl Leadership {
    pub(super) fn new(guard: Guard) -> Self {
        Self { guard }
    }

    /// Returns the resource that was campaigned for.
    #[must_use]
    pub fn resource(&self) -> &[u8] {
        self.guard.resource()
    }

    /// Returns whether this client leads now, by the deadline of its lock and the clock (S8). Costs
    /// one reading of the clock, and one call of `getpid`.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.guard.is_held()
    }

    /// Returns for how long this client leads without another renewal; zero once the lead is lost.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.guard.remaining()
    }

    /// Returns the end of the validity, in time since boot; [`Instant::ZERO`] once the lead is
    /// lost. See [`Guard::valid_until`].
    #[must_use]
    pub fn valid_until(&self) -> Instant {
        self.guard.valid_until()
    }

    /// Returns the fencing number of this leader (S13), if the campaign is
    /// [`fenced`](super::Campaign::fenced).
    #[must_use]
    pub fn fence(&self) -> Option<Fence> {
        self.guard.fence()
    }

    /// Returns a signal that fires when the lead is lost, and says why: too few nodes still have
    /// the lock, the renewals have failed, `max_hold` is over, the clock of this machine has fallen
    /// behind those of the nodes, or the client was shut down. See
    /// [`Guard::lost`]. The signal borrows nothing, and also fires at a resignation.
    ///
    /// ```no_run
    /// # fn lead(client: redbolt::Client) -> Result<(), redbolt::LockError> {
    /// let leadership = client.campaign("service/leader").blocking_elect()?;
    /// let lost = leadership.lost();
    /// std::thread::spawn(move || {
    ///     let end = lost.blocking_wait();
    ///     if !end.is_planned() {
    ///         eprintln!("ALARM: {end}");
    ///     }
    /// });
    /// # Ok(())
    /// # }
    /// ```
    pub fn lost(&self) -> LockSignal {
        self.guard.lost()
    }

    /// Returns a signal that fires when little is left of the validity, and when the lead ends.
    /// [`Campaign::warn_before`](super::Campaign::warn_before) sets how little. See
    /// [`Guard::expiring`].
    pub fn expiring(&self) -> LockSignal {
        self.guard.expiring()
    }

    /// Gives the lead back, so that the next candidate gets its turn, and returns what became of
    /// the release. From this call on this client does not lead, whether or not anybody waits for
    /// the result. Dropping the leadership does the same without a report.
    ///
    /// # Errors
    ///
    /// The answer is a [`ClientClosed`] if the client has ended. Then the ttl ends the lead.
    ///
    /// ```no_run
    /// # fn stop(leadership: redbolt::Leadership) -> Result<(), redbolt::ClientClosed> {
    /// let report = leadership.resign().blocking_wait()?;
    /// println!("{report}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn resign(self) -> PendingAnswer<Result<ReleaseReport, ClientClosed>> {
        self.guard.release()
    }

    /// Returns the lock behind the lead, with its [token](Guard::token) and its
    /// [id](Guard::id).
    pub fn as_guard(&self) -> &Guard {
        &self.guard
    }

    /// Returns the lock behind the lead as a guard that goes on with it, for a
    /// [`hand_over`](Guard::hand_over) to another process.
    pub fn into_guard(self) -> Guard {
        self.guard
    }
}

impl fmt::Debug for Leadership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership").field("guard", &self.guard).finish()
    }
}
