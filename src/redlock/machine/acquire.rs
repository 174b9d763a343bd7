//! Requests for locks: what is asked for, its bounds, and the slot that it gets.

use core::time::Duration;

use smallvec::SmallVec;

use super::Redlock;
use crate::redlock::bounds::{MAX_RESOURCE, MAX_SET, MAX_SET_BYTES, MIN_TTL};
use crate::redlock::error::{AcquireError, RequestError};
use crate::redlock::event::LockId;
use crate::redlock::lock::Phase;
use crate::redlock::millis::Millis;
use crate::redlock::node::error::NodeError;
use crate::redlock::node_set::NodeId;
use crate::redlock::wire::keys;
use crate::time::Instant;

impl Redlock {
    /// Asks for a lock on `resource` for `ttl`, and waits for it up to `wait`; with a `wait` of
    /// zero there is one attempt.
    ///
    /// Ends in one [`Event::Acquired`] or [`Event::AcquireFailed`], at the latest one node timeout
    /// after `wait`, or two node timeouts from now if that is later. The ttl counts in whole
    /// milliseconds; a fraction is cut off.
    ///
    /// Costs a copy of the resource, a look-up, and one encoded command copied to each node; no
    /// allocation once warm, unless the resource is longer than any before in its slot.
    ///
    /// # Errors
    ///
    /// A [`RequestError`] names what is out of bounds; nothing was sent then and no event follows.
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
        self.check_resource(resource)?;
        let slot = self.claim(now, ttl, wait)?;
        let lock = &mut self.table[slot];
        lock.resource.extend_from_slice(&self.config.prefix);
        lock.resource.extend_from_slice(resource);
        Ok(self.begin(now, slot, wait))
    }

    /// Asks for one lock on all of `resources`, or none of them, as [`acquire`](Self::acquire) does
    /// for one. Their order does not matter, and one that is given twice counts once.
    ///
    /// A node grants all of them or none, by one script call. Sets that overlap can keep each other
    /// waiting, but never for ever: nobody waits with a part in hand. Equal sets stand in line
    /// inside this engine as equal resources do; for others the nodes decide, so under contention
    /// for single members a large set has little luck.
    ///
    /// Costs one allocation beside what `acquire` costs, and on a node about as much as one `SET`
    /// for each resource.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire), and for no resources, more than [`MAX_SET`], or more than
    /// [`MAX_SET_BYTES`] of their names.
    pub fn acquire_all<R: AsRef<[u8]>>(
        &mut self,
        now: Instant,
        resources: &[R],
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockId, RequestError> {
        let resources = self.check_resources(resources)?;
        let slot = self.claim(now, ttl, wait)?;
        self.name(slot, &resources);
        Ok(self.begin(now, slot, wait))
    }

    /// Takes back a request for a lock that is not held yet. The caller's
    /// [`Event::AcquireFailed`] says `Cancelled`; what the attempts left on nodes is released.
    ///
    /// # Errors
    ///
    /// [`RequestError::AlreadyHeld`] when the lock is held or being released, and
    /// [`RequestError::UnknownLock`] when it has ended.
    ///
    /// [`Event::AcquireFailed`]: crate::redlock::Event::AcquireFailed
    pub fn cancel(&mut self, now: Instant, lock: LockId) -> Result<(), RequestError> {
        let slot = self.table.find(lock).ok_or(RequestError::UnknownLock)?;
        match self.table[slot].phase {
            Phase::Held | Phase::Releasing => return Err(RequestError::AlreadyHeld),
            Phase::Attempt => self.relinquish(now, slot),
            _ => {}
        }
        self.acquire_ended(now, slot, AcquireError::Cancelled);
        self.admit(now);
        Ok(())
    }

    pub(super) fn check_resource(&self, resource: &[u8]) -> Result<(), RequestError> {
        let len = self.config.prefix.len() + resource.len();
        if resource.is_empty() {
            return Err(RequestError::EmptyResource);
        }
        if len > MAX_RESOURCE {
            return Err(RequestError::ResourceTooLong { len });
        }
        Ok(())
    }

    /// The resources in their order by bytes, each once.
    pub(super) fn check_resources<'a, R: AsRef<[u8]>>(
        &self,
        resources: &'a [R],
    ) -> Result<SmallVec<[&'a [u8]; 8]>, RequestError> {
        if resources.is_empty() || resources.len() > MAX_SET {
            return Err(RequestError::SetSize { len: resources.len() });
        }
        let mut sorted = SmallVec::new();
        for resource in resources {
            self.check_resource(resource.as_ref())?;
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

    /// Writes into a new lock what it is about.
    pub(super) fn name(&mut self, slot: u32, resources: &[&[u8]]) {
        let lock = &mut self.table[slot];
        let prefix = &self.config.prefix;
        if let [resource] = resources {
            lock.resource.extend_from_slice(prefix);
            lock.resource.extend_from_slice(resource);
            return;
        }
        // At most MAX_SET.
        lock.keys = resources.len() as u8;
        resources.iter().for_each(|resource| keys::append(&mut lock.resource, prefix, resource));
    }

    /// A slot for a new lock that has no resource yet.
    pub(super) fn claim(
        &mut self,
        now: Instant,
        ttl: Duration,
        wait: Duration,
    ) -> Result<u32, RequestError> {
        let ttl = self.check_ttl(ttl)?;
        if self.table.is_full() && !self.has_unread_events() {
            self.make_room(now);
        }
        if self.table.is_full() || self.has_unread_events() {
            return Err(RequestError::Full { max: self.config.max_locks });
        }
        self.counters.requested += 1;
        let slot = self.table.claim();
        let deadline = now + wait.max(self.config.node_timeout(ttl.duration()));
        self.table[slot].request(ttl, now + wait, deadline);
        Ok(slot)
    }

    /// A new lock takes its place.
    pub(super) fn begin(&mut self, now: Instant, slot: u32, wait: Duration) -> LockId {
        let id = self.table.id(slot);
        self.find_place(now, slot, wait);
        self.admit(now);
        id
    }

    /// Takes back the slots of locks that have ended and only wait for replies of a slow node.
    ///
    /// A node that cannot keep up with a quorum of the others is given up then: what is on its way
    /// there goes to the cleanup list (S6), and a minority of slow nodes does not use up the locks
    /// of all.
    fn make_room(&mut self, now: Instant) {
        while self.table.is_full() && self.table.has_ended_locks() {
            let Some(id) = self.slowest_of_few(now) else { return };
            self.drop_session(now, id, NodeError::TooSlow);
        }
    }

    /// The node whose oldest request is the oldest of all, if that is older than a node timeout
    /// while a quorum of nodes owes nothing that old.
    fn slowest_of_few(&self, now: Instant) -> Option<NodeId> {
        let timeout = self.config.stall_timeout();
        let (mut punctual, mut slowest) = (0, None);
        for id in self.nodes().into_iter().filter(|id| self.nodes[*id].is_ready()) {
            match self.nodes[id].oldest_request() {
                Some(sent) if sent + timeout <= now => {
                    slowest = slowest.into_iter().chain([(sent, id)]).min();
                }
                _ => punctual += 1,
            }
        }
        slowest.filter(|_| punctual >= self.quorum.need()).map(|(_, id)| id)
    }

    /// Cuts a ttl to whole milliseconds and checks its bounds.
    pub(super) fn check_ttl(&self, ttl: Duration) -> Result<Millis, RequestError> {
        let max = self.config.max_ttl;
        if ttl > max {
            return Err(RequestError::TtlTooLong { ttl, max });
        }
        let whole = Millis::of(ttl);
        let counted = whole.duration();
        if counted < MIN_TTL || self.config.drift.of(counted) >= counted {
            return Err(RequestError::TtlTooShort { ttl });
        }
        Ok(whole)
    }
}
