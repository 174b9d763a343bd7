//! The witness on a master: the scripts [`LOOK`], [`DECLARE_FRESH`] and [`RAISE_MAX_TTL`].
//!
//! Both keys lie among the locks in the store, so that they survive what locks survive. The times
//! are those of the master's clock, and the identity is that of the [`Face`](crate::answer::Face).

use bytes::BytesMut;
use redbolt::embedded::Session;
use redbolt::redlock::{DECLARE_FRESH, LOOK, RAISE_MAX_TTL, Script};
use redbolt::resp;
use redbolt::time::Instant;
use smallvec::SmallVec;

use crate::answer::number;
use crate::clock::MS;
use crate::master::Node;

/// The end of the names of both keys, behind the configured prefix.
const WITNESS: &[u8] = b"redbolt:witness";
const SEEN: &[u8] = b"redbolt:seen";

const SCRIPTS: [Script; 3] = [LOOK, DECLARE_FRESH, RAISE_MAX_TTL];

/// Returns whether a key is one of the witness, and no lock.
pub(crate) fn is_witness(key: &[u8]) -> bool {
    key.ends_with(WITNESS) || key.ends_with(SEEN)
}

/// A call of one of the scripts.
pub(crate) struct Call<'a> {
    script: Script,
    by_text: bool,
    witness: &'a [u8],
    seen: &'a [u8],
    database: &'a [u8],
    wall: u64,
    max_ttl: u64,
    nodes: u64,
    span: u64,
}

impl<'a> Call<'a> {
    /// Reads a request; `None` for any other request.
    pub(crate) fn read(words: &[&'a [u8]]) -> Option<Self> {
        let [name, called, b"2", witness, seen, database, numbers @ ..] = words else {
            return None;
        };
        let by_text = match *name {
            b"EVAL" => true,
            b"EVALSHA" => false,
            _ => return None,
        };
        let name = |script: &Script| if by_text { script.text } else { script.sha };
        let script = SCRIPTS.into_iter().find(|script| name(script).as_bytes() == *called)?;
        let numbers: SmallVec<[u64; 4]> = numbers.iter().map(|digits| number(digits)).collect();
        let [wall, max_ttl, nodes, span] = *numbers else {
            panic!("a script of the witness has four numbers, not {}", numbers.len());
        };
        Some(Self { script, by_text, witness, seen, database, wall, max_ttl, nodes, span })
    }
}

/// The value of the first key. All times are microseconds.
struct Record {
    identity: String,
    birth: u64,
    wall: u64,
    origin: u64,
    max_ttl: u64,
    nodes: u64,
}

/// The value of the second key.
#[derive(Clone, Copy)]
struct Stamp {
    at: u64,
    from: u64,
    to: u64,
    count: u64,
}

impl Node {
    /// Lets the master have a witness that was written `age` before, and that a client has seen
    /// just now. Since then the clock of the master was set forward by `stepped`, and the wall
    /// clock of that client was wrong by `of_wall`.
    pub(crate) fn be_known(
        &mut self,
        now: u64,
        (age, stepped, of_wall): (u64, u64, i64),
        (max_ttl, nodes): (u64, usize),
    ) {
        let at = micros(self.clock.show(now));
        let birth = at.saturating_sub((age + stepped) / 1_000);
        let record = Record {
            identity: self.face.identity(b"0"),
            birth,
            wall: now.saturating_sub(age).saturating_add_signed(of_wall) / 1_000,
            origin: birth,
            max_ttl: max_ttl / MS,
            nodes: nodes as u64,
        };
        self.keep(now, WITNESS, &record.to_string());
        self.keep(now, SEEN, &Stamp { at, from: 0, to: 0, count: 1 }.to_string());
    }

    /// Executes a script of the witness, and appends the reply.
    pub(crate) fn look(&mut self, now: u64, call: &Call<'_>) {
        if !self.is_loaded(now, call) {
            return resp::error(&mut self.out, "NOSCRIPT No matching script. Please use EVAL.");
        }
        let at = micros(self.clock.show(now));
        let identity = self.face.identity(call.database);
        let stored = self.value(now, call.witness).and_then(|text| Record::read(&text));
        let (found, mut record) = if call.script == DECLARE_FRESH {
            let size = self.store.len(self.clock.show(now));
            let mut old = stored.iter();
            let is_again = old.any(|old| old.identity == identity && old.birth == 0) && size <= 2;
            if size > 0 && !is_again {
                resp::array_header(&mut self.out, 2);
                resp::integer(&mut self.out, -1);
                return resp::integer(&mut self.out, size as i64);
            }
            (1, Record { wall: 0, ..Record::new(identity, 0, call) })
        } else {
            match stored {
                None => (0, Record::new(identity, at, call)),
                Some(old) if old.identity == identity && old.birth <= at => (1, old),
                Some(old) if self.born_as_told => (2, Record { identity, ..old }),
                Some(old) => (2, Record { identity, birth: at, wall: call.wall, ..old }),
            }
        };
        if call.script == RAISE_MAX_TTL {
            record.max_ttl = record.max_ttl.max(call.max_ttl);
        }
        let goes_on = found != 0 && call.script != DECLARE_FRESH;
        let before = self.value(now, call.seen).filter(|_| goes_on);
        let before = before.and_then(|text| Stamp::read(&text));
        let before = before.unwrap_or(Stamp { at, from: 0, to: 0, count: 0 });
        let mut stamp = Stamp { at, count: before.count + 1, ..before };
        if at.saturating_sub(before.at) > call.span.max(1_000 * record.max_ttl) {
            (stamp.from, stamp.to) = (before.at, at);
        }
        self.keep(now, call.witness, &record.to_string());
        self.keep(now, call.seen, &stamp.to_string());

        let Record { birth, wall, origin, max_ttl, nodes, .. } = record;
        let Stamp { from, to, count, .. } = stamp;
        let numbers = [found, at, birth, wall, origin, max_ttl, nodes, before.at, from, to, count];
        resp::array_header(&mut self.out, numbers.len() + 1);
        numbers.into_iter().for_each(|number| resp::integer(&mut self.out, number as i64));
        let info = self.face.describe_all(now, self.clock.show(now));
        resp::bulk(&mut self.out, info.as_bytes());
    }

    /// Returns whether the master knows the script by then. A text is remembered.
    fn is_loaded(&mut self, now: u64, call: &Call<'_>) -> bool {
        let mut reply = BytesMut::new();
        let request = match call.by_text {
            true => [b"SCRIPT", &b"LOAD"[..], call.script.text.as_bytes()],
            false => [b"SCRIPT", &b"EXISTS"[..], call.script.sha.as_bytes()],
        };
        self.store.apply(self.clock.show(now), &mut Session::default(), &request, &mut reply);
        call.by_text || &reply[..] == b"*1\r\n:1\r\n"
    }

    fn value(&self, now: u64, key: &[u8]) -> Option<String> {
        let value = self.store.get(0, key, self.clock.show(now))?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    fn keep(&mut self, now: u64, key: &[u8], value: &str) {
        self.command(now, &[b"SET", key, value.as_bytes()]);
    }
}

impl Record {
    fn new(identity: String, birth: u64, call: &Call<'_>) -> Self {
        let Call { wall, max_ttl, nodes, .. } = *call;
        Self { identity, birth, wall, origin: birth, max_ttl, nodes }
    }

    /// Nobody else writes there.
    fn read(text: &str) -> Option<Self> {
        let (identity, numbers) = text.split_once(' ')?;
        let [birth, wall, origin, max_ttl, nodes] = *read_numbers(numbers) else { return None };
        Some(Self { identity: identity.into(), birth, wall, origin, max_ttl, nodes })
    }
}

impl core::fmt::Display for Record {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { identity, birth, wall, origin, max_ttl, nodes } = self;
        write!(f, "{identity} {birth} {wall} {origin} {max_ttl} {nodes}")
    }
}

impl Stamp {
    fn read(text: &str) -> Option<Self> {
        let [at, from, to, count] = *read_numbers(text) else { return None };
        Some(Self { at, from, to, count })
    }
}

impl core::fmt::Display for Stamp {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { at, from, to, count } = self;
        write!(f, "{at} {from} {to} {count}")
    }
}

fn read_numbers(text: &str) -> SmallVec<[u64; 5]> {
    text.split(' ').map(|digits| number(digits.as_bytes())).collect()
}

fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1_000
}
