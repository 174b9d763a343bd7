//! The loop between the state machine and the sockets.
//!
//! One turn: write to every node what gathered for it, in one call; wait; read from every node that
//! has something until there is no more; tell the state machine the time. Nothing here looks into
//! the bytes.

use core::time::Duration;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, RawFd};

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use super::address::Address;
use super::clock::Clock;
use super::connection::Connection;
use super::inbox::Inbox;
use super::resolver::{Answer, Resolver};
use super::waker::Waker;
use super::wakeup::Wakeup;
use crate::redlock::{Action, MAX_NODES, NodeError, NodeId, Redlock};
use crate::time::Instant;

/// Nodes have the tokens below.
const TIMER: Token = Token(MAX_NODES);
const WAKER: Token = Token(MAX_NODES + 1);

/// How many times a node that always has more is read before the others get their turn.
const READS_PER_TURN: usize = 4;

/// What the driver has done since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct IoCounters {
    /// Bytes written to all nodes.
    pub bytes_sent: u64,
    /// Bytes read from all nodes.
    pub bytes_received: u64,
    /// Calls of `write`.
    pub writes: u64,
    /// Calls of `read`.
    pub reads: u64,
    /// Calls of `epoll_wait`.
    pub waits: u64,
    /// Calls that armed the timer.
    pub timers: u64,
}

impl IoCounters {
    /// System calls of the hot path, all together.
    pub const fn system_calls(&self) -> u64 {
        self.writes + self.reads + self.waits + self.timers
    }
}

pub(crate) struct Driver {
    poll: Poll,
    events: Events,
    wakeup: Wakeup,
    resolver: Resolver,
    waker: Waker,
    links: Vec<Link>,
    counters: IoCounters,
}

/// What belongs to one node.
struct Link {
    address: Address,
    /// Resolved addresses, and which one is tried next.
    addresses: Vec<SocketAddr>,
    next_address: usize,
    /// A lookup is under way. `wanted` tells whether somebody still waits for it.
    resolving: bool,
    wanted: bool,
    connection: Option<Connection>,
    inbox: Inbox,
    /// The socket may have more, although it will not say so again.
    unread: bool,
}

impl Driver {
    pub(crate) fn new(addresses: Vec<Address>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let wakeup = Wakeup::new()?;
        let timer = wakeup.as_raw_fd();
        poll.registry().register(&mut SourceFd(&timer), TIMER, Interest::READABLE)?;
        let waker = Waker::new(mio::Waker::new(poll.registry(), WAKER)?);
        let resolver = Resolver::new(waker.clone());
        let links = addresses.into_iter().map(Link::new).collect();
        let events = Events::with_capacity(2 * MAX_NODES);
        Ok(Self { poll, events, wakeup, resolver, waker, links, counters: IoCounters::default() })
    }

    pub(crate) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    pub(crate) fn counters(&self) -> IoCounters {
        self.counters
    }

    /// Writes to every node what gathered for it, opens and closes what must be, and arms the timer
    /// for the next deadline, so that whoever waits for the descriptor wakes up in time.
    pub(crate) fn flush(&mut self, redlock: &mut Redlock) -> io::Result<()> {
        self.obey(redlock);
        let now = Clock::now();
        for id in redlock.nodes() {
            let link = &mut self.links[id.index()];
            let Some(connection) = link.connection.as_mut().filter(|c| c.can_write()) else {
                continue;
            };
            let Some(bytes) = redlock.poll_transmit(now, id) else { continue };
            self.counters.writes += 1;
            match connection.write(bytes) {
                Ok(count) => {
                    self.counters.bytes_sent += count as u64;
                    redlock.handle_sent(id, count);
                }
                Err(error) => self.broken(redlock, id, NodeError::Io(error.kind())),
            }
        }
        self.obey(redlock);
        let unread = self.links.iter().any(|link| link.unread);
        let deadline = if unread { Some(Instant::ZERO) } else { next_deadline(redlock) };
        if let Some(deadline) = deadline {
            self.counters.timers += u64::from(self.wakeup.arm(deadline)?);
        }
        Ok(())
    }

    /// Waits until something happens, a deadline of `redlock` has come, or `timeout` is over, and
    /// deals with it. Spins for `busy_poll` before it sleeps. To be called after `flush`, which
    /// armed the timer.
    pub(crate) fn wait(
        &mut self,
        redlock: &mut Redlock,
        timeout: Option<Duration>,
        busy_poll: Duration,
    ) -> io::Result<()> {
        if timeout == Some(Duration::ZERO) {
            self.select(Some(Duration::ZERO))?;
        } else if busy_poll.is_zero() {
            self.sleep(timeout)?;
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
        redlock.handle_timeout(Clock::now());
        self.obey(redlock);
        Ok(())
    }

    /// Looks again and again without sleeping, then sleeps for what is left of `timeout`.
    fn spin(
        &mut self,
        redlock: &Redlock,
        timeout: Option<Duration>,
        busy_poll: Duration,
    ) -> io::Result<()> {
        let start = Clock::now();
        let patience = timeout.map_or(busy_poll, |timeout| timeout.min(busy_poll));
        let deadline = next_deadline(redlock).unwrap_or(Instant::FAR_FUTURE);
        loop {
            self.select(Some(Duration::ZERO))?;
            let now = Clock::now();
            if !self.events.is_empty() || now >= deadline {
                return Ok(());
            }
            if now - start >= patience {
                let left = timeout.map(|timeout| timeout.saturating_sub(now - start));
                return self.sleep(left);
            }
        }
    }

    /// Sleeps by the timer: `epoll_wait` would round a timeout up to a whole millisecond.
    fn sleep(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if let Some(timeout) = timeout {
            self.counters.timers += u64::from(self.wakeup.arm(Clock::now() + timeout)?);
        }
        self.select(None)
    }

    fn select(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.counters.waits += 1;
        match self.poll.poll(&mut self.events, timeout) {
            // A signal: the caller looks at what it changed and comes again.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.events.clear();
                Ok(())
            }
            result => result,
        }
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
        let Some(connection) = &mut self.links[id.index()].connection else { return };
        if !connection.is_established() {
            match connection.establish() {
                Ok(true) => redlock.handle_connected(Clock::now(), id),
                Ok(false) => return,
                Err(error) => {
                    return self.broken(redlock, id, NodeError::Connect(error.kind()));
                }
            }
        } else if event.is_writable() {
            connection.unblock();
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            self.read(redlock, id, event.is_read_closed() || event.is_error());
        }
    }

    /// Reads from a node until there is no more, or it has had its turn. `ended` tells that the
    /// end of the stream is there to be found.
    fn read(&mut self, redlock: &mut Redlock, id: NodeId, ended: bool) {
        self.links[id.index()].unread = false;
        for _ in 0..READS_PER_TURN {
            let link = &mut self.links[id.index()];
            let Some(connection) = &mut link.connection else { return };
            self.counters.reads += 1;
            let (count, more) = match link.inbox.fill(connection) {
                Ok((0, _)) => return self.broken(redlock, id, NodeError::Closed),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => return self.broken(redlock, id, NodeError::Io(error.kind())),
            };
            self.counters.bytes_received += count as u64;
            // S3: the clock is read after the replies were.
            let done = redlock.handle_received(Clock::now(), id, link.inbox.bytes());
            link.inbox.consume(done);
            self.obey(redlock);
            if !more && !ended {
                return;
            }
        }
        self.links[id.index()].unread = true;
    }

    /// Opens and closes what the state machine wants opened and closed.
    fn obey(&mut self, redlock: &mut Redlock) {
        while let Some(action) = redlock.poll_action() {
            match action {
                Action::Close(id) => self.close(id),
                Action::Connect(id) => self.connect(redlock, id),
            }
        }
    }

    fn connect(&mut self, redlock: &mut Redlock, id: NodeId) {
        self.close(id);
        let link = &mut self.links[id.index()];
        let (host, port) = (link.address.host(), link.address.port());
        if let Ok(ip) = host.parse::<IpAddr>() {
            return self.open(redlock, id, SocketAddr::new(ip, port));
        }
        link.wanted = true;
        if !link.resolving {
            match self.resolver.look_up(id, host, port) {
                Ok(()) => link.resolving = true,
                Err(error) => self.broken(redlock, id, NodeError::Connect(error.kind())),
            }
        }
    }

    fn resolved(&mut self, redlock: &mut Redlock, answer: Answer) {
        let link = &mut self.links[answer.node.index()];
        link.resolving = false;
        link.addresses = answer.addresses;
        if !core::mem::take(&mut link.wanted) {
            return;
        }
        if link.addresses.is_empty() {
            return self.broken(redlock, answer.node, NodeError::Unresolved);
        }
        // The next connection attempt tries the next address of the name.
        let address = link.addresses[link.next_address % link.addresses.len()];
        link.next_address = link.next_address.wrapping_add(1);
        self.open(redlock, answer.node, address);
    }

    fn open(&mut self, redlock: &mut Redlock, id: NodeId, address: SocketAddr) {
        match Connection::open(address, self.poll.registry(), Token(id.index())) {
            Ok(connection) => self.links[id.index()].connection = Some(connection),
            Err(error) => self.broken(redlock, id, NodeError::Connect(error.kind())),
        }
    }

    /// The connection of a node is gone, or could not be had.
    fn broken(&mut self, redlock: &mut Redlock, id: NodeId, error: NodeError) {
        self.close(id);
        redlock.handle_closed(Clock::now(), id, error);
    }

    fn close(&mut self, id: NodeId) {
        let link = &mut self.links[id.index()];
        link.wanted = false;
        link.unread = false;
        link.inbox.clear();
        if let Some(connection) = link.connection.take() {
            connection.close(self.poll.registry());
        }
    }
}

fn next_deadline(redlock: &Redlock) -> Option<Instant> {
    redlock.poll_timeout().map(|(at, _)| at)
}

impl AsRawFd for Driver {
    fn as_raw_fd(&self) -> RawFd {
        self.poll.as_raw_fd()
    }
}

impl Link {
    fn new(address: Address) -> Self {
        Self {
            address,
            addresses: Vec::new(),
            next_address: 0,
            resolving: false,
            wanted: false,
            connection: None,
            inbox: Inbox::new(),
            unread: false,
        }
    }
}
