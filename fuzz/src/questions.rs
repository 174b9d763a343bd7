//! Requests for fencing numbers (S13), as the servers of the targets read them, and the numbers in
//! the answers.

use arbitrary::{Result, Unstructured};
use redbolt::redlock::{
    ACQUIRE_FENCED, ACQUIRE_FENCED_MANY, ACQUIRE_FENCED_SET, DRAW, DRAW_SET, Fence, RAISE,
    RAISE_SET, Script, Token,
};
use redbolt::resp::Value;

use super::commands::command;
use super::lies::{Lie, Twist};

/// The scripts, each for one key and for several.
const SCRIPTS: [(What, [Script; 2]); 3] = [
    (What::Acquire, [ACQUIRE_FENCED, ACQUIRE_FENCED_SET]),
    (What::Draw, [DRAW, DRAW_SET]),
    (What::Raise, [RAISE, RAISE_SET]),
];

/// The least and the largest number.
const LEAST: i64 = 1 << 32;
const MOST: i64 = (1 << 53) - 1;

/// Numbers at the bounds of what an answer can be.
const EXTREMES: [i64; 14] = [
    0,
    1,
    2,
    -1,
    -2,
    LEAST - 1,
    LEAST,
    MOST,
    MOST + 1,
    1 - LEAST,
    -LEAST,
    -MOST,
    i64::MAX,
    i64::MIN,
];

/// Replies other than integers: no reply to any of the scripts, one of some, and errors that come
/// before or behind the first write.
const OTHERS: [&[u8]; 8] = [
    b"$-1\r\n",
    b"_\r\n",
    b"+OK\r\n",
    b"$16\r\n1795292495501414\r\n",
    b"-NOSCRIPT No matching script. Please use EVAL.\r\n",
    b"-OOM command not allowed when used memory > 'maxmemory'.\r\n",
    b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
    b"-ERR The user executing the script can't run this command or subcommand\r\n",
];

/// What a script is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// Takes the keys, and draws a number.
    Acquire,
    /// Draws a number for a lock that is held.
    Draw,
    /// Accepts a number that others have drawn.
    Raise,
}

/// A request for a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) what: What,
    /// The text of the script was sent, because the node did not know its name.
    pub(crate) is_repeated: bool,
    /// The keys of the lock.
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) token: Token,
    /// The number that was proposed, or that is to be accepted.
    pub(crate) number: i64,
    /// The last word: the ttl of the keys that are taken.
    pub(crate) ttl: &'a [u8],
}

impl<'a> Question<'a> {
    /// Reads a command; `None` for one that is about something else.
    ///
    /// # Panics
    ///
    /// Panics if the words are not what the script is called with.
    pub(crate) fn read(words: &'a [&'a [u8]]) -> Option<Self> {
        let [b"EVAL" | b"EVALSHA", script, count, rest @ ..] = words else { return None };
        let called = |known: &Script| {
            [known.sha.as_bytes(), known.text.as_bytes()].into_iter().position(|it| it == *script)
        };
        let (what, is_set, form) = SCRIPTS.into_iter().find_map(|(what, [one, several])| {
            let one = called(&one).map(|form| (what, false, form));
            one.or_else(|| called(&several).map(|form| (what, true, form)))
        })?;
        let count = integer(count) as usize - 1;
        assert_eq!(is_set, count > 1, "the script is for another number of keys");
        let (keys, rest) = rest.split_at(count);
        let [b"redbolt:fence", token, rest @ ..] = rest else { panic!("no hash, or no token") };
        let (stripes, rest) = rest.split_at(count);
        for (key, told) in keys.iter().zip(stripes) {
            assert_eq!(integer(told), i64::from(stripe(key)), "the stripe of another key");
        }
        assert_eq!(rest.len(), if what == What::Acquire { 2 } else { 1 }, "too many words");
        Some(Self {
            what,
            is_repeated: form == 1,
            keys,
            token: self::token(token),
            number: integer(rest[0]),
            ttl: rest[rest.len() - 1],
        })
    }

    /// Reads all requests in a command: those of several locks, or one, or none.
    ///
    /// # Panics
    ///
    /// Panics if the words are not what the script is called with.
    pub(crate) fn read_all(words: &'a [&'a [u8]]) -> Vec<Self> {
        let [b"EVAL" | b"EVALSHA", script, count, rest @ ..] = words else { return Vec::new() };
        let is_repeated = *script == ACQUIRE_FENCED_MANY.text.as_bytes();
        if !is_repeated && *script != ACQUIRE_FENCED_MANY.sha.as_bytes() {
            return Self::read(words).into_iter().collect();
        }
        let (keys, rest) = rest.split_at(integer(count) as usize);
        let [keys @ .., b"redbolt:fence"] = keys else { panic!("no hash") };
        assert!((2..=16).contains(&keys.len()), "{} locks in one call", keys.len());
        assert_eq!(rest.len(), 4 * keys.len(), "each lock has four words");
        let each = keys.chunks(1).zip(rest.chunks_exact(4));
        let question = |(key, words): (&'a [&'a [u8]], &'a [&'a [u8]])| {
            assert_eq!(integer(words[1]), i64::from(stripe(key[0])), "the stripe of another key");
            let (token, number, ttl) = (token(words[0]), integer(words[2]), words[3]);
            Self { what: What::Acquire, is_repeated, keys: key, token, number, ttl }
        };
        each.map(question).collect()
    }

    /// Returns the first command among whole ones that has such a request.
    pub(crate) fn first(commands: &[u8]) -> Option<First> {
        let (mut done, mut at) = (0, 0);
        while let Some((words, used)) = command(&commands[done..]) {
            let questions = Question::read_all(&words);
            if let Some(Question { number, .. }) = questions.first() {
                return Some(First { at, number: *number, is_alone: questions.len() == 1 });
            }
            (done, at) = (done + used, at + 1);
        }
        None
    }
}

/// A command with a request for a number.
#[derive(Clone, Copy)]
pub(crate) struct First {
    /// The index of the command.
    at: usize,
    /// The number of its first request.
    number: i64,
    /// The command has no other request.
    is_alone: bool,
}

impl What {
    /// Returns the number that a server has accepted, if its answer to the request for `asked` says
    /// so.
    pub(crate) fn accepted(self, asked: i64, answer: &Value<'_>) -> Option<Fence> {
        let number = match (self, answer) {
            (Self::Raise, Value::Integer(1)) => asked,
            (Self::Acquire | Self::Draw, Value::Integer(number)) => *number,
            _ => return None,
        };
        let is_fence = (LEAST..=MOST).contains(&number);
        let fence = u64::try_from(number).ok().and_then(Fence::new);
        assert_eq!(fence.is_some(), is_fence, "{number} is a number, or is none");
        fence
    }
}

/// Returns a wrong answer to a request for a number: one close to it, the same with another sign,
/// any other, or none. One of the answers to a command with several requests is wrong or missing.
pub(crate) fn lie(script: &mut Unstructured<'_>, first: First) -> Result<Lie> {
    let First { at, number: asked, is_alone } = first;
    if !is_alone && script.int_in_range(0..=3)? > 0 {
        return Ok(Lie::twisted(at, Twist::choose(script)?));
    }
    let is_executed = script.arbitrary()?;
    let near = |script: &mut Unstructured<'_>| Ok(asked + i64::from(script.arbitrary::<i8>()?));
    Ok(match script.int_in_range(0..=7)? {
        0 | 1 => Lie::number(at, *script.choose(&EXTREMES)?, is_executed),
        2 | 3 => Lie::reply(at, script.choose(&OTHERS)?, is_executed),
        4 => Lie::number(at, -near(script)?, is_executed),
        5 => Lie::number(at, asked, is_executed),
        _ => Lie::number(at, near(script)?, is_executed),
    })
}

/// Returns the stripe of a key, as the specification of Redis Cluster has the slot of one: CRC16
/// in its variant XMODEM, cut to fourteen bits.
pub(crate) fn stripe(key: &[u8]) -> u16 {
    let mut crc = 0_u32;
    for byte in key {
        crc ^= u32::from(*byte) << 8;
        for _ in 0..8 {
            crc <<= 1;
            if crc & 0x1_0000 != 0 {
                crc ^= 0x1_1021;
            }
        }
    }
    (crc & 0x3fff) as u16
}

/// Returns the answers in a reply, which is one of them or an array.
pub(crate) fn answers<'a>(reply: &Value<'a>) -> Vec<Value<'a>> {
    match reply {
        Value::Array(elements) => elements.clone().collect(),
        answer => vec![answer.clone()],
    }
}

fn token(word: &[u8]) -> Token {
    Token::from_bytes(word.try_into().expect("a token has twenty bytes"))
}

/// Returns the integer that a word is.
fn integer(word: &[u8]) -> i64 {
    let text = std::str::from_utf8(word).expect("what is sent is ASCII");
    text.parse().expect("an integer")
}
