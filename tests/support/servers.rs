//! Real masters: `redis-server` processes on free loopback ports, without persistence.
//!
//! ```ignore
//! let mut cluster = Cluster::start(5);
//! cluster[0].kill();
//! cluster[1].stop();
//! assert_eq!(cluster[2].get(b"resource"), None);
//! ```
//!
//! No configuration file is read. A node belongs to its test: the server dies when its [`Node`] is
//! dropped, and soon after the test process ends, however that happens (see [`super::process`]).

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, io, thread};

use redbolt::redlock::PROBE;
use rustix::process::Signal;

use super::ports::Port;
use super::process::{Folder, Process};
use super::program::find_server;
use super::until;
use super::wire::{Connection, Reply};

/// The limit for a start or an end of a server: a few milliseconds, but more on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The limit for one command of a test: longer than any command takes, shorter than a test may
/// hang.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// The limit for one check whether a server is ready. A stranger on the port may never answer.
const LOOK_TIMEOUT: Duration = Duration::from_millis(250);

/// How many ports one start may find taken by strangers.
const START_ATTEMPTS: usize = 8;

/// One master.
pub(crate) struct Node {
    // The order of the fields is the order of dropping: first the process, then the things that the
    // process uses.
    process: Option<Process>,
    folder: Folder,
    port: Port,
    args: Vec<String>,
    /// The program; `None` for the one that all tests run.
    program: Option<PathBuf>,
    /// Where clients are to come, and the port of that; `None` for the plain port.
    way: Option<(String, Option<Port>)>,
}

/// The reason why a server did not start.
#[derive(Debug)]
pub(crate) enum StartError {
    /// Another process listens on the port.
    PortTaken,
    /// Any other reason, in the words of the server.
    Failed(String),
}

impl Node {
    /// Starts an empty master that answers commands.
    ///
    /// # Panics
    ///
    /// Panics if no server is installed or the server does not start. The message says why.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a master with more arguments, such as `["--requirepass", "secret"]`.
    pub(crate) fn start_with(args: &[&str]) -> Self {
        Self::start_somewhere(|port| Self::start_on(port, args))
    }

    /// Starts a master as [`Self::start_with`] does, but of this program.
    pub(crate) fn start_program(program: &Path, args: &[&str]) -> Self {
        Self::start_somewhere(|port| Self::launched(port, args, Some(program.to_owned())))
    }

    /// Starts a master as [`Self::start_with`] does, on a given port, which may turn out to be
    /// taken.
    pub(crate) fn start_on(port: Port, args: &[&str]) -> Result<Self, StartError> {
        Self::launched(port, args, None)
    }

    fn start_somewhere(start: impl Fn(Port) -> Result<Self, StartError>) -> Self {
        for _ in 0..START_ATTEMPTS {
            match start(Port::free()) {
                Ok(node) => return node,
                Err(StartError::PortTaken) => {}
                Err(StartError::Failed(why)) => panic!("{why}"),
            }
        }
        panic!("{START_ATTEMPTS} ports in a row were taken between the look and the start");
    }

    fn launched(port: Port, args: &[&str], program: Option<PathBuf>) -> Result<Self, StartError> {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        let folder = Folder::new();
        let mut node = Self { process: None, folder, port, args, program, way: None };
        node.launch()?;
        Ok(node)
    }

    /// Kills the server if it runs, and starts a new one on the same port with the same arguments.
    /// The new server is empty, unless the arguments make it durable.
    pub(crate) fn restart(&mut self) {
        self.kill();
        if let Err(error) = self.launch() {
            panic!("cannot restart on {}: {error:?}", self.port);
        }
    }

    /// Sends `SIGKILL`. Returns when the process is gone and its sockets are closed.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    /// Removes what `SAVE` has written, so that the next process begins empty.
    pub(crate) fn remove_snapshot(&self) {
        std::fs::remove_file(self.folder.path().join("dump.rdb")).expect("somebody has saved");
    }

    /// Sends `SIGTERM` for an orderly shutdown. Returns when the process is gone.
    pub(crate) fn terminate(&mut self) {
        let mut process = self.process.take().expect("the node runs");
        process.signal(Signal::TERM);
        // A stopped process would leave the signal pending.
        process.signal(Signal::CONT);
        assert!(until(PATIENCE, || process.exited().is_some()), "SIGTERM does not end the server");
    }

    /// Sends `SIGSTOP`: the kernel still accepts connections and bytes, nobody answers.
    pub(crate) fn stop(&self) {
        self.process().stop();
    }

    /// Sends `SIGCONT`, the end of [`Self::stop`]: the server answers everything that has piled up.
    pub(crate) fn cont(&self) {
        self.process().signal(Signal::CONT);
    }

    /// Returns `127.0.0.1:port`, the same after every restart.
    pub(crate) fn addr(&self) -> String {
        self.port.addr()
    }

    /// Has clients come by this address, at which the server listens as well.
    pub(crate) fn reached_by(mut self, url: String, port: Option<Port>) -> Self {
        self.way = Some((url, port));
        self
    }

    /// Returns the address for clients.
    pub(crate) fn url(&self) -> String {
        self.way.as_ref().map_or_else(|| self.addr(), |(url, _)| url.clone())
    }

    /// Returns the address for clients with this login, which is a user and a password.
    pub(crate) fn url_of(&self, login: &str) -> String {
        let url = self.url();
        let (scheme, place) = url.split_once("://").unwrap_or(("redis", &url));
        format!("{scheme}://{login}@{place}")
    }

    /// Returns the address of the Unix socket to which the server listens as well.
    pub(crate) fn unix(&self) -> String {
        format!("unix://{}", self.socket())
    }

    fn socket(&self) -> String {
        self.folder.path().join("socket").to_string_lossy().into_owned()
    }

    /// Returns the process id of the server itself.
    pub(crate) fn pid(&self) -> u32 {
        self.process().pid()
    }

    /// Replaces the password that the arguments have set, for this process and those to come.
    pub(crate) fn set_password(&mut self, password: &str) {
        self.command(&[b"CONFIG", b"SET", b"requirepass", password.as_bytes()]);
        let place = self.args.iter().position(|arg| arg == "--requirepass");
        let place = place.expect("the arguments have a password");
        self.args[place + 1] = password.to_owned();
    }

    /// Runs one command on a fresh connection, authenticated if the node demands that.
    ///
    /// # Panics
    ///
    /// Panics if there is no reply within five seconds.
    pub(crate) fn command(&self, parts: &[&[u8]]) -> Reply {
        let reply = self.connect(REPLY_TIMEOUT).and_then(|mut node| node.command(parts));
        reply.unwrap_or_else(|error| panic!("no reply from {}: {error}", self.port))
    }

    /// Opens a fresh connection, authenticated if the node demands that.
    pub(crate) fn connect(&self, timeout: Duration) -> io::Result<Connection> {
        let mut connection = Connection::open(&self.addr(), timeout)?;
        if let Some(password) = self.password() {
            connection.command(&[b"AUTH", password.as_bytes()])?;
        }
        Ok(connection)
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        match self.command(&[b"GET", key]) {
            Reply::Bulk(value) => Some(value),
            Reply::Null => None,
            other => panic!("GET answers {other:?}"),
        }
    }

    /// Returns the milliseconds to live, in the words of Redis: -1 without expiry, -2 without the
    /// key.
    pub(crate) fn pttl(&self, key: &[u8]) -> i64 {
        match self.command(&[b"PTTL", key]) {
            Reply::Integer(ms) => ms,
            other => panic!("PTTL answers {other:?}"),
        }
    }

    /// Returns all keys, sorted, without the two by which clients know the age of the data, and the
    /// one with fencing numbers.
    pub(crate) fn keys(&self) -> Vec<Vec<u8>> {
        let Reply::Array(keys) = self.command(&[b"KEYS", b"*"]) else {
            panic!("KEYS answers with an array");
        };
        let mut keys: Vec<_> = keys.into_iter().map(bytes).collect();
        let own: [&[u8]; 3] = [b"redbolt:witness", b"redbolt:seen", b"redbolt:fence"];
        keys.retain(|key| !own.iter().any(|name| key.ends_with(name)));
        keys.sort();
        keys
    }

    /// Returns all [keys](Self::keys) but the hints of those who have waited for long: a hint stays
    /// for a while behind the one who left it, and expires.
    pub(crate) fn keys_but_hints(&self) -> Vec<Vec<u8>> {
        let mut keys = self.keys();
        let hints: [&[u8]; 2] = [b"redbolt:wanted:", b"redbolt:next:"];
        let is_hint = |key: &[u8]| hints.iter().any(|hint| key.starts_with(hint));
        keys.retain(|key| !is_hint(key) || self.pttl(key) == -1);
        keys
    }

    /// Sets a key that expires, over any value that is there.
    pub(crate) fn set_px(&self, key: &[u8], value: &[u8], ttl: Duration) {
        let ttl_ms = ttl.as_millis().to_string();
        let reply = self.command(&[b"SET", key, value, b"PX", ttl_ms.as_bytes()]);
        assert_eq!(reply, Reply::Simple("OK".to_owned()));
    }

    /// Returns the value of one field of `INFO`, such as `run_id`.
    pub(crate) fn info(&self, field: &str) -> Option<String> {
        let info = String::from_utf8_lossy(&bytes(self.command(&[b"INFO"]))).into_owned();
        let mut fields = info.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| *name == field).map(|(_, value)| value.to_owned())
    }

    /// Returns how often the server has executed this command, scripts included, by the server's
    /// own count. The tries of the command in handshakes do not count: each handshake tries each
    /// command of the scripts once.
    pub(crate) fn calls(&self, command: &str) -> u64 {
        let stats = bytes(self.command(&[b"INFO", b"commandstats"]));
        let stats = String::from_utf8_lossy(&stats).into_owned();
        let count = |command: &str| {
            let start = format!("cmdstat_{command}:calls=");
            let line = stats.lines().find_map(|line| line.strip_prefix(start.as_str()));
            let calls = line.and_then(|rest| rest.split(',').next());
            calls.map_or(0, |calls| calls.parse().expect("a count is a number"))
        };
        let is_tried = ["eval", "evalsha"].contains(&command)
            || PROBE.text.contains(&format!("try('{command}'"));
        // Only handshakes ask for this.
        let handshakes: u64 = if is_tried { count("command|info") } else { 0 };
        // A handshake under way may have asked, and not tried yet.
        count(command).saturating_sub(handshakes)
    }

    fn launch(&mut self) -> Result<(), StartError> {
        let program = self.program.clone().map_or_else(usual_server, Ok)?;
        let process = Process::spawn(&self.folder, &program, &self.command_line())
            .map_err(|error| StartError::Failed(format!("cannot run sh: {error}")))?;
        self.process = Some(process);
        let mut exited = false;
        let ended = until(PATIENCE, || {
            exited = self.process.as_mut().is_none_or(|process| process.exited().is_some());
            exited || self.answers()
        });
        if ended && !exited {
            return Ok(());
        }
        self.process = None;
        let log = self.folder.log();
        if log.contains("Address already in use") {
            return Err(StartError::PortTaken);
        }
        Err(StartError::Failed(format!("{} did not start:\n{log}", program.display())))
    }

    fn command_line(&self) -> Vec<String> {
        let port = self.port.number().to_string();
        let dir = self.folder.path().to_string_lossy();
        let socket = self.socket();
        let own = ["--port", &port, "--bind", "127.0.0.1", "--dir", &dir, "--unixsocket", &socket];
        let plain = ["--save", "", "--appendonly", "no", "--daemonize", "no"];
        let args = own.iter().chain(&plain).map(|&arg| arg.to_owned());
        args.chain(self.args.iter().cloned()).collect()
    }

    /// Returns whether this process, not a stranger on the same port, answers and has loaded its
    /// data.
    fn answers(&self) -> bool {
        let pid_line = format!("process_id:{}\r\n", self.pid());
        let Ok(mut connection) = self.connect(LOOK_TIMEOUT) else {
            return false;
        };
        let pong = connection.command(&[b"PING"]).is_ok_and(|reply| is_pong(&reply));
        pong && connection.command(&[b"INFO", b"server"]).is_ok_and(|reply| {
            matches!(reply, Reply::Bulk(info) if String::from_utf8_lossy(&info).contains(&pid_line))
        })
    }

    fn password(&self) -> Option<&str> {
        let mut pairs = self.args.windows(2);
        pairs.find(|pair| pair[0] == "--requirepass").map(|pair| pair[1].as_str())
    }

    fn process(&self) -> &Process {
        self.process.as_ref().expect("the node runs")
    }
}

/// Independent masters, as a slice of [`Node`]s.
pub(crate) struct Cluster(Vec<Node>);

impl Cluster {
    /// Starts `n` masters at the same time.
    pub(crate) fn start(n: usize) -> Self {
        Self::start_with(n, &[])
    }

    /// Starts `n` masters at the same time, with more arguments for each of them.
    pub(crate) fn start_with(n: usize, args: &[&str]) -> Self {
        thread::scope(|scope| {
            let starts: Vec<_> = (0..n).map(|_| scope.spawn(|| Node::start_with(args))).collect();
            // All threads are joined before a panic goes on: `scope` waits for the other threads.
            let nodes = starts.into_iter().map(|start| start.join().expect("the node starts"));
            Self(nodes.collect())
        })
    }

    pub(crate) fn addrs(&self) -> Vec<String> {
        self.iter().map(Node::addr).collect()
    }

    /// Returns on how many nodes the key has this value.
    pub(crate) fn holding(&self, key: &[u8], value: &[u8]) -> usize {
        self.iter().filter(|node| node.get(key).as_deref() == Some(value)).count()
    }
}

impl Deref for Cluster {
    type Target = [Node];

    fn deref(&self) -> &[Node] {
        &self.0
    }
}

impl DerefMut for Cluster {
    fn deref_mut(&mut self) -> &mut [Node] {
        &mut self.0
    }
}

fn usual_server() -> Result<PathBuf, StartError> {
    let chosen = env::var_os("REDBOLT_TEST_SERVER");
    find_server(chosen, env::var_os("PATH")).map_err(StartError::Failed)
}

fn is_pong(reply: &Reply) -> bool {
    matches!(reply, Reply::Simple(text) if text == "PONG")
}

fn bytes(reply: Reply) -> Vec<u8> {
    match reply {
        Reply::Bulk(bytes) => bytes,
        other => panic!("expected a bulk string, got {other:?}"),
    }
}
