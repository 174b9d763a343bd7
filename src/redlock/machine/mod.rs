//! The decisions: [`Redlock`], the state machine that a driver calls.
//!
//! This room knows what follows from a request, from a reply and from the time: which nodes are
//! asked, when an attempt has won, when a lock is lost, what an answer means. The fields of
//! [`Redlock`] are private to this room. The room must never know a socket, a clock, a thread or
//! the environment. The rooms below know which replies a connection still owes (`node`), where a
//! token may be (`lock`), and how a request is written as bytes (`wire`).
//!
//! The files, in the order in which a request passes them:
//!
//! * `acquire`: a request for a lock, its bounds and its slot; also `cancel`. `options` has the
//!   requests with tries, pauses, a node timeout or a token of their own.
//! * `line`: the queues inside the engine, and the start of an attempt or an adoption. `turns`:
//!   when an engine leaves a resource to others.
//! * `attempt`: one `SET` to every voter, the votes, the verdict. `patience` says for how long
//!   nodes are waited for, and `outcome` why a request failed. `backoff` is the pause before the
//!   next attempt, or before the look at the `door` that comes first if somebody has the lock.
//!   `listen`: the door tells when that one may be gone; `call`, `knock` and `peek` go with that.
//! * `majority`: an attempt that asks a majority of the nodes first, and the others in doubt.
//! * `fence`: an attempt in which the nodes also draw a fencing number. `raise` decides which
//!   number counts, `draw` draws one for a lock that is held.
//! * `adopt`: a lock that another process hands over, instead of an attempt; also `disown`.
//! * `held`: what an owner can know of a held lock. `lease`: its extension and its loss.
//! * `renew`: keep-alive and warnings. `repair` gives the key to nodes that lack it.
//! * `release`: the end of a lock, and the cleanup. `pass`: the next in line gets the lock instead.
//!
//! The way out and the way back:
//!
//! * `groups`: releases and extensions, gathered into one script call per node. `encode` writes the
//!   bytes, `last_request` reuses them for the next node, `last_ttl` what follows from a ttl.
//! * `session`: connections that begin and end, and bytes that come in.
//! * `reply`: what one reply means. `resend` sends a request again in another form.
//! * `timeout`: everything that is due at a moment. `action` has what the driver is asked to do,
//!   and why a timeout is due.
//! * `look`: whether the nodes still have their data, asked again and again. `beside`: what nodes
//!   say unasked. `behind`: what follows when their clocks have run ahead of ours.
//!
//! Beside that way: `query` asks who holds a resource, and `queries` collects the answers.
//! `leftovers` says what is not done yet when an owner is about to stop. This file has the struct
//! itself, its getters, and the pollers.

mod acquire;
mod action;
mod adopt;
mod attempt;
mod backoff;
mod behind;
mod beside;
mod call;
mod door;
mod draw;
mod encode;
mod fence;
mod gathered;
mod groups;
mod hedge;
mod held;
mod knock;
mod last_request;
mod last_ttl;
mod lease;
mod leftovers;
mod line;
mod listen;
mod look;
mod majority;
mod options;
mod outcome;
mod pass;
mod patience;
mod peek;
mod queries;
mod query;
mod raise;
mod release;
mod renew;
mod repair;
mod reply;
mod resend;
mod session;
mod steps;
mod timeout;
mod turns;
mod wanted;

use core::fmt;
use std::collections::VecDeque;

use bytes::BytesMut;

pub use self::action::{Action, Reason};
use self::hedge::Hedge;
use self::last_request::LastRequest;
use self::last_ttl::LastTtl;
use self::queries::Queries;
use crate::redlock::config::RedlockConfig;
use crate::redlock::config_error::ConfigError;
use crate::redlock::counters::Counters;
use crate::redlock::event::Event;
use crate::redlock::lock::Phase;
use crate::redlock::lock::crowds::Crowds;
use crate::redlock::lock::queue::Queue;
use crate::redlock::lock::runs::Runs;
use crate::redlock::lock::steps::Sets;
use crate::redlock::lock::table::Table;
use crate::redlock::login::Login;
use crate::redlock::node::batch::{Flush, Member};
use crate::redlock::node::look::Watch;
use crate::redlock::node::nodes::Nodes;
use crate::redlock::node::request::{CompareRequest, SetRequest};
use crate::redlock::node::status::NodeStatus;
use crate::redlock::node_set::{NodeId, NodeSet};
use crate::redlock::order::Order;
use crate::redlock::quorum::Quorum;
#[cfg(redbolt_sabotage)]
use crate::redlock::sabotage::Saboteur;
use crate::redlock::timers::Timers;
use crate::redlock::token::Nonce;
use crate::time::Instant;

/// Room for one command with an ordinary name, the longest of which calls a script: so the first
/// call of any kind grows nothing.
const SCRATCH: usize = 512;

/// The Redlock algorithm over N nodes, without input or output.
///
/// Time, randomness and the network come in as arguments. There are four kinds of method:
///
/// * getters take `&self`;
/// * commands make a request: [`acquire`](Self::acquire), [`acquire_all`](Self::acquire_all),
///   [`acquire_with`](Self::acquire_with), [`adopt`](Self::adopt),
///   [`adopt_with`](Self::adopt_with), [`extend`](Self::extend), [`keep_alive`](Self::keep_alive),
///   [`warn`](Self::warn), [`release`](Self::release), [`disown`](Self::disown),
///   [`cancel`](Self::cancel), [`query`](Self::query), [`draw_fence`](Self::draw_fence);
/// * handlers report what has happened: [`handle_connected`](Self::handle_connected),
///   [`handle_received`](Self::handle_received), [`handle_closed`](Self::handle_closed),
///   [`handle_timeout`](Self::handle_timeout), [`set_wall_clock`](Self::set_wall_clock);
/// * pollers return what the driver must do next: [`poll_action`](Self::poll_action),
///   [`poll_transmit`](Self::poll_transmit), [`poll_timeout`](Self::poll_timeout),
///   [`poll_event`](Self::poll_event).
///
/// Four stand apart: [`handle_sent`](Self::handle_sent) reports how many bytes were written,
/// [`set_login`](Self::set_login) a new login, [`flush_batches`](Self::flush_batches) is for an
/// owner about to stop, and [`token`](Self::token) notes that its caller knows the token.
///
/// After every command and every handler, the driver drains the pollers, in this order. A
/// `handle_timeout` that comes too early does nothing. A late `handle_timeout` only delays what was
/// due, because every decision about a deadline compares the deadline with `now`.
///
/// The `now` of the calls must never go back. The same calls give the same answers, bit for bit.
///
/// ```
/// use redbolt::redlock::{Action, RedlockConfig, Login, Redlock};
/// use redbolt::time::Instant;
///
/// let mut now = Instant::from_nanos(1);
/// let nodes = vec![Login::default(); 3];
/// let mut redlock = Redlock::new(RedlockConfig::default(), nodes, 42, [7; 12])?;
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
    config: RedlockConfig,
    quorum: Quorum,
    nodes: Nodes,
    /// The order in which resources prefer nodes.
    order: Order,
    hedge: Hedge,
    table: Table,
    timers: Timers,
    /// The crowds before resources that this engine has just released.
    crowds: Crowds,
    /// The locks that have followed one another.
    runs: Runs,
    /// Sets that others have kept waiting.
    sets: Sets,
    /// Locks that wait until a quorum of nodes has room for their attempt.
    ready: Queue,
    rng: fastrand::Rng,
    /// One request that takes a lock, encoded once and copied to the nodes.
    scratch: BytesMut,
    last_request: LastRequest<CompareRequest, Member>,
    last_joined: LastRequest<(), SetRequest>,
    last_ttl: Option<LastTtl>,
    /// How many requests for fencing numbers wait at all nodes.
    gathered: usize,
    /// The last serial. Rounds and attempts share the counter, so no number has two meanings.
    serials: u64,
    /// The last fencing number that was proposed.
    proposed: u64,
    nonce: Nonce,
    /// What all looks at the nodes have in common.
    watch: Watch,
    /// Queries that are under way.
    queries: Queries,
    counters: Counters,
    events: VecDeque<Event>,
    changed: NodeSet,
    to_connect: NodeSet,
    to_close: NodeSet,
    to_log_in: NodeSet,
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
    /// Creates a state machine over `nodes`, with nothing connected.
    ///
    /// `seed` decides all random pauses. `nonce` must be drawn from the operating system for each
    /// instance: the nonce and a counter together make the tokens unique (S1).
    ///
    /// Memory for `max_locks` locks is reserved here, and touched when it is first used.
    ///
    /// # Errors
    ///
    /// Returns a [`ConfigError`] for the first setting that is out of bounds.
    pub fn new(
        config: RedlockConfig,
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
        let order = Order::new(&config.names, nodes.len());
        let nodes = Nodes::new(nodes, &config);
        Ok(Self {
            table: Table::new(config.max_locks, rng.u64(..)),
            timers: Timers::with_capacity(config.max_locks),
            crowds: Crowds::default(),
            runs: Runs::new(config.tenure_gap, config.tenure),
            sets: Sets::default(),
            ready: Queue::EMPTY,
            scratch: BytesMut::with_capacity(SCRATCH),
            hedge: Hedge::new(),
            last_request: LastRequest::new(),
            last_joined: LastRequest::new(),
            last_ttl: None,
            gathered: 0,
            serials: 0,
            proposed: 0,
            watch: Watch::new(&config, &nonce),
            queries: Queries::default(),
            counters: Counters::default(),
            events: VecDeque::new(),
            changed: NodeSet::EMPTY,
            to_connect: NodeSet::EMPTY,
            to_close: NodeSet::EMPTY,
            to_log_in: NodeSet::EMPTY,
            config,
            quorum,
            nodes,
            order,
            rng,
            nonce,
        })
    }

    /// Returns the settings that were given to [`new`](Self::new).
    pub fn config(&self) -> &RedlockConfig {
        &self.config
    }

    /// Returns the quorum: how many of how many nodes must agree.
    pub fn quorum(&self) -> Quorum {
        self.quorum
    }

    /// Returns the ids of all nodes.
    pub fn nodes(&self) -> NodeSet {
        self.nodes.ids()
    }

    /// Returns the state of a node at `now`, its last error and its counters.
    ///
    /// Returns `None` for a node that is not configured.
    pub fn node(&self, now: Instant, node: NodeId) -> Option<NodeStatus<'_>> {
        Some(self.nodes.get(node)?.status(now))
    }

    /// Returns the counters of requests and their results since the start.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns the next action on a connection.
    #[must_use]
    pub fn poll_action(&mut self) -> Option<Action> {
        if let Some(node) = self.to_close.into_iter().next() {
            self.to_close.remove(node);
            return Some(Action::Close(node));
        }
        if let Some(node) = self.to_connect.into_iter().next() {
            self.to_connect.remove(node);
            return Some(Action::Connect(node));
        }
        let node = self.to_log_in.into_iter().next()?;
        self.to_log_in.remove(node);
        Some(Action::Login(node))
    }

    /// Returns the bytes to write to `node`: everything gathered since the last write. The driver
    /// writes as much as possible in one call, and reports the count with
    /// [`handle_sent`](Self::handle_sent).
    #[must_use]
    pub fn poll_transmit(&mut self, now: Instant, node: NodeId) -> Option<&[u8]> {
        self.nodes.get(node)?;
        self.flush_batch(now, node, Flush::WhenIdle);
        self.nodes[node].transmit()
    }

    /// Returns the next event: first those of locks and queries, in order, then those of nodes.
    /// [`resources`](Self::resources) names the lock of the event.
    #[must_use]
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.table.forget_told();
        if let Some(event) = self.events.pop_front() {
            if let Some(lock) = event.ended() {
                self.table.told(lock);
            }
            return Some(event);
        }
        self.table.all_told();
        let node = self.changed.into_iter().next()?;
        self.changed.remove(node);
        Some(Event::Node(node))
    }

    /// Returns `true` if [`poll_event`](Self::poll_event) has an event to return.
    pub fn has_event(&self) -> bool {
        !self.events.is_empty() || !self.changed.is_empty()
    }

    /// Counts an event and queues it for the owner.
    // Every caller makes one kind of event, so that inlined there is nothing to tell apart.
    #[inline(always)]
    fn emit(&mut self, event: Event) {
        if self.sets.has_steps() && self.is_of_step(event.lock(), event.ended().is_some()) {
            return;
        }
        self.counters.count(&event);
        if let Some(lock) = event.ended() {
            self.table.tell(lock);
        }
        self.events.push_back(event);
    }

    fn node_changed(&mut self, node: NodeId) {
        self.changed.insert(node);
    }

    /// Asks the driver to close the connection of `node`, or not to open it.
    fn must_close(&mut self, node: NodeId) {
        self.to_connect.remove(node);
        self.to_close.insert(node);
    }

    /// Returns a number that was never used before.
    fn next_serial(&mut self) -> u64 {
        self.serials += 1;
        self.serials
    }

    /// Sets the moment at which `slot` is due.
    fn schedule(&mut self, slot: u32, due: Instant) {
        self.table[slot].due = due;
        if due < Instant::FAR_FUTURE {
            self.timers.set(slot, due);
        }
    }

    /// Frees the slot if nobody waits for the lock and no reply is owed to it.
    #[inline]
    fn recycle(&mut self, slot: u32) {
        let lock = &self.table[slot];
        if lock.phase == Phase::Draining && lock.owed == 0 {
            self.vacate(slot);
        }
    }
}
