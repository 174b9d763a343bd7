//! The loop between the state machine and the sockets.
//!
//! One turn has four steps:
//!
//! 1. write the gathered bytes, in one call per node;
//! 2. wait, and before, with many requests on their way, leave the sockets alone for a moment;
//! 3. read from every node that has sent something, until its socket is empty or the node has had
//!    its share of the turn;
//! 4. tell the state machine the time.
//!
//! No step looks into the bytes. [`connections`] opens and closes the connections. [`waits`] has
//! the ways to wait.

mod connections;
mod waits;

use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use super::address::Address;
use super::clock::Clock;
use super::connection::Connection;
use super::credentials::Credentials;
use super::inbox::Inbox;
use super::io_counters::IoCounters;
use super::lull::Lull;
use super::process::{OtherProcess, Process};
use super::race::Race;
use super::received::Received;
use super::resolver::Resolver;
use super::transport::{Failure, Setup};
use super::waker::Waker;
use super::wakeup::Wakeup;
use crate::redlock::{MAX_NODES, NodeId, NodeSet, Redlock};
use crate::time::Instant;

/// The token of the timer. The tokens of the nodes are smaller.
const TIMER: Token = Token(MAX_NODES);
/// The token of the waker.
const WAKER: Token = Token(MAX_NODES + 1);

/// The maximum number of reads from one node in a turn, so that a node which always has more does
/// not hold up the others.
const READS_PER_TURN: usize = 4;

/// The event loop and the sockets of all nodes.
pub(crate) struct Driver {
    poll: Poll,
    events: Events,
    wakeup: Wakeup,
    resolver: Resolver,
    waker: Waker,
    links: Vec<Link>,
    credentials: Option<Credentials>,
    credential_panics: u64,
    counters: IoCounters,
    lull: Lull,
    /// How many writes there had been before the last wait.
    written: u64,
    /// The process whose sockets these are.
    home: Process,
    wall_at: Instant,
    /// The time at which the next address of a node is tried.
    race_at: Instant,
}

/// The connection to one node, and what is needed to connect again.
struct Link {
    address: Address,
    /// What TLS needs, until a connection is up; `None` for a node without TLS.
    setup: Option<Setup>,
    /// How often the addresses of a name were tried.
    attempts: usize,
    /// A lookup is under way.
    resolving: bool,
    /// A connection is wanted as soon as the lookup ends.
    wanted: bool,
    /// The attempts to connect, while no connection is up.
    race: Option<Race>,
    connection: Option<Connection>,
    inbox: Inbox,
    /// The socket may hold more bytes, although the system will not report them again.
    unread: bool,
}

impl Driver {
    pub(crate) fn new(
        addresses: Vec<Address>,
        credentials: Option<Credentials>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let wakeup = Wakeup::new()?;
        let timer = wakeup.as_raw_fd();
        poll.registry().register(&mut SourceFd(&timer), TIMER, Interest::READABLE)?;
        let waker = Waker::new(mio::Waker::new(poll.registry(), WAKER)?);
        let resolver = Resolver::new(waker.clone());
        let links: Vec<_> = addresses.into_iter().map(Link::new).collect();
        let events = Events::with_capacity(2 * MAX_NODES);
        let (counters, home) = (IoCounters::default(), Process::current());
        Ok(Self {
            poll,
            events,
            wakeup,
            resolver,
            waker,
            lull: Lull::new(links.len()),
            written: 0,
            links,
            credentials,
            credential_panics: 0,
            counters,
            home,
            wall_at: Instant::ZERO,
            race_at: Instant::FAR_FUTURE,
        })
    }

    pub(crate) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    pub(crate) fn counters(&self) -> IoCounters {
        self.counters
    }

    /// Fails in any process but the one that made this driver. All that follows until the next wait
    /// has ended needs no further call: only a caller can fork.
    pub(crate) fn check_process(&mut self) -> Result<(), OtherProcess> {
        self.counters.getpids += 1;
        self.home.check()
    }

    /// Ends the pauses, and has the timer go off at the next deadline and not a little later: for a
    /// caller who waits in another loop.
    pub(crate) fn be_punctual(&mut self) {
        self.lull.end();
    }

    /// Returns whether what is to be written can wait until the caller has handled the events:
    /// groups of releases in a crowd, if the caller was fast the last time. Requests that are
    /// encoded have their times already, and leave at once.
    pub(crate) fn may_write_later(&self, redlock: &Redlock) -> bool {
        self.lull.is_brisk() && redlock.nodes().into_iter().all(|id| !redlock.has_unwritten(id))
    }

    /// Returns whether this is the process that made this driver.
    pub(crate) fn is_at_home(&self) -> bool {
        self.home.is_current()
    }

    /// Opens and closes connections as the state machine asks, writes the gathered bytes to every
    /// node, and arms the timer for the next deadline. The timer wakes whoever waits for the
    /// descriptor.
    pub(crate) fn flush(&mut self, redlock: &mut Redlock) -> io::Result<()> {
        self.run_actions(redlock);
        let now = Clock::now();
        // Nodes with requests that are encoded go first: among these are all plain votes. Groups of
        // releases are encoded at the last moment.
        let nodes = redlock.nodes();
        let asked: NodeSet = nodes.into_iter().filter(|id| redlock.has_unwritten(*id)).collect();
        for id in asked.into_iter().chain(nodes.without(asked)) {
            self.write_to(redlock, now, id);
        }
        self.run_actions(redlock);
        self.arm(redlock)
    }

    /// Arms the timer for the next deadline.
    fn arm(&mut self, redlock: &Redlock) -> io::Result<()> {
        let unread = self.links.iter().any(|link| link.unread);
        let deadline = if unread {
            Instant::ZERO
        } else if let Some(deadline) = self.next_deadline(redlock) {
            self.lull.round(deadline, Clock::now)
        } else {
            return Ok(());
        };
        self.counters.timers += u64::from(self.wakeup.arm(deadline)?);
        Ok(())
    }

    fn write_to(&mut self, redlock: &mut Redlock, now: Instant, id: NodeId) {
        let link = &mut self.links[id.index()];
        let Some(connection) = link.connection.as_mut().filter(|c| c.can_write()) else { return };
        let Some(bytes) = redlock.poll_transmit(now, id) else { return };
        match connection.write(bytes, &mut self.counters.writes) {
            Ok(count) => {
                self.counters.bytes_sent += count as u64;
                redlock.handle_sent(id, count);
            }
            Err(error) => self.broken(redlock, id, error),
        }
    }

    /// Waits until something happens, a deadline of `redlock` comes, or `timeout` is over. Then
    /// handles everything that has happened.
    ///
    /// Spins for `busy_poll` before sleeping. Flush before, which arms the timer.
    pub(crate) fn wait(
        &mut self,
        redlock: &mut Redlock,
        timeout: Option<Duration>,
        busy_poll: Duration,
    ) -> io::Result<()> {
        if timeout == Some(Duration::ZERO) {
            self.select(Some(Duration::ZERO))?;
        } else if busy_poll.is_zero() {
            self.doze(redlock, timeout)?;
        } else {
            self.spin(redlock, timeout, busy_poll)?;
        }
        let events = core::mem::replace(&mut self.events, Events::with_capacity(0));
        for event in &events {
            self.dispatch(redlock, event);
        }
        self.events = events;
        for id in redlock.nodes() {
            if self.links[id.index()].unread {
                self.read(redlock, id, false);
            }
        }
        let now = Clock::now();
        self.lull.looked(now);
        if now >= self.wall_at {
            self.tell_wall_clock(redlock);
        }
        if now >= self.race_at {
            self.go_on_all(redlock, now);
        }
        redlock.handle_timeout(now);
        self.run_actions(redlock);
        Ok(())
    }

    fn dispatch(&mut self, redlock: &mut Redlock, event: &Event) {
        match event.token() {
            TIMER => self.wakeup.went_off(),
            WAKER => {
                while let Some(answer) = self.resolver.next_answer() {
                    self.resolved(redlock, answer);
                }
            }
            Token(index) => {
                if let Some(id) = NodeId::new(index) {
                    self.node_event(redlock, id, event);
                }
            }
        }
    }

    fn node_event(&mut self, redlock: &mut Redlock, id: NodeId, event: &Event) {
        self.go_on(redlock, id);
        let Some(connection) = &mut self.links[id.index()].connection else { return };
        if !connection.is_established() {
            if !self.establish(redlock, id) {
                return;
            }
        } else if event.is_writable() {
            if let Err(error) = connection.unblock(&mut self.counters.writes) {
                return self.broken(redlock, id, error);
            }
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            self.read(redlock, id, event.is_read_closed() || event.is_error());
        }
    }

    /// Returns how many calls of the credentials have panicked.
    pub(crate) const fn credential_panics(&self) -> u64 {
        self.credential_panics
    }

    fn tell_wall_clock(&mut self, redlock: &mut Redlock) {
        let now = Clock::now();
        redlock.set_wall_clock(now, Clock::since_1970());
        // A wall clock is set so rarely that once a second is often enough.
        self.wall_at = now + Duration::from_secs(1);
    }

    /// Reads from a node until its socket is empty, at most [`READS_PER_TURN`] times.
    ///
    /// With `ended`, the stream has ended, and reading goes on until the end is found.
    fn read(&mut self, redlock: &mut Redlock, id: NodeId, ended: bool) {
        self.links[id.index()].unread = false;
        for _ in 0..READS_PER_TURN {
            let link = &mut self.links[id.index()];
            let Some(connection) = &mut link.connection else { return };
            self.counters.reads += 1;
            let Received { count, more } = match link.inbox.fill(|room| connection.read(room)) {
                Ok(received) => received,
                Err(error) => {
                    let detail = connection.guess(error).to_owned();
                    return self.failed(redlock, id, &Failure { error, detail });
                }
            };
            self.counters.bytes_received += count as u64;
            if count == 0 && !more {
                return;
            }
            // S3: first the replies are read, then the clock.
            let replies = redlock.replies(id);
            let done = redlock.handle_received(Clock::now(), id, link.inbox.bytes());
            // The session may have ended, and the next one counts from zero.
            self.lull.answered(id.index(), redlock.replies(id).saturating_sub(replies));
            link.inbox.consume(done);
            self.run_actions(redlock);
            if !more && !ended {
                return;
            }
        }
        self.links[id.index()].unread = true;
    }

    fn next_deadline(&self, redlock: &Redlock) -> Option<Instant> {
        let at = redlock.poll_timeout().map_or(Instant::FAR_FUTURE, |(at, _)| at);
        Some(at.min(self.race_at)).filter(|at| *at < Instant::FAR_FUTURE)
    }
}

impl AsFd for Driver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poll.registry().as_fd()
    }
}

impl Link {
    fn new(address: Address) -> Self {
        Self {
            address,
            setup: None,
            attempts: 0,
            resolving: false,
            wanted: false,
            race: None,
            connection: None,
            inbox: Inbox::new(),
            unread: false,
        }
    }
}
