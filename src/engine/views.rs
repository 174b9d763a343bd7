//! What an engine can be asked about its locks and its nodes at any moment, and what its owner
//! reports.

use core::time::Duration;

#[cfg(doc)]
use super::config::Config;
use super::display::{EventDisplay, Told};
use super::engine::Engine;
use crate::net::{Address, Clock, IoCounters};
#[cfg(doc)]
use crate::redlock::Redlock;
use crate::redlock::{
    Counters, Event, Fence, LockId, LostReason, NodeId, NodeSet, NodeStatus, Quorum, RedlockConfig,
    Token,
};

impl Engine {
    /// Returns the text of an event that was just taken: one line, with the resource of the lock,
    /// the address of every node that has to do with it, and what is wrong with that node. The
    /// errors in events know the nodes by their numbers only.
    ///
    /// The resource is that of the event for sure before the next request to this engine, which may
    /// give the place of the lock to another. The cost: nothing before the text is written.
    ///
    /// ```no_run
    /// # fn wait(engine: &mut redbolt::Engine) -> Result<(), Box<dyn std::error::Error>> {
    /// while let Some(event) = engine.next_event() {
    ///     // lock "orders/42": no quorum of nodes (10.0.0.1:6379: granted; 10.0.0.2:6379: down,
    ///     // connecting failed: connection refused; 10.0.0.3:6379: no reply in time)
    ///     println!("{}", engine.display(&event));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn display<'a>(&'a self, event: &'a Event) -> EventDisplay<'a> {
        EventDisplay::new(Told { redlock: &self.redlock, addresses: &self.addresses }, event)
    }

    /// Reports how long the caller of a granted lock has waited.
    #[inline]
    pub(crate) fn waited(&self, wait: Duration) {
        self.observer.waited(wait);
    }

    /// Returns the reason for which a lock ends with its present validity.
    pub(crate) fn end_reason(&self, lock: LockId) -> LostReason {
        self.redlock.end_reason_of(lock)
    }

    /// Reports that a function of the caller's has panicked.
    #[cold]
    pub(crate) fn panicked(&self, callback: &'static str) {
        self.observer.panicked(callback);
    }

    /// Returns how many calls of the credentials have panicked.
    pub(crate) fn credential_panics(&self) -> u64 {
        self.driver.credential_panics()
    }

    /// Returns the settings of the algorithm: those of [`Config::redlock`].
    pub fn redlock_config(&self) -> &RedlockConfig {
        self.redlock.config()
    }

    /// Returns the quorum: how many of the configured nodes must agree.
    pub fn quorum(&self) -> Quorum {
        self.redlock.quorum()
    }

    /// Returns the remaining validity of a lock; zero unless the lock is held, and zero in a child
    /// of `fork`. Computed from the deadline and the clock at every call (S8).
    #[must_use]
    pub fn remaining(&self, lock: LockId) -> Duration {
        // A lock belongs to the process that acquired it.
        if !self.driver.is_at_home() {
            return Duration::ZERO;
        }
        self.redlock.remaining(Clock::now(), lock)
    }

    /// Returns `true` if the lock is held now, by this process. Computed from the deadline and the
    /// clock at every call (S8).
    #[must_use]
    pub fn is_held(&self, lock: LockId) -> bool {
        self.driver.is_at_home() && self.redlock.is_held(Clock::now(), lock)
    }

    /// Returns the token of a lock, which is the value of its keys on the nodes. Returns `None`
    /// before the acquisition, and after the release or the loss.
    ///
    /// From now on the token belongs to this lock alone: the lock will not be
    /// [passed on](crate::ReleaseOutcome::is_passed_on) to the next in line, but released on the
    /// nodes.
    #[must_use]
    pub fn token(&mut self, lock: LockId) -> Option<Token> {
        if !self.driver.is_at_home() {
            return None;
        }
        self.redlock.token(lock)
    }

    /// Returns the token of a lock, for a look alone: locks that are passed on inside the engine
    /// have the same token one after the other. Whoever acts upon the token, or gives it away, asks
    /// for it by [`token`](Self::token).
    #[must_use]
    pub fn peek_token(&self, lock: LockId) -> Option<Token> {
        if !self.driver.is_at_home() {
            return None;
        }
        self.redlock.peek_token(lock)
    }

    /// Returns the fencing number of a held lock (S13), if there is one.
    #[must_use]
    pub fn fence(&self, lock: LockId) -> Option<Fence> {
        self.redlock.fence(lock)
    }

    /// Returns the resources of a lock, also when the last event of the lock was just taken.
    /// See [`Redlock::resources`].
    pub fn resources(&self, lock: LockId) -> impl Iterator<Item = &[u8]> {
        self.redlock.resources(lock)
    }

    /// Returns the number of locks that are wanted, held, or still owed a reply.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.redlock.in_use()
    }

    /// Returns the number of tokens that wait to be cleaned up, on all nodes together (S6).
    #[must_use]
    pub fn cleanup(&self) -> usize {
        self.redlock.cleanup()
    }

    /// Returns the nodes on which something may be left: the nodes that owe an answer about a lock,
    /// and those with tokens to be cleaned up.
    #[must_use]
    pub fn owing(&self) -> NodeSet {
        self.redlock.owing()
    }

    /// Returns the address of a node, or `None` for a node that is not configured.
    pub fn address(&self, node: NodeId) -> Option<&Address> {
        self.addresses.get(node.index())
    }

    /// Returns the state, the last error and the counters of a node, or `None` for a node that is
    /// not configured.
    pub fn node(&self, node: NodeId) -> Option<NodeStatus<'_>> {
        self.redlock.node(Clock::now(), node)
    }

    /// Returns an iterator over all nodes, each with its address and status.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Address, NodeStatus<'_>)> {
        let ids = self.redlock.nodes().into_iter();
        ids.filter_map(|id| Some((id, self.address(id)?, self.node(id)?)))
    }

    /// Returns the number of requests and of each outcome so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.redlock.counters()
    }

    /// Returns the number of bytes and system calls since the engine was created.
    #[must_use]
    pub fn io_counters(&self) -> IoCounters {
        self.driver.counters()
    }
}
