//! The scripts of the witness, executed without Lua.
//!
//! Every step follows the text of the scripts (`src/redlock/wire/witness.rs`), down to the numbers
//! of Lua, which are floating-point. `tests/flavours` compares the answers with those of real
//! servers.

use bytes::BytesMut;

use super::database::Database;
use super::number;
use super::refusal::Refusal;
use crate::redlock as script;
use crate::resp;

/// The most keys of witnesses that a master keeps: witness and stamp, in each of the
/// [`DATABASES`](super::DATABASES), for two prefixes. `max_keys` does not count these keys.
pub(super) const WITNESS_KEYS_MAX: usize = 64;

/// The sections of `INFO` that an answer contains, in this order.
pub(super) const SECTIONS: [&[u8]; 5] =
    [b"server", b"replication", b"memory", b"stats", b"persistence"];

/// A script of the witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Witness {
    /// A client looks at the node.
    Look,
    /// An operator declares that the node is empty and that no client can hold a lock there.
    DeclareFresh,
    /// An operator raises the longest ttl of the deployment.
    RaiseMaxTtl,
    /// An operator closes the node for all clients.
    Close,
    /// An operator opens a closed node.
    Reopen,
}

/// What a script finds besides the keys.
pub(super) struct Server<'a> {
    /// The time in milliseconds, by which keys are alive or dead.
    pub(super) now: u64,
    /// The time in microseconds, as `TIME` tells it.
    pub(super) micros: u64,
    /// The [`SECTIONS`] of `INFO`, one behind the other.
    pub(super) info: &'a str,
    /// How many more keys of witnesses may exist.
    pub(super) room: usize,
}

/// The words of a request. All but the database are decimal digits.
struct Request<'a> {
    witness: &'a [u8],
    stamp: &'a [u8],
    database: &'a [u8],
    wall: &'a [u8],
    max_ttl: &'a [u8],
    nodes: &'a [u8],
    span: f64,
    /// The number of a change, if the script wants one.
    change: Option<&'a [u8]>,
}

/// The witness: who the server was, then birth, wall clock, origin, `max_ttl` and nodes as digits.
#[derive(Debug)]
struct Record {
    identity: Vec<u8>,
    numbers: [Vec<u8>; 5],
    /// The number of the last change. Only the scripts of a change keep it.
    change: Option<Vec<u8>>,
    /// The database has these very bytes, or the same with something behind.
    is_stored: bool,
}

/// The places of the numbers in a [`Record`].
const BIRTH: usize = 0;
const WALL: usize = 1;
const MAX_TTL: usize = 3;
const NODES: usize = 4;

/// From this number of nodes on, a node is closed.
const CLOSED: f64 = 1_000.0;

impl Witness {
    /// The text and the SHA-1 of the script, from the engine.
    pub(super) const fn source(self) -> script::Script {
        match self {
            Self::Look => script::LOOK,
            Self::DeclareFresh => script::DECLARE_FRESH,
            Self::RaiseMaxTtl => script::RAISE_MAX_TTL,
            Self::Close => script::CLOSE,
            Self::Reopen => script::REOPEN,
        }
    }

    /// Executes the script and appends its reply.
    pub(super) fn run(
        self,
        database: &mut Database,
        server: &Server<'_>,
        keys: &[&[u8]],
        arguments: &[&[u8]],
        out: &mut BytesMut,
    ) -> Result<(), Refusal> {
        let request = Request::read(keys, arguments).ok_or(Refusal::ScriptArguments)?;
        // Both keys are read before one is written: a request may name one key for both.
        let stored = database.get(request.witness, server.now).and_then(Record::read);
        let stamp = database.get(request.stamp, server.now).and_then(read_stamp);
        let identity = identity(server.info, request.database);
        if self == Self::Close {
            return close(database, server, &request, (stored, stamp), identity, out);
        }
        if let Some(nodes) = stored.as_ref().and_then(|old| old.refuses(self, &request)) {
            resp::array_header(out, 2);
            resp::integer(out, -1);
            resp::integer(out, integer(nodes));
            return Ok(());
        }
        let (found, record) = match self {
            Self::DeclareFresh => {
                let size = database.len(server.now);
                let is_again = size <= 2 && stored.is_some_and(|old| old.is_fresh(&identity));
                if size > 0 && !is_again {
                    resp::array_header(out, 2);
                    resp::integer(out, -1);
                    resp::integer(out, number::signed(size));
                    return Ok(());
                }
                (1, Record::declared(identity, &request))
            }
            // The declaration stands as if the operator's script had come before this one.
            _ if stored.is_none() && database.is_declared() => {
                (1, Record::declared(identity, &request))
            }
            // Closing is done by now.
            Self::Look | Self::Close => Record::renewed(stored, identity, server.micros, &request),
            Self::Reopen => {
                let (found, record) = Record::renewed(stored, identity, server.micros, &request);
                (found, record.opened(&request))
            }
            Self::RaiseMaxTtl => {
                let (found, mut record) =
                    Record::renewed(stored, identity, server.micros, &request);
                record.raise_max_ttl(request.max_ttl);
                record.change = None;
                (found, record)
            }
        };
        make_room(database, server, &request)?;
        let span = request.span.max(float(&record.numbers[MAX_TTL]) * 1_000.0);
        let goes_on = found != 0 && self != Self::DeclareFresh;
        let stamp = Stamp::new(stamp.filter(|_| goes_on), lua(server.micros), span);
        if self != Self::Look || !record.is_stored {
            database.insert_witness(request.witness, &record.write());
        }
        database.insert_witness(request.stamp, &stamp.write());
        answer(found, server, &record, &stamp, out);
        Ok(())
    }
}

fn make_room(
    database: &Database,
    server: &Server<'_>,
    request: &Request<'_>,
) -> Result<(), Refusal> {
    let keys = [request.witness, request.stamp];
    let is_full = keys.iter().filter(|key| !database.is_witness(key)).count() > server.room;
    if is_full { Err(Refusal::OutOfMemory) } else { Ok(()) }
}

/// Closes a node, unless a client has looked at it too lately.
fn close(
    database: &mut Database,
    server: &Server<'_>,
    request: &Request<'_>,
    (stored, stamp): (Option<Record>, Option<[f64; 4]>),
    identity: Vec<u8>,
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    make_room(database, server, request)?;
    let (now, quiet) = (lua(server.micros), request.span);
    let mut reply = |left, alone| {
        resp::array_header(out, 2);
        [left, alone].into_iter().for_each(|micros| resp::integer(out, integer(micros)));
    };
    let is_new = stored.is_none();
    let mut record = match stored {
        Some(stored) => stored,
        None => Record::renewed(None, identity.clone(), server.micros, request).1,
    };
    let nodes = float(&record.numbers[NODES]);
    if !is_new && nodes < float(request.nodes) {
        let birth = float(&record.numbers[BIRTH]);
        let Some([at, ..]) =
            stamp.filter(|stamp| record.identity == identity && birth <= now && stamp[0] <= now)
        else {
            record.identity = identity;
            record.numbers[BIRTH] = server.micros.to_string().into_bytes();
            record.numbers[WALL] = request.wall.to_vec();
            record.change = None;
            let [_, from, to, count] = stamp.unwrap_or_default();
            let stamp = Stamp { last: now, written: [now, from, to, count] };
            database.insert_witness(request.witness, &record.write());
            database.insert_witness(request.stamp, &stamp.write());
            reply(quiet, 0.0);
            return Ok(());
        };
        let alone = now - at.max(birth);
        if alone < quiet {
            reply(quiet - alone, alone);
            return Ok(());
        }
        record.numbers[NODES] = format!("{:.0}", nodes + float(request.nodes)).into_bytes();
    }
    record.change = request.change.map(<[u8]>::to_vec);
    database.insert_witness(request.witness, &record.write());
    reply(0.0, 0.0);
    Ok(())
}

fn answer(found: i64, server: &Server<'_>, record: &Record, stamp: &Stamp, out: &mut BytesMut) {
    let [_, from, to, count] = stamp.written;
    resp::array_header(out, 12);
    resp::integer(out, found);
    resp::integer(out, integer(lua(server.micros)));
    record.numbers.iter().for_each(|number| resp::integer(out, integer(float(number))));
    [stamp.last, from, to, count].into_iter().for_each(|x| resp::integer(out, integer(x)));
    resp::bulk(out, server.info.as_bytes());
}

impl<'a> Request<'a> {
    /// `None` for a request that no client sends: words are missing, or are no numbers.
    fn read(keys: &[&'a [u8]], arguments: &[&'a [u8]]) -> Option<Self> {
        let ([witness, stamp, ..], [database, wall, max_ttl, nodes, span, rest @ ..]) =
            (keys, arguments)
        else {
            return None;
        };
        let change = rest.first().copied();
        let is_number = |word: &&[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
        let are_numbers = [*wall, max_ttl, nodes, span].iter().all(is_number);
        let span = float(span);
        let request = Self { witness, stamp, database, wall, max_ttl, nodes, span, change };
        are_numbers.then_some(request)
    }
}

impl Record {
    /// Reads a value as the script does: one word, five numbers, and anything behind.
    fn read(text: &[u8]) -> Option<Self> {
        // The white space of C, which has one character more than that of Rust.
        let is_space = |byte: &u8| matches!(byte, 9..=13 | b' ');
        let end = text.iter().position(is_space).filter(|end| *end > 0)?;
        let (identity, rest) = text.split_at(end);
        let numbers = read_numbers(rest)?;
        let change = read_numbers(rest).map(|[.., change]: [Vec<u8>; 6]| change);
        Some(Self { identity: identity.into(), numbers, change, is_stored: true })
    }

    /// What a client finds, and the witness from then on: as it is stored if the identity and the
    /// birth can be true, else born now.
    fn renewed(
        stored: Option<Self>,
        identity: Vec<u8>,
        micros: u64,
        request: &Request<'_>,
    ) -> (i64, Self) {
        let time = || micros.to_string().into_bytes();
        let wall = || request.wall.to_vec();
        let Some(mut record) = stored else {
            let (max_ttl, nodes) = (request.max_ttl.into(), request.nodes.into());
            let numbers = [time(), wall(), time(), max_ttl, nodes];
            return (0, Self { identity, numbers, change: None, is_stored: false });
        };
        if record.identity == identity && float(&record.numbers[BIRTH]) <= lua(micros) {
            return (1, record);
        }
        record.identity = identity;
        record.numbers[BIRTH] = time();
        record.numbers[WALL] = wall();
        record.change = None;
        record.is_stored = false;
        (2, record)
    }

    /// A witness that was born in the year 1970, which earns every credit.
    fn declared(identity: Vec<u8>, request: &Request<'_>) -> Self {
        let zero = || b"0".to_vec();
        let (max_ttl, nodes) = (request.max_ttl.into(), request.nodes.into());
        let numbers = [zero(), zero(), zero(), max_ttl, nodes];
        Self { identity, numbers, change: None, is_stored: false }
    }

    /// Whether an operator has declared this server fresh.
    fn is_fresh(&self, identity: &[u8]) -> bool {
        self.identity == identity && self.numbers[BIRTH] == b"0"
    }

    fn raise_max_ttl(&mut self, max_ttl: &[u8]) {
        if float(&self.numbers[MAX_TTL]) < float(max_ttl) {
            self.numbers[MAX_TTL] = max_ttl.into();
        }
    }

    /// Returns the number of nodes if the witness is in the way of what is wanted: another change
    /// has closed the node, or none has.
    fn refuses(&self, wanted: Witness, request: &Request<'_>) -> Option<f64> {
        let nodes = float(&self.numbers[NODES]);
        let is_own = self.change.as_deref() == request.change;
        let is_free = self.change.is_none() && nodes >= CLOSED;
        (wanted == Witness::Reopen && !is_own && !is_free).then_some(nodes)
    }

    fn opened(mut self, request: &Request<'_>) -> Self {
        self.numbers[MAX_TTL] = request.max_ttl.to_vec();
        self.numbers[NODES] = request.nodes.to_vec();
        self.change = request.change.map(<[u8]>::to_vec);
        self
    }

    fn write(&self) -> Vec<u8> {
        let mut text = self.identity.clone();
        for number in self.numbers.iter().chain(&self.change) {
            text.push(b' ');
            text.extend_from_slice(number);
        }
        text
    }
}

/// The stamp, as written, and the time of the stamp before.
struct Stamp {
    last: f64,
    /// The time, the beginning and the end of a gap, and how often clients have looked.
    written: [f64; 4],
}

/// Reads a stamp: four numbers, and anything behind.
fn read_stamp(text: &[u8]) -> Option<[f64; 4]> {
    let text = [b" ", text].concat();
    let numbers: [Vec<u8>; 4] = read_numbers(&text)?;
    Some(numbers.map(|number| float(&number)))
}

impl Stamp {
    fn new(before: Option<[f64; 4]>, now: f64, span: f64) -> Self {
        let [last, from, to, count] = before.unwrap_or([now, 0.0, 0.0, 0.0]);
        let (from, to) = if now - last > span { (last, now) } else { (from, to) };
        Self { last, written: [now, from, to, count + 1.0] }
    }

    fn write(&self) -> Vec<u8> {
        self.written.map(|number| format!("{number:.0}")).join(" ").into_bytes()
    }
}

/// Reads numbers of decimal digits, each behind one blank.
fn read_numbers<const N: usize>(mut text: &[u8]) -> Option<[Vec<u8>; N]> {
    let mut numbers = [const { Vec::new() }; N];
    for number in &mut numbers {
        text = text.strip_prefix(b" ")?;
        let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        if digits.is_empty() {
            return None;
        }
        (*number, text) = (digits.into(), rest);
    }
    Some(numbers)
}

/// Who the server is: three facts of `INFO`, and the database.
fn identity(info: &str, database: &[u8]) -> Vec<u8> {
    let [run_id, replication_id, evicted] =
        ["run_id", "master_replid", "evicted_keys"].map(|name| fact(info, name));
    let mut identity = format!("{run_id}:{replication_id}:{evicted}:").into_bytes();
    identity.extend_from_slice(database);
    identity
}

/// Returns the letters and digits of a field; nothing where there is no such field.
fn fact<'a>(info: &'a str, name: &str) -> &'a str {
    let mut values = info.split('\n').skip(1).filter_map(|line| line.strip_prefix(name));
    let value = values.find_map(|rest| rest.strip_prefix(':')).unwrap_or_default();
    let end = value.find(|letter: char| !letter.is_ascii_alphanumeric());
    value.get(..end.unwrap_or(value.len())).unwrap_or_default()
}

/// Reads digits as Lua does: a number too large for a float is infinite.
fn float(digits: &[u8]) -> f64 {
    // Digits are a number, and all callers have nothing but digits.
    core::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// A count of microseconds as Lua has it. The count is exact for 285 years.
fn lua(micros: u64) -> f64 {
    micros as f64
}

/// An integer reply, made of a Lua number as a server on a common processor does.
fn integer(number: f64) -> i64 {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if number < END { number as i64 } else { i64::MIN }
}
