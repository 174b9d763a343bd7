//! Servers that misbehave on purpose.
//!
//! A [`Fake`] listens on a port of its own and lets a script decide, request by request, what to do
//! to the client. It counts the connections it has accepted and keeps the requests it has read. It
//! is gone when it is dropped, and a script that panics fails the test then.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use super::master::Master;
use super::wire::read_request;

/// The pause between two bytes of [`Fake::dripping`].
const DRIP: Duration = Duration::from_millis(100);

/// How many requests are kept; a client that sends more is the thing to test, not to record.
const MAX_REQUESTS: usize = 100_000;

/// One command that a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Of which connection, counted from 0 in the order of accepting.
    pub(crate) connection: usize,
    /// The command and its arguments.
    pub(crate) parts: Vec<Vec<u8>>,
}

impl Request {
    /// The name of the command in upper case.
    pub(crate) fn name(&self) -> String {
        String::from_utf8_lossy(self.part(0)).to_uppercase()
    }

    /// A part; empty where there is none.
    pub(crate) fn part(&self, index: usize) -> &[u8] {
        self.parts.get(index).map_or(&[], Vec::as_slice)
    }
}

/// What to do to a client.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Send these bytes, whether they are a reply or not.
    Reply(Vec<u8>),
    /// Send them after a while; later requests of this connection wait behind.
    Later(Duration, Vec<u8>),
    /// Send them one at a time, with this pause before each.
    Drip(Duration, Vec<u8>),
    /// Send nothing.
    Silence,
    /// Send nothing and read nothing any more: the client's bytes pile up in the kernel.
    Deaf,
    /// Send what is still to be sent, then end of file.
    Close,
    /// Throw away what is still to be sent and reset the connection.
    Reset,
    /// Do all of these, one after the other.
    All(Vec<Self>),
}

/// Decides what to do to the client that sent this request.
type Script = dyn FnMut(&Request) -> Action + Send;

/// A server that does what its script says.
pub(crate) struct Fake {
    addr: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl Fake {
    /// Greets every new connection in one way, then asks `script` about each request in turn.
    pub(crate) fn start(
        greeting: Action,
        script: impl FnMut(&Request) -> Action + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let addr = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            greeting,
            script: Mutex::new(Box::new(script)),
            state: Mutex::default(),
            stopping: Condvar::new(),
        });
        let listener = thread::spawn({
            let shared = Arc::clone(&shared);
            move || listen(&listener, &shared)
        });
        Self { addr, shared, listener: Some(listener) }
    }

    /// Does what the script says, from the first byte.
    pub(crate) fn scripted(script: impl FnMut(&Request) -> Action + Send + 'static) -> Self {
        Self::start(Action::Silence, script)
    }

    /// Answers a handshake as `master` and leaves every other command to the script.
    pub(crate) fn after_handshake(
        master: Master,
        mut script: impl FnMut(&Request) -> Action + Send + 'static,
    ) -> Self {
        Self::scripted(move |request| {
            master.answer(request).map_or_else(|| script(request), Action::Reply)
        })
    }

    /// Accepts and reads everything, and never answers.
    pub(crate) fn silent() -> Self {
        Self::scripted(|_| Action::Silence)
    }

    /// Accepts, and never reads nor answers.
    pub(crate) fn deaf() -> Self {
        Self::start(Action::Deaf, |_| Action::Deaf)
    }

    /// Answers every request with the same bytes.
    pub(crate) fn repeating(bytes: &[u8]) -> Self {
        let bytes = bytes.to_vec();
        Self::scripted(move |_| Action::Reply(bytes.clone()))
    }

    /// Answers every request with the same bytes, one every 100 ms.
    pub(crate) fn dripping(bytes: &[u8]) -> Self {
        let bytes = bytes.to_vec();
        Self::scripted(move |_| Action::Drip(DRIP, bytes.clone()))
    }

    /// Accepts and closes at once.
    pub(crate) fn closing() -> Self {
        Self::start(Action::Close, |_| Action::Close)
    }

    pub(crate) fn addr(&self) -> String {
        self.addr.to_string()
    }

    /// How many connections it has accepted so far.
    pub(crate) fn accepted(&self) -> usize {
        self.shared.state().accepted
    }

    /// How many connections are open now. One that is [`Action::Deaf`] counts until the end,
    /// because nobody looks whether its client is still there.
    pub(crate) fn open(&self) -> usize {
        self.shared.state().open.len()
    }

    /// The requests so far, in the order of reading.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.shared.stop();
        // `accept` has no timeout; a connection of our own makes it look at the state.
        _ = TcpStream::connect_timeout(&self.addr, Duration::from_secs(1));
        let ended = self.listener.take().map_or(Ok(()), JoinHandle::join);
        if ended.is_err() && !thread::panicking() {
            panic!("the script of a fake server has panicked");
        }
    }
}

struct Shared {
    greeting: Action,
    script: Mutex<Box<Script>>,
    state: Mutex<State>,
    stopping: Condvar,
}

#[derive(Default)]
struct State {
    stopped: bool,
    accepted: usize,
    open: HashMap<usize, Arc<TcpStream>>,
    requests: Vec<Request>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        for stream in state.open.values() {
            // Wakes its thread from a read or a write; it may just have closed by itself.
            _ = stream.shutdown(Shutdown::Both);
        }
        self.stopping.notify_all();
    }

    /// Waits that long, or until the end of the fake server, which is an error.
    fn pause(&self, pause: Duration) -> io::Result<()> {
        let waited = self.stopping.wait_timeout_while(self.state(), pause, |state| !state.stopped);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.stopped { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }

    /// Numbers and counts a new connection; `None` at the end of the fake server.
    fn admit(&self, stream: TcpStream) -> Option<Accepted<'_>> {
        let mut state = self.state();
        if state.stopped {
            return None;
        }
        let (number, stream) = (state.accepted, Arc::new(stream));
        state.accepted += 1;
        state.open.insert(number, Arc::clone(&stream));
        Some(Accepted { number, stream, shared: self })
    }

    fn ask(&self, request: &Request) -> Action {
        let mut state = self.state();
        if state.requests.len() < MAX_REQUESTS {
            state.requests.push(request.clone());
        }
        drop(state);
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        script(request)
    }
}

/// Serves every connection on a thread of its own; returns when all of them are closed.
fn listen(listener: &TcpListener, shared: &Shared) {
    thread::scope(|scope| {
        for stream in listener.incoming() {
            let Some(connection) = shared.admit(stream.expect("a loopback connection")) else {
                return;
            };
            // An error is the client's way, or the test's, to end the connection.
            scope.spawn(move || _ = connection.serve());
        }
    });
}

/// One connection; closed on `Drop`, also when the script panics.
struct Accepted<'a> {
    number: usize,
    stream: Arc<TcpStream>,
    shared: &'a Shared,
}

impl Accepted<'_> {
    fn serve(&self) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        self.act(&self.shared.greeting)?;
        let mut reader = BufReader::new(&*self.stream);
        while let Some(parts) = read_request(&mut reader)? {
            let action = self.shared.ask(&Request { connection: self.number, parts });
            self.act(&action)?;
        }
        Ok(())
    }

    /// Does it; an error ends the connection.
    fn act(&self, action: &Action) -> io::Result<()> {
        let mut stream = &*self.stream;
        match action {
            Action::Reply(bytes) => stream.write_all(bytes),
            Action::Later(pause, bytes) => {
                self.shared.pause(*pause)?;
                stream.write_all(bytes)
            }
            Action::Drip(pause, bytes) => bytes.iter().try_for_each(|&byte| {
                self.shared.pause(*pause)?;
                stream.write_all(&[byte])
            }),
            Action::Silence => Ok(()),
            Action::Deaf => self.shared.pause(Duration::MAX),
            Action::Close => {
                stream.shutdown(Shutdown::Write)?;
                // With bytes left unread a close would be a reset, and may overtake what was sent.
                io::copy(&mut stream, &mut io::sink())?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            Action::Reset => {
                set_socket_linger(stream, Some(Duration::ZERO))?;
                Err(io::ErrorKind::ConnectionReset.into())
            }
            Action::All(actions) => actions.iter().try_for_each(|action| self.act(action)),
        }
    }
}

impl Drop for Accepted<'_> {
    fn drop(&mut self) {
        // The socket is closed with the last reference, which is then our own.
        self.shared.state().open.remove(&self.number);
    }
}
