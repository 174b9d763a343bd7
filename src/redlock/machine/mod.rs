//! The state machine itself: what it consists of, and the calls that a driver drains.

mod acquire;
mod adopt;
mod attempt;
mod backoff;
mod encode;
mod groups;
mod last_request;
mod lease;
mod line;
mod outcome;
mod queries;
mod query;
mod release;
mod renew;
mod repair;
mod reply;
mod resend;
pub(super) mod session;
mod timeout;

use core::fmt;
use core::time::Duration;
use std::collections::VecDeque;

use bytes::BytesMut;

use self::last_request::LastRequest;
use self::queries::Queries;
use crate::redlock::config::{Config, ConfigError, Login};
use crate::redlock::counters::Counters;
use crate::redlock::event::{Event, LockId};
use crate::redlock::lock::Phase;
use crate::redlock::lock::queue::Queue;
use crate::redlock::lock::table::Table;
use crate::redlock::node::batch::Flush;
use crate::redlock::node::nodes::Nodes;
use crate::redlock::node::status::NodeStatus;
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::quorum::Quorum;
use crate::redlock::sabotage::Saboteur;
use crate::redlock::timers::Timers;
use crate::redlock::token::{Nonce, Token};
use crate::time::Instant;

/// Redlock over N nodes, without input or output.
///
/// Time, randomness and the network are arguments. There are four kinds of method:
///
/// * getters, which take `&self`;
/// * commands: [`acquire`](Self::acquire), [`acquire_all`](Self::acquire_all),
///   [`adopt`](Self::adopt), [`extend`](Self::extend), [`keep_alive`](Self::keep_alive),
///   [`warn`](Self::warn), [`release`](Self::release), [`disown`](Self::disown),
///   [`cancel`](Self::cancel), [`query`](Self::query);
/// * handlers, which tell it what happened: [`handle_connected`](Self::handle_connected),
///   [`handle_received`](Self::handle_received), [`handle_closed`](Self::handle_closed),
///   [`handle_timeout`](Self::handle_timeout);
/// * pollers, which yield what it wants: [`poll_action`](Self::poll_action),
///   [`poll_transmit`](Self::poll_transmit), [`poll_timeout`](Self::poll_timeout),
///   [`poll_event`](Self::poll_event).
///
/// Besides, [`handle_sent`](Self::handle_sent) says how much of a transmit was written, and
/// [`flush_batches`](Self::flush_batches) is for an owner who goes away.
///
/// After any command or handler the driver drains the pollers, in this order. A `handle_timeout`
/// that comes too early does nothing; one that comes late delays what was due, and nothing worse,
/// because every decision that involves a deadline looks at `now` itself.
///
/// Calls must come with a `now` that never goes back. The same calls give the same answers, bit for
/// bit.
///
/// ```
/// use redbolt::redlock::{Action, Config, Login, Redlock};
/// use redbolt::time::Instant;
///
/// let mut now = Instant::from_nanos(1);
/// let nodes = vec![Login::default(); 3];
/// let mut redlock = Redlock::new(Config::default(), nodes, 42, [7; 12])?;
/// redlock.handle_timeout(now);
/// while let Some(action) = redlock.poll_action() {
///     if let Action::Connect(node) = action {
///         redlock.handle_connected(now, node);
///         let handshake = redlock.poll_transmit(now, node).expect("the handshake leaves at once");
///         assert!(handshake.starts_with(b"*2\r\n$4\r\nINFO"));
///     }
/// }
/// # Ok::<(), redbolt::redlock::ConfigError>(())
/// ```
pub struct Redlock {
    config: Config,
    quorum: Quorum,
    nodes: Nodes,
    table: Table,
    timers: Timers,
    /// Locks that want an attempt as soon as a quorum of nodes has room.
    ready: Queue,
    rng: fastrand::Rng,
    /// One `SET`, encoded once and copied to the nodes.
    scratch: BytesMut,
    last_request: LastRequest,
    /// Shared by all rounds and attempts, so that no number ever means two things.
    serials: u64,
    nonce: Nonce,
    /// Questions who holds a resource.
    queries: Queries,
    counters: Counters,
    events: VecDeque<Event>,
    changed: NodeSet,
    to_connect: NodeSet,
    to_close: NodeSet,
}

/// Something that the driver must do with a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Action {
    /// Open one, and answer with `handle_connected` or `handle_closed`.
    Connect(NodeId),
    /// Close the one that is open or being opened. No answer is expected.
    Close(NodeId),
}

/// Who armed the next timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// A lock: the end of an attempt, a retry, a validity or a wait.
    Lock,
    /// A connection attempt, its timeout, a silent node or a cleanup.
    Node(NodeId),
    /// The question who holds a resource.
    Query,
}

impl fmt::Debug for Redlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redlock")
            .field("quorum", &self.quorum)
            .field("in_use", &self.in_use())
            .finish_non_exhaustive()
    }
}

impl Redlock {
    /// A state machine over `nodes`, with nothing connected.
    ///
    /// `seed` decides all random pauses. `nonce` must be drawn from the operating system for each
    /// instance: together with a counter it makes the tokens unique (S1).
    ///
    /// Memory for `max_locks` locks is reserved, and touched when it is first used.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first setting out of bounds.
    pub fn new(
        config: Config,
        nodes: Vec<Login>,
        seed: u64,
        nonce: Nonce,
    ) -> Result<Self, ConfigError> {
        let quorum = config.check(nodes.len())?;
        #[cfg(redbolt_sabotage)]
        let is_halved = config.is_sabotaged(Saboteur::HalfIsEnough);
        #[cfg(redbolt_sabotage)]
        let quorum = if is_halved { quorum.half() } else { quorum };
        let mut rng = fastrand::Rng::with_seed(seed);
        let nodes = Nodes::new(nodes, &config);
        Ok(Self {
            table: Table::new(config.max_locks, rng.u64(..)),
            timers: Timers::with_capacity(config.max_locks),
            ready: Queue::EMPTY,
            scratch: BytesMut::new(),
            last_request: LastRequest::new(),
            serials: 0,
            queries: Queries::default(),
            counters: Counters::default(),
            events: VecDeque::new(),
            changed: NodeSet::EMPTY,
            to_connect: NodeSet::EMPTY,
            to_close: NodeSet::EMPTY,
            config,
            quorum,
            nodes,
            rng,
            nonce,
        })
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How many nodes of how many must agree.
    pub fn quorum(&self) -> Quorum {
        self.quorum
    }

    /// All nodes.
    pub fn nodes(&self) -> NodeSet {
        self.nodes.ids()
    }

    /// Where a node stands at `now`, what was wrong with it last, and what was counted.
    ///
    /// Returns `None` for a node that is not configured.
    pub fn node(&self, now: Instant, node: NodeId) -> Option<NodeStatus<'_>> {
        Some(self.nodes.get(node)?.status(now))
    }

    /// What became of requests so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How many tokens wait to be cleaned up on all nodes together (S6).
    #[must_use]
    pub fn cleanup(&self) -> usize {
        self.nodes.iter().map(|node| node.cleanup.len()).sum()
    }

    /// How many locks are wanted, held, or still owed a reply.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.table.len()
    }

    /// How long the lock may still be believed at `now`: zero unless it is held. Computed from the
    /// deadline at every call (S8).
    #[must_use]
    pub fn remaining(&self, now: Instant, lock: LockId) -> Duration {
        match self.table.find(lock).map(|slot| &self.table[slot]) {
            Some(lock) if lock.phase == Phase::Held => {
                if self.config.is_sabotaged(Saboteur::HeldWithoutLooking) {
                    return Duration::MAX;
                }
                lock.valid_until - now
            }
            _ => Duration::ZERO,
        }
    }

    /// Whether the lock is held at `now`.
    #[must_use]
    pub fn is_held(&self, now: Instant, lock: LockId) -> bool {
        !self.remaining(now, lock).is_zero()
    }

    /// The value under which a held lock is stored on the nodes, until its loss or release.
    #[must_use]
    pub fn token(&self, lock: LockId) -> Option<Token> {
        let slot = self.table.slot_of(lock)?;
        let lock = &self.table[slot];
        // One that is lapsing may not have been told of yet.
        matches!(lock.phase, Phase::Held | Phase::Lapsing)
            .then(|| self.table.token(slot, &self.nonce, lock.serial))
    }

    /// What to do with connections.
    #[must_use]
    pub fn poll_action(&mut self) -> Option<Action> {
        if let Some(node) = self.to_close.into_iter().next() {
            self.to_close.remove(node);
            return Some(Action::Close(node));
        }
        let node = self.to_connect.into_iter().next()?;
        self.to_connect.remove(node);
        Some(Action::Connect(node))
    }

    /// The bytes that wait for `node`: all that gathered since the last write. The driver writes
    /// what it can, in one call, and says how much with [`handle_sent`](Self::handle_sent).
    #[must_use]
    pub fn poll_transmit(&mut self, now: Instant, node: NodeId) -> Option<&[u8]> {
        self.nodes.get(node)?;
        self.flush_batch(now, node, Flush::WhenIdle);
        self.nodes[node].transmit()
    }

    /// Makes what waits inside for the reply to an earlier request leave with the next
    /// [`poll_transmit`](Self::poll_transmit): for an owner who goes away and will not come back
    /// for it.
    pub fn flush_batches(&mut self, now: Instant) {
        for node in self.nodes() {
            self.flush_batch(now, node, Flush::Now);
        }
    }

    /// The next thing that happened: locks in order, then nodes.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        let node = self.changed.into_iter().next()?;
        self.changed.remove(node);
        Some(Event::Node(node))
    }

    /// Whether [`poll_event`](Self::poll_event) has something to tell.
    pub fn has_event(&self) -> bool {
        !self.events.is_empty() || !self.changed.is_empty()
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.counters.count(&event);
        self.events.push_back(event);
    }

    /// Whether as many events wait as there can be locks: then no more requests are taken, and the
    /// queue stays bounded.
    pub(super) fn has_unread_events(&self) -> bool {
        self.events.len() >= self.config.max_locks
    }

    pub(super) fn node_changed(&mut self, node: NodeId) {
        self.changed.insert(node);
    }

    /// The driver must close the connection of `node`; one that was wanted is wanted no more.
    pub(super) fn must_close(&mut self, node: NodeId) {
        self.to_connect.remove(node);
        self.to_close.insert(node);
    }

    /// A number that was never used before.
    pub(super) fn next_serial(&mut self) -> u64 {
        self.serials += 1;
        self.serials
    }

    /// Makes sure that `slot` is looked at when it is due.
    pub(super) fn schedule(&mut self, slot: u32, due: Instant) {
        self.table[slot].due = due;
        if due < Instant::FAR_FUTURE {
            self.timers.set(slot, due);
        }
    }

    /// Gives the slot back if nobody waits for it and no reply is owed to it.
    pub(super) fn recycle(&mut self, slot: u32) {
        let lock = &self.table[slot];
        if lock.phase == Phase::Draining && lock.owed == 0 {
            self.timers.clear(slot);
            self.table.vacate(slot);
        }
    }
}
