//! Servers that misbehave on purpose.
//!
//! A [`Fake`] listens on a port of its own and lets a script decide, request by request, how to
//! treat the client. A fake counts the accepted connections and keeps the requests. Dropping the
//! fake ends the server, and fails the test if the script has panicked.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use super::master::{Master, is_probe};
use super::wire::read_request;

/// The pause between two bytes of [`Fake::dripping`].
const DRIP: Duration = Duration::from_millis(100);

/// How many requests are kept. A client that sends more is the object of the test, and needs no
/// record.
const MAX_REQUESTS: usize = 100_000;

/// One command that a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The number of the connection, counted from 0 in the order of accepting.
    pub(crate) connection: usize,
    /// The command and its arguments.
    pub(crate) parts: Vec<Vec<u8>>,
}

impl Request {
    /// Returns the name of the command in upper case.
    pub(crate) fn name(&self) -> String {
        String::from_utf8_lossy(self.part(0)).to_uppercase()
    }

    /// Returns a part; empty if there is none.
    pub(crate) fn part(&self, index: usize) -> &[u8] {
        self.parts.get(index).map_or(&[], Vec::as_slice)
    }
}

/// How to treat a client.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Send these bytes, whether they are a reply or not.
    Reply(Vec<u8>),
    /// Send bytes after a while. Later requests of this connection wait behind.
    Later(Duration, Vec<u8>),
    /// Send bytes one at a time, with this pause before each.
    Drip(Duration, Vec<u8>),
    /// Send nothing.
    Silence,
    /// Send nothing and read nothing any more: the bytes of the client pile up in the kernel.
    Deaf,
    /// Send what is still to be sent, then end of file.
    Close,
    /// Throw away unsent bytes and reset the connection.
    Reset,
    /// Do all of these, one after the other.
    All(Vec<Self>),
}

/// A function that decides how to treat the client that sent this request.
type Script = dyn FnMut(&Request) -> Action + Send;

/// A server that follows a script.
pub(crate) struct Fake {
    addr: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl Fake {
    /// Starts a server that greets every new connection in one way, then asks `script` about each
    /// request in turn.
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

    /// Starts a server that asks the script from the first byte.
    pub(crate) fn scripted(script: impl FnMut(&Request) -> Action + Send + 'static) -> Self {
        Self::start(Action::Silence, script)
    }

    /// Starts a server that answers a handshake as `master` does, and asks the script about every
    /// other command.
    pub(crate) fn after_handshake(
        master: Master,
        mut script: impl FnMut(&Request) -> Action + Send + 'static,
    ) -> Self {
        Self::scripted(move |request| {
            master.answer(request).map_or_else(|| script(request), Action::Reply)
        })
    }

    /// Starts a server that accepts and reads everything, and never answers.
    pub(crate) fn silent() -> Self {
        Self::scripted(|_| Action::Silence)
    }

    /// Starts a server that accepts, and neither reads nor answers.
    pub(crate) fn deaf() -> Self {
        Self::start(Action::Deaf, |_| Action::Deaf)
    }

    /// Starts a server that answers every request with the same bytes.
    pub(crate) fn repeating(bytes: &[u8]) -> Self {
        let bytes = bytes.to_vec();
        Self::scripted(move |_| Action::Reply(bytes.clone()))
    }

    /// Starts a server that answers every request with the same bytes, one every 100 ms.
    pub(crate) fn dripping(bytes: &[u8]) -> Self {
        let bytes = bytes.to_vec();
        Self::scripted(move |_| Action::Drip(DRIP, bytes.clone()))
    }

    /// Starts a server that accepts and closes at once.
    pub(crate) fn closing() -> Self {
        Self::start(Action::Close, |_| Action::Close)
    }

    pub(crate) fn addr(&self) -> String {
        self.addr.to_string()
    }

    /// Returns how many connections were accepted so far.
    pub(crate) fn accepted(&self) -> usize {
        self.shared.state().accepted
    }

    /// Returns how many connections are open. A connection under [`Action::Deaf`] counts until the
    /// end, because the server no longer looks at the client.
    pub(crate) fn open(&self) -> usize {
        self.shared.state().open.len()
    }

    /// Returns the requests so far, in the order of reading, without the probes of rights.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let state = self.shared.state();
        state.requests.iter().filter(|request| !is_probe(request)).cloned().collect()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.shared.stop();
        // `accept` has no timeout, so a connection from here makes the thread look at the state.
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
            // Wakes the connection's thread from a read or a write. The connection may just have
            // closed by itself.
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

    /// Numbers and counts a new connection. Returns `None` at the end of the fake server.
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

/// Serves every connection on a thread of its own. Returns when all of them are closed.
fn listen(listener: &TcpListener, shared: &Shared) {
    thread::scope(|scope| {
        for stream in listener.incoming() {
            let Some(connection) = shared.admit(stream.expect("a loopback connection")) else {
                return;
            };
            // With an error either the client or the test ends the connection.
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

    /// Carries out an action. An error ends the connection.
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
                // A close with unread bytes would be a reset, which may overtake the sent bytes.
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
        // The last reference closes the socket, and that reference is `self.stream`.
        self.shared.state().open.remove(&self.number);
    }
}
