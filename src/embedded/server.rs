//! [`Server`], a master behind a real socket: one thread, one `mio` loop.

use std::io::{self, ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};

use super::connection::{Connection, Outcome};
use super::options::Options;
use super::shared::{Shared, State};
use crate::net::Clock;
use crate::time::Instant;

/// The most clients connected at a time. One client more gets an error and is closed, as with
/// Redis.
pub const CONNECTIONS_MAX: usize = 256;

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
/// The token of the connection in slot 0.
const FIRST_CONNECTION: usize = 2;

/// How long to wait after a connection could not be accepted, for example for want of a descriptor,
/// before the next try: the listener reports a waiting client only once.
const ACCEPT_RETRY: Duration = Duration::from_millis(10);

/// The longest sleep while a reply is held back, well within what the system counts in.
const SLEEP_MAX: Duration = Duration::from_secs(3600);

/// The most bytes read from a socket at a time.
const SCRATCH: usize = 64 * 1024;

/// An embedded master on a loopback port, in a thread of its own. The master runs until the server
/// is dropped. Tests are better served by a [`Cluster`](super::Cluster), whose masters can be
/// paused, delayed and restarted.
///
/// Every start is an empty master with a new run id, also on the same port: a restart of a Redis
/// without persistence looks the same from outside.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    options: Options,
    stop: Arc<AtomicBool>,
    waker: Waker,
    /// `None` once joined.
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Server {
    /// Starts a master without a password on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// The error of the system, which could not provide a socket, an epoll instance or a thread.
    pub fn start() -> io::Result<Self> {
        Self::bind(0, Options::default())
    }

    /// Starts a master on the given port of 127.0.0.1; 0 stands for any free port.
    ///
    /// When `bind` returns, the port accepts connections.
    ///
    /// # Errors
    ///
    /// As [`Server::start`], and [`ErrorKind::AddrInUse`].
    pub fn bind(port: u16, options: Options) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(options.clone()));
        Self::serve(port, options, shared)
    }

    /// Starts a thread that serves a master on the given port; 0 stands for any free port.
    pub(super) fn serve(port: u16, options: Options, shared: Arc<Shared>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let address = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
        let mut listener = TcpListener::bind(address)?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let reactor = Reactor {
            poll,
            listener,
            accepting: false,
            connections: Vec::new(),
            free: Vec::new(),
            ready: Vec::new(),
            shared,
            stop: Arc::clone(&stop),
        };
        let thread =
            thread::Builder::new().name("redbolt-embedded".into()).spawn(move || reactor.run())?;
        Ok(Self { address, options, stop, waker, thread: Some(thread) })
    }

    /// The address to connect to.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The address as a URL, user and password included: `redis://127.0.0.1:6379`,
    /// `redis://:secret@127.0.0.1:6379`, `redis://user:secret@127.0.0.1:6379`.
    pub fn url(&self) -> String {
        self.options.url(self.address)
    }

    /// Closes all connections and waits for the thread to end. Dropping the server does the same
    /// and ignores the error.
    ///
    /// Replies that a client has not read may be lost, as they are when a process is killed.
    ///
    /// # Errors
    ///
    /// The error that ended the thread, if the thread had ended before.
    pub fn stop(mut self) -> io::Result<()> {
        self.join()
    }

    /// Has the thread look at what it shares.
    pub(super) fn wake(&self) {
        // The counter behind the waker lives as long as the waker. Such a counter can be written to
        // unless it is full, and then the thread wakes up anyway.
        let _ = self.waker.wake();
    }

    fn join(&mut self) -> io::Result<()> {
        self.stop.store(true, Ordering::Release);
        let woken = self.waker.wake();
        let Some(thread) = self.thread.take() else { return Ok(()) };
        if !thread.is_finished() {
            // Without a wake-up the thread would not end, and joining it would block for ever.
            woken?;
        }
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the embedded master panicked")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A drop cannot return the error; `stop` does.
        let _ = self.join();
    }
}

/// Everything that the thread owns.
struct Reactor {
    poll: Poll,
    listener: TcpListener,
    /// Whether clients may be waiting to be accepted.
    accepting: bool,
    /// At most `CONNECTIONS_MAX` slots. The index of a slot decides its token.
    connections: Vec<Option<Connection>>,
    /// Empty slots.
    free: Vec<usize>,
    /// The slots whose connections may have something to do. After `work`, each slot is in the list
    /// once at most.
    ready: Vec<usize>,
    shared: Arc<Shared>,
    stop: Arc<AtomicBool>,
}

impl Reactor {
    fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(CONNECTIONS_MAX + FIRST_CONNECTION);
        let mut scratch = vec![0; SCRATCH];
        let shared = Arc::clone(&self.shared);
        let mut timeout = None;
        while !self.stop.load(Ordering::Acquire) {
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                result => result?,
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accepting = true,
                    WAKER => {}
                    // The only other tokens are those that `open` gives out.
                    Token(token) => self.ready.push(token - FIRST_CONNECTION),
                }
            }
            timeout = self.work(&mut shared.lock(), &mut scratch);
        }
        Ok(())
    }

    /// Does what there is to do. Returns how long the thread may sleep; who changes what is shared
    /// wakes the thread.
    fn work(&mut self, state: &mut State, scratch: &mut [u8]) -> Option<Duration> {
        let now = Clock::now();
        let slots = self.connections.iter().enumerate();
        let due = slots.filter(|(_, connection)| {
            let next = connection.as_ref().and_then(|one| one.next_reply(state.delay));
            next.is_some_and(|next| next <= now)
        });
        self.ready.extend(due.map(|(slot, _)| slot));
        self.ready.sort_unstable();
        self.ready.dedup();
        // What has arrived meanwhile stays in the sockets, and the slots of them in the list.
        if state.paused {
            return None;
        }
        // Connections that close make room for new ones.
        self.serve(state, scratch);
        if self.accepting {
            self.accept();
        }
        state.master.sweep(Clock::now());
        self.timeout(state.delay)
    }

    /// Dead keys need no timer: their memory is bounded and waits for the next turn.
    fn timeout(&self, delay: Duration) -> Option<Duration> {
        let sleep = match (self.ready.is_empty(), self.accepting) {
            (false, _) => return Some(Duration::ZERO),
            (true, true) => Some(ACCEPT_RETRY),
            (true, false) => None,
        };
        let replies = self.connections.iter().flatten().filter_map(|one| one.next_reply(delay));
        let next: Option<Instant> = replies.min();
        let held = next.map(|next| (next - Clock::now()).min(SLEEP_MAX));
        // `None` is for ever, and yet less than any time when compared.
        sleep.into_iter().chain(held).min()
    }

    /// Accepts the waiting clients, in a bounded number of steps.
    fn accept(&mut self) {
        for _ in 0..CONNECTIONS_MAX {
            match self.listener.accept() {
                Ok((stream, _)) => self.open(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.accepting = false;
                    break;
                }
                // Either the client has left already, or the system is short of something.
                Err(_) => break,
            }
        }
    }

    /// Adds a connection. A connection that cannot be registered is dropped, which closes it.
    fn open(&mut self, mut stream: TcpStream) {
        if self.free.is_empty() && self.connections.len() < CONNECTIONS_MAX {
            self.free.push(self.connections.len());
            self.connections.push(None);
        }
        let Some(slot) = self.free.pop() else {
            // The socket is new, so that it takes the whole text at once.
            let _ = stream.write(b"-ERR max number of clients reached\r\n");
            return;
        };
        // An error costs only speed.
        let _ = stream.set_nodelay(true);
        let token = Token(slot + FIRST_CONNECTION);
        let interest = Interest::READABLE | Interest::WRITABLE;
        match self.poll.registry().register(&mut stream, token, interest) {
            Ok(()) => self.connections[slot] = Some(Connection::new(stream)),
            Err(_) => self.free.push(slot),
        }
    }

    /// Gives every ready connection its turn, in the order of their slots.
    fn serve(&mut self, state: &mut State, scratch: &mut [u8]) {
        let mut ready = std::mem::take(&mut self.ready);
        ready.retain(|slot| self.turn(*slot, state, scratch) == Outcome::More);
        self.ready = ready;
    }

    /// Gives one connection its turn. An event may be about a connection that has been closed.
    fn turn(&mut self, slot: usize, state: &mut State, scratch: &mut [u8]) -> Outcome {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return Outcome::Closed };
        let outcome = connection.turn(&mut state.master, scratch, Clock::now, state.delay);
        if outcome == Outcome::Closed {
            self.connections[slot] = None;
            self.free.push(slot);
        }
        outcome
    }
}
