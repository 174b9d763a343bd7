//! The witness on a master: the scripts [`LOOK`], [`DECLARE_FRESH`] and [`RAISE_MAX_TTL`].
//!
//! Both keys lie among the locks in the store, so that they survive what locks survive. The times
//! are those of the master's clock, and the identity is that of the [`Face`](crate::answer::Face).

use redbolt::redlock::{DECLARE_FRESH, LOOK, RAISE_MAX_TTL, Script};
use redbolt::resp;
use redbolt::time::Instant;
use smallvec::SmallVec;

use crate::clock::{MS, micros};
use crate::digits::{self, Text};
use crate::master::Node;
use crate::request::number;

/// The end of the names of both keys, behind the configured prefix.
const WITNESS: &[u8] = b"redbolt:witness";
const SEEN: &[u8] = b"redbolt:seen";

/// The begins of the names of marks and tickets, behind the prefix.
const HINTS: [&[u8]; 2] = [b"redbolt:wanted:", b"redbolt:next:"];

const SCRIPTS: [Script; 3] = [LOOK, DECLARE_FRESH, RAISE_MAX_TTL];

/// Returns whether a key is one of the witness, and no lock.
pub(crate) fn is_witness(key: &[u8]) -> bool {
    key.ends_with(WITNESS) || key.ends_with(SEEN)
}

/// Returns whether a key is the mark or the ticket of somebody who waits for long, and no lock.
pub(crate) fn is_hint(key: &[u8]) -> bool {
    HINTS.iter().any(|hint| key.windows(hint.len()).any(|part| part == *hint))
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

/// The value of the first key, behind the identity. All times are microseconds.
#[derive(Clone, Copy)]
struct Record {
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
        prefixes: &[&[u8]],
    ) {
        let at = micros(self.clock.show(now));
        let birth = at.saturating_sub((age + stepped) / 1_000);
        let record = Record {
            birth,
            wall: micros(Instant::from_nanos(
                now.saturating_sub(age).saturating_add_signed(of_wall),
            )),
            origin: birth,
            max_ttl: max_ttl / MS,
            nodes: nodes as u64,
        };
        let (mut identity, mut text) = (Text::new(), Text::new());
        self.face.identify(b"0", &mut identity);
        let stamp = Stamp { at, from: 0, to: 0, count: 1 };
        for prefix in prefixes {
            record.write(&identity, &mut text);
            self.keep(now, &[prefix, WITNESS].concat(), &text);
            stamp.write(&mut text);
            self.keep(now, &[prefix, SEEN].concat(), &text);
        }
    }

    /// Returns the time since the end of the last span in which nobody looked at the master, by the
    /// clock of the master.
    pub(crate) fn in_use_for(&self, now: u64) -> Option<u64> {
        let stamp = self.value(now, SEEN).and_then(Stamp::read).filter(|stamp| stamp.to > 0)?;
        Some(1_000 * micros(self.clock.show(now)).saturating_sub(stamp.to))
    }

    /// Executes a script of the witness, and appends the reply.
    pub(crate) fn look(&mut self, now: u64, call: &Call<'_>) {
        if !self.is_loaded(now, call) {
            return resp::error(&mut self.out, "NOSCRIPT No matching script. Please use EVAL.");
        }
        let at = micros(self.clock.show(now));
        let (mut identity, mut text) = (Text::new(), Text::new());
        self.face.identify(call.database, &mut identity);
        let is = |script: Script| call.script.sha == script.sha;
        let stored = self.value(now, call.witness).and_then(Record::read);
        let (found, mut record) = if is(DECLARE_FRESH) {
            let begin = &call.witness[..call.witness.len().saturating_sub(7)];
            let label = [begin, b"label:"].concat();
            let keys = self.store.keys(0, self.clock.show(now));
            let labels = keys.filter(|key| key.starts_with(&label)).count();
            let size = self.store.len(self.clock.show(now)) - labels;
            let is_again = stored.is_some_and(|(old, Record { birth, .. })| {
                old == &*identity && birth == 0 && size <= 2
            });
            if size > 0 && !is_again {
                resp::array_header(&mut self.out, 2);
                resp::integer(&mut self.out, -1);
                return resp::integer(&mut self.out, size as i64);
            }
            (1, Record { wall: 0, ..Record::new(0, call) })
        } else {
            match stored {
                None => (0, Record::new(at, call)),
                Some((name, old)) if name == &*identity && old.birth <= at => (1, old),
                Some((_, old)) if self.born_as_told => (2, old),
                Some((_, old)) => (2, Record { birth: at, wall: call.wall, ..old }),
            }
        };
        if is(RAISE_MAX_TTL) {
            record.max_ttl = record.max_ttl.max(call.max_ttl);
        }
        let goes_on = found != 0 && !is(DECLARE_FRESH);
        let before = self.value(now, call.seen).filter(|_| goes_on).and_then(Stamp::read);
        let before = before.unwrap_or(Stamp { at, from: 0, to: 0, count: 0 });
        let mut stamp = Stamp { at, count: before.count + 1, ..before };
        if at.saturating_sub(before.at) > call.span.max(1_000 * record.max_ttl) {
            (stamp.from, stamp.to) = (before.at, at);
        }
        if found != 1 || !is(LOOK) {
            self.touched.push(call.witness.to_vec());
            record.write(&identity, &mut text);
            self.keep(now, call.witness, &text);
        }
        stamp.write(&mut text);
        self.keep(now, call.seen, &text);

        let Record { birth, wall, origin, max_ttl, nodes } = record;
        let Stamp { from, to, count, .. } = stamp;
        let numbers = [found, at, birth, wall, origin, max_ttl, nodes, before.at, from, to, count];
        resp::array_header(&mut self.out, numbers.len() + 1);
        digits::reply(&mut self.out, &numbers);
        let info = self.face.describe_all(now, self.clock.show(now));
        resp::bulk(&mut self.out, info);
    }

    /// Returns whether the master knows the script by then. A text is remembered.
    fn is_loaded(&mut self, now: u64, call: &Call<'_>) -> bool {
        let at = self.clock.show(now);
        if call.by_text {
            self.store.load(at, call.script);
        }
        call.by_text || self.store.knows(at, call.script)
    }

    fn value(&self, now: u64, key: &[u8]) -> Option<&[u8]> {
        self.store.get(0, key, self.clock.show(now))
    }

    fn keep(&mut self, now: u64, key: &[u8], value: &[u8]) {
        let before = self.out.len();
        self.command(now, &[b"SET", key, value]);
        self.out.truncate(before);
    }
}

impl Record {
    fn new(birth: u64, call: &Call<'_>) -> Self {
        let Call { wall, max_ttl, nodes, .. } = *call;
        Self { birth, wall, origin: birth, max_ttl, nodes }
    }

    /// Reads the identity and what is behind. Nobody else writes there.
    fn read(value: &[u8]) -> Option<(&[u8], Self)> {
        let end = memchr::memchr(b' ', value)?;
        let [birth, wall, origin, max_ttl, nodes] = digits::read(&value[end + 1..])?;
        Some((&value[..end], Self { birth, wall, origin, max_ttl, nodes }))
    }

    fn write(&self, identity: &[u8], text: &mut Text) {
        let Self { birth, wall, origin, max_ttl, nodes } = *self;
        text.clear();
        text.extend_from_slice(identity);
        digits::push_all(text, &[birth, wall, origin, max_ttl, nodes]);
    }
}

impl Stamp {
    fn read(value: &[u8]) -> Option<Self> {
        let [at, from, to, count] = digits::read(value)?;
        Some(Self { at, from, to, count })
    }

    fn write(&self, text: &mut Text) {
        let Self { at, from, to, count } = *self;
        text.clear();
        digits::push_all(text, &[at, from, to, count]);
    }
}
