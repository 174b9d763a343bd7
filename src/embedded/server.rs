//! The master behind a real socket: one thread, one `mio` loop.

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

/// Clients connected at a time. One more is told so and closed, as Redis does it.
pub const CONNECTIONS_MAX: usize = 256;

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
/// The token of the connection in slot 0.
const FIRST_CONNECTION: usize = 2;

/// How soon to try again after a connection could not be accepted, for want of a descriptor say:
/// the listener tells of a waiting client only once.
const ACCEPT_RETRY: Duration = Duration::from_millis(10);

/// What is read from a socket at a time.
const SCRATCH: usize = 64 * 1024;

/// An embedded master on a loopback port, running in a thread of its own until it is dropped.
///
/// Every start is an empty master with a new run id, also on the same port: that is what a restart
/// of a Redis without persistence looks like from outside. See the [module](super) for an example.
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
    /// Whatever the system has against a socket, an epoll instance or a thread.
    pub fn start() -> io::Result<Self> {
        Self::bind(0, Options::default())
    }

    /// Starts a master on a given port of 127.0.0.1; 0 stands for any that is free.
    ///
    /// When this returns, the port accepts connections.
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

    /// Closes all connections and waits for the thread to end; dropping the server does the same,
    /// and says nothing.
    ///
    /// Replies that a client has not read may be lost, as they are when a process is killed.
    ///
    /// # Errors
    ///
    /// What ended the thread, if it had ended before.
    pub fn stop(mut self) -> io::Result<()> {
        self.join()
    }

    fn join(&mut self) -> io::Result<()> {
        self.stop.store(true, Ordering::Release);
        let woken = self.waker.wake();
        let Some(thread) = self.thread.take() else { return Ok(()) };
        if !thread.is_finished() {
            // The thread cannot be joined if nothing wakes it up.
            woken?;
        }
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the embedded master panicked")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // There is nobody to tell; who wants to know calls `stop`.
        let _ = self.join();
    }
}

/// Everything the thread owns.
struct Reactor {
    poll: Poll,
    listener: TcpListener,
    /// Clients may be waiting to be accepted.
    accepting: bool,
    /// At most `CONNECTIONS_MAX` slots; a slot's index decides its token.
    connections: Vec<Option<Connection>>,
    /// Empty slots.
    free: Vec<usize>,
    /// Slots whose connection may have something to do, at most once each after `serve`.
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
            // Those who leave make room for those who come.
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

    /// Accepts who is waiting, in a bounded number of steps.
    fn accept(&mut self) {
        for _ in 0..CONNECTIONS_MAX {
            match self.listener.accept() {
                Ok((stream, _)) => self.open(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.accepting = false;
                    break;
                }
                // Either the client has gone already, or the system is short of something.
                Err(_) => break,
            }
        }
    }

    /// Takes a client in; one that cannot be registered is dropped, and its end closed.
    fn open(&mut self, mut stream: TcpStream) {
        if self.free.is_empty() && self.connections.len() < CONNECTIONS_MAX {
            self.free.push(self.connections.len());
            self.connections.push(None);
        }
        let Some(slot) = self.free.pop() else {
            // As much of it as the socket takes at once, which is all of it.
            let _ = stream.write(b"-ERR max number of clients reached\r\n");
            return;
        };
        // Only a matter of speed.
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

    /// An event may be about a connection that is no longer there.
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

/// Different at every call, which is all that a run id needs.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(Clock::now())
}

/// Leaves what a URL may hold anywhere, and encodes the rest.
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
