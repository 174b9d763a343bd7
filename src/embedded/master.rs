//! [`Master`]: requests in, replies out, and time as an argument.

use core::fmt::{self, Write};

use bytes::BytesMut;

use super::command::{self, Command};
use super::database::Database;
use super::fencing::Moment;
use super::info::Info;
use super::number::micros;
use super::options::{DEFAULT_USER, Options};
use super::refusal::Refusal;
use super::scripting::Call;
use super::scripts::Script;
use super::witness::{SECTIONS, Server, WITNESS_KEYS_MAX};
use super::{number, scripting, settings, strings};
use crate::resp;
use crate::time::Instant;

/// The number of databases of a master, the default of Redis.
pub const DATABASES: usize = 16;

/// The most dead keys whose memory one [`Master::sweep`] takes back.
pub const SWEEP_MAX: usize = 1024;

/// A Redis master as far as redbolt's engine can see: strings with a deadline, `INFO`, and the
/// engine's own scripts.
///
/// A master knows no socket, thread or clock, so that the same calls give the same bytes. A copy
/// is what a file of its data is: a later process that begins with the copy has older data.
///
/// ```
/// use bytes::BytesMut;
/// use redbolt::embedded::{Master, Options, Session};
/// use redbolt::time::Instant;
///
/// let mut master = Master::new(1, Options::default(), Instant::ZERO);
/// let mut session = Session::default();
/// let mut out = BytesMut::new();
/// let set: [&[u8]; 6] = [b"SET", b"printer", b"token", b"NX", b"PX", b"30000"];
///
/// master.apply(Instant::ZERO, &mut session, &set, &mut out);
/// assert_eq!(out, "+OK\r\n");
/// assert_eq!(master.get(0, b"printer", Instant::from_nanos(30_000_999_999)), Some(&b"token"[..]));
/// assert_eq!(master.get(0, b"printer", Instant::from_nanos(30_001_000_000)), None);
/// ```
#[derive(Clone)]
pub struct Master {
    options: Options,
    run_id: String,
    replication_id: String,
    started: Instant,
    databases: [Database; DATABASES],
    /// The scripts that `EVALSHA` finds.
    loaded: Vec<Script>,
}

/// What a master remembers of its keys when it is restarted. The scripts are forgotten in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// All keys, with their deadlines: a Redis that writes each command to its disk
    /// (`appendfsync always`). A key whose deadline passes while the master is down is gone.
    Kept,
    /// No key: a Redis without persistence.
    Lost,
}

/// The state of one connection. A connection starts with `Session::default()`.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Always less than [`DATABASES`].
    database: usize,
    authenticated: bool,
    closing: bool,
}

impl Session {
    /// Whether the client has sent `QUIT`. The reply to `QUIT` is the last one, and the connection
    /// is to be closed once that reply has been sent.
    pub fn is_closing(&self) -> bool {
        self.closing
    }
}

impl Master {
    /// Creates an empty master that has been up since `started`.
    ///
    /// The run id and the replication id are derived from `seed`. Masters that clients must tell
    /// apart need different seeds, and so does a master that stands for an earlier one after a
    /// restart.
    pub fn new(seed: u64, options: Options, started: Instant) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut databases: [Database; DATABASES] = Default::default();
        let is_fresh = options.is_fresh.unwrap_or(false);
        databases.iter_mut().for_each(|database| database.declare(is_fresh));
        Self {
            options,
            run_id: identifier(&mut random),
            replication_id: identifier(&mut random),
            started,
            databases,
            loaded: Vec::new(),
        }
    }

    /// Executes one request and appends exactly one reply to `out`.
    ///
    /// A request is a command and its arguments. An empty request is answered as an unknown
    /// command. The cost is O(log keys) for each key that the request names; `DBSIZE` and `INFO`
    /// also take a step per dead key that has not been swept yet.
    pub fn apply(
        &mut self,
        now: Instant,
        session: &mut Session,
        request: &[&[u8]],
        out: &mut BytesMut,
    ) {
        if let Err(refusal) = self.execute(now, session, request, out) {
            resp::error(out, refusal.to_string());
        }
    }

    /// Takes back the memory of at most [`SWEEP_MAX`] dead keys. Returns the number of those keys.
    ///
    /// No reply depends on sweeps: a dead key is absent from every reply.
    pub fn sweep(&mut self, now: Instant) -> usize {
        self.reap(millis(now), SWEEP_MAX)
    }

    /// The number of keys alive at `now`, over all databases. The keys of the witness count, as
    /// they do in `DBSIZE`.
    pub fn len(&self, now: Instant) -> usize {
        self.databases.iter().map(|database| database.len(millis(now))).sum()
    }

    /// Whether no key is alive at `now`.
    pub fn is_empty(&self, now: Instant) -> bool {
        self.len(now) == 0
    }

    /// The value of a key that is alive at `now`; `None` for a dead or absent key, and where there
    /// is no such database.
    pub fn get(&self, database: usize, key: &[u8], now: Instant) -> Option<&[u8]> {
        self.databases.get(database)?.get(key, millis(now))
    }

    /// The keys of a database that are alive at `now`, in byte order; none where there is no such
    /// database. The keys of the witness are left out: [`get`](Self::get) knows them too. Costs a
    /// step for each key.
    pub fn keys(&self, database: usize, now: Instant) -> impl Iterator<Item = &[u8]> {
        let database = self.databases.get(database);
        database.into_iter().flat_map(move |database| database.keys(millis(now)))
    }

    /// Deletes a key. Returns whether the key was alive at `now`.
    pub fn delete(&mut self, database: usize, key: &[u8], now: Instant) -> bool {
        let database = self.databases.get_mut(database);
        database.is_some_and(|database| database.remove(key, millis(now)))
    }

    /// Deletes all keys of all databases, as `FLUSHALL` does. Clients that look at the witness
    /// afterwards see that data was lost.
    pub fn flush(&mut self) {
        self.databases = Default::default();
    }

    /// Makes this master a process that has been up since `started`, with other ids and what is
    /// left in `memory`. See [`Master::new`] for the seed.
    ///
    /// Sessions from before belong to connections that a restart has closed.
    pub fn restart(&mut self, seed: u64, memory: Memory, started: Instant) {
        let new = Self::new(seed, self.options.clone(), started);
        let old = std::mem::replace(self, new);
        self.databases = match memory {
            Memory::Kept => old.databases,
            Memory::Lost => Default::default(),
        };
        // What an operator declared was said of the process before.
        self.databases.iter_mut().for_each(|database| database.declare(false));
    }

    /// The forty hexadecimal digits by which clients recognize this master.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Appends a reply, or appends nothing and returns why.
    fn execute(
        &mut self,
        now: Instant,
        session: &mut Session,
        request: &[&[u8]],
        out: &mut BytesMut,
    ) -> Result<(), Refusal> {
        let (command, name) = command::resolve(request)?;
        let open = matches!(command, Command::Auth | Command::Quit);
        if self.options.credentials.is_some() && !session.authenticated && !open {
            return Err(Refusal::AuthenticationRequired);
        }
        // The command's name has one word or two. The arguments come after those words.
        let words = if name.contains('|') { 2 } else { 1 };
        let arguments = request.get(words..).unwrap_or_default();
        let time = millis(now);
        let room = if command == Command::Set { self.room(time, 1) } else { 0 };
        // A session's database is always below `DATABASES`.
        let database = &mut self.databases[session.database];
        match command {
            Command::Set => strings::set(database, time, room, arguments, out)?,
            Command::Get => strings::get(database, time, arguments, out),
            Command::GetRange => strings::get_range(database, time, arguments, out)?,
            Command::Mget => strings::mget(database, time, arguments, out),
            Command::Pexpire => strings::pexpire(database, time, arguments, out)?,
            Command::Pttl => strings::pttl(database, time, arguments, out),
            Command::Del => strings::del(database, time, arguments, out),
            Command::Exists => strings::exists(database, time, arguments, out),
            Command::DbSize => resp::integer(out, number::signed(database.len(time))),
            Command::Eval => {
                let call = scripting::eval(&mut self.loaded, arguments)?;
                self.call(now, session.database, &call, out)?;
            }
            Command::EvalSha => {
                let call = scripting::evalsha(&self.loaded, arguments)?;
                self.call(now, session.database, &call, out)?;
            }
            Command::ScriptLoad => scripting::load(&mut self.loaded, arguments, out)?,
            Command::ScriptExists => scripting::exists(&self.loaded, arguments, out),
            Command::ScriptFlush => scripting::flush(&mut self.loaded, arguments, out)?,
            Command::Info => {
                resp::bulk(out, self.info(now).render(arguments).as_bytes());
            }
            Command::Time => tell_time(now, out),
            Command::ConfigGet => settings::get(arguments, out),
            Command::Describe => command::describe(arguments, out),
            Command::Docs => resp::array_header(out, 0),
            Command::Count => resp::integer(out, number::signed(command::count())),
            Command::Ping => ping(arguments, out)?,
            Command::Echo => resp::bulk(out, arguments.first().unwrap_or(&&b""[..])),
            Command::Auth => self.authenticate(session, arguments, out)?,
            Command::Select => session.select(arguments, out)?,
            Command::ClientSetName => set_client_name(arguments, out)?,
            Command::ClientSetInfo => resp::simple(out, "OK"),
            Command::Quit => session.quit(out),
        }
        Ok(())
    }

    /// Runs a script in a database, whose number is below [`DATABASES`].
    fn call(
        &mut self,
        now: Instant,
        database: usize,
        call: &Call<'_>,
        out: &mut BytesMut,
    ) -> Result<(), Refusal> {
        let Call { script, keys, arguments } = *call;
        let time = millis(now);
        if let Script::Witness(witness) = script {
            let info: String =
                SECTIONS.iter().map(|section| self.info(now).render(&[*section])).collect();
            let kept: usize = self.databases.iter().map(Database::witnesses).sum();
            let room = WITNESS_KEYS_MAX.saturating_sub(kept);
            let server = Server { now: time, micros: micros(now), info: &info, room };
            return witness.run(&mut self.databases[database], &server, keys, arguments, out);
        }
        // A script makes one key for each key that is named, at most, and the probe its own.
        let wanted = if script == Script::Probe { 1 } else { keys.len() };
        let room = self.room(time, wanted);
        if let Script::Fencing(fencing) = script {
            let moment = Moment { millis: time, micros: micros(now), room };
            return fencing.run(&mut self.databases[database], &moment, keys, arguments, out);
        }
        script.run(&mut self.databases[database], time, room, keys, arguments, out)
    }

    fn info(&self, now: Instant) -> Info<'_> {
        Info {
            run_id: &self.run_id,
            replication_id: &self.replication_id,
            uptime: now - self.started,
            databases: &self.databases,
            now: millis(now),
        }
    }

    fn authenticate(
        &self,
        session: &mut Session,
        arguments: &[&[u8]],
        out: &mut BytesMut,
    ) -> Result<(), Refusal> {
        let (user, password) = match arguments {
            [password] => (DEFAULT_USER.as_bytes(), *password),
            [user, password] => (*user, *password),
            _ => return Err(Refusal::Syntax),
        };
        let accepted = match &self.options.credentials {
            None if arguments.len() == 1 => return Err(Refusal::NoPasswordConfigured),
            None => user == DEFAULT_USER.as_bytes(),
            Some(expected) => {
                user == expected.user.as_bytes() && password == expected.password.as_bytes()
            }
        };
        if !accepted {
            return Err(Refusal::WrongPassword);
        }
        session.authenticated = true;
        resp::simple(out, "OK");
        Ok(())
    }

    /// How many more keys may exist. Where that is less than `wanted`, dead keys make room first.
    fn room(&mut self, now: u64, wanted: usize) -> usize {
        let room = |master: &Self| {
            let stored: usize = master.databases.iter().map(Database::stored).sum();
            master.options.max_keys.saturating_sub(stored)
        };
        let before = room(self);
        if before >= wanted {
            return before;
        }
        self.reap(now, wanted - before);
        room(self)
    }

    fn reap(&mut self, now: u64, max: usize) -> usize {
        self.databases.iter_mut().fold(0, |reaped, database| {
            // A database never reaps more than `max` keys.
            reaped + database.reap(now, max - reaped)
        })
    }
}

impl fmt::Debug for Master {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Master")
            .field("run_id", &self.run_id)
            .field("started", &self.started)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Session {
    fn select(&mut self, arguments: &[&[u8]], out: &mut BytesMut) -> Result<(), Refusal> {
        let index = number::integer(arguments.first().unwrap_or(&&b""[..]))?;
        let index = usize::try_from(index).ok().filter(|index| *index < DATABASES);
        self.database = index.ok_or(Refusal::DatabaseOutOfRange)?;
        resp::simple(out, "OK");
        Ok(())
    }

    fn quit(&mut self, out: &mut BytesMut) {
        self.closing = true;
        resp::simple(out, "OK");
    }
}

fn ping(arguments: &[&[u8]], out: &mut BytesMut) -> Result<(), Refusal> {
    match arguments {
        [] => resp::simple(out, "PONG"),
        [message] => resp::bulk(out, message),
        _ => return Err(Refusal::WrongArity("ping")),
    }
    Ok(())
}

/// Seconds and microseconds, as `TIME` tells them.
fn tell_time(now: Instant, out: &mut BytesMut) {
    let micros = micros(now);
    resp::array_header(out, 2);
    resp::bulk(out, (micros / 1_000_000).to_string().as_bytes());
    resp::bulk(out, (micros % 1_000_000).to_string().as_bytes());
}

/// Accepts a name that Redis would accept, and does not keep the name.
fn set_client_name(arguments: &[&[u8]], out: &mut BytesMut) -> Result<(), Refusal> {
    if arguments.iter().any(|name| !name.iter().all(u8::is_ascii_graphic)) {
        return Err(Refusal::ClientName);
    }
    resp::simple(out, "OK");
    Ok(())
}

/// The time in milliseconds, cut and not rounded, as a server reads its clock.
fn millis(now: Instant) -> u64 {
    now.as_nanos() / 1_000_000
}

/// Returns forty random hexadecimal digits.
fn identifier(random: &mut fastrand::Rng) -> String {
    let mut text = String::with_capacity(40);
    for _ in 0..5 {
        // Writing to a `String` never fails.
        let _ = write!(text, "{:08x}", random.u32(..));
    }
    text
}
