//! Requests for locks: the resources, the bounds, and the slot that a request gets.

use core::time::Duration;

use smallvec::SmallVec;

use super::Redlock;
use super::last_ttl::LastTtl;
use crate::redlock::bounds::{MAX_SET, MAX_SET_BYTES, MIN_TTL};
use crate::redlock::error::AcquireError;
use crate::redlock::event::LockId;
use crate::redlock::lock::Phase;
use crate::redlock::millis::Millis;
use crate::redlock::node::error::NodeError;
use crate::redlock::node_set::NodeId;
use crate::redlock::request_error::RequestError;
use crate::redlock::wire::keys;
use crate::time::Instant;

impl Redlock {
    /// Requests a lock on `resource` for `ttl`. The engine keeps trying for up to `wait`; with a
    /// `wait` of zero there is one attempt.
    ///
    /// The request ends in one [`Event::Acquired`] or [`Event::AcquireFailed`], at the latest one
    /// node timeout after `wait`, or two node timeouts from now if that is later. A node timeout is
    /// at most [`longest_node_timeout`](crate::redlock::RedlockConfig::longest_node_timeout). An
    /// attempt that has taken half of its validity fails, whatever the votes. A request that
    /// stands in line behind another request or lock of this engine for the same resource waits for
    /// no node, and ends with `wait`. The ttl counts in whole milliseconds; a fraction is cut off.
    ///
    /// The cost: a copy of the resource, one look-up, and one encoded command copied to each node.
    /// Once warm nothing is allocated, unless the resource is longer than any before in the same
    /// slot.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] that names the value out of bounds. Nothing is sent then, and no
    /// event follows.
    ///
    /// [`Event::Acquired`]: crate::redlock::Event::Acquired
    /// [`Event::AcquireFailed`]: crate::redlock::Event::AcquireFailed
    pub fn acquire(
        &mut self,
        now: Instant,
        resource: &[u8],
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        self.config.check_resource(resource)?;
        let slot = self.claim(now, ttl, wait)?;
        let lock = &mut self.table[slot];
        keys::join(&mut lock.resource, &self.config.prefix, resource);
        Ok(self.begin(now, slot, wait))
    }

    /// Requests one lock on `resources`: on all of them or on none. Everything else is as in
    /// [`acquire`](Self::acquire). The order does not matter, and a resource that is given twice
    /// counts once.
    ///
    /// A node grants all resources or none, by one script call. Inside this engine, equal sets
    /// stand in line as equal resources do. Between different sets the nodes decide, so a large set
    /// is rarely lucky while others compete for single resources of it.
    ///
    /// So a set that others have kept waiting for a
    /// [`tenure`](crate::redlock::RedlockConfig::tenure) takes *steps*: the engine locks one
    /// resource after the other, in the order of their names, and keeps each until it has them all.
    /// No circle of sets can then wait for one another. A resource that a set has in this way is of
    /// no use to anybody. So steps end after two tenures, and then the set takes none for as long.
    /// Both times double with each round, up to 30 s. The shortest tenure that counts here is
    /// 100 ms, and no step outlives [`max_hold`](crate::redlock::RedlockConfig::max_hold). Steps
    /// make no events. A set takes no steps if its caller counts the attempts or chooses the
    /// pauses, or while less than half of the `max_locks` slots would stay free.
    ///
    /// The cost: one allocation more than `acquire`, and on a node about as much as one `SET` for
    /// each resource. Steps cost a lock for each resource, and a slot for each as long as they
    /// last.
    ///
    /// # Errors
    ///
    /// Returns a [`RequestError`] as [`acquire`](Self::acquire) does, and also for no resources,
    /// for more than [`MAX_SET`], or for names longer than [`MAX_SET_BYTES`] together.
    pub fn acquire_all<R: AsRef<[u8]>>(
        &mut self,
        now: Instant,
        resources: &[R],
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        let resources = self.check_resources(resources)?;
        let slot = self.claim(now, ttl, wait)?;
        self.set_resources(slot, &resources);
        Ok(self.begin(now, slot, wait))
    }

    /// Cancels a request for a lock that is not held yet.
    ///
    /// The request ends in an [`Event::AcquireFailed`] with [`AcquireError::Cancelled`]. Whatever
    /// the attempts may have left on nodes is released.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError::AlreadyHeld`] if the lock is held or being released, and
    /// [`RequestError::UnknownLock`] if the lock has ended.
    ///
    /// [`Event::AcquireFailed`]: crate::redlock::Event::AcquireFailed
    pub fn cancel(&mut self, now: Instant, lock: LockId) -> Result<(), RequestError> {
        let slot = self.table.find(lock).ok_or(RequestError::UnknownLock)?;
        if matches!(self.table[slot].phase, Phase::Held | Phase::Releasing) {
            return Err(RequestError::AlreadyHeld);
        }
        self.give_up(now, slot, AcquireError::Cancelled);
        self.admit(now);
        Ok(())
    }

    /// Ends a request in whatever phase, and releases what its attempts may have left.
    pub(super) fn give_up(&mut self, now: Instant, slot: u32, error: AcquireError) {
        if self.table[slot].phase == Phase::Attempt {
            self.send_releases(now, slot);
        }
        self.acquire_ended(now, slot, error);
    }

    /// Returns the resources of a lock, without the prefix: of several, each once, in the order of
    /// their bytes. Nothing for a lock that is not known.
    ///
    /// Every event finds the resources of its lock: they are known until the last event of the lock
    /// was taken, and then until the next request. The names of many resources, if they have more
    /// than 4 KiB together, are then forgotten with the next call of
    /// [`poll_event`](Self::poll_event), or when the last node has answered.
    ///
    /// ```
    /// # use redbolt::redlock::{RedlockConfig, Login, Redlock};
    /// # use redbolt::time::Instant;
    /// # use core::time::Duration;
    /// # let now = Instant::from_nanos(1);
    /// # let nodes = vec![Login::default(); 3];
    /// # let mut redlock = Redlock::new(RedlockConfig::default(), nodes, 42, [7; 12])?;
    /// let lock = redlock.acquire(now, b"orders/42", Duration::from_secs(10), Duration::ZERO)?;
    /// assert!(redlock.resources(lock).eq([b"orders/42"]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn resources(&self, lock: LockId) -> impl Iterator<Item = &[u8]> {
        let prefix = self.config.prefix.len();
        self.table.names_of(lock).keys().map(move |key| &key[prefix..])
    }

    /// Checks the resources of one lock. Returns each of them once, in the order of their bytes.
    pub(super) fn check_resources<'a, R: AsRef<[u8]>>(
        &self,
        resources: &'a [R],
    ) -> Result<SmallVec<[&'a [u8]; 8]>, RequestError> {
        if resources.is_empty() || resources.len() > MAX_SET {
            return Err(RequestError::SetSize { len: resources.len() });
        }
        let mut sorted = SmallVec::new();
        for resource in resources {
            self.config.check_resource(resource.as_ref())?;
            sorted.push(resource.as_ref());
        }
        sorted.sort_unstable();
        sorted.dedup();
        let prefix = self.config.prefix.len();
        let len = sorted.iter().map(|resource: &&[u8]| prefix + resource.len()).sum();
        if len > MAX_SET_BYTES {
            return Err(RequestError::SetTooLong { len });
        }
        Ok(sorted)
    }

    /// Stores the names of its resources in a new lock.
    pub(super) fn set_resources(&mut self, slot: u32, resources: &[&[u8]]) {
        let lock = &mut self.table[slot];
        let prefix = &self.config.prefix;
        if let [resource] = resources {
            return keys::join(&mut lock.resource, prefix, resource);
        }
        // At most `MAX_SET`, which fits.
        lock.keys = resources.len() as u8;
        resources.iter().for_each(|resource| keys::append(&mut lock.resource, prefix, resource));
    }

    /// Claims a slot for a new lock, whose resource is still empty.
    pub(super) fn claim(
        &mut self,
        now: Instant,
        ttl: Duration,
        wait: Duration,
    ) -> Result<u32, RequestError> {
        let ttl = self.check_ttl_again(ttl)?;
        if self.table.is_full() && !self.has_unread_events() {
            self.make_room(now);
        }
        if !self.table.has_room() || self.has_unread_events() {
            return Err(RequestError::Full { max: self.config.max_locks });
        }
        self.counters.requested += 1;
        Ok(self.claim_slot(now, ttl, wait))
    }

    /// Claims a slot in a table that has room.
    #[inline]
    pub(super) fn claim_slot(&mut self, now: Instant, ttl: Millis, wait: Duration) -> u32 {
        let slot = self.table.claim();
        let least = Instant::from_nanos(now.as_nanos().saturating_add(self.config.least_wait(ttl)));
        let wait_until = now + wait;
        self.table[slot].request(ttl, wait_until, wait_until.max(least));
        slot
    }

    /// Returns `true` if as many events wait as there can be locks. No more requests are accepted
    /// then, so the queue of events stays bounded.
    pub(super) fn has_unread_events(&self) -> bool {
        self.events.len() >= self.config.max_locks
    }

    /// Puts a new lock into its queue, and starts whatever can start. Returns the id of the lock.
    pub(super) fn begin(&mut self, now: Instant, slot: u32, wait: Duration) -> LockId {
        let id = self.table.id(slot);
        self.find_place(now, slot, wait);
        self.admit(now);
        id
    }

    /// Frees slots of locks that have ended and only wait for replies of a slow node.
    ///
    /// The session of a node is given up when the node cannot keep up with a quorum of the others.
    /// The requests on their way there go to the cleanup list (S6). So a minority of slow nodes
    /// does not use up the slots of all locks.
    fn make_room(&mut self, now: Instant) {
        while self.table.is_full() && self.table.has_ended_locks() {
            let Some(id) = self.straggler(now) else { return };
            self.drop_session(now, id, NodeError::TooSlow);
        }
    }

    /// Returns the node whose oldest request is the oldest of all. Returns `None` unless that
    /// request is older than a node timeout, and a quorum of nodes owes nothing as old. A node that
    /// is farther away than a quorum gets no more time here: slots are worth more than its votes.
    fn straggler(&self, now: Instant) -> Option<NodeId> {
        let ready = self.ready_nodes();
        let (mut punctual, mut slowest) = (0, None);
        for id in self.nodes().into_iter().filter(|id| self.nodes[*id].is_ready()) {
            match self.nodes[id].oldest_request() {
                Some(sent) if self.patience_of_longest(sent, ready) <= now => {
                    slowest = slowest.into_iter().chain([(sent, id)]).min();
                }
                _ => punctual += 1,
            }
        }
        slowest.filter(|_| punctual >= self.quorum.need()).map(|(_, id)| id)
    }

    /// Does what [`check_ttl`](Self::check_ttl) does, unless this ttl was the last one.
    #[inline]
    fn check_ttl_again(&mut self, ttl: Duration) -> Result<Millis, RequestError> {
        if let Some(checked) = self.last_ttl.and_then(|last| last.checked(ttl)) {
            return Ok(checked);
        }
        let checked = self.check_ttl(ttl)?;
        self.last_ttl = Some(LastTtl::new(ttl, checked, &self.config));
        Ok(checked)
    }

    /// Cuts a ttl to whole milliseconds, and checks its bounds.
    pub(super) fn check_ttl(&self, ttl: Duration) -> Result<Millis, RequestError> {
        let max = self.config.max_ttl;
        if ttl > max {
            return Err(RequestError::TtlTooLong { ttl, max });
        }
        let whole = Millis::of(ttl);
        let counted = whole.duration();
        if counted < MIN_TTL || self.config.drift.of(counted) >= counted {
            let least = self.config.shortest_ttl();
            return Err(RequestError::TtlTooShort { ttl, least });
        }
        Ok(whole)
    }
}
