//! What stands under the two keys: the witness and its stamp.

use super::lua;
use super::request::Request;

/// The witness: who the server was, then birth, wall clock, origin, `max_ttl` and nodes as digits.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) identity: Vec<u8>,
    pub(super) numbers: [Vec<u8>; 5],
    /// The number of the last change. Only the scripts of a change keep it.
    pub(super) change: Option<Vec<u8>>,
    /// The database has these very bytes, or the same with something behind.
    pub(super) is_stored: bool,
}

/// The places of the numbers in a [`Record`].
pub(super) const BIRTH: usize = 0;
pub(super) const WALL: usize = 1;
pub(super) const MAX_TTL: usize = 3;
pub(super) const NODES: usize = 4;

impl Record {
    /// Reads a value as the script does: one word, five numbers, and anything behind.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
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
    pub(super) fn renewed(
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
        if record.identity == identity && lua::float(&record.numbers[BIRTH]) <= lua::count(micros) {
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
    pub(super) fn declared(identity: Vec<u8>, request: &Request<'_>) -> Self {
        let zero = || b"0".to_vec();
        let (max_ttl, nodes) = (request.max_ttl.into(), request.nodes.into());
        let numbers = [zero(), zero(), zero(), max_ttl, nodes];
        Self { identity, numbers, change: None, is_stored: false }
    }

    /// Whether an operator has declared this server fresh.
    pub(super) fn is_fresh(&self, identity: &[u8]) -> bool {
        self.identity == identity && self.numbers[BIRTH] == b"0"
    }

    pub(super) fn raise_max_ttl(&mut self, max_ttl: &[u8]) {
        if lua::float(&self.numbers[MAX_TTL]) < lua::float(max_ttl) {
            self.numbers[MAX_TTL] = max_ttl.into();
        }
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let mut text = self.identity.clone();
        for number in self.numbers.iter().chain(&self.change) {
            text.push(b' ');
            text.extend_from_slice(number);
        }
        text
    }
}

/// The stamp, as written, and the time of the stamp before.
pub(super) struct Stamp {
    pub(super) last: f64,
    /// The time, the beginning and the end of a gap, and how often clients have looked.
    pub(super) written: [f64; 4],
}

/// Reads a stamp: four numbers, and anything behind.
pub(super) fn read_stamp(text: &[u8]) -> Option<[f64; 4]> {
    let text = [b" ", text].concat();
    let numbers: [Vec<u8>; 4] = read_numbers(&text)?;
    Some(numbers.map(|number| lua::float(&number)))
}

impl Stamp {
    pub(super) fn new(before: Option<[f64; 4]>, now: f64, span: f64) -> Self {
        let [last, from, to, count] = before.unwrap_or([now, 0.0, 0.0, 0.0]);
        let (from, to) = if now - last > span { (last, now) } else { (from, to) };
        Self { last, written: [now, from, to, count + 1.0] }
    }

    pub(super) fn write(&self) -> Vec<u8> {
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
pub(super) fn identity(info: &str, database: &[u8]) -> Vec<u8> {
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
