//! What a client sends: requests, and what only looks like requests.

use std::iter;
use std::ops::RangeInclusive;

use arbitrary::{Result, Unstructured};
use bytes::BytesMut;
use memchr::memmem;
use redbolt::redlock::{
    ACQUIRE_SET, DECLARE_FRESH, EXTEND, EXTEND_MANY, EXTEND_SET, HOLDER, LOOK, PROBE,
    RAISE_MAX_TTL, RELEASE, RELEASE_MANY, RELEASE_SET, Script,
};
use redbolt::resp;

use super::PASSWORD;

const SCRIPTS: [Script; 12] = [
    ACQUIRE_SET,
    DECLARE_FRESH,
    EXTEND,
    EXTEND_MANY,
    EXTEND_SET,
    HOLDER,
    LOOK,
    PROBE,
    RAISE_MAX_TTL,
    RELEASE,
    RELEASE_MANY,
    RELEASE_SET,
];

/// The first words of requests, with the words that belong to them.
const COMMANDS: [&[&str]; 29] = [
    &["SET"],
    &["SET"],
    &["SET", "k", "v"],
    &["SET", "k", "v", "NX", "PX", "100"],
    &["set", "a", "token", "PX", "0"],
    &["GET", "k"],
    &["GETRANGE", "k", "0", "39"],
    &["PTTL", "k"],
    &["DEL", "k", "a"],
    &["EXISTS", "k"],
    &["DBSIZE"],
    &["SCRIPT", "FLUSH"],
    &["SCRIPT", "EXISTS"],
    &["SCRIPT", "LOAD", "return 1"],
    &["INFO"],
    &["INFO", "server"],
    &["TIME"],
    &["CONFIG", "GET", "*"],
    &["COMMAND"],
    &["COMMAND", "INFO", "delifeq"],
    &["COMMAND", "DOCS"],
    &["PING"],
    &["ECHO", "x"],
    &["AUTH", PASSWORD],
    &["AUTH", "default", PASSWORD],
    &["SELECT", "15"],
    &["CLIENT", "SETNAME", "x"],
    &["HELLO", "3"],
    &["QUIT"],
];

/// Words that matter at some place.
const WORDS: [&str; 14] = [
    "",
    "NX",
    "XX",
    "PX",
    "EX",
    "0",
    "1",
    "-1",
    "16",
    "30000",
    "9223372036854775807",
    "k",
    "redbolt:witness",
    "redbolt:seen",
];

/// The beginnings of requests that promise more than comes, or nothing.
const HEADERS: [&str; 14] = [
    "*0\r\n",
    "*-1\r\n",
    "*1048576\r\n",
    "*2147483647\r\n",
    "*9223372036854775807\r\n",
    "*-2\r\n",
    "*1\r\n$1048500\r\n",
    "*1\r\n$536870912\r\n",
    "*1\r\n$9223372036854775807\r\n",
    "*1\r\n*1\r\n*1\r\n",
    "*2\r\n:1\r\n",
    "*3\r\n$3\r\nSET\r\n",
    "*1\r\n$-1\r\n",
    "*",
];

/// Lines of people who type.
const INLINE: [&str; 5] =
    ["PING\r\n", "\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "PING\n", "%1\r\n"];

/// The most bytes of one run.
const MOST: usize = 2 * 1024 * 1024;

/// The most requests of one run but those of a [`Stream::flood`], so that few runs are about
/// replies that nobody reads.
const MOST_REQUESTS: usize = 300;

/// The lengths of values of which a few replies are more than a master keeps.
const LONG: RangeInclusive<usize> = 100_000..=1_000_000;

/// The lengths of words that are longer than a request may be, and the most that is left out of
/// them.
const ENDLESS: RangeInclusive<usize> = 1_000_000..=4_000_000;
const LEFT_OUT: usize = 1_500_000;

pub(super) struct Stream {
    pub(super) bytes: Vec<u8>,
    /// The lengths of the first pieces. The rest goes at once.
    cuts: Vec<usize>,
}

impl Stream {
    /// Returns requests that are sent at once.
    pub(super) fn whole(requests: &[&[&[u8]]]) -> Self {
        let mut out = BytesMut::new();
        requests.iter().for_each(|words| resp::command(&mut out, words));
        Self { bytes: out.to_vec(), cuts: Vec::new() }
    }

    pub(super) fn compose(script: &mut Unstructured<'_>) -> Result<Self> {
        let mut bytes = Vec::new();
        let mut requests = 0;
        for _ in 0..script.int_in_range(1..=12)? {
            let before = bytes.len();
            match script.int_in_range(0..=9)? {
                0 => {
                    let len = script.int_in_range(0..=60)?.min(script.len());
                    bytes.extend_from_slice(script.bytes(len)?);
                }
                1 => bytes.extend_from_slice(script.choose(&HEADERS)?.as_bytes()),
                2 => bytes.extend_from_slice(script.choose(&INLINE)?.as_bytes()),
                3 => {
                    // A long word, or one that never ends.
                    let length = usize::from(script.arbitrary::<u16>()?) * 20;
                    let words: [&[u8]; 3] = [b"SET", b"long", &vec![b'x'; length]];
                    resp_command(&mut bytes, &words);
                    if script.ratio(1, 4)? {
                        bytes.truncate(bytes.len() - script.int_in_range(1..=3)?);
                    }
                }
                choice => {
                    let request = request(script)?;
                    let times = if choice == 9 { script.int_in_range(1..=50)? } else { 1 };
                    bytes.extend(request.repeat(times));
                    requests += times;
                }
            }
            if script.ratio(1, 12)? && before < bytes.len() {
                let at = script.int_in_range(before..=bytes.len() - 1)?;
                bytes[at] = script.arbitrary()?;
            }
            if bytes.len() > MOST || requests > MOST_REQUESTS {
                break;
            }
        }
        let cuts = (0..script.int_in_range(0..=6)?).map(|_| script.int_in_range(1..=2_000));
        let cuts = cuts.collect::<Result<_>>()?;
        let mut stream = Self { bytes, cuts };
        // What is drawn last leaves older scripts what they were.
        let end = script.int_in_range(0..=7)?;
        if matches!(end, 1 | 3) {
            stream.bytes.clear();
        }
        match end {
            1 | 2 => stream.flood(script)?,
            3 | 4 => stream.swell(script)?,
            _ => {}
        }
        Ok(stream)
    }

    /// Adds requests whose replies are much longer than the requests, and altogether up to twenty
    /// times as long as what a master keeps.
    fn flood(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let (key, value) = (b"flood", vec![b'x'; script.int_in_range(LONG)?]);
        resp_command(&mut self.bytes, &[b"AUTH", PASSWORD.as_bytes()]);
        resp_command(&mut self.bytes, &[b"SET", key, &value]);
        for _ in 0..script.int_in_range(1..=80)? {
            resp_command(&mut self.bytes, &[b"GET", key]);
        }
        Ok(())
    }

    /// Adds a request that is longer than a request may be, and often has no end.
    fn swell(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let words: [&[u8]; 3] = [b"SET", b"swell", &vec![b'x'; script.int_in_range(ENDLESS)?]];
        resp_command(&mut self.bytes, &words);
        let left_out = if script.arbitrary()? { script.int_in_range(0..=LEFT_OUT)? } else { 0 };
        self.bytes.truncate(self.bytes.len() - left_out.min(words[2].len()));
        Ok(())
    }

    /// Returns the beginning, for messages.
    pub(super) fn shown(&self) -> String {
        let shown = &self.bytes[..self.bytes.len().min(400)];
        format!("{} of {} bytes: {}", shown.len(), self.bytes.len(), shown.escape_ascii())
    }

    /// Returns whether a script of the witness may be among the requests.
    pub(super) fn can_make_witnesses(&self) -> bool {
        let has = |word: &str| memmem::find(&self.bytes, word.as_bytes()).is_some();
        [LOOK, DECLARE_FRESH, RAISE_MAX_TTL].iter().any(|one| has(one.sha) || has(one.text))
    }

    /// Returns the pieces in which the bytes are sent, none of them empty.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.bytes[..];
        let mut cuts = self.cuts.iter();
        iter::from_fn(move || {
            let length = cuts.next().map_or(rest.len(), |cut| (*cut).min(rest.len()));
            let (piece, others) = rest.split_at(length);
            rest = others;
            (!piece.is_empty()).then_some(piece)
        })
    }
}

/// Returns a request that can be read, with words that may be wrong.
fn request(script: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = if script.ratio(1, 3)? {
        let called = script.choose(&SCRIPTS)?;
        let by_text = script.arbitrary()?;
        let (name, by) = if by_text { ("EVAL", called.text) } else { ("EVALSHA", called.sha) };
        let count = script.int_in_range(0..=4)?;
        [name, by, &count.to_string()].map(|word| word.as_bytes().to_vec()).into()
    } else {
        script.choose(&COMMANDS)?.iter().map(|word| word.as_bytes().to_vec()).collect()
    };
    for _ in 0..script.int_in_range(0..=5)? {
        let word = match script.int_in_range(0..=3)? {
            0 => script.arbitrary::<[u8; 3]>()?.to_vec(),
            1 => vec![script.arbitrary()?],
            _ => script.choose(&WORDS)?.as_bytes().to_vec(),
        };
        words.push(word);
    }
    let mut bytes = Vec::new();
    let borrowed: Vec<_> = words.iter().map(Vec::as_slice).collect();
    resp_command(&mut bytes, &borrowed);
    Ok(bytes)
}

fn resp_command(bytes: &mut Vec<u8>, words: &[&[u8]]) {
    let mut out = BytesMut::new();
    resp::command(&mut out, words);
    bytes.extend_from_slice(&out);
}
