//! Requests for locks, and the queues in which they wait for an attempt.

use core::time::Duration;

use smallvec::SmallVec;

use super::config::{MAX_RESOURCE, MIN_TTL};
use super::error::{AcquireError, RequestError};
use super::event::{Event, LockId};
use super::lock::{Keep, Links, Phase, Round, Votes};
use super::machine::Redlock;
use super::millis::Millis;
use super::names::{self, MAX_SET, MAX_SET_BYTES};
use super::nodes::{NodeId, NodeSet};
use super::status::Trouble;
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
        resources.iter().for_each(|resource| names::append(&mut lock.resource, prefix, resource));
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
        let lock = &mut self.table[slot];
        lock.keys = 1;
        lock.is_adopted = false;
        lock.ttl = ttl;
        lock.wait_until = now + wait;
        lock.deadline = now + wait.max(self.config.node_timeout(ttl.duration()));
        lock.retries = 0;
        lock.last_try = false;
        lock.votes = Votes::default();
        lock.round = Round::default();
        lock.keep = Keep::NONE;
        lock.filling = NodeSet::EMPTY;
        lock.tenure = Instant::ZERO;
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
            self.drop_session(now, id, Trouble::TooSlow);
        }
    }

    /// The node whose oldest request is the oldest of all, if that is older than a node timeout
    /// while a quorum of nodes owes nothing that old.
    fn slowest_of_few(&self, now: Instant) -> Option<NodeId> {
        let timeout = self.config.stall_timeout();
        let (mut punctual, mut slowest) = (0, None);
        for id in self.nodes().into_iter().filter(|id| self.nodes[id.index()].is_ready()) {
            match self.nodes[id.index()].pipeline.oldest() {
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

    /// Puts a new lock where it belongs: in the queue for an attempt, or in line behind the lock
    /// of this engine that has the resource. A lock that does not want to wait ends there.
    fn find_place(&mut self, now: Instant, slot: u32, wait: Duration) {
        let hash = self.table.hash(&self.table[slot].resource);
        self.table[slot].links = Links { hash, ..Links::UNLINKED };
        let leaver = self.table.leaver(self.table[slot].names(), hash);
        self.table[slot].follows = leaver.is_some();
        let Some(first) = self.table.first_of(self.table[slot].names(), hash) else {
            self.table.lead(slot);
            if let Some(leaver) = leaver {
                return self.succeed(now, leaver, slot);
            }
            self.enqueue(slot);
            return;
        };
        if wait.is_zero() {
            return self.acquire_ended(now, slot, AcquireError::Held);
        }
        self.table[slot].phase = Phase::InLine;
        self.table.line_up(first, slot);
        self.schedule(slot, self.table[slot].deadline);
    }

    /// Takes back a request for a lock that is not held yet. The caller's
    /// [`Event::AcquireFailed`] says `Cancelled`; what the attempts left on nodes is released.
    ///
    /// # Errors
    ///
    /// [`RequestError::AlreadyHeld`] when the lock is held or being released, and
    /// [`RequestError::UnknownLock`] when it has ended.
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

    /// Queues a lock for its next attempt.
    fn enqueue(&mut self, slot: u32) {
        let lock = &mut self.table[slot];
        lock.phase = Phase::Ready;
        let deadline = lock.deadline;
        self.ready.push(&mut self.table, slot);
        self.schedule(slot, deadline);
    }

    /// Starts attempts, in the order of the queue, as long as a quorum of nodes has room.
    pub(super) fn admit(&mut self, now: Instant) {
        while let Some(slot) = self.ready.first() {
            let voters = self.voters(now);
            if voters.len() < self.quorum.need() {
                return;
            }
            self.ready.remove(&mut self.table, slot);
            if self.table[slot].is_adopted {
                self.begin_adoption(now, slot, voters);
            } else {
                self.begin_attempt(now, slot, voters);
            }
        }
    }

    /// The nodes that are worth asking. Whether one has stalled does not depend on who wants to
    /// ask: the first in the queue must not wait for less than those behind it would be content
    /// with.
    fn voters(&self, now: Instant) -> NodeSet {
        let worth = |id: &NodeId| {
            let node = &self.nodes[id.index()];
            node.is_ready()
                && node.pipeline.len() < self.config.max_pipeline
                && !node.is_unhealthy()
                // S11: its vote would not count, so its SET would be for nothing.
                && !node.is_quarantined()
                && !node.is_stalled(now)
        };
        self.nodes().into_iter().filter(worth).collect()
    }

    /// The pause is over.
    pub(super) fn retry(&mut self, slot: u32) {
        self.table[slot].follows = true;
        self.enqueue(slot);
    }

    /// The wait ended while the lock stood in a queue.
    pub(super) fn wait_ended(&mut self, now: Instant, slot: u32) {
        let error = match self.table[slot].phase {
            Phase::InLine if self.is_behind_holder(slot) => AcquireError::Held,
            Phase::InLine => AcquireError::TimedOut,
            _ => self.why_not(now, slot),
        };
        self.acquire_ended(now, slot, error);
    }

    fn is_behind_holder(&self, slot: u32) -> bool {
        let lock = &self.table[slot];
        let first = self.table.first_of(lock.names(), lock.links.hash);
        first.is_some_and(|first| self.table[first].phase == Phase::Held)
    }

    /// The request ends without a lock. What it may have taken has been relinquished.
    pub(super) fn acquire_ended(&mut self, now: Instant, slot: u32, error: AcquireError) {
        let lock = self.table.id(slot);
        self.emit(Event::AcquireFailed { lock, error });
        self.leave(now, slot);
    }

    /// The lock is out: the next in line gets its turn, and the slot drains.
    pub(super) fn leave(&mut self, now: Instant, slot: u32) {
        self.hand_over(now, slot);
        self.drain(slot);
        self.admit(now);
    }

    /// The next in line gets its turn. Its `SET` follows the release on every connection.
    pub(super) fn hand_over(&mut self, now: Instant, slot: u32) {
        if let Some(heir) = self.table.leave_line(slot) {
            self.table[heir].follows = true;
            self.succeed(now, slot, heir);
        }
    }

    /// One lock follows another of this engine for the same resource, which others may want as
    /// well: their attempts would be refused for as long as there is somebody to follow here. So
    /// once in a while the resource is left to whoever tries meanwhile.
    fn succeed(&mut self, now: Instant, leaver: u32, heir: u32) {
        let tenure = self.table[leaver].tenure;
        if now - self.table[leaver].round.started >= self.config.tenure_gap {
            // It was released so long ago that the others have had their moment.
            return self.enqueue(heir);
        }
        let has_wait = self.table[heir].wait_until > now + self.config.tenure_gap;
        let is_over = tenure > Instant::ZERO && now - tenure >= self.config.tenure;
        if !is_over || !has_wait {
            self.table[heir].tenure = tenure;
            return self.enqueue(heir);
        }
        let half = self.config.tenure_gap / 2;
        let spread = self.rng.u64(..=half.as_nanos() as u64);
        self.table[heir].phase = Phase::Backoff;
        self.schedule(heir, now + half + Duration::from_nanos(spread));
    }

    /// The caller has had the last event of this lock.
    pub(super) fn drain(&mut self, slot: u32) {
        let lock = &mut self.table[slot];
        lock.phase = Phase::Draining;
        lock.due = Instant::FAR_FUTURE;
        self.table.count_ended();
        self.ready.remove(&mut self.table, slot);
        self.recycle(slot);
    }
}
