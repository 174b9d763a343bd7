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
use super::master::Master;
use super::options::{DEFAULT_USER, Options};
use crate::net::Clock;

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

/// The most bytes read from a socket at a time.
const SCRATCH: usize = 64 * 1024;

/// An embedded master on a loopback port, in a thread of its own. The master runs until the server
/// is dropped.
///
/// Every start is an empty master with a new run id, also on the same port: a restart of a Redis
/// without persistence looks the same from outside. See the [module](super) for an example.
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
            master: Master::new(seed(), options.clone(), Clock::now()),
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
        let Some(credentials) = &self.options.credentials else {
            return format!("redis://{}", self.address);
        };
        let user = Some(&*credentials.user).filter(|user| *user != DEFAULT_USER).unwrap_or("");
        let (user, password) = (percent_encoded(user), percent_encoded(&credentials.password));
        format!("redis://{user}:{password}@{}", self.address)
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
    /// The slots whose connections may have something to do. After `serve`, each slot is in the
    /// list once at most.
    ready: Vec<usize>,
    master: Master,
    stop: Arc<AtomicBool>,
}

impl Reactor {
    fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(CONNECTIONS_MAX + FIRST_CONNECTION);
        let mut scratch = vec![0; SCRATCH];
        while !self.stop.load(Ordering::Acquire) {
            match self.poll.poll(&mut events, self.timeout()) {
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
            // Connections that close make room for new ones.
            self.serve(&mut scratch);
            if self.accepting {
                self.accept();
            }
            self.master.sweep(Clock::now());
        }
        Ok(())
    }

    /// Dead keys need no timer: their memory is bounded and waits for the next turn.
    fn timeout(&self) -> Option<Duration> {
        match (self.ready.is_empty(), self.accepting) {
            (false, _) => Some(Duration::ZERO),
            (true, true) => Some(ACCEPT_RETRY),
            (true, false) => None,
        }
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
    fn serve(&mut self, scratch: &mut [u8]) {
        let mut ready = std::mem::take(&mut self.ready);
        ready.sort_unstable();
        ready.dedup();
        ready.retain(|slot| self.turn(*slot, scratch) == Outcome::More);
        self.ready = ready;
    }

    /// Gives one connection its turn. An event may be about a connection that has been closed.
    fn turn(&mut self, slot: usize, scratch: &mut [u8]) -> Outcome {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return Outcome::Closed };
        let outcome = connection.turn(&mut self.master, scratch, Clock::now);
        if outcome == Outcome::Closed {
            self.connections[slot] = None;
            self.free.push(slot);
        }
        outcome
    }
}

/// Returns a different number at every call, which is all that a run id needs.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(Clock::now())
}

/// Encodes all characters except those that may stand anywhere in a URL.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
