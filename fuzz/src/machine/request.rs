//! Requests, as the servers read them, with the parts that matter for the checks.

use std::time::Duration;

use redbolt::redlock::{ACQUIRE_SET, EXTEND, EXTEND_MANY, EXTEND_SET, Script, Token};
use redbolt::resp::Value;
use redbolt::time::Instant;

use super::super::questions::{Question, What};

/// A key, or the keys of a set, given to a node.
#[derive(Clone, Copy)]
pub(super) struct Set {
    pub(super) token: Token,
    pub(super) ttl: Duration,
    /// The text of the script was sent, because the node did not know its name.
    pub(super) is_repeated: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Extension {
    /// The time at which the extension was ready to be written.
    pub(super) at: Instant,
    pub(super) ttl: Duration,
}

/// A request for a fencing number.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) what: What,
    pub(super) token: Token,
    pub(super) number: i64,
    /// The keys that are taken as well.
    set: Option<Set>,
}

/// A command, with the parts that matter if its reply is a vote.
pub(super) enum Command {
    Set(Set),
    Extend(Vec<(Token, Extension)>),
    /// Requests for numbers, each with an answer of its own.
    Numbers(Vec<Asked>),
    Other,
}

impl Command {
    pub(super) fn new(now: Instant, words: &[&[u8]]) -> Self {
        let questions = Question::read_all(words);
        if !questions.is_empty() {
            return Self::Numbers(questions.iter().map(Asked::new).collect());
        }
        let (script, count, subjects) = match words {
            [b"SET", _, token, b"NX", b"PX", ttl] => {
                let (token, ttl) = (self::token(token), millis(ttl));
                return Self::Set(Set { token, ttl, is_repeated: false });
            }
            [b"EVAL" | b"EVALSHA", script, count, subjects @ ..] => {
                (*script, number(count), subjects)
            }
            _ => return Self::Other,
        };
        let is = |known: Script| script == known.sha.as_bytes() || script == known.text.as_bytes();
        let extension = |token: &[u8], ttl: &[u8]| {
            (self::token(token), Extension { at: now, ttl: millis(ttl) })
        };
        // The keys follow the number of keys.
        let rest = &subjects[count..];
        if is(EXTEND) || is(EXTEND_MANY) {
            // Then follow as many tokens and as many ttls.
            let (tokens, ttls) = rest.split_at(count);
            Self::Extend(tokens.iter().zip(ttls).map(|(a, b)| extension(a, b)).collect())
        } else if is(EXTEND_SET) {
            Self::Extend(vec![extension(rest[0], rest[1])])
        } else if is(ACQUIRE_SET) {
            let (token, ttl) = (token(rest[0]), millis(rest[1]));
            Self::Set(Set { token, ttl, is_repeated: script == ACQUIRE_SET.text.as_bytes() })
        } else {
            Self::Other
        }
    }

    /// Returns the keys that are taken.
    pub(super) fn sets(&self) -> Vec<Set> {
        match self {
            Self::Set(set) => vec![*set],
            Self::Numbers(asked) => asked.iter().filter_map(|asked| asked.set).collect(),
            Self::Extend(_) | Self::Other => Vec::new(),
        }
    }
}

impl Asked {
    fn new(question: &Question<'_>) -> Self {
        let Question { what, is_repeated, token, number, ttl, .. } = *question;
        let set = || Set { token, ttl: millis(ttl), is_repeated };
        Self { what, token, number, set: (what == What::Acquire).then(set) }
    }
}

fn token(word: &[u8]) -> Token {
    Token::from_bytes(word.try_into().expect("a token has twenty bytes"))
}

fn millis(word: &[u8]) -> Duration {
    Duration::from_millis(number(word) as u64)
}

fn number(word: &[u8]) -> usize {
    let text = std::str::from_utf8(word).expect("what is sent is ASCII");
    text.parse().expect("a number without a sign")
}

/// Returns the integers in a reply that is an integer, or an array of them.
pub(super) fn integers(value: &Value<'_>) -> Vec<i64> {
    let integer = |value: Value<'_>| match value {
        Value::Integer(integer) => Some(integer),
        _ => None,
    };
    match value {
        Value::Array(elements) => elements.clone().filter_map(integer).collect(),
        value => integer(value.clone()).into_iter().collect(),
    }
}
